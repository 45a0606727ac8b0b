#include "daemon/settings.h"

#include <arpa/inet.h>

#include <filesystem>
#include <utility>

#include "base/text.h"
#include "platform/file.h"

namespace berthd {

namespace {

using base::Code;

constexpr std::string_view kDefaultListen = "127.0.0.1:7070";

std::string from_environment(const ServeOptions& options, std::string_view name) {
  const auto found = options.environment.find(name);
  return found == options.environment.end() ? std::string() : found->second;
}

base::Result<std::string> default_data_folder(const ServeOptions& options) {
  if (std::string data = from_environment(options, "XDG_DATA_HOME"); !data.empty())
    return data + "/berth";
  const std::string home = from_environment(options, "HOME");
  if (home.empty())
    return base::fail_field(Code::InvalidArgument, "--data", "no data folder is named",
                            "give --data DIR, or set HOME");
  return home + "/.local/share/berth";
}

bool is_numeric_address(const std::string& text) {
  unsigned char parsed[sizeof(in6_addr)];
  return inet_pton(AF_INET, text.c_str(), parsed) == 1 ||
         inet_pton(AF_INET6, text.c_str(), parsed) == 1;
}

}  // namespace

base::Result<Listen> parse_listen(const std::string& text, const std::string& field) {
  const auto wrong = [&](std::string message) {
    return base::fail_field(Code::InvalidArgument, field, std::move(message),
                            "write for example 127.0.0.1:7070 or [::1]:7070");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong("\"" + text + "\" has no port");
  const auto port = base::parse_integer(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) return wrong("the port is not 0 to 65535");
  Listen listen{.address = text.substr(0, colon), .port = static_cast<std::uint16_t>(*port)};
  if (listen.address.size() >= 2 && listen.address.front() == '[' && listen.address.back() == ']')
    listen.address = listen.address.substr(1, listen.address.size() - 2);
  if (listen.address.empty() || listen.address == "localhost") listen.address = "127.0.0.1";
  if (!is_numeric_address(listen.address))
    return wrong("\"" + listen.address + "\" is not an IP address");
  return listen;
}

std::string print_listen(const Listen& listen) {
  const bool is_v6 = listen.address.find(':') != std::string::npos;
  return (is_v6 ? "[" + listen.address + "]" : listen.address) + ":" + std::to_string(listen.port);
}

base::Result<Settings> load_settings(const ServeOptions& options) {
  Settings settings;
  if (!options.config_file.empty()) {
    const auto text = platform::read_file(options.config_file);
    if (!text) return tl::unexpected(text.error());
    auto config = manifest::parse_daemon_config(*text, options.config_file);
    if (!config) return tl::unexpected(std::move(config.error()));
    settings.config = std::move(*config);
    settings.config_folder = std::filesystem::path(options.config_file).parent_path();
  }
  const bool has_flag = !options.listen.empty();
  std::string listen = has_flag ? options.listen : settings.config.listen;
  if (listen.empty()) listen = kDefaultListen;
  const auto parsed =
      parse_listen(listen, has_flag ? "--listen" : options.config_file + ": listen");
  if (!parsed) return tl::unexpected(parsed.error());
  settings.address = parsed->address;
  settings.port = parsed->port;
  settings.data_folder = options.data_folder;
  if (settings.data_folder.empty() && !settings.config.data_dir.empty())
    settings.data_folder = std::filesystem::path(settings.config_folder) / settings.config.data_dir;
  if (settings.data_folder.empty()) {
    auto standard = default_data_folder(options);
    if (!standard) return tl::unexpected(std::move(standard.error()));
    settings.data_folder = std::move(*standard);
  }
  settings.data_folder = std::filesystem::absolute(settings.data_folder).lexically_normal();
  if (const std::string seed = from_environment(options, "BERTH_WRITE_CACHE"); !seed.empty()) {
    const auto number = base::parse_integer(seed);
    if (!number || *number < 0)
      return base::fail_field(Code::InvalidArgument, "BERTH_WRITE_CACHE",
                              "\"" + seed + "\" is not a seed",
                              "set a number from 0, or leave it out: it is for tests");
    settings.write_cache = static_cast<std::uint64_t>(*number);
  }
  return settings;
}

}  // namespace berthd
