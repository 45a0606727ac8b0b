#include "storm/script.h"

#include <algorithm>

#include "storm/fault_catalogue.h"

namespace storm {

namespace {

constexpr std::uint64_t kPurpose = 3;  // of the first act; the others have 13, 23

Deed deed_of(const Swarm& swarm, base::Random& random) {
  const auto kind = random.below(20);
  if (kind < 15) return Deed::Submit;
  if (kind < 17) return Deed::Cancel;
  if (kind == 19) return Deed::AskDryRun;
  if (!swarm.has_holds) return Deed::Submit;
  return kind == 17 ? Deed::Hold : Deed::Release;
}

// A happening drawn by the weights that the swarm gives; empty when all are off.
std::string_view happening_of(const Swarm& swarm, base::Random& random) {
  std::int64_t sum = 0;
  const auto is_in = [&swarm](std::size_t row) {
    return fault_catalogue()[row].kind == FaultKind::Happening && swarm.rates[row] > 0;
  };
  for (std::size_t i = 0; i < fault_catalogue().size(); ++i)
    if (is_in(i)) sum += swarm.rates[i];
  if (sum == 0) return {};
  auto at = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(sum)));
  for (std::size_t i = 0; i < fault_catalogue().size(); ++i) {
    if (!is_in(i)) continue;
    at -= swarm.rates[i];
    if (at < 0) return fault_catalogue()[i].name;
  }
  return {};
}

void add_act(std::int64_t act, const Scenario& scenario, const Swarm& swarm,
             std::vector<Action>& actions) {
  base::Random random =
      base::Random(scenario.seed).fork(kPurpose + 10 * static_cast<std::uint64_t>(act - 1));
  const std::int64_t millis = base::minutes(scenario.minutes).millis;
  const auto add = [&](Deed deed, std::string_view fault) {
    actions.push_back({.number = 0,
                       .after = base::Duration{(act - 1) * millis + random.between(0, millis)},
                       .deed = deed,
                       .fault = fault,
                       .seed = base::Seed{random.next()}});
  };
  for (std::int64_t i = 0; i < swarm.submissions * 20 / 15; ++i)
    add(deed_of(swarm, random), {});
  for (std::int64_t i = 0; i < swarm.happenings; ++i) {
    const std::string_view fault = happening_of(swarm, random);
    if (!fault.empty()) add(Deed::Fault, fault);
  }
}

}  // namespace

std::vector<Action> script_of(const Scenario& scenario, const Swarm& swarm) {
  std::vector<Action> actions;
  for (std::int64_t act = 1; act <= kActs; ++act)
    add_act(act, scenario, swarm, actions);
  std::ranges::stable_sort(actions, {}, &Action::after);
  std::int64_t number = 0;
  for (Action& action : actions)
    action.number = ++number;
  if (scenario.actions)
    std::erase_if(actions, [&scenario](const Action& action) {
      return !scenario.actions->contains(action.number);
    });
  return actions;
}

}  // namespace storm
