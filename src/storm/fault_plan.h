#pragma once
// Which passage of which fault point is hit: a pure function of the seed, the point and the number
// of the passage, so that taking one hit away does not move the others. Counts what is passed and
// hit, and in which situations.
//
// Throws Killed where the controller's process dies; World catches it. Thread contract: installed
// for, and used by, the one thread of a run.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "platform/fault_point.h"
#include "storm/scenario.h"
#include "storm/swarm.h"

namespace storm {

// The process of the controller ends here. Not a std::exception, so that nobody takes it for one.
struct Killed {
  std::string point;
};

// By row of the catalogue.
struct Coverage {
  std::vector<std::int64_t> passages, hits;
  std::vector<std::int64_t> situations;          // bits of Situation at hits
  std::map<std::string, std::int64_t> unlisted;  // points without a row
  void add(const Coverage& other);
  bool operator==(const Coverage&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "passages", self.passages);
    visit(2, "hits", self.hits);
    visit(3, "situations", self.situations);
    visit(4, "unlisted", self.unlisted);
  }
};

class FaultPlan final : public platform::FaultDecider {
 public:
  // `situation` gives the present bits; called at hits only.
  FaultPlan(const Scenario& scenario, const Swarm& swarm, std::function<std::int64_t()> situation);

  bool decides_to_fail(std::string_view name) override;
  // The same for storm's own points; never throws.
  bool twists(std::string_view name);
  // A number in [low, high] for the hit that twists() or happens() just gave.
  std::int64_t amount(std::int64_t low, std::int64_t high);
  // An action of the script that is a fault happens.
  void happens(std::string_view name);

  // From now on no fault happens.
  void stop() { is_stopped_ = true; }
  bool is_stopped() const { return is_stopped_; }
  std::int64_t hits() const { return hit_count_; }
  // Those of points; not the happenings of the script, which are listed as actions.
  const std::set<Hit>& hits_made() const { return hits_made_; }
  const Coverage& coverage() const { return coverage_; }

 private:
  // True when this passage is hit; counts it.
  bool pass(std::size_t row);
  std::uint64_t number_of(std::size_t row, std::int64_t passage, std::uint64_t purpose) const;

  base::Seed seed_;
  std::vector<std::int32_t> rates_;
  std::optional<std::set<Hit>> only_;
  std::function<std::int64_t()> situation_;
  Coverage coverage_;
  std::set<Hit> hits_made_;
  Hit last_{0, 0};
  std::int64_t hit_count_ = 0, kills_ = 0;
  std::uint64_t amounts_ = 0;
  bool is_stopped_ = false;
};

}  // namespace storm
