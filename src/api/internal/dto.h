#pragma once
// Values of State as the JSON objects of openapi.yaml. Everything is appended to a text; names
// stand where State has ids, and what State has forgotten shows as its number.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/loop_port.h"
#include "base/instant.h"
#include "controller/command.h"
#include "governance/language.h"
#include "model/event.h"
#include "model/explanation.h"
#include "model/state.h"

namespace api {

enum class Detail { Summary, Full };  // what a list shows, what one thing shows

void append_workload(std::string& out, const model::State& state,
                     const model::WorkloadRecord& record, Detail detail);
void append_attempt(std::string& out, const model::State& state, const model::Attempt& attempt);

// Unfinished workloads of a queue and those below it.
struct QueueCount {
  std::int64_t pending = 0;
  std::int64_t active = 0;  // with a live attempt
};
using QueueCounts = std::map<model::QueueId, QueueCount>;
QueueCounts count_by_queue(const model::State& state);  // O(workloads)
void append_queue(std::string& out, const model::State& state, const model::QueueRecord& record,
                  const QueueCounts& counts);

void append_pool(std::string& out, const model::State& state, const model::PoolRecord& record);
void append_class(std::string& out, const model::WorkloadClass& workload_class);
void append_node(std::string& out, const model::State& state, const model::NodeRecord& record,
                 const NodeUse& real, Detail detail);
// `index` is in range; `real` is what the device does now, nothing where it is not measured.
void append_device(std::string& out, const model::State& state, const model::NodeRecord& record,
                   std::int32_t index, const std::optional<devices::DeviceSample>& real,
                   Detail detail);
void append_event(std::string& out, const model::Event& event);
// `now` is the reader's, for the distances in its words.
void append_explanation(std::string& out, const model::State& state,
                        const model::Explanation& explanation, governance::Language language,
                        base::Instant now);
// `state` is needed for the explanation of a dry run; null where there is none.
void append_applied(std::string& out, const controller::Reply& reply, const model::State* state,
                    base::Instant now);

// "16" cores, "128Gi", "0.5" devices: an amount of one resource for people.
std::string amount_text(model::ResourceId resource, std::int64_t amount);
// Empty for Reason::None.
std::string_view reason_text(model::Reason reason);
// Device charge: the largest over the pools, because a charge counts in the leaf pool and in each
// of its ancestors.
std::int64_t device_charge(const model::Usage& usage);

std::string pool_name(const model::State& state, model::PoolId pool);
std::string queue_name(const model::State& state, model::QueueId queue);
std::string node_name(const model::State& state, model::NodeId node);

}  // namespace api
