#pragma once
// The text of openapi.yaml, part of the program.

#include <string_view>

namespace api {

std::string_view openapi_text();

}  // namespace api
