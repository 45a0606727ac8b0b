#pragma once
// Quota rows with their defaults filled in, for every queue and governed dimension. Built from the
// queues of a State; rebuilt when a queue changes, which is rare. Immutable after construction.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "model/resources.h"
#include "model/state.h"

namespace policy {

struct QuotaTerms {
  std::int64_t guarantee = 0;
  std::int64_t lend = 0;
  std::optional<std::int64_t> max;  // nothing: unlimited
};

class QuotaTable {
 public:
  QuotaTable() = default;
  explicit QuotaTable(const model::State& state);

  // Zero guarantee, no max for a queue without a row.
  QuotaTerms of(model::QueueId queue, model::Dimension dimension) const;
  // Dimensions for which at least one queue has a row; sorted. Elsewhere only the nodes limit.
  const std::vector<model::Dimension>& governed() const { return governed_; }
  bool is_governed(model::Dimension dimension) const;
  // Whether some leaf queue keeps a part of its guarantee to itself.
  bool has_keepers(model::Dimension dimension) const;
  // Of all leaf queues together: what of their guarantees is not lent, in one dimension, beyond
  // what they hold; `own` is left out. `more` is what they hold beyond State, by queue and
  // dimension.
  using Holdings = std::map<std::pair<model::QueueId, model::Dimension>, std::int64_t>;
  std::int64_t kept_for_others(const model::State& state, model::QueueId own,
                               model::Dimension dimension, const Holdings& more) const;

 private:
  std::vector<model::Dimension> governed_;
  std::vector<std::vector<QuotaTerms>> terms_;  // parallel to governed_; by queue id - 1
  std::vector<std::pair<model::Dimension, model::QueueId>> keepers_;  // leaves with G > L, sorted
};

}  // namespace policy
