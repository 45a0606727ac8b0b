#pragma once
// Unpredictable bytes from the kernel, for secrets and ids that must not be guessed. Not for
// decisions: those use base::Random with a seed.

#include <cstddef>
#include <string>

namespace platform {

std::string random_bytes(std::size_t count);
// Lower-case hex text of so many random bytes: 16 bytes are 128 bits and 32 characters.
std::string random_hex(std::size_t bytes);

}  // namespace platform
