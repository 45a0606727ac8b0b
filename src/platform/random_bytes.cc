#include "platform/random_bytes.h"

#include <cerrno>
#include <string_view>

#include <sys/random.h>

#include "base/assert.h"

namespace platform {

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t filled = 0;
  while (filled < count) {
    const ssize_t got = ::getrandom(bytes.data() + filled, count - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    ASSERT(got > 0);  // a kernel without randomness cannot make secrets at all
    filled += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::string random_hex(std::size_t bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes * 2);
  for (const char c : random_bytes(bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace platform
