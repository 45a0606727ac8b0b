#pragma once
// One code point at a time out of UTF-8 as Unicode defines it: no overlong form, no surrogate,
// nothing above U+10FFFF. What the public functions of base/text.h and base/json_text.h share.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace base::internal {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 1;   // bytes taken; 1 for a bad byte
  bool is_valid = false;  // false: text[at] begins nothing valid
};

// Precondition: at < text.size().
CodePoint code_point_at(std::string_view text, std::size_t at);

}  // namespace base::internal
