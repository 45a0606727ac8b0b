// Bytes as a journal record: whatever arrives, decoding ends with a value or an Error, and what was
// decoded encodes to bytes that decode to the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/codec.h"
#include "base/json_text.h"
#include "lifecycle/checkpoint.h"
#include "model/event.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto event = base::decode<model::Event>(bytes)) {
    const std::string encoded = base::encode(*event);
    const auto again = base::decode<model::Event>(encoded);
    ASSERT(again.has_value() && base::encode(*again) == encoded);
    ASSERT(!base::to_json(*event).empty());
  }
  if (const auto state = lifecycle::decode_checkpoint(bytes)) {
    const std::string encoded = lifecycle::encode_checkpoint(*state);
    const auto again = lifecycle::decode_checkpoint(encoded);
    ASSERT(again.has_value() && lifecycle::encode_checkpoint(*again) == encoded);
  }
  return 0;
}
