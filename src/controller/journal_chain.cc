#include "controller/journal_chain.h"

#include "base/assert.h"
#include "platform/sha256.h"

namespace controller {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

ChainLink next_link(const ChainLink& previous, std::string_view bytes) {
  std::string both;
  both.reserve(previous.size() + bytes.size());
  both.append(reinterpret_cast<const char*>(previous.data()), previous.size());
  both.append(bytes);
  const std::string hex = platform::sha256_hex(both);
  ChainLink link{};
  ASSERT(hex.size() == link.size() * 2);
  for (std::size_t i = 0; i < link.size(); ++i)
    link[i] =
        static_cast<unsigned char>(kDigits.find(hex[2 * i]) << 4 | kDigits.find(hex[2 * i + 1]));
  return link;
}

std::string to_hex(const ChainLink& link) {
  std::string hex;
  hex.reserve(link.size() * 2);
  for (const unsigned char byte : link) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace controller
