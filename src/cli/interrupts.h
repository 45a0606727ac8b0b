#pragma once
// Ctrl-C and SIGTERM as something a verb can wait for, instead of the end of the process. While one
// of these lives, a signal sets a flag that ends calls to the server in flight and wakes wait().
// At most one at a time in a process.

#include <atomic>

#include "base/instant.h"

namespace cli {

class Interrupts {
 public:
  Interrupts();
  ~Interrupts();  // what was installed before is installed again
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Raised by a signal, lowered by acknowledge().
  const std::atomic<bool>* flag() const;
  bool is_raised() const { return flag()->load(); }
  void acknowledge();
  // How many signals came so far.
  int count() const;
  // False: a signal came before the time was over.
  bool wait(base::Duration time);
};

}  // namespace cli
