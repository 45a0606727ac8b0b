#include "identity/tokens/token_identity.h"

#include <string>
#include <utility>

#include <sys/stat.h>

#include "platform/log.h"
#include "platform/sha256.h"

namespace identity {

using base::Code;

namespace {

constexpr std::size_t kMaxCredentialBytes = 512;

// The same words for every failure: which part was wrong is nobody's business.
tl::unexpected<base::Error> refused() {
  auto failure = base::fail(Code::Unauthenticated, "no valid token");
  failure.value().hint =
      "send the header \"Authorization: Bearer TOKEN\"; `berth token add` makes one";
  return failure;
}

}  // namespace

TokenIdentity::TokenIdentity(std::filesystem::path folder, std::function<base::Instant()> now)
    : folder_(std::move(folder)), now_(std::move(now)) {}

TokenIdentity::Mark TokenIdentity::mark() const {
  struct stat status{};
  if (::lstat(token_file(folder_).c_str(), &status) != 0) return {};
  // The time of change covers mode and owner as well as content.
  return {.inode = status.st_ino,
          .changed_ns = status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec,
          .size = status.st_size};
}

void TokenIdentity::refresh() {
  const Mark present = mark();
  if (was_read_ && present == seen_) return;
  entries_ = read_tokens(folder_);
  seen_ = present;
  was_read_ = true;
  if (!entries_) LOG(Error, "token_file_refused", {"message", base::to_text(entries_.error())});
}

base::Result<base::Done> TokenIdentity::check() {
  const std::lock_guard lock(mutex_);
  refresh();
  if (!entries_) return tl::unexpected(entries_.error());
  return base::Done{};
}

base::Result<controller::Caller> TokenIdentity::authenticate(std::string_view credential) {
  static constexpr std::string_view kScheme = "Bearer ";
  if (!credential.starts_with(kScheme) || credential.size() > kMaxCredentialBytes) return refused();
  const std::string hash = platform::sha256_hex(credential.substr(kScheme.size()));
  const std::lock_guard lock(mutex_);
  refresh();
  if (!entries_)
    return base::fail(Code::Unavailable, "the server cannot use its token file; see its log");
  const TokenEntry* found = nullptr;
  for (const TokenEntry& entry : *entries_)
    if (platform::equals_in_constant_time(entry.hash, hash)) found = &entry;
  if (found == nullptr || (found->expires && *found->expires <= now_())) return refused();
  return controller::Caller{.user = found->user, .role = found->role};
}

}  // namespace identity
