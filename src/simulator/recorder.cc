#include "simulator/recorder.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "policy/entitlement.h"

namespace simulator {

namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kSamplesOfArrivals = 240;

base::Duration interval_for(const RecorderOptions& options) {
  const base::Duration span = options.last_arrival - options.start;
  return std::max(base::seconds(1), base::Duration{span.millis / kSamplesOfArrivals});
}

std::int64_t milli_of(const model::Placement& placement) {
  std::int64_t milli = 0;
  for (const model::MemberPlacement& member : placement.members)
    for (const model::DeviceAssignment& device : member.devices)
      milli += device.milli.value;
  return milli;
}

Series series_of_means(const TimeSeries& series, base::Instant end, double factor) {
  Series result{.start = series.start()};
  TimeSeries filled = series;
  filled.set(end, series.amount());  // makes its intervals as wide as the means'
  result.width = filled.width();
  result.values = filled.means(end);
  for (double& value : result.values)
    value *= factor;
  return result;
}

double mean_of(__int128 integral, base::Duration over) {
  return over.millis <= 0 ? 0.0 : static_cast<double>(integral) / static_cast<double>(over.millis);
}

}  // namespace

Recorder::Recorder(const model::State& state, RecorderOptions options)
    : state_(state),
      options_(std::move(options)),
      interval_(interval_for(options_)),
      next_sample_(options_.start),
      allocated_(options_.start, interval_),
      queued_(options_.start, interval_),
      fragmented_(options_.start, interval_),
      last_end_(options_.start) {
  lives_.reserve(static_cast<std::size_t>(options_.jobs));
}

void Recorder::observe(const std::vector<model::Event>& events) {
  for (const model::Event& event : events) {
    ++events_;
    if (const auto* submitted = std::get_if<model::WorkloadSubmitted>(&event.body))
      on_submitted(event, submitted->workload);
    else if (const auto* decided = std::get_if<model::Decided>(&event.body))
      on_decided(event, decided->decision);
    else if (const auto* ended = std::get_if<model::MembersEnded>(&event.body))
      on_ended(event, ended->attempt);
  }
}

void Recorder::on_submitted(const model::Event& event, const model::Workload& workload) {
  Life& life = life_of(workload.id);
  life.queue = workload.queue;
  life.workload_class = workload.workload_class;
  life.submitted = event.at;
  queued_.add(event.at, 1);
  max_queued_ = std::max(max_queued_, queued_.amount());
}

void Recorder::on_decided(const model::Event& event, const model::Decision& decision) {
  ++decisions_;
  if (std::holds_alternative<model::Wait>(decision.body)) ++waits_;
  if (const auto* evict = std::get_if<model::Evict>(&decision.body)) {
    // Time limits and cancellations are no evictions in favour of somebody.
    if (!evict->owner.is_none()) {
      evictions_ += static_cast<std::int64_t>(evict->victims.size());
      for (const model::AttemptId victim : evict->victims) {
        const Life& life = life_of(victim.workload);
        evicted_milli_ms_ +=
            static_cast<__int128>(life.live_milli) * (event.at - life.attempt_decided).millis;
      }
    }
  }
  const auto* start = std::get_if<model::Start>(&decision.body);
  if (start == nullptr) return;
  ++starts_;
  ++running_;
  Life& life = life_of(start->attempt.workload);
  if (!life.started) life.started = event.at;
  life.live_ordinal = start->attempt.ordinal;
  life.attempt_decided = event.at;
  life.live_milli = milli_of(start->placement);
  queued_.add(event.at, -1);
  allocated_.add(event.at, life.live_milli);
  series_of(life.queue).held.add(event.at, life.live_milli);
}

void Recorder::on_ended(const model::Event& event, model::AttemptId attempt) {
  Life& life = life_of(attempt.workload);
  if (life.live_ordinal != attempt.ordinal) return;  // reported again
  const model::WorkloadRecord* record = state_.workloads.find(attempt.workload);
  if (record != nullptr) {
    ASSERT(attempt.ordinal <= record->attempts.size());
    if (record->attempts[attempt.ordinal - 1].phase != model::AttemptPhase::Ended) return;
  }
  allocated_.add(event.at, -life.live_milli);
  series_of(life.queue).held.add(event.at, -life.live_milli);
  life.live_ordinal = 0;
  life.live_milli = 0;
  last_end_ = event.at;
  --running_;
  if (record != nullptr && !model::is_finished(record->phase)) {
    queued_.add(event.at, 1);
    max_queued_ = std::max(max_queued_, queued_.amount());
    return;
  }
  life.ended = event.at;
  life.is_completed = record == nullptr || record->phase == model::Phase::Completed;
  ++finished_;
}

void Recorder::sample(base::Instant until) {
  while (next_sample_ < until) {
    if (next_sample_ > options_.last_arrival) close_arrivals();
    sample_now(next_sample_);
    next_sample_ = next_sample_ + fragmented_.width();
  }
  if (until > options_.last_arrival) close_arrivals();
}

// Keeps what was integrated up to the last arrival, once.
void Recorder::close_arrivals() {
  if (arrivals_) return;
  const base::Instant at = options_.last_arrival;
  ArrivalMeans means{.allocated = allocated_.integral(at), .fragmented = fragmented_.integral(at)};
  for (const QueueSeries& queue : queues_) {
    means.held.push_back(queue.held.integral(at));
    means.entitled.push_back(queue.entitled.integral(at));
    means.wanted.push_back(queue.wanted.integral(at));
  }
  arrivals_ = std::move(means);
}

void Recorder::sample_now(base::Instant at) {
  fragmented_.set(at, fragmentation_milli(state_, options_.mix));
  const auto pool = state_.pool_by_name.find("cluster");
  if (pool == state_.pool_by_name.end()) return;
  const model::Dimension dimension{pool->second, model::kDevice};
  if (quotas_.governed().empty()) quotas_ = policy::QuotaTable(state_);
  std::vector<std::int64_t> wanted;
  state_.queues.each([&](model::QueueId id, const model::QueueRecord& record) {
    wanted.resize(id.value);
    wanted[id.value - 1] = record.held.of(dimension) + record.pending.of(dimension);
  });
  const std::int64_t capacity =
      state_.held.of(dimension) + state_.free.of(dimension) + state_.secured.of(dimension);
  const std::vector<std::int64_t> entitled =
      policy::entitlements(state_, quotas_, dimension, capacity, wanted);
  state_.queues.each([&](model::QueueId id, const model::QueueRecord&) {
    QueueSeries& series = series_of(id);
    series.wanted.set(at, wanted[id.value - 1]);
    series.entitled.set(at, id.value <= entitled.size() ? entitled[id.value - 1] : 0);
  });
}

Recorder::QueueSeries& Recorder::series_of(model::QueueId queue) {
  ASSERT(!queue.is_none());
  while (queues_.size() < queue.value) {
    const TimeSeries empty(options_.start, interval_);
    queues_.push_back({empty, empty, empty});
  }
  return queues_[queue.value - 1];
}

Recorder::Life& Recorder::life_of(model::WorkloadId workload) {
  ASSERT(!workload.is_none());
  if (lives_.size() < workload.value) lives_.resize(workload.value);
  return lives_[workload.value - 1];
}

GroupResult Recorder::group_of(std::string name, const std::vector<const Life*>& lives) const {
  GroupResult group{.name = std::move(name), .jobs = static_cast<std::int64_t>(lives.size())};
  std::vector<std::int64_t> waits, completions;
  for (const Life* life : lives) {
    if (life->started) waits.push_back((*life->started - life->submitted).millis);
    if (life->ended) ++group.finished;
    if (life->ended && life->is_completed)
      completions.push_back((*life->ended - life->submitted).millis);
  }
  group.wait = distribution_of(std::move(waits));
  group.completion = distribution_of(std::move(completions));
  return group;
}

void Recorder::add_groups(PolicyResult& result, base::Instant until) {
  std::map<model::ClassId, std::vector<const Life*>> by_class;
  std::map<model::QueueId, std::vector<const Life*>> by_queue;
  std::vector<const Life*> all;
  for (const Life& life : lives_) {
    if (life.queue.is_none()) continue;
    all.push_back(&life);
    by_class[life.workload_class].push_back(&life);
    by_queue[life.queue].push_back(&life);
  }
  const GroupResult together = group_of("", all);
  result.wait = together.wait;
  result.completion = together.completion;
  result.failed = finished_ - together.completion.count;
  for (const base::Duration step : wait_steps()) {
    const auto within = std::count_if(all.begin(), all.end(), [step](const Life* life) {
      return life->started && *life->started - life->submitted <= step;
    });
    result.curve.at_most_ppm.push_back(
        all.empty() ? 0 : within * kMillion / static_cast<std::int64_t>(all.size()));
  }
  for (const auto& [id, lives] : by_class)
    result.classes.push_back(group_of(state_.classes.at(id).name, lives));
  for (const auto& [id, lives] : by_queue)
    result.queues.push_back(queue_result(id, lives, until));
}

QueueResult Recorder::queue_result(model::QueueId id, const std::vector<const Life*>& lives,
                                   base::Instant until) {
  const model::Queue& queue = state_.queues.at(id).queue;
  QueueResult result{.jobs = group_of(queue.name, lives)};
  for (const model::Quota& quota : queue.quotas)
    if (quota.dimension.resource == model::kDevice)
      result.guarantee_milli += quota.guarantee.value_or(0);
  const base::Duration arrivals = options_.last_arrival - options_.start;
  const std::size_t index = id.value - 1;
  if (index < arrivals_->held.size()) {
    result.held_milli = mean_of(arrivals_->held[index], arrivals);
    result.entitled_milli = mean_of(arrivals_->entitled[index], arrivals);
    result.wanted_milli = mean_of(arrivals_->wanted[index], arrivals);
  }
  result.held = series_of_means(series_of(id).held, until, 1.0);
  result.entitled = series_of_means(series_of(id).entitled, until, 1.0);
  return result;
}

PolicyResult Recorder::finish() {
  const base::Instant until = std::max(last_end_, options_.last_arrival);
  sample(until + base::Duration{1});
  PolicyResult result{.jobs = options_.jobs,
                      .finished = finished_,
                      .unfinished = options_.jobs - finished_,
                      .arrival_span = options_.last_arrival - options_.start,
                      .makespan = last_end_ - options_.start,
                      .max_queued = max_queued_,
                      .starts = starts_,
                      .evictions = evictions_,
                      .waits = waits_,
                      .decisions = decisions_,
                      .events = events_};
  add_groups(result, until);
  const double to_ppm =
      options_.capacity_milli == 0
          ? 0.0
          : static_cast<double>(kMillion) / static_cast<double>(options_.capacity_milli);
  const auto ppm_of = [to_ppm](__int128 integral, base::Duration over) {
    return static_cast<std::int64_t>(mean_of(integral, over) * to_ppm);
  };
  result.arrivals_ppm = ppm_of(arrivals_->allocated, result.arrival_span);
  result.fragmentation_ppm = ppm_of(arrivals_->fragmented, result.arrival_span);
  result.allocation_ppm = ppm_of(allocated_.integral(until), until - options_.start);
  result.evicted_device_ms = static_cast<std::int64_t>(evicted_milli_ms_ / 1000);
  result.allocation = series_of_means(allocated_, until, to_ppm);
  result.queued = series_of_means(queued_, until, 1.0);
  result.fragmentation = series_of_means(fragmented_, until, to_ppm);
  return result;
}

}  // namespace simulator
