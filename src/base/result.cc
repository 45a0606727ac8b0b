#include "base/result.h"

#include "base/assert.h"

namespace base {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::InvalidArgument:
      return "InvalidArgument";
    case Code::NotFound:
      return "NotFound";
    case Code::AlreadyExists:
      return "AlreadyExists";
    case Code::Conflict:
      return "Conflict";
    case Code::FailedPrecondition:
      return "FailedPrecondition";
    case Code::Unauthenticated:
      return "Unauthenticated";
    case Code::PermissionDenied:
      return "PermissionDenied";
    case Code::TooLarge:
      return "TooLarge";
    case Code::Exhausted:
      return "Exhausted";
    case Code::Unavailable:
      return "Unavailable";
    case Code::DataLoss:
      return "DataLoss";
    case Code::Unsupported:
      return "Unsupported";
    case Code::Internal:
      return "Internal";
  }
  ASSERT(false);
  return {};
}

std::string to_text(const Error& error) {
  std::string text;
  if (!error.field.empty()) text += error.field + ": ";
  text += error.message;
  if (!error.hint.empty()) text += " (" + error.hint + ")";
  return text;
}

}  // namespace base
