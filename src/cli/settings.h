#pragma once
// Which server to ask, and as whom. Each is taken from the first place that names it: the flag, the
// environment (BERTH_SERVER, BERTH_TOKEN), the settings file (--config, BERTH_CONFIG, else
// ~/.config/berth/client.yaml), and at last what a server of the same user left in its data folder
// (server.json, admin.token). So on one machine nothing has to be set at all.
//
// The settings file has one `key: value` a line: server, token, tokenFile, output, color.

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command_line.h"

namespace cli {

using Environment = std::map<std::string, std::string, std::less<>>;

struct Settings {
  std::string server;       // "http://127.0.0.1:7070", no slash at the end
  std::string token;        // empty: none found
  std::string server_from;  // where it was found, for messages: "--server", "BERTH_SERVER", a path
  std::string output = "table";
  bool has_color = true;  // unless NO_COLOR, --no-color or the settings file say otherwise
};

inline constexpr std::string_view kDefaultServer = "http://127.0.0.1:7070";

// A settings file that was named and cannot be read is an error; the default one may be missing.
base::Result<Settings> load_settings(const Invocation& invocation, const Environment& environment);

// Where a server of this user keeps its data: XDG_DATA_HOME/berth, else ~/.local/share/berth.
std::string default_data_folder(const Environment& environment);

}  // namespace cli
