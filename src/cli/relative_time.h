#pragma once
// Times for people: how long ago, or how far ahead. Tables show these; JSON has the absolute times.

#include <string>
#include <string_view>

#include "base/instant.h"

namespace cli {

// "0s", "5s", "3m", "2h10m", "4d3h" since `then`; "in 10m" when it is still to come.
std::string relative_time(base::Instant then, base::Instant now);
// The same for RFC 3339 text; empty for empty text, the text itself when it is not a time.
std::string relative_time(std::string_view then, base::Instant now);

}  // namespace cli
