#include "governance/ledger.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/assert.h"

namespace governance {

namespace {

using base::Duration;
using base::Instant;
using model::Attempt;
using model::AttemptId;
using model::AttemptPhase;
using model::EndClass;
using model::NodeId;
using model::PoolId;
using model::State;
using model::WorkloadRecord;

constexpr std::int64_t kHour = 3'600'000;

constexpr std::int64_t hour_of(Instant t) {
  return t.millis / kHour - (t.millis % kHour < 0 ? 1 : 0);
}

// Splits [from, to) at the hours; `visit(hour, millis)`.
template <class Visit>
void each_hour(Instant from, Instant to, Visit&& visit) {
  while (from < to) {
    const std::int64_t hour = hour_of(from);
    const Instant next = std::min(to, Instant{(hour + 1) * kHour});
    visit(hour, (next - from).millis);
    from = next;
  }
}

// The hours that a window touches, the last one excluded.
struct HourRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
};
HourRange hours_of(const Window& window) {
  if (window.until == base::kNever) return {hour_of(window.from), hour_of(base::kNever) + 1};
  return {hour_of(window.from), hour_of(window.until - Duration{1}) + 1};
}

CapacityCounts scaled(const CapacityCounts& rate, std::int64_t millis) {
  return {.installed = rate.installed * millis,
          .allocated = rate.allocated * millis,
          .unallocated = rate.unallocated * millis,
          .down = rate.down * millis};
}

// Of one node now, in milli-devices. What is allocated stays allocated when its node is lost.
CapacityCounts rate_of(const model::NodeRecord& record) {
  CapacityCounts rate;
  const bool is_ready = record.node.condition == model::NodeCondition::Ready;
  for (std::size_t i = 0; i < record.devices.size(); ++i) {
    const std::int64_t used = record.devices[i].milli.value;
    ASSERT(used >= 0 && used <= 1000);
    const bool is_usable = is_ready && takes_new_work(record.node.devices[i].health);
    rate.installed += 1000;
    rate.allocated += used;
    (is_usable ? rate.unallocated : rate.down) += 1000 - used;
  }
  return rate;
}

// Taken back for somebody else; every other way to end is the workload's own or the machines'.
bool is_eviction(EndClass end_class) {
  return end_class == EndClass::Preempted || end_class == EndClass::Reclaimed ||
         end_class == EndClass::Rotated;
}

void count_end(UsageCounts& counts, EndClass end_class) {
  if (end_class == EndClass::Ok)
    ++counts.completed;
  else if (end_class == EndClass::Cancelled || end_class == EndClass::IdleStopped)
    ++counts.cancelled;
  else if (is_eviction(end_class))
    ++counts.evicted;
  else
    ++counts.failed;
}

// How long the attempt worked in vain, if it was evicted.
Duration lost_time(const WorkloadRecord& record, const Attempt& attempt, Instant at) {
  if (!is_eviction(attempt.end_class)) return {};
  const Duration worked = at - attempt.running_since.value_or(at);
  const std::int64_t every = record.workload.checkpoint.every.millis;
  return every > 0 ? Duration{worked.millis % every} : worked;
}

// The accounts of an attempt, each with the milli-devices that it is charged there.
template <class Share>
std::vector<Share> shares_of(const State& state, const WorkloadRecord& record,
                             const Attempt& attempt) {
  std::vector<Share> shares;
  std::int64_t total = 0;
  model::PoolId last;  // charges are sorted by pool; work without a device counts in its pool too
  for (const auto& charge : attempt.charge.amounts()) {
    const PoolId id = charge.dimension.pool;
    if (id == last) continue;
    last = id;
    const std::int64_t milli = attempt.charge.of({id, model::kDevice});
    const model::PoolRecord* pool = state.pools.find(id);
    if (pool != nullptr && pool->children.empty()) total += milli;
    shares.push_back({.key = {.by = UsageBy::Pool, .pool = id}, .milli = milli});
  }
  const model::Workload& workload = record.workload;
  for (const model::QueueId queue : state.queues.at(workload.queue).path)
    shares.push_back({.key = {.by = UsageBy::Queue, .queue = queue}, .milli = total});
  shares.push_back({.key = {.by = UsageBy::User, .user = workload.user}, .milli = total});
  shares.push_back(
      {.key = {.by = UsageBy::Class, .workload_class = workload.workload_class}, .milli = total});
  shares.push_back({.key = {.by = UsageBy::Kind, .kind = workload.kind}, .milli = total});
  return shares;
}

// The attempt of that id, the newest of its workload, or null.
const Attempt* newest(const State& state, AttemptId id) {
  const WorkloadRecord* record = state.workloads.find(id.workload);
  if (record == nullptr || record->attempts.empty()) return nullptr;
  const Attempt& attempt = record->attempts.back();
  return attempt.id == id ? &attempt : nullptr;
}

}  // namespace

UsageCounts& UsageCounts::operator+=(const UsageCounts& other) {
  allocated += other.allocated;
  lost += other.lost;
  waited_ms += other.waited_ms;
  started += other.started;
  completed += other.completed;
  failed += other.failed;
  cancelled += other.cancelled;
  evicted += other.evicted;
  return *this;
}

CapacityCounts& CapacityCounts::operator+=(const CapacityCounts& other) {
  installed += other.installed;
  allocated += other.allocated;
  unallocated += other.unallocated;
  down += other.down;
  return *this;
}

std::string key_text(const State& state, const UsageKey& key) {
  switch (key.by) {
    case UsageBy::Queue: {
      const auto* record = state.queues.find(key.queue);
      return record != nullptr ? record->queue.name : std::to_string(key.queue.value);
    }
    case UsageBy::Class: {
      const auto* record = state.classes.find(key.workload_class);
      return record != nullptr ? record->name : std::to_string(key.workload_class.value);
    }
    case UsageBy::Pool: {
      const auto* record = state.pools.find(key.pool);
      return record != nullptr ? record->pool.name : std::to_string(key.pool.value);
    }
    case UsageBy::Kind:
      return std::string(base::name_of(key.kind));
    case UsageBy::User:
      return key.user;
  }
  ASSERT(false);
  return {};
}

Ledger::Ledger(const State& state) {
  state.nodes.each([&](NodeId id, const auto&) { count_node(state, id, state.now); });
  state.workloads.each([&](model::WorkloadId, const WorkloadRecord& record) {
    const Attempt* attempt = record.live_attempt();
    if (attempt == nullptr) return;
    auto& shares = live_[attempt->id] = shares_of<Share>(state, record, *attempt);
    for (const Share& share : shares) {
      Account& account = accounts_[share.key];
      account.since = state.now;
      account.rate += share.milli;
    }
  });
}

void Ledger::observe(const State& after, const model::Event& event) {
  if (const auto* seen = std::get_if<model::NodeSeen>(&event.body)) {
    count_node(after, seen->node.id, event.at);
  } else if (const auto* changed = std::get_if<model::NodeConditionChanged>(&event.body)) {
    count_node(after, changed->node, event.at);
  } else if (const auto* health = std::get_if<model::DeviceHealthChanged>(&event.body)) {
    count_node(after, health->node, event.at);
  } else if (const auto* ended = std::get_if<model::MembersEnded>(&event.body)) {
    const Attempt* attempt = newest(after, ended->attempt);
    if (attempt != nullptr && attempt->phase == AttemptPhase::Ended) end(after, *attempt, event.at);
  } else if (const auto* decided = std::get_if<model::Decided>(&event.body)) {
    const auto* started = std::get_if<model::Start>(&decided->decision.body);
    if (started == nullptr) return;
    // A start of what did not wait any more changed nothing.
    const Attempt* attempt = newest(after, started->attempt);
    if (attempt != nullptr && attempt->phase == AttemptPhase::Starting)
      start(after, *attempt, event.at);
  }
}

void Ledger::start(const State& state, const Attempt& attempt, Instant at) {
  const auto [entry, is_new] = live_.try_emplace(attempt.id);
  if (!is_new) return;
  const WorkloadRecord& record = state.workloads.at(attempt.id.workload);
  entry->second = shares_of<Share>(state, record, attempt);
  for (const Share& share : entry->second) {
    Account& account = accounts_[share.key];
    accrue(account, at);
    account.rate += share.milli;
    UsageCounts& counts = account.hours[hour_of(at)];
    ++counts.started;
    counts.waited_ms += std::max<std::int64_t>(0, (at - record.queued_since).millis);
  }
  count_nodes_of(state, attempt.placement, at);
}

void Ledger::end(const State& state, const Attempt& attempt, Instant at) {
  const auto entry = live_.find(attempt.id);
  if (entry == live_.end()) return;
  const WorkloadRecord& record = state.workloads.at(attempt.id.workload);
  const Duration lost = lost_time(record, attempt, at);
  for (const Share& share : entry->second) {
    Account& account = accounts_.at(share.key);
    accrue(account, at);
    account.rate -= share.milli;
    UsageCounts& counts = account.hours[hour_of(at)];
    counts.lost += share.milli * lost.millis;
    count_end(counts, attempt.end_class);
  }
  live_.erase(entry);
  count_nodes_of(state, attempt.placement, at);
}

void Ledger::count_node(const State& state, NodeId id, Instant at) {
  const model::NodeRecord* record = state.nodes.find(id);
  if (record == nullptr) return;
  NodeShare& share = nodes_[id];
  const auto add = [this, at](const NodeShare& part, std::int64_t sign) {
    for (const PoolId pool : part.path) {
      PoolAccount& account = pools_[pool];
      accrue(account, at);
      account.rate += scaled(part.rate, sign);
    }
  };
  add(share, -1);
  share = {.path = state.pools.at(record->node.pool).path, .rate = rate_of(*record)};
  add(share, +1);
}

void Ledger::count_nodes_of(const State& state, const model::Placement& placement, Instant at) {
  std::vector<NodeId> nodes;
  for (const auto& member : placement.members)
    nodes.push_back(member.node);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (const NodeId node : nodes)
    count_node(state, node, at);
}

// Nothing is written for time in which nothing was held, so idle accounts stay small.
void Ledger::accrue(Account& account, Instant to) {
  if (account.rate != 0)
    each_hour(account.since, to, [&account](std::int64_t hour, std::int64_t millis) {
      account.hours[hour].allocated += account.rate * millis;
    });
  account.since = to;
}

void Ledger::accrue(PoolAccount& account, Instant to) {
  if (account.rate.installed != 0)
    each_hour(account.since, to, [&account](std::int64_t hour, std::int64_t millis) {
      account.hours[hour] += scaled(account.rate, millis);
    });
  account.since = to;
}

std::vector<UsageLine> Ledger::usage(UsageBy by, const Window& window, Instant now) const {
  const HourRange range = hours_of(window);
  std::vector<UsageLine> lines;
  for (auto entry = accounts_.lower_bound(UsageKey{.by = by});
       entry != accounts_.end() && entry->first.by == by; ++entry) {
    const Account& account = entry->second;
    UsageCounts sum;
    const auto last = account.hours.lower_bound(range.end);
    for (auto hour = account.hours.lower_bound(range.first); hour != last; ++hour)
      sum += hour->second;
    if (account.rate != 0)
      each_hour(account.since, now, [&](std::int64_t hour, std::int64_t millis) {
        if (hour >= range.first && hour < range.end) sum.allocated += account.rate * millis;
      });
    if (!(sum == UsageCounts{})) lines.push_back({entry->first, sum});
  }
  return lines;
}

std::vector<CapacityLine> Ledger::capacity(const Window& window, Instant now) const {
  const HourRange range = hours_of(window);
  std::vector<CapacityLine> lines;
  for (const auto& [pool, account] : pools_) {
    CapacityCounts sum;
    const auto last = account.hours.lower_bound(range.end);
    for (auto hour = account.hours.lower_bound(range.first); hour != last; ++hour)
      sum += hour->second;
    each_hour(account.since, now, [&](std::int64_t hour, std::int64_t millis) {
      if (hour >= range.first && hour < range.end) sum += scaled(account.rate, millis);
    });
    if (!(sum == CapacityCounts{})) lines.push_back({pool, sum});
  }
  return lines;
}

}  // namespace governance
