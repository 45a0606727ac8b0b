#pragma once
// Watches a simulation through what the controller commits and turns it into numbers: waits and
// completion times from the events, use of devices as exact integrals over virtual time, and
// fragmentation and entitlements from samples of the State at equal distances.
//
// Call order: observe() after each commit, sample() before time moves on, finish() once.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "model/event.h"
#include "model/state.h"
#include "policy/quota.h"
#include "simulator/fragmentation.h"
#include "simulator/results.h"
#include "simulator/time_series.h"

namespace simulator {

struct RecorderOptions {
  base::Instant start;  // of the first arrival
  base::Instant last_arrival;
  std::int64_t capacity_milli = 0;
  std::int64_t jobs = 0;  // that will be submitted
  std::vector<MemberKind> mix;
};

class Recorder {
 public:
  // `state` outlives the recorder.
  Recorder(const model::State& state, RecorderOptions options);

  // What was just committed; State is the one after it.
  void observe(const std::vector<model::Event>& events);
  // State stays as it is until `until`: takes the samples due before then.
  void sample(base::Instant until);
  std::int64_t finished() const { return finished_; }
  std::int64_t queued() const { return queued_.amount(); }
  std::int64_t running() const { return running_; }

  // Numbers about the replay itself (journal, machine) are left for the caller.
  PolicyResult finish();

 private:
  struct Life {  // of one workload
    model::QueueId queue;
    model::ClassId workload_class;
    base::Instant submitted;
    std::optional<base::Instant> started, ended;
    bool is_completed = false;
    std::uint32_t live_ordinal = 0;  // 0: no attempt
    base::Instant attempt_decided;
    std::int64_t live_milli = 0;
  };
  struct QueueSeries {
    TimeSeries held, entitled, wanted;
  };

  void on_submitted(const model::Event& event, const model::Workload& workload);
  void on_decided(const model::Event& event, const model::Decision& decision);
  void on_ended(const model::Event& event, model::AttemptId attempt);
  void close_arrivals();
  void add_groups(PolicyResult& result, base::Instant until);
  void sample_now(base::Instant at);
  QueueSeries& series_of(model::QueueId queue);
  QueueResult queue_result(model::QueueId id, const std::vector<const Life*>& lives,
                           base::Instant until);
  GroupResult group_of(std::string name, const std::vector<const Life*>& lives) const;
  Life& life_of(model::WorkloadId workload);

  const model::State& state_;
  RecorderOptions options_;
  base::Duration interval_;
  base::Instant next_sample_;
  policy::QuotaTable quotas_;
  std::vector<Life> lives_;  // by workload id - 1
  TimeSeries allocated_, queued_, fragmented_;
  std::vector<QueueSeries> queues_;  // by queue id - 1
  std::int64_t finished_ = 0, running_ = 0, max_queued_ = 0;
  std::int64_t starts_ = 0, evictions_ = 0, waits_ = 0, decisions_ = 0, events_ = 0;
  __int128 evicted_milli_ms_ = 0;
  base::Instant last_end_;

  struct ArrivalMeans {  // integrals at the last arrival
    __int128 allocated = 0, fragmented = 0;
    std::vector<__int128> held, entitled, wanted;
  };
  std::optional<ArrivalMeans> arrivals_;
};

}  // namespace simulator
