#pragma once
// The seam to what runs members: one machine, a cluster, a simulation. A backend observes, starts
// and stops; it has no policy.
//
// Contract, checked by tests/backends for every implementation:
// - start and stop are idempotent by attempt id, return at once and report later by observations;
//   a start of an attempt that has already ended, or that was stopped before it began, starts
//   nothing and reports its end again.
// - An effect of an epoch older than the newest one seen is ignored.
// - Observations of one attempt arrive in their true order; one may be repeated, none is invented.
//   MembersEnded for a member means that nothing of it is left.
// - After a restart list() gives everything that exists or ended and was not forgotten yet.
// Thread contract: every method is called from the loop's thread; the sink may be called from any.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "model/attempt.h"
#include "model/ids.h"
#include "model/node.h"
#include "model/placement.h"
#include "model/workload.h"

namespace controller {

struct StartEffect {
  model::AttemptId attempt;
  model::Epoch epoch;
  model::Workload workload;
  std::string queue;  // full name, for the members' environment
  model::Placement placement;
  std::vector<std::string> node_names;  // parallel to placement.members
};

struct StopEffect {
  model::AttemptId attempt;
  model::Epoch epoch;
  base::Duration grace;           // from the stop signal to the kill
  std::string checkpoint_signal;  // sent first; empty: none
  base::Duration checkpoint_grace;
  model::EndClass end_class = model::EndClass::Cancelled;  // how a member ended by this is reported
};

// A node as the backend sees it; id and pool are not set, `pool` names one or is empty.
struct NodeReport {
  model::Node node;
  std::string pool;
};
struct NodeConditionReport {
  std::string node;
  model::NodeCondition condition = model::NodeCondition::Ready;
  std::string note;
};
struct DeviceHealthReport {
  std::string node;
  std::int32_t device = 0;
  model::Health health = model::Health::Ok;
  std::string note;
};
struct RunningReport {
  model::AttemptId attempt;
};
struct EndReport {
  model::AttemptId attempt;
  std::vector<model::MemberEnd> members;
};
using Observation =
    std::variant<NodeReport, NodeConditionReport, DeviceHealthReport, RunningReport, EndReport>;

// One attempt that exists in the backend.
struct AttemptReport {
  model::AttemptId attempt;
  bool is_running = false;              // every member was started
  std::vector<model::MemberEnd> ended;  // members that ended so far
};

struct LogRequest {
  model::AttemptId attempt;
  std::int32_t rank = 0;
  bool is_error_stream = false;
  std::int64_t offset = 0;  // bytes from the start; negative: that many before the end
  std::int64_t limit = 65536;
};
struct LogChunk {
  std::string bytes;
  std::int64_t offset = 0;  // of bytes[0]
  std::int64_t size = 0;    // of the whole log so far
};

using ObservationSink = std::function<void(Observation)>;

class ClusterBackend {
 public:
  virtual ~ClusterBackend() = default;

  virtual std::string_view name() const = 0;
  // Begin to observe; node reports for everything known follow at once through the sink.
  virtual void watch(ObservationSink sink) = 0;
  // A controller of this epoch takes over: from now on effects of older ones are ignored, also
  // those that are still under way. Nothing for a backend that no effect can reach late.
  virtual void fence(model::Epoch) {}
  virtual base::Result<std::vector<AttemptReport>> list() = 0;
  virtual void start(const StartEffect& effect) = 0;
  virtual void stop(const StopEffect& effect) = 0;
  // The end of this attempt is committed: the backend may drop its records. Logs are kept for the
  // backend's retention.
  virtual void forget(model::AttemptId attempt) = 0;
  // Code::NotFound when there is no such log (yet).
  virtual base::Result<LogChunk> read_log(const LogRequest& request) = 0;
};

}  // namespace controller
