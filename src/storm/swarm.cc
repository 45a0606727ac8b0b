#include "storm/swarm.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/random.h"
#include "storm/fault_catalogue.h"

namespace storm {

namespace {

constexpr std::uint64_t kPurpose = 1;  // this stream of the seed
constexpr std::uint64_t kJournalPurpose = 6;

constexpr std::array<std::string_view, 6> kProfiles{"default", "calm",    "store",
                                                    "link",    "machine", "heavy"};

bool is_of_profile(FaultPart part, std::string_view profile) {
  if (profile == "calm") return part == FaultPart::Client;
  if (profile == "store")
    return part == FaultPart::Store || part == FaultPart::Controller || part == FaultPart::Client;
  if (profile == "link") return part == FaultPart::Link || part == FaultPart::Client;
  if (profile == "machine")
    return part == FaultPart::Machine || part == FaultPart::Device || part == FaultPart::Client;
  return true;
}

// A part is off in one run of four, and a fault of a part that is on in one of three.
void draw_faults(Swarm& swarm, std::string_view profile, base::Random& random) {
  const bool is_heavy = profile == "heavy";
  std::array<bool, 7> is_on{};
  for (bool& part : is_on)
    part = is_heavy || profile != "default" || !random.chance(1, 4);
  swarm.rates.assign(fault_catalogue().size(), 0);
  for (std::size_t i = 0; i < fault_catalogue().size(); ++i) {
    const FaultRow& row = fault_catalogue()[i];
    // Drawn for every row, so that what one profile leaves out does not shift the others.
    const bool is_drawn = random.chance(2, 3);
    const std::int64_t times = random.between(1, 3);
    const bool is_in = is_of_profile(row.part, profile) && (is_heavy || is_drawn) &&
                       is_on[static_cast<std::size_t>(row.part)];
    if (is_in)
      swarm.rates[i] =
          std::min<std::int32_t>(5000, row.rate * static_cast<std::int32_t>(is_heavy ? 3 : times));
  }
}

}  // namespace

std::span<const std::string_view> profile_names() { return kProfiles; }

Swarm swarm_of(const Scenario& scenario) {
  ASSERT(std::ranges::find(kProfiles, scenario.profile) != kProfiles.end());
  base::Random random = base::Random(scenario.seed).fork(kPurpose);
  Swarm swarm;
  for (bool* feature :
       {&swarm.has_shares, &swarm.has_slices, &swarm.has_gangs, &swarm.has_elastic,
        &swarm.has_groups, &swarm.has_constraints, &swarm.has_time_limits, &swarm.has_deadlines,
        &swarm.has_retries, &swarm.has_floor, &swarm.has_holds})
    *feature = random.chance(1, 2);
  swarm.has_quotas = !random.chance(1, 16);
  swarm.forgets_early = random.chance(1, 2);
  // One of the two at least: without taking back there is little to see.
  swarm.allows_reclaim = !random.chance(1, 12);
  swarm.allows_preemption = !swarm.allows_reclaim || !random.chance(1, 12);
  // Without quotas nothing is borrowed.
  if (!swarm.has_quotas) swarm.allows_preemption = true;
  swarm.nodes = random.between(4, 7);
  swarm.tenants = random.between(1, 3);
  swarm.submissions = (130 + swarm.nodes * random.between(14, 22)) * scenario.minutes / 180;
  swarm.happenings = random.between(30, 70) * scenario.minutes / 180;
  swarm.checkpoint_every_events = random.chance(1, 2) ? random.between(20, 300) : 100'000;
  swarm.step_budget = random.chance(1, 6) ? random.between(3, 40) : 0;
  swarm.start_delay = base::seconds(random.chance(1, 2) ? random.between(0, 8) : 0);
  swarm.stop_delay = base::seconds(random.chance(2, 3) ? random.between(0, 25) : 0);
  draw_faults(swarm, scenario.profile, random);
  // From a stream of its own. One in eight: such a run costs twice as much, and the rest of Berth
  // does not notice what the journal is on.
  const bool is_in_file = base::Random(scenario.seed).fork(kJournalPurpose).chance(1, 8);
  swarm.journal = scenario.journal.value_or(is_in_file ? JournalKind::Sqlite : JournalKind::Memory);
  return swarm;
}

}  // namespace storm
