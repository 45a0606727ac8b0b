#pragma once
// What callers ask for. Every command is answered exactly once, after the commit that contains its
// effect or its refusal; an accepted answer is durable.

#include <functional>
#include <string>
#include <variant>

#include "base/result.h"
#include "controller/identity.h"
#include "manifest/document.h"
#include "model/explanation.h"
#include "model/ids.h"
#include "model/node.h"

namespace controller {

struct Apply {  // define or submit what one document says
  manifest::Document document;
  std::string request_key;  // Idempotency-Key; the same key gives the same workload again
  bool is_dry_run = false;
};
struct Cancel {
  model::WorkloadId workload;
};
struct Hold {
  model::WorkloadId workload;
};
struct Release {
  model::WorkloadId workload;
};
struct SetNodeCondition {  // cordon, uncordon, drain
  std::string node;
  model::NodeCondition condition = model::NodeCondition::Ready;
  std::string note;
};

struct Command {
  std::variant<Apply, Cancel, Hold, Release, SetNodeCondition> body;
  Caller caller;
};

enum class Action { Created, Configured, Unchanged, Accepted };

struct Reply {
  Action action = Action::Accepted;
  std::string kind;                         // "TrainingJob", "Queue", …
  std::string name;                         // of the thing
  model::WorkloadId workload;               // of a submitted or addressed workload
  model::Sequence sequence;                 // of its last event; 0 for a dry run
  std::optional<model::Explanation> would;  // dry run of a workload: what would be decided
};

using Answer = std::function<void(base::Result<Reply>)>;

}  // namespace controller
