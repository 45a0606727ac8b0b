#pragma once
// Rules that say how good a node is for one member: model::PlacementRule as code. A rule is a pure
// function of what is free on the node and of what is asked; whether the member fits is tested
// before and elsewhere, the same for all rules. Integers only. Thread contract: immutable.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/policy_set.h"
#include "model/request_mix.h"

namespace scheduling::internal {

// What is free on a node, as far as a rule may look.
struct ScoredNode {
  std::int64_t cpu = 0;                   // milli-cores
  std::int64_t milli = 0;                 // sum over `devices`
  std::int32_t model = -1;                // index in ScoreScale::models; -1: no device, or several
  std::uint32_t sizes = 0;                // bit k: members of MemberSizes[k] are here
  std::span<const std::int16_t> devices;  // milli of each; 1000: whole and nobody's; 0: of no use
};

// What one member takes.
struct ScoredAsk {
  std::int64_t cpu = 0;
  std::int32_t devices = 0;    // 0: none
  std::int32_t milli = 0;      // of each device; 0: of what counts as of no use already
  std::uint32_t size() const;  // its bit in ScoredNode::sizes; 0: takes no device
};

// The device of which a part is best taken when a rule does not care: the one with the least free
// that is enough; -1: none.
std::int32_t tightest_device(std::span<const std::int16_t> devices, std::int32_t milli);

// What scores are measured by: the largest that a node of the pool has, and its device models.
struct ScoreScale {
  std::int64_t cpu = 1;
  std::int64_t milli = 1;
  std::vector<std::string> models;  // by name
};

// `score` is 0 or more, higher is better. `device`: of which a part is taken, where that matters to
// the rule; -1: the planner's own choice.
struct Score {
  std::int16_t score = 0;
  std::int32_t device = -1;
};

class ScoreRule {
 public:
  virtual ~ScoreRule() = default;
  // What the node is worth to the rule as it stands; handed to score() of the same node.
  virtual std::int64_t worth(const ScoredNode& node) const;
  // The member fits on the node.
  virtual Score score(const ScoredNode& node, std::int64_t worth, const ScoredAsk& ask) const = 0;
};

std::unique_ptr<const ScoreRule> make_score_rule(model::PlacementRule rule,
                                                 const model::RequestMix& mix,
                                                 const ScoreScale& scale);
// The two that read the mix.
std::unique_ptr<const ScoreRule> make_fragmentation_rule(const model::RequestMix& mix,
                                                         const ScoreScale& scale);
std::unique_ptr<const ScoreRule> make_value_rule(const model::RequestMix& mix,
                                                 const ScoreScale& scale);

}  // namespace scheduling::internal
