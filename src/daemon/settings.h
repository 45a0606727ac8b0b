#pragma once
// What a daemon runs with, after flags, configuration file and defaults were brought together and
// checked. Errors name the flag or the place in the file.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "daemon/serve.h"
#include "manifest/daemon_config.h"

namespace berthd {

struct Settings {
  std::string data_folder;
  std::string address;  // numeric
  std::uint16_t port = 0;
  std::string config_folder;  // what names in the file are relative to
  // Of BERTH_WRITE_CACHE, for tests: the journal lies behind a store::WriteCache with this seed.
  std::optional<std::uint64_t> write_cache;
  manifest::DaemonConfig config;
};

base::Result<Settings> load_settings(const ServeOptions& options);

// "127.0.0.1:7070", "[::1]:0", ":7070" (this machine only); `field` is for the error.
struct Listen {
  std::string address;
  std::uint16_t port = 0;
  bool operator==(const Listen&) const = default;
};
base::Result<Listen> parse_listen(const std::string& text, const std::string& field);

// The reverse, with brackets where they are needed.
std::string print_listen(const Listen& listen);

}  // namespace berthd
