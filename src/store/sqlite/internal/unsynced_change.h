#pragma once
// A change of a file that is written and not synced, and the pieces of which a disk may have any
// part. Thread contract: a value.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace store::sqlite {

struct UnsyncedChange {
  std::size_t at = 0;                // offset; of a truncation the new size
  std::optional<std::string> bytes;  // none: a truncation

  std::size_t end() const { return at + (bytes ? bytes->size() : 0); }
};

// Calls `visit(offset, bytes)` for each piece of 512 bytes of the file, the smallest unit in use
// that a disk writes whole or not at all, until one gives false. True: none did.
bool each_piece(std::size_t offset, std::string_view bytes, auto&& visit) {
  constexpr std::size_t kPiece = 512;
  const std::size_t end = offset + bytes.size();
  for (std::size_t at = offset; at < end;) {
    const std::size_t next = std::min(end, (at / kPiece + 1) * kPiece);
    if (!visit(at, bytes.substr(at - offset, next - at))) return false;
    at = next;
  }
  return true;
}

}  // namespace store::sqlite
