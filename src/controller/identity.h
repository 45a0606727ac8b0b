#pragma once
// The seam to who is calling. Deny is the default: an unknown or expired credential is
// Code::Unauthenticated, a known caller without the right is Code::PermissionDenied.
// Thread contract: authenticate may be called from any thread.

#include <string>
#include <string_view>

#include "base/result.h"

namespace controller {

enum class Role { Viewer, User, Operator, Admin };  // each may do what the ones before it may

struct Caller {
  std::string user;
  Role role = Role::Viewer;
};

class Identity {
 public:
  virtual ~Identity() = default;
  // `credential` is the value of the Authorization header, "Bearer …".
  virtual base::Result<Caller> authenticate(std::string_view credential) = 0;
};

}  // namespace controller
