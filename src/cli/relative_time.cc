#include "cli/relative_time.h"

#include "base/text.h"

namespace cli {
namespace {

// Two units while they are small, whole seconds.
std::string span_text(base::Duration span) {
  const std::int64_t seconds = span.millis / 1000;
  return base::print_duration_short(base::seconds(seconds));
}

}  // namespace

std::string relative_time(base::Instant then, base::Instant now) {
  if (then == base::kNever) return "never";
  const base::Duration passed = now - then;
  if (passed.millis >= 0) return passed.millis < 1000 ? "0s" : span_text(passed);
  const base::Duration ahead = then - now;
  return ahead.millis < 1000 ? "now" : "in " + span_text(ahead);
}

std::string relative_time(std::string_view then, base::Instant now) {
  if (then.empty()) return "";
  const base::Result<base::Instant> parsed = base::parse_instant(then);
  return parsed ? relative_time(*parsed, now) : std::string(then);
}

}  // namespace cli
