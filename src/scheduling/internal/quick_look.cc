#include "scheduling/internal/quick_look.h"

#include <algorithm>

#include "scheduling/internal/placing.h"

namespace scheduling::internal {

using model::Reason;
using model::Workload;

namespace {

// A single member that fitted nowhere fits only where a node grew since.
bool fits_where_it_grew(const TrialWorld& world, const Workload& workload, PoolFacts& facts) {
  const auto& growth = world.view.pool(facts.pool).growth;
  std::optional<Request> request;
  const GlanceAsk ask = glance_ask(workload.groups.front());
  for (std::size_t i = *facts.failed_at; i < growth.size(); ++i) {
    if (!world.view.free_at(growth[i]).could_take(ask)) continue;
    const FreeNode& node = world.view.node(growth[i]);
    if (!request) request = request_for(world.state, world.policy, workload);
    if (place_member(world.state, node, *request, 0)) return true;
  }
  if (world.view.is_untouched()) facts.failed_at = growth.size();
  return false;
}

bool passes_quota_tests(const TrialWorld& world, const PoolFacts& facts) {
  return !facts.asks_unlent && std::ranges::all_of(facts.quota_tests, [&](const QuotaTest& test) {
    return world.quotas.held(test.queue, test.dimension) + test.need <= test.limit;
  });
}

}  // namespace

bool surely_no_room(const TrialWorld& world, const Workload& workload, std::int64_t need,
                    PoolFacts& facts) {
  if (facts.failed_in == world.plan) return true;
  if (surely_too_small(world.view, workload, facts.pool)) return true;
  if (!facts.failed_at) return false;
  if (workload.groups.size() == 1 && need == 1) return !fits_where_it_grew(world, workload, facts);
  // Several members may need several nodes together.
  if (*facts.failed_at == world.view.pool(facts.pool).growth.size()) return true;
  const Taker nobody{
      .workload = &workload, .record = nullptr, .ask = &facts.ask, .pool = facts.pool};
  return is_hopeless(world, nobody, need, {}, facts.room);
}

TakingLook look_at_taking(const TrialWorld& world, const Taker& taker, std::int64_t need,
                          PoolFacts& facts) {
  LosersEntry& entry = losers_entry(world, taker);
  const bool is_back_off = taker.record != nullptr && world.now < taker.record->claim_allowed_at;
  if (!is_back_off && !is_hopeless(world, taker, need, entry.losers.queues, facts.taking))
    return {.is_open = true, .failure = {}};
  return {.failure = taking_failure(world, taker, entry)};
}

std::optional<QuickNo> quick_look(const TrialWorld& world, const model::WorkloadRecord& head,
                                  EquivalenceClass& equals) {
  if (equals.could_fit < equals.need || equals.pools.empty()) return std::nullopt;
  QuickNo no{.reason = Reason::NotEnoughFree, .until = {}};
  for (PoolFacts& facts : equals.pools) {
    if (!passes_quota_tests(world, facts)) return std::nullopt;
    if (!surely_no_room(world, head.workload, equals.need, facts)) return std::nullopt;
    const Taker taker{
        .workload = &head.workload, .record = &head, .ask = &facts.ask, .pool = facts.pool};
    no.reason = Reason::NotEnoughFree;
    if (!may_take_back(world, taker)) continue;
    const TakingLook look = look_at_taking(world, taker, equals.need, facts);
    if (look.is_open) return std::nullopt;
    no.reason = look.failure.reason;
    if (look.failure.until)
      no.until = std::min(no.until.value_or(base::kNever), *look.failure.until);
  }
  return no;
}

}  // namespace scheduling::internal
