#include "policy/default_policy.h"

#include "base/assert.h"

namespace policy {

using model::ClassId;
using model::Kind;
using model::Order;
using model::PolicySet;
using model::Preemptible;
using model::Reclaimable;
using model::Strategy;
using model::WorkloadClass;

std::vector<WorkloadClass> default_classes() {
  WorkloadClass inference{.id = ClassId{1}, .name = "inference", .priority = 400};
  inference.reclaimable = Reclaimable::Never;
  inference.preemptible = Preemptible::Never;
  inference.min_runtime = base::Duration{};
  inference.strategy = Strategy::Spread;
  inference.retries = 1'000'000;

  WorkloadClass notebook{.id = ClassId{2}, .name = "notebook", .priority = 300};
  notebook.reclaimable = Reclaimable::Never;
  notebook.preemptible = Preemptible::Never;
  notebook.order = Order::Fifo;
  notebook.retries = 1;

  WorkloadClass training{.id = ClassId{3}, .name = "training", .priority = 200};
  training.retries = 5;

  WorkloadClass batch{.id = ClassId{4}, .name = "batch", .priority = 100};
  batch.reclaimable = Reclaimable::Always;
  batch.min_runtime = base::Duration{};
  batch.order = Order::Deadline;
  batch.retries = 3;

  return {inference, notebook, training, batch};
}

PolicySet default_policy() { return PolicySet{}; }

PolicySet fifo_policy() {
  PolicySet policy;
  policy.name = "fifo";
  policy.sharing = model::Sharing::OneLine;
  policy.order = Order::Fifo;
  policy.uses_class_priority = false;
  policy.allows_reclaim = false;
  policy.allows_preemption = false;
  return policy;
}

PolicySet priority_policy() {
  PolicySet policy;
  policy.name = "priority";
  policy.sharing = model::Sharing::OneLine;
  policy.order = Order::Priority;
  policy.allows_reclaim = false;
  return policy;
}

std::optional<PolicySet> policy_named(std::string_view name) {
  for (const PolicySet& policy : {default_policy(), fifo_policy(), priority_policy()})
    if (policy.name == name) return policy;
  return std::nullopt;
}

std::string_view default_class_of(Kind kind) {
  switch (kind) {
    case Kind::InferenceService:
      return "inference";
    case Kind::Notebook:
      return "notebook";
    case Kind::BatchInference:
      return "batch";
    case Kind::TrainingJob:
    case Kind::Workload:
      return "training";
  }
  ASSERT(false);
  return {};
}

}  // namespace policy
