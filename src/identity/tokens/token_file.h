#pragma once
// The file that says who may call: `<folder>/tokens.json`, readable by its owner only, one entry a
// token with the SHA-256 of its secret and never the secret itself. A secret has 256 random bits,
// so a plain hash is enough: there is nothing to guess.
//
//   {"version":1,"tokens":[{"name":"ci","user":"alice","role":"user",
//                           "hash":"…64 hex…","created":"2026-12-01T09:30:00.000Z"}]}

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "controller/identity.h"

namespace identity {

struct TokenEntry {
  std::string name;  // unique in the file; what `remove` takes
  std::string user;
  controller::Role role = controller::Role::Viewer;
  std::string hash;  // sha256_hex of the token's text
  base::Instant created;
  std::optional<base::Instant> expires;  // nothing: never
  bool operator==(const TokenEntry&) const = default;
};

std::filesystem::path token_file(const std::filesystem::path& folder);        // …/tokens.json
std::filesystem::path admin_token_file(const std::filesystem::path& folder);  // …/admin.token

std::string_view role_name(controller::Role role);  // "viewer", …
std::optional<controller::Role> role_from(std::string_view name);

// By name. No file is an empty list. Code::PermissionDenied when others could read or own it, with
// the command that repairs it; Code::DataLoss when it is not what was written.
base::Result<std::vector<TokenEntry>> read_tokens(const std::filesystem::path& folder);
// The same from the text of the file; Code::DataLoss as above.
base::Result<std::vector<TokenEntry>> parse_tokens(const std::string& text);

struct TokenRequest {
  std::string name;
  std::string user;
  controller::Role role = controller::Role::Viewer;
  base::Instant created;
  std::optional<base::Instant> expires;
};
// The text of the new token, shown this once. Code::AlreadyExists when the name is taken.
base::Result<std::string> add_token(const std::filesystem::path& folder,
                                    const TokenRequest& request);
// Code::NotFound when there is none of that name.
base::Result<base::Done> remove_token(const std::filesystem::path& folder, std::string_view name);

// For the first start: when there is no token file yet, makes one with the token "admin" and puts
// its text into `<folder>/admin.token`, where the command line of the same user finds it. Gives the
// path of that file. An existing token file is left alone.
base::Result<std::filesystem::path> create_admin_token_if_absent(
    const std::filesystem::path& folder, base::Instant now);

}  // namespace identity
