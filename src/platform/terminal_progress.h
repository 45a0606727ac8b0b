#pragma once
// One line of progress on a terminal that draws over itself: what is done of what, and how long it
// may still take. On anything but a terminal it stays silent, so logs and pipes see nothing of it.
//
//   TerminalProgress progress("replay", total_events);
//   progress.update(events_done);   // cheap; draws at most ten times a second
//   progress.finish();
//
// Thread contract: one thread at a time.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/instant.h"

namespace platform {

// The line as text, exactly `width` columns or fewer: "replay  [#####     ]  50%  1200/2400  12s".
// `total` 0: how many there are is not known; then no bar and no percentage.
std::string progress_line(std::string_view what, std::int64_t done, std::int64_t total,
                          base::Duration passed, std::size_t width);

class TerminalProgress {
 public:
  // Draws on standard error when that is a terminal.
  TerminalProgress(std::string what, std::int64_t total);
  // For tests: `draw` gets what a terminal would; `clock` is time since any point.
  TerminalProgress(std::string what, std::int64_t total, std::function<void(std::string_view)> draw,
                   std::function<base::Duration()> clock);
  ~TerminalProgress();  // finish()
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void update(std::int64_t done);
  // Removes the line. Later updates draw nothing.
  void finish();

 private:
  std::string what_;
  std::int64_t total_;
  std::function<void(std::string_view)> draw_;  // empty: silent
  std::function<base::Duration()> clock_;
  base::Duration began_;
  base::Duration drawn_;
  bool has_drawn_ = false;
};

}  // namespace platform
