#include "base/assert.h"

#include <cstdlib>
#include <string>

#include <unistd.h>

namespace base {

void assertion_failed(const char* expression, const char* file, int line) noexcept {
  // write(2) and not a stream: the heap or the streams may be what is broken.
  std::string text = std::string("assertion failed: ") + expression + " at " + file + ":" +
                     std::to_string(line) + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

}  // namespace base
