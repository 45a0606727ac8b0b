#pragma once
// A manifest document as a value: what a person wrote, checked for everything that can be checked
// without State. Names of queues, pools and classes are still names; resolve() (manifest/resolve.h)
// turns them into ids against a State.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "model/node.h"
#include "model/policy_set.h"
#include "model/pool.h"
#include "model/queue.h"
#include "model/workload.h"
#include "model/workload_class.h"

namespace manifest {

// `workload` has no id, queue, class or pool ids yet.
struct WorkloadDocument {
  model::Workload workload;
  std::string queue;               // empty: the only queue, or "default"
  std::string class_name;          // empty: the default of the kind
  std::vector<std::string> pools;  // in order of preference; empty: every pool
  // Custom resources by name and group index, since ids need State.
  struct Custom {
    std::int32_t group = 0;
    std::string resource;
    std::int64_t amount = 0;
    bool operator==(const Custom&) const = default;
  };
  std::vector<Custom> custom;
  bool operator==(const WorkloadDocument&) const = default;
};

struct QuotaRow {
  std::string pool;      // empty: the only pool
  std::string resource;  // "gpu", "cpu", "memory", or a custom name
  std::optional<std::int64_t> guarantee, lend, max;
  bool operator==(const QuotaRow&) const = default;
};

struct QueueDocument {
  model::Queue queue;  // name is the full path; no id, parent or quotas yet
  std::vector<QuotaRow> quotas;
  bool operator==(const QueueDocument&) const = default;
};

struct PoolDocument {
  model::Pool pool;  // no id or parent yet
  std::string parent;
  bool operator==(const PoolDocument&) const = default;
};

struct ClassDocument {
  model::WorkloadClass workload_class;
  bool operator==(const ClassDocument&) const = default;
};

struct PolicyDocument {
  model::PolicySet policy;
  bool operator==(const PolicyDocument&) const = default;
};

struct TopologyDocument {
  model::Topology topology;
  bool operator==(const TopologyDocument&) const = default;
};

struct Document {
  std::variant<WorkloadDocument, QueueDocument, PoolDocument, ClassDocument, PolicyDocument,
               TopologyDocument>
      body;
  std::string source;  // "train.yaml:12" of the document's first line, for messages
  bool operator==(const Document&) const = default;
};

}  // namespace manifest
