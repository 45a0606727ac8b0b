#pragma once
// SHA-256, and a comparison whose time does not tell where two texts differ.

#include <string>
#include <string_view>

namespace platform {

std::string sha256_hex(std::string_view bytes);
// Time depends on the lengths only.
bool equals_in_constant_time(std::string_view a, std::string_view b);

}  // namespace platform
