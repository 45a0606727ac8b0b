#pragma once
// The role `berth serve`: one daemon on one machine. Flags win over the configuration file, the
// file over the defaults (~/.local/share/berth, 127.0.0.1:7070).
//
// The data folder holds everything: journal.db, the token file, the local backend's processes and
// logs, `lock` (one daemon a folder) and server.json, by which the command line of the same user
// finds address and token. SIGTERM and SIGINT end the daemon and leave all members running; the
// next start finds them again.
//
// The namespace is not the folder's name, because the C library has a function called daemon().

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace berthd {

struct ServeOptions {
  std::string data_folder;  // empty: of the file, else the default
  std::string listen;       // "127.0.0.1:7070", port 0: any free one; empty: as above
  std::string config_file;  // empty: none
  std::string version = "dev";
  std::map<std::string, std::string, std::less<>> environment;
  bool is_terminal = false;  // greets a person on standard output
};

// Returns the exit code: 0 after a signal, 1 when it could not start or lost its journal, 2 for a
// configuration that is wrong. Blocks SIGTERM and SIGINT in the calling thread and waits for them.
int serve(const ServeOptions& options);

}  // namespace berthd
