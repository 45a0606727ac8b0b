#pragma once
// Callers by bearer token, from the token file of a folder. The file is read again when it changes,
// so a token that was added or removed counts from the next request on. A file that cannot be
// trusted (open to others, damaged) lets nobody in until it is repaired.
//
// Thread contract: any thread.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string_view>
#include <vector>

#include "controller/identity.h"
#include "identity/tokens/token_file.h"

namespace identity {

class TokenIdentity final : public controller::Identity {
 public:
  // `now` tells which tokens have expired.
  TokenIdentity(std::filesystem::path folder, std::function<base::Instant()> now);

  // What is wrong with the file, if anything; for a start that should fail early.
  base::Result<base::Done> check();
  base::Result<controller::Caller> authenticate(std::string_view credential) override;

 private:
  // What a changed file differs in.
  struct Mark {
    std::uint64_t inode = 0;
    std::int64_t changed_ns = -1;
    std::int64_t size = -1;
    bool operator==(const Mark&) const = default;
  };
  Mark mark() const;
  void refresh();

  const std::filesystem::path folder_;
  const std::function<base::Instant()> now_;
  std::mutex mutex_;
  Mark seen_;
  bool was_read_ = false;
  base::Result<std::vector<TokenEntry>> entries_;
};

}  // namespace identity
