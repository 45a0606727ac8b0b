#pragma once
// The shipped rules, all of them data: four classes and three policies. An installation starts with
// the classes and `default`; `fifo` and `priority` are what simulations compare it with.

#include <optional>
#include <string_view>
#include <vector>

#include "model/policy_set.h"
#include "model/workload.h"
#include "model/workload_class.h"

namespace policy {

// inference, notebook, training, batch, with ids 1..4.
std::vector<model::WorkloadClass> default_classes();

model::PolicySet default_policy();
// One line by submission; nothing is ever taken back.
model::PolicySet fifo_policy();
// One line by class priority, then age; a higher class may preempt.
model::PolicySet priority_policy();
// By name; nothing for an unknown one.
std::optional<model::PolicySet> policy_named(std::string_view name);

// The class that a manifest of this kind means when it names none.
std::string_view default_class_of(model::Kind kind);

}  // namespace policy
