#include "cli/settings.h"

#include <filesystem>
#include <vector>

#include <boost/json.hpp>

#include "base/text.h"
#include "cli/json_access.h"
#include "platform/file.h"

namespace cli {
namespace {

using base::Code;
using Entries = std::map<std::string, std::string, std::less<>>;

constexpr std::size_t kMaxSettingsBytes = 64 << 10;
constexpr std::string_view kKeys[] = {"server", "token", "tokenFile", "output", "color"};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string from_environment(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

base::Result<base::Done> check_entry(const std::string& place, const std::string& key,
                                     const std::string& value) {
  bool is_known = false;
  for (const std::string_view known : kKeys)
    is_known = is_known || known == key;
  if (!is_known) {
    const auto near = base::nearest(key, kKeys);
    return base::fail_field(Code::InvalidArgument, place, fmt::format("unknown key \"{}\"", key),
                            near ? fmt::format("did you mean {}", *near)
                                 : "known keys: server, token, tokenFile, output, color");
  }
  if (key == "color" && value != "true" && value != "false")
    return base::fail_field(Code::InvalidArgument, place,
                            fmt::format("color cannot be \"{}\"", value), "write true or false");
  if (key == "output" && value != "table" && value != "wide" && value != "json" &&
      value != "yaml" && value != "name")
    return base::fail_field(Code::InvalidArgument, place,
                            fmt::format("output cannot be \"{}\"", value),
                            "it is one of: table wide json yaml name");
  return base::Done{};
}

base::Result<Entries> read_entries(const std::string& path) {
  const base::Result<std::string> text = platform::read_file(path, kMaxSettingsBytes);
  if (!text) return tl::unexpected(text.error());
  Entries entries;
  std::string_view rest = *text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view content = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (content.empty() || content.front() == '#') continue;
    const std::string place = fmt::format("{}:{}", path, line);
    const std::size_t colon = content.find(':');
    if (colon == std::string_view::npos)
      return base::fail_field(Code::InvalidArgument, place, "no \"key: value\"",
                              "write for example: server: http://127.0.0.1:7070");
    const std::string key(trimmed(content.substr(0, colon)));
    std::string_view value = trimmed(content.substr(colon + 1));
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    if (auto checked = check_entry(place, key, std::string(value)); !checked)
      return tl::unexpected(checked.error());
    if (!entries.emplace(key, value).second)
      return base::fail_field(Code::InvalidArgument, place, fmt::format("{} is set twice", key),
                              "keep one of the two lines");
  }
  return entries;
}

// What the settings file says; nothing when there is none and none was named.
base::Result<Entries> settings_entries(const Invocation& invocation,
                                       const Environment& environment) {
  std::string path = invocation.value("config", from_environment(environment, "BERTH_CONFIG"));
  const bool is_named = !path.empty();
  if (!is_named) {
    const std::string home = from_environment(environment, "HOME");
    const std::string folder = from_environment(environment, "XDG_CONFIG_HOME");
    if (home.empty() && folder.empty()) return Entries{};
    path = (folder.empty() ? home + "/.config" : folder) + "/berth/client.yaml";
  }
  base::Result<Entries> entries = read_entries(path);
  if (!entries && !is_named && entries.error().code == Code::NotFound) return Entries{};
  return entries;
}

std::string value_of(const Entries& entries, std::string_view key) {
  const auto found = entries.find(key);
  return found == entries.end() ? "" : found->second;
}

std::string as_url(std::string text) {
  if (text.find("://") == std::string::npos) text = "http://" + text;
  while (text.ends_with('/'))
    text.pop_back();
  return text;
}

// What the daemon wrote beside its journal: {"url": …} or {"address": "127.0.0.1:7070", …}.
std::string left_by_server(const std::string& folder) {
  const base::Result<std::string> text =
      platform::read_file(folder + "/server.json", kMaxSettingsBytes);
  if (!text) return "";
  boost::system::error_code broken;
  const boost::json::value value = boost::json::parse(*text, broken);
  if (broken) return "";
  const std::string url = text_at(value, "url");
  if (!url.empty()) return url;
  std::string address = text_at(value, "address");
  const std::string port = text_at(value, "port");
  if (!address.empty() && !port.empty() && !address.ends_with(":" + port)) address += ":" + port;
  return address;
}

struct Found {
  std::string value;
  std::string from;
};

Found first_of(std::vector<Found> places) {
  for (Found& place : places)
    if (!place.value.empty()) return std::move(place);
  return {};
}

base::Result<std::string> token_of(const Invocation& invocation, const Environment& environment,
                                   const Entries& entries, const std::string& data) {
  const Found named = first_of({{invocation.value("token"), "--token"},
                                {from_environment(environment, "BERTH_TOKEN"), "BERTH_TOKEN"},
                                {value_of(entries, "token"), "token"}});
  if (!named.value.empty()) return named.value;
  const std::string file = value_of(entries, "tokenFile");
  const base::Result<std::string> secret =
      platform::read_secret_file(file.empty() ? data + "/admin.token" : file, kMaxSettingsBytes);
  if (secret) return std::string(trimmed(secret->substr(0, secret->find('\n'))));
  // A token file that was named must be readable; that no server runs here is no mistake.
  if (!file.empty() || secret.error().code != Code::NotFound) return tl::unexpected(secret.error());
  return std::string();
}

}  // namespace

std::string default_data_folder(const Environment& environment) {
  const std::string folder = from_environment(environment, "XDG_DATA_HOME");
  if (!folder.empty()) return folder + "/berth";
  return from_environment(environment, "HOME") + "/.local/share/berth";
}

base::Result<Settings> load_settings(const Invocation& invocation, const Environment& environment) {
  const base::Result<Entries> entries = settings_entries(invocation, environment);
  if (!entries) return tl::unexpected(entries.error());
  const std::string data = default_data_folder(environment);
  const Found server = first_of({{invocation.value("server"), "--server"},
                                 {from_environment(environment, "BERTH_SERVER"), "BERTH_SERVER"},
                                 {value_of(*entries, "server"), "the settings file"},
                                 {left_by_server(data), data + "/server.json"},
                                 {std::string(kDefaultServer), "the default"}});
  const base::Result<std::string> token = token_of(invocation, environment, *entries, data);
  if (!token) return tl::unexpected(token.error());
  Settings settings{.server = as_url(server.value), .token = *token, .server_from = server.from};
  const std::string output = value_of(*entries, "output");
  settings.output = invocation.value("output", output.empty() ? "table" : output);
  settings.has_color = !invocation.has("no-color") && value_of(*entries, "color") != "false" &&
                       from_environment(environment, "NO_COLOR").empty();
  return settings;
}

}  // namespace cli
