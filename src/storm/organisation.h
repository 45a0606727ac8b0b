#pragma once
// A random organisation, small and in need: pools, classes, tenants with teams and quotas, nodes of
// several kinds, and the work that its people ask for. Everything as the documents and reports that
// the product takes, so that it goes through the same checks as what people write.
//
// The same seed and swarm give the same organisation. Values of later requests (a changed quota,
// another workload) are drawn from the Random that the caller gives.

#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "controller/cluster_backend.h"
#include "manifest/document.h"
#include "storm/swarm.h"

namespace storm {

class Organisation {
 public:
  Organisation(const Scenario& scenario, const Swarm& swarm);

  // Pools, topology, classes, policy and queues, in the order in which they may be applied.
  const std::vector<manifest::Document>& documents() const { return documents_; }
  // As first defined; what the end of a run goes back to.
  const std::vector<manifest::Document>& queue_documents() const { return queue_documents_; }
  const std::vector<controller::NodeReport>& nodes() const { return nodes_; }

  controller::NodeReport random_node(std::int64_t number, base::Random& random) const;
  manifest::Document random_work(std::int64_t number, base::Instant now,
                                 base::Random& random) const;
  manifest::Document random_quota(base::Random& random) const;  // of a leaf queue
  manifest::Document zero_quota(base::Random& random) const;
  manifest::Document random_policy(base::Random& random) const;
  manifest::Document random_class(base::Random& random) const;

 private:
  void make_pools(base::Random& random);
  void make_classes(base::Random& random);
  void make_queues(base::Random& random);
  manifest::Document random_queue(const std::string& path, bool is_leaf,
                                  base::Random& random) const;
  void shape_group(model::TaskGroup& group, base::Random& random) const;
  model::DeviceRequest random_request(base::Random& random) const;
  void constrain(manifest::WorkloadDocument& work, base::Instant now, base::Random& random) const;

  Swarm swarm_;
  std::vector<std::string> pools_, leaf_pools_, leaf_queues_, classes_;
  std::vector<manifest::Document> documents_, queue_documents_;
  std::vector<controller::NodeReport> nodes_;
};

}  // namespace storm
