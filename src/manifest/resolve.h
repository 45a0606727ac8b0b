#pragma once
// A document against a State: names become ids, and what comes out is ready to be put into an
// event. An unknown name is Code::NotFound with the nearest known one. Whether the values make
// sense together (sums of guarantees, members above a max) is for policy/checks.h.

#include <variant>
#include <vector>

#include "base/result.h"
#include "manifest/document.h"
#include "model/event.h"
#include "model/state.h"

namespace manifest {

using Value = std::variant<model::Workload, model::Queue, model::Pool, model::WorkloadClass,
                           model::PolicySet, model::Topology>;

struct Resolved {
  Value value;
  // Custom resources that the State does not know yet; their events come first.
  std::vector<model::ResourceDefined> resources;
  // The value has the id of a thing that is there already and replaces it whole.
  bool is_replacement = false;
  bool operator==(const Resolved&) const = default;
};

// A new thing gets the next id of its table. A workload is always new; its user, submission time
// and request key are for the caller to add.
//
// A workload without a queue goes to the only leaf queue, else to "default"; without a class to
// that of its kind. A queue hangs below the queue that its path names, which must exist.
base::Result<Resolved> resolve(const Document& document, const model::State& state);

}  // namespace manifest
