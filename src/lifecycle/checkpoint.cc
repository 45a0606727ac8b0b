#include "lifecycle/checkpoint.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/codec.h"
#include "lifecycle/internal/checkpoint_entry.h"

namespace lifecycle {

namespace {

using base::Code;
using base::Result;
using internal::Entry;
using internal::StoredDeviceUse;
using internal::StoredNode;
using internal::StoredPool;
using internal::StoredQueue;
using internal::StoredState;
using internal::StoredWorkload;
using model::State;

// What the bytes begin with; the last character is the version of everything but the fields.
constexpr std::string_view kMagic = "berth-checkpoint-1";
constexpr std::size_t kChecksumSize = 8;

// FNV-1a, 64 bits. Each step is a bijection of the sum so far, so a single damaged byte always
// shows; it is no defence against somebody who wants to deceive.
std::uint64_t checksum_of(std::string_view bytes) {
  std::uint64_t sum = 0xCBF29CE484222325ULL;
  for (const char c : bytes) {
    sum ^= static_cast<unsigned char>(c);
    sum *= 0x100000001B3ULL;
  }
  return sum;
}

std::string text_of(std::uint64_t sum) {
  std::string bytes;
  for (std::size_t i = 0; i < kChecksumSize; ++i)
    bytes.push_back(static_cast<char>(sum >> (8 * i) & 0xFF));
  return bytes;
}

// ---- to what is stored ----
// The structured bindings count the members of each record: one that is added to the model does not
// compile here until it is stored too.

StoredDeviceUse stored(const model::DeviceUse& use) {
  const auto& [milli, memory, secured_milli, secured_memory, occupants] = use;
  StoredDeviceUse out{milli, memory, secured_milli, secured_memory, {}};
  for (const model::Occupant& occupant : occupants) {
    [[maybe_unused]] const auto& [attempt, rank, part, bytes, start, length] = occupant;
    out.occupants.push_back({occupant});
  }
  return out;
}

StoredNode stored(const model::NodeRecord& record) {
  const auto& [node, used, secured, devices, attempts, claims] = record;
  StoredNode out{node, used, secured, {}, attempts, claims};
  for (const model::DeviceUse& use : devices)
    out.devices.push_back(stored(use));
  return out;
}

StoredPool stored(const model::PoolRecord& record) {
  [[maybe_unused]] const auto& [pool, path, children, nodes, shapes] = record;
  return {record};
}

StoredQueue stored(const model::QueueRecord& record) {
  [[maybe_unused]] const auto& [queue, path, children, held, claimed, pending] = record;
  return {record};
}

StoredWorkload stored(const model::WorkloadRecord& record) {
  [[maybe_unused]] const auto& [workload, phase, is_held, is_cancel_requested, attempts,
                                eligible_at, queued_since, failures, evictions, evicted_by,
                                wait_reason, claim, claim_allowed_at, ask, finished] = record;
  return {record};
}

StoredState stored(const State& state) {
  const auto& [pools, nodes, queues, classes, workloads, claims, topologies, resources, policy,
               requests, mix, pool_by_name, node_by_name, queue_by_name, class_by_name,
               workload_by_name, workload_by_request_key, held, free, secured, finished,
               last_sequence, now, epoch, next_workload, next_claim, next_node] = state;
  StoredState out{.last_sequence = last_sequence,
                  .now = now,
                  .epoch = epoch,
                  .next_workload = next_workload,
                  .next_claim = next_claim,
                  .next_node = next_node,
                  .policy = policy,
                  .claims = claims,
                  .topologies = topologies,
                  .resources = resources,
                  .pool_by_name = pool_by_name,
                  .node_by_name = node_by_name,
                  .queue_by_name = queue_by_name,
                  .class_by_name = class_by_name,
                  .workload_by_name = {},
                  .workload_by_request_key = workload_by_request_key,
                  .held = held,
                  .free = free,
                  .secured = secured,
                  .finished = {},
                  .mix = mix,
                  .requests = requests};
  for (const auto& [key, workload] : workload_by_name)
    out.workload_by_name.push_back({key.first, key.second, workload});
  for (const auto& [at, workload] : finished)
    out.finished.push_back({at, workload});
  return out;
}

// ---- and back ----

void restore(State& state, StoredState&& from) {
  state.last_sequence = from.last_sequence;
  state.now = from.now;
  state.epoch = from.epoch;
  state.next_workload = from.next_workload;
  state.next_claim = from.next_claim;
  state.next_node = from.next_node;
  state.policy = std::move(from.policy);
  state.mix = std::move(from.mix);
  state.requests = std::move(from.requests);
  state.claims = std::move(from.claims);
  state.topologies = std::move(from.topologies);
  state.resources = std::move(from.resources);
  state.pool_by_name = std::move(from.pool_by_name);
  state.node_by_name = std::move(from.node_by_name);
  state.queue_by_name = std::move(from.queue_by_name);
  state.class_by_name = std::move(from.class_by_name);
  for (auto& entry : from.workload_by_name)
    state.workload_by_name.emplace(std::pair{entry.queue, std::move(entry.name)}, entry.workload);
  state.workload_by_request_key = std::move(from.workload_by_request_key);
  state.held = std::move(from.held);
  state.free = std::move(from.free);
  state.secured = std::move(from.secured);
  for (const auto& entry : from.finished)
    state.finished.emplace(entry.at, entry.workload);
}

model::NodeRecord restored(StoredNode&& from) {
  model::NodeRecord record{std::move(from.node),     std::move(from.used),
                           std::move(from.secured),  {},
                           std::move(from.attempts), std::move(from.claims)};
  for (StoredDeviceUse& use : from.devices) {
    model::DeviceUse& out = record.devices.emplace_back();
    out.milli = use.milli;
    out.memory = use.memory;
    out.secured_milli = use.secured_milli;
    out.secured_memory = use.secured_memory;
    for (const model::Occupant& occupant : use.occupants)
      out.occupants.push_back(occupant);
  }
  return record;
}

// Ids of a kind ascend, so a repeated or missing id cannot reach the table.
template <class Id, class T>
bool put(base::DenseTable<Id, T>& table, Id id, T&& value) {
  if (id < table.next_id()) return false;
  table.insert(id, std::move(value));
  return true;
}

bool put_entry(State& state, Entry&& entry) {
  struct Visitor {
    State& state;
    bool operator()(StoredPool& pool) {
      const model::PoolId id = pool.pool.id;
      return put(state.pools, id, static_cast<model::PoolRecord&&>(pool));
    }
    bool operator()(StoredQueue& queue) {
      const model::QueueId id = queue.queue.id;
      return put(state.queues, id, static_cast<model::QueueRecord&&>(queue));
    }
    bool operator()(model::WorkloadClass& workload_class) {
      const model::ClassId id = workload_class.id;
      return put(state.classes, id, std::move(workload_class));
    }
    bool operator()(StoredNode& node) {
      const model::NodeId id = node.node.id;
      return id < state.next_node && put(state.nodes, id, restored(std::move(node)));
    }
    bool operator()(StoredWorkload& workload) {
      const model::WorkloadId id = workload.workload.id;
      return id < state.next_workload &&
             put(state.workloads, id, static_cast<model::WorkloadRecord&&>(workload));
    }
  };
  return std::visit(Visitor{state}, entry.body);
}

template <class Table>
void append_entries(base::Encoder& encoder, const Table& table) {
  table.each([&encoder](auto, const auto& record) {
    if constexpr (base::Record<std::remove_cvref_t<decltype(record)>>)
      encoder.record(Entry{record});
    else
      encoder.record(Entry{stored(record)});
  });
}

}  // namespace

std::string encode_checkpoint(const State& state) {
  std::string bytes(kMagic);
  bytes.append(kChecksumSize, '\0');
  base::Encoder encoder(bytes);
  encoder.record(stored(state));
  append_entries(encoder, state.pools);
  append_entries(encoder, state.queues);
  append_entries(encoder, state.classes);
  append_entries(encoder, state.nodes);
  append_entries(encoder, state.workloads);
  const std::size_t begin = kMagic.size() + kChecksumSize;
  bytes.replace(kMagic.size(), kChecksumSize,
                text_of(checksum_of(std::string_view(bytes).substr(begin))));
  return bytes;
}

Result<State> decode_checkpoint(std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    return base::fail(Code::DataLoss, "not a checkpoint of this version: it does not begin with {}",
                      kMagic);
  bytes.remove_prefix(kMagic.size());
  const std::string_view written_sum = bytes.substr(0, kChecksumSize);
  bytes.remove_prefix(written_sum.size());
  if (written_sum != text_of(checksum_of(bytes)))
    return base::fail(Code::DataLoss, "damaged checkpoint: its checksum is another");
  base::Decoder decoder(bytes);
  StoredState one_of_a_kind;
  decoder.record(one_of_a_kind);
  State state;
  if (!decoder.is_faulty()) restore(state, std::move(one_of_a_kind));
  while (!decoder.is_faulty() && !decoder.is_at_end()) {
    const std::size_t at = decoder.position();
    Entry entry;
    decoder.record(entry);
    if (decoder.is_faulty()) break;
    if (!put_entry(state, std::move(entry)))
      return base::fail(Code::DataLoss, "damaged checkpoint: an id out of order at byte {}", at);
  }
  if (decoder.is_faulty())
    return base::fail(Code::DataLoss, "damaged checkpoint: {}", decoder.fault());
  return state;
}

}  // namespace lifecycle
