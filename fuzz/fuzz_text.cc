// What people write for amounts, durations and instants: parsing is total, and what a parsed value
// is printed as parses back to it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/text.h"

namespace {

template <class T, class Parse, class Print>
void round_trip(std::string_view text, Parse parse, Print print) {
  const base::Result<T> value = parse(text);
  if (!value) {
    ASSERT(!value.error().message.empty());
    return;
  }
  const base::Result<T> again = parse(print(*value));
  ASSERT(again.has_value() && *again == *value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  round_trip<std::int64_t>(text, base::parse_bytes, base::print_bytes);
  round_trip<std::int64_t>(text, base::parse_milli, base::print_milli);
  round_trip<base::Duration>(text, base::parse_duration, base::print_duration);
  round_trip<base::Instant>(text, base::parse_instant, base::print_instant);
  static_cast<void>(base::parse_integer(text));
  static_cast<void>(base::check_name(text, "name"));
  if (base::is_utf8(text)) static_cast<void>(base::display_width(text));
  return 0;
}
