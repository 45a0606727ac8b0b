#include "identity/tokens/token_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "platform/file.h"
#include "platform/random_bytes.h"
#include "platform/sha256.h"

namespace identity {

namespace json = boost::json;
using base::Code;

namespace {

constexpr std::array<std::string_view, 4> kRoles{"viewer", "user", "operator", "admin"};
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kMaxUserBytes = 128;

tl::unexpected<base::Error> damaged(std::string_view what) {
  auto failure = base::fail(Code::DataLoss, "the token file is damaged: {}", what);
  failure.value().hint = "restore it from a backup, or remove it and make new tokens";
  return failure;
}

bool is_hash(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

base::Result<std::string> text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string())
    return damaged(fmt::format("a token has no text \"{}\"", key));
  return std::string(value->get_string());
}

base::Result<TokenEntry> entry_of(const json::value& value) {
  if (!value.is_object()) return damaged("a token is not an object");
  const json::object& object = value.get_object();
  for (const auto& member : object) {
    static constexpr std::array<std::string_view, 6> kKnown{"name", "user",    "role",
                                                            "hash", "created", "expires"};
    if (std::find(kKnown.begin(), kKnown.end(), std::string_view(member.key())) == kKnown.end())
      return damaged(fmt::format("unknown key \"{}\"", std::string_view(member.key())));
  }
  TokenEntry entry;
  const auto name = text_of(object, "name");
  const auto user = text_of(object, "user");
  const auto role = text_of(object, "role");
  const auto hash = text_of(object, "hash");
  const auto created = text_of(object, "created");
  for (const auto* part : {&name, &user, &role, &hash, &created})
    if (!*part) return tl::unexpected(part->error());
  entry.name = *name;
  entry.user = *user;
  entry.hash = *hash;
  const auto known_role = role_from(*role);
  const auto instant = base::parse_instant(*created);
  if (!known_role) return damaged(fmt::format("token \"{}\" has an unknown role", *name));
  if (!is_hash(*hash)) return damaged(fmt::format("token \"{}\" has no SHA-256", *name));
  if (!instant) return damaged(fmt::format("token \"{}\" has a wrong time", *name));
  entry.role = *known_role;
  entry.created = *instant;
  if (object.contains("expires")) {
    const auto expires = text_of(object, "expires");
    const auto until = expires ? base::parse_instant(*expires) : base::Result<base::Instant>{};
    // A time that cannot be read must not become "never".
    if (!expires || !until) return damaged(fmt::format("token \"{}\" has a wrong end", *name));
    entry.expires = *until;
  }
  return entry;
}

}  // namespace

base::Result<std::vector<TokenEntry>> parse_tokens(const std::string& text) {
  boost::system::error_code error;
  const json::value document = json::parse(text, error);
  if (error) return damaged(error.message());
  if (!document.is_object()) return damaged("it is not an object");
  const json::value* version = document.get_object().if_contains("version");
  const json::value* tokens = document.get_object().if_contains("tokens");
  if (version == nullptr || !version->is_int64() || version->get_int64() != 1)
    return damaged("its version is not 1");
  if (tokens == nullptr || !tokens->is_array()) return damaged("it has no list of tokens");
  std::vector<TokenEntry> entries;
  for (const json::value& value : tokens->get_array()) {
    auto entry = entry_of(value);
    if (!entry) return tl::unexpected(entry.error());
    entries.push_back(std::move(*entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const TokenEntry& a, const TokenEntry& b) { return a.name < b.name; });
  return entries;
}

namespace {

std::string print_tokens(const std::vector<TokenEntry>& entries) {
  std::string text = "{\"version\":1,\"tokens\":[";
  for (const TokenEntry& entry : entries) {
    text += &entry == entries.data() ? "\n" : ",\n";
    text += "{\"name\":";
    base::append_json_string(text, entry.name);
    text += ",\"user\":";
    base::append_json_string(text, entry.user);
    text += ",\"role\":";
    base::append_json_string(text, role_name(entry.role));
    text += ",\"hash\":";
    base::append_json_string(text, entry.hash);
    text += ",\"created\":";
    base::append_json_instant(text, entry.created);
    if (entry.expires) {
      text += ",\"expires\":";
      base::append_json_instant(text, *entry.expires);
    }
    text += '}';
  }
  return text + "\n]}\n";
}

base::Result<base::Done> check_request(const TokenRequest& request) {
  if (auto named = base::check_name(request.name, "name"); !named) return named;
  const bool is_printable = std::all_of(request.user.begin(), request.user.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
  });
  if (request.user.empty() || request.user.size() > kMaxUserBytes || !is_printable ||
      !base::is_utf8(request.user))
    return base::fail_field(Code::InvalidArgument, "user", "not a user name",
                            "use 1 to 128 characters without spaces");
  return base::Done{};
}

}  // namespace

std::filesystem::path token_file(const std::filesystem::path& folder) {
  return folder / "tokens.json";
}

std::filesystem::path admin_token_file(const std::filesystem::path& folder) {
  return folder / "admin.token";
}

std::string_view role_name(controller::Role role) { return kRoles[static_cast<std::size_t>(role)]; }

std::optional<controller::Role> role_from(std::string_view name) {
  for (std::size_t i = 0; i < kRoles.size(); ++i)
    if (kRoles[i] == name) return static_cast<controller::Role>(i);
  return std::nullopt;
}

base::Result<std::vector<TokenEntry>> read_tokens(const std::filesystem::path& folder) {
  const auto text = platform::read_secret_file(token_file(folder));
  if (!text && text.error().code == Code::NotFound) return std::vector<TokenEntry>{};
  if (!text) return tl::unexpected(text.error());
  return parse_tokens(*text);
}

base::Result<std::string> add_token(const std::filesystem::path& folder,
                                    const TokenRequest& request) {
  if (auto checked = check_request(request); !checked) return tl::unexpected(checked.error());
  auto entries = read_tokens(folder);
  if (!entries) return tl::unexpected(entries.error());
  for (const TokenEntry& entry : *entries)
    if (entry.name == request.name)
      return base::fail_field(Code::AlreadyExists, "name",
                              fmt::format("there is a token \"{}\" already", request.name),
                              "remove it first, or choose another name");
  std::string token = "berth_" + platform::random_hex(kSecretBytes);
  entries->push_back({.name = request.name,
                      .user = request.user,
                      .role = request.role,
                      .hash = platform::sha256_hex(token),
                      .created = request.created,
                      .expires = request.expires});
  if (auto made = platform::make_folder(folder); !made) return tl::unexpected(made.error());
  if (auto done = platform::write_file_atomically(token_file(folder), print_tokens(*entries));
      !done)
    return tl::unexpected(done.error());
  return token;
}

base::Result<base::Done> remove_token(const std::filesystem::path& folder, std::string_view name) {
  auto entries = read_tokens(folder);
  if (!entries) return tl::unexpected(entries.error());
  if (std::erase_if(*entries, [name](const TokenEntry& entry) { return entry.name == name; }) == 0)
    return base::fail(Code::NotFound, "there is no token \"{}\"", name);
  return platform::write_file_atomically(token_file(folder), print_tokens(*entries));
}

base::Result<std::filesystem::path> create_admin_token_if_absent(
    const std::filesystem::path& folder, base::Instant now) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(token_file(folder), error);
  if (status.type() != std::filesystem::file_type::not_found) return admin_token_file(folder);
  // The secret is written before the file that makes it valid: after a crash in between there is
  // no token file, and the next start makes both anew.
  const std::string token = "berth_" + platform::random_hex(kSecretBytes);
  if (auto made = platform::make_folder(folder); !made) return tl::unexpected(made.error());
  if (auto done = platform::write_file_atomically(admin_token_file(folder), token + "\n"); !done)
    return tl::unexpected(done.error());
  const TokenEntry admin{.name = "admin",
                         .user = "admin",
                         .role = controller::Role::Admin,
                         .hash = platform::sha256_hex(token),
                         .created = now,
                         .expires = std::nullopt};
  if (auto done = platform::write_file_atomically(token_file(folder), print_tokens({admin})); !done)
    return tl::unexpected(done.error());
  return admin_token_file(folder);
}

}  // namespace identity
