#pragma once
// ASSERT states what must be true if Berth itself is right. It is on in every build, release
// included, and is never used on input from outside: bad input gets a Result with an Error.
// A failed assertion prints the expression and its place to standard error and aborts; the journal
// makes the abort safe, because nothing uncommitted was ever acknowledged.

namespace base {

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace base

#define ASSERT(expression) \
  ((expression) ? static_cast<void>(0) : ::base::assertion_failed(#expression, __FILE__, __LINE__))
