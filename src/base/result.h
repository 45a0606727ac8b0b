#pragma once
// Result<T>: a value, or an Error that says what failed, which thing, and what to do about it.
// Only "the world failed" travels here. Infeasible and blocked are decisions (model/decision.h),
// and a mistake of our own is an ASSERT.
//
//   return fail(Code::Conflict, "node {} changed since version {}", node, version);
//   if (!bound) return tl::unexpected(bound.error());

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <tl/expected.hpp>

namespace base {

// The closed set of failures. The names are what REST's problem+json and the CLI show.
enum class Code {
  InvalidArgument,     // the request is malformed whatever the state is
  NotFound,            // the named thing does not exist
  AlreadyExists,       // the name is taken
  Conflict,            // the state moved since the caller looked
  FailedPrecondition,  // well formed, but not now
  Unauthenticated,     // no or wrong credentials
  PermissionDenied,    // known caller, not allowed
  TooLarge,            // a size, depth or count limit of the interface
  Exhausted,           // disk full, too many open files, out of budget
  Unavailable,         // a peer or file does not answer; trying again may help
  DataLoss,            // stored bytes are not what was written
  Unsupported,         // known, but this build or backend cannot do it
  Internal,            // none of the above
};
std::string_view code_name(Code code);

struct Error {
  Code code = Code::Internal;
  std::string message;  // what, which id; no trailing period
  std::string field;  // path of the offending field, "spec.replicas.min"; empty: not about a field
  std::string hint;   // the next step; empty: none known

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

// What a function returns that has nothing to say but success.
struct Done {
  bool operator==(const Done&) const = default;
};

template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(Code code, fmt::format_string<Args...> text,
                                         Args&&... args) {
  return tl::unexpected(Error{.code = code,
                              .message = fmt::format(text, std::forward<Args>(args)...),
                              .field = {},
                              .hint = {}});
}

// The same about one field of a document, with the remedy.
[[nodiscard]] inline tl::unexpected<Error> fail_field(Code code, std::string field,
                                                      std::string message, std::string hint = {}) {
  return tl::unexpected(Error{.code = code,
                              .message = std::move(message),
                              .field = std::move(field),
                              .hint = std::move(hint)});
}

// "field: message (hint)", for logs and terminals.
std::string to_text(const Error& error);

}  // namespace base
