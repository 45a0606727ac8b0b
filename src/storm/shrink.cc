#include "storm/shrink.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "storm/isolation.h"
#include "storm/script.h"
#include "storm/swarm.h"

namespace storm {

namespace {

class Shrinker {
 public:
  Shrinker(Scenario scenario, std::int64_t most_trials,
           const std::function<void(const std::string&)>& seen)
      : best_(std::move(scenario)), most_trials_(most_trials), seen_(seen) {}

  Shrunk run() {
    const Outcome first = live_through_one(best_);
    label_ = first.violation;
    if (label_.empty()) return {.scenario = best_};
    name_everything(first);
    shorten();
    reduce("hits", &Scenario::hits);
    reduce("nodes", &Scenario::nodes);
    reduce("actions", &Scenario::actions);
    reduce("hits", &Scenario::hits);
    return {.scenario = best_,
            .violation = label_,
            .trials = trials_,
            .actions = best_.actions->size(),
            .hits = best_.hits->size(),
            .nodes = best_.nodes->size()};
  }

 private:
  bool still_fails(const Scenario& candidate) {
    if (trials_ >= most_trials_) return false;
    ++trials_;
    return live_through_one(candidate).violation == label_;
  }

  // What was left to the seed is written down, so that parts of it can be taken away. A process
  // that died told no hits; then they stay with the seed.
  void name_everything(const Outcome& first) {
    const Swarm swarm = swarm_of(best_);
    Scenario named = best_;
    if (!named.actions) {
      named.actions.emplace();
      for (const Action& action : script_of(best_, swarm))
        named.actions->insert(action.number);
    }
    if (!named.nodes) {
      named.nodes.emplace();
      for (std::int64_t node = 1; node <= swarm.nodes; ++node)
        named.nodes->insert(node);
    }
    if (!named.hits && !first.hits_made.empty()) {
      named.hits.emplace();
      for (std::size_t i = 0; i + 1 < first.hits_made.size(); i += 2)
        named.hits->insert({static_cast<std::size_t>(first.hits_made[i]), first.hits_made[i + 1]});
    }
    if (still_fails(named)) best_ = std::move(named);
  }

  // The end comes earlier: what is done afterwards goes in one piece.
  void shorten() {
    std::size_t keep = best_.actions->size();
    for (std::size_t step = keep / 2; step >= 1; step /= 2) {
      if (step > keep) continue;
      Scenario candidate = best_;
      auto from = candidate.actions->begin();
      std::advance(from, static_cast<std::ptrdiff_t>(keep - step));
      candidate.actions->erase(from, candidate.actions->end());
      if (!still_fails(candidate)) continue;
      best_ = std::move(candidate);
      keep = best_.actions->size();
      tell("actions");
    }
  }

  // ddmin over one list.
  template <class Item>
  void reduce(const char* what, std::optional<std::set<Item>> Scenario::* list) {
    std::size_t pieces = 1;  // all at once, first
    while ((best_.*list)->size() >= 1 && trials_ < most_trials_) {
      const std::vector<Item> items((best_.*list)->begin(), (best_.*list)->end());
      const std::size_t length = (items.size() + pieces - 1) / pieces;
      bool has_less = false;
      for (std::size_t from = 0; from < items.size() && !has_less; from += length) {
        Scenario candidate = best_;
        for (std::size_t i = from; i < std::min(from + length, items.size()); ++i)
          (candidate.*list)->erase(items[i]);
        if (!still_fails(candidate)) continue;
        best_ = std::move(candidate);
        has_less = true;
        tell(what);
      }
      if (has_less) {
        pieces = std::max<std::size_t>(pieces - 1, 2);
      } else {
        if (length == 1) break;
        pieces = std::min(pieces * 2, items.size());
      }
    }
  }

  void tell(const char* what) const {
    seen_(fmt::format("{:>4} trials: {} actions, {} hits, {} nodes (fewer {})", trials_,
                      best_.actions->size(), best_.hits->size(), best_.nodes->size(), what));
  }

  Scenario best_;
  std::int64_t most_trials_;
  const std::function<void(const std::string&)>& seen_;
  std::string label_;
  std::int64_t trials_ = 0;
};

}  // namespace

Shrunk shrink(const Scenario& scenario, std::int64_t most_trials,
              const std::function<void(const std::string&)>& seen) {
  return Shrinker(scenario, most_trials, seen).run();
}

}  // namespace storm
