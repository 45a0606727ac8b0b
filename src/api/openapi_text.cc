#include "api/internal/openapi_text.h"

// The assembler puts the file in, found through the include path of the sources.
asm(R"(
  .pushsection .rodata
  .global berth_openapi_begin
  .global berth_openapi_end
berth_openapi_begin:
  .incbin "api/openapi.yaml"
berth_openapi_end:
  .byte 0
  .popsection
)");

extern "C" {
extern const char berth_openapi_begin[];
extern const char berth_openapi_end[];
}

namespace api {

std::string_view openapi_text() {
  return {berth_openapi_begin, static_cast<std::size_t>(berth_openapi_end - berth_openapi_begin)};
}

}  // namespace api
