#include "platform/terminal_progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "platform/system_clock.h"

namespace platform {
namespace {

constexpr base::Duration kBetweenDraws = base::milliseconds(100);
constexpr std::size_t kTerminalWidth = 79;
constexpr std::string_view kClearLine = "\r\x1b[K";

std::function<void(std::string_view)> standard_error_if_terminal() {
  if (isatty(STDERR_FILENO) == 0) return {};
  return [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
}

}  // namespace

std::string progress_line(std::string_view what, std::int64_t done, std::int64_t total,
                          base::Duration passed, std::size_t width) {
  const std::string since = base::print_duration_short(base::seconds(passed.millis / 1000));
  if (total <= 0) {
    std::string line = fmt::format("{}  {}  {}", what, done, since);
    return line.size() > width ? line.substr(0, width) : line;
  }
  done = std::clamp<std::int64_t>(done, 0, total);
  // Of 128 bits, so that a total of any size does not overflow.
  const auto part = [&](std::int64_t of) {
    return static_cast<std::int64_t>(static_cast<__int128>(done) * of / total);
  };
  std::string tail = fmt::format("{:>3}%  {}/{}", part(100), done, total);
  if (done > 0 && done < total) {
    const auto left =
        static_cast<std::int64_t>(static_cast<__int128>(passed.millis) * (total - done) / done);
    tail += fmt::format("  {} left", base::print_duration_short(base::seconds(left / 1000)));
  } else {
    tail += "  " + since;
  }
  const std::size_t fixed = what.size() + tail.size() + 6;
  if (fixed + 10 > width) {
    std::string line = fmt::format("{}  {}", what, tail);
    return line.size() > width ? line.substr(0, width) : line;
  }
  const std::size_t bar = std::min<std::size_t>(40, width - fixed);
  const auto full = static_cast<std::size_t>(part(static_cast<std::int64_t>(bar)));
  return fmt::format("{}  [{}{}]  {}", what, std::string(full, '#'), std::string(bar - full, ' '),
                     tail);
}

TerminalProgress::TerminalProgress(std::string what, std::int64_t total)
    : TerminalProgress(std::move(what), total, standard_error_if_terminal(), steady_now) {}

TerminalProgress::TerminalProgress(std::string what, std::int64_t total,
                                   std::function<void(std::string_view)> draw,
                                   std::function<base::Duration()> clock)
    : what_(std::move(what)),
      total_(total),
      draw_(std::move(draw)),
      clock_(std::move(clock)),
      began_(clock_()),
      drawn_(began_) {}

TerminalProgress::~TerminalProgress() { finish(); }

void TerminalProgress::update(std::int64_t done) {
  if (!draw_) return;
  const base::Duration now = clock_();
  if (has_drawn_ && now - drawn_ < kBetweenDraws) return;
  has_drawn_ = true;
  drawn_ = now;
  draw_(fmt::format("{}{}", kClearLine,
                    progress_line(what_, done, total_, now - began_, kTerminalWidth)));
}

void TerminalProgress::finish() {
  if (draw_ && has_drawn_) draw_(kClearLine);
  draw_ = {};
}

}  // namespace platform
