#include "platform/sha256.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace platform {

std::string sha256_hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  std::string text;
  text.reserve(sizeof(digest) * 2);
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool equals_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace platform
