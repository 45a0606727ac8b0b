#include "telemetry/metrics.h"

#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "telemetry/internal/gauges.h"

namespace telemetry {

namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;

Family<Counter>& counters(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

Family<Histogram>& histograms(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

const Histogram::BucketBoundaries& short_times() {
  static const Histogram::BucketBoundaries kBounds{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05,
                                                   0.1,    0.5,    1,     5,     30};
  return kBounds;
}

const Histogram::BucketBoundaries& waiting_times() {
  static const Histogram::BucketBoundaries kBounds{1,    10,    60,    300,    900,   3600,
                                                   7200, 21600, 86400, 259200, 604800};
  return kBounds;
}

double seconds(std::int64_t micros) { return static_cast<double>(micros) / 1e6; }

}  // namespace

struct Metrics::Parts {
  explicit Parts(MetricsOptions given) : options(std::move(given)) {
    prometheus::BuildGauge()
        .Name("berth_build_info")
        .Help("Always 1; the version is a label")
        .Register(registry)
        .Add({{"version", options.version}})
        .Set(1);
  }

  void count_event(const model::State& state, const model::Event& event);

  const MetricsOptions options;
  prometheus::Registry registry;
  Family<Counter>& events = counters(registry, "berth_events_total", "Committed events by kind");
  Counter& starts = counters(registry, "berth_starts_total", "Attempts that were decided").Add({});
  Family<Counter>& evictions =
      counters(registry, "berth_evictions_total", "Attempts told to stop, by cause");
  Family<Counter>& ended =
      counters(registry, "berth_attempts_ended_total", "Attempts that ended, by class of end");
  Family<Counter>& requests =
      counters(registry, "berth_http_requests_total", "Requests by operation and status");
  Histogram& turn_times =
      histograms(registry, "berth_turn_seconds", "Time of one turn of the loop, commit included")
          .Add({}, short_times());
  Family<Histogram>& request_times =
      histograms(registry, "berth_http_request_seconds", "Time to the answer by operation");
  Family<Histogram>& wait_times =
      histograms(registry, "berth_wait_seconds", "Time in the queue before a start, by class");
  Counter& turns = counters(registry, "berth_turns_total", "Turns of the loop").Add({});
  Counter& plans = counters(registry, "berth_plans_total", "Cycles of the planner").Add({});
  Counter& refused =
      counters(registry, "berth_refused_commands_total", "Commands that were refused").Add({});
  Counter& failed =
      counters(registry, "berth_failed_commits_total", "Turns that could not be committed").Add({});

  mutable std::mutex mutex;
  controller::ControllerCounters seen;           // guarded
  std::vector<prometheus::MetricFamily> gauges;  // guarded
};

void Metrics::Parts::count_event(const model::State& state, const model::Event& event) {
  events.Add({{"kind", std::string(model::kind_of(event))}}).Increment();
  if (const auto* members = std::get_if<model::MembersEnded>(&event.body)) {
    const model::WorkloadRecord* record = state.workloads.find(members->attempt.workload);
    if (record == nullptr) return;
    for (const model::Attempt& attempt : record->attempts)
      // A report about an attempt that goes on with other members is not its end.
      if (attempt.id == members->attempt && attempt.ended == event.at)
        ended.Add({{"class", std::string(base::name_of(attempt.end_class))}}).Increment();
    return;
  }
  const auto* decided = std::get_if<model::Decided>(&event.body);
  if (decided == nullptr) return;
  if (const auto* evict = std::get_if<model::Evict>(&decided->decision.body))
    evictions.Add({{"cause", std::string(base::name_of(evict->cause))}})
        .Increment(static_cast<double>(evict->victims.size()));
  const auto* start = std::get_if<model::Start>(&decided->decision.body);
  if (start == nullptr) return;
  starts.Increment();
  const model::WorkloadRecord* record = state.workloads.find(start->attempt.workload);
  if (record == nullptr || record->queued_since > event.at) return;
  const model::WorkloadClass* own = state.classes.find(record->workload.workload_class);
  wait_times.Add({{"class", own != nullptr ? own->name : std::string()}}, waiting_times())
      .Observe(static_cast<double>((event.at - record->queued_since).millis) / 1e3);
}

Metrics::Metrics(MetricsOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {}
Metrics::~Metrics() = default;

void Metrics::see_state(const model::State& state) {
  auto gauges = gauges_of(
      state, {.max_queues = parts_->options.max_queues, .max_pools = parts_->options.max_pools});
  const std::lock_guard lock(parts_->mutex);
  parts_->gauges = std::move(gauges);
}

void Metrics::see_events(const model::State& state, const std::vector<model::Event>& events) {
  for (const model::Event& event : events)
    parts_->count_event(state, event);
}

void Metrics::see_counters(const controller::ControllerCounters& counters) {
  const std::lock_guard lock(parts_->mutex);
  const auto grow = [](Counter& counter, std::int64_t now, std::int64_t before) {
    if (now > before) counter.Increment(static_cast<double>(now - before));
  };
  grow(parts_->turns, counters.turns, parts_->seen.turns);
  grow(parts_->plans, counters.plans, parts_->seen.plans);
  grow(parts_->refused, counters.refused_commands, parts_->seen.refused_commands);
  grow(parts_->failed, counters.failed_commits, parts_->seen.failed_commits);
  parts_->seen = counters;
}

void Metrics::see_turn(std::int64_t micros) { parts_->turn_times.Observe(seconds(micros)); }

void Metrics::see_request(std::string_view operation, int status, std::int64_t micros) {
  const std::string name(operation);
  parts_->requests.Add({{"operation", name}, {"status", std::to_string(status)}}).Increment();
  parts_->request_times.Add({{"operation", name}}, short_times()).Observe(seconds(micros));
}

std::string Metrics::text() const {
  std::vector<prometheus::MetricFamily> families = parts_->registry.Collect();
  {
    const std::lock_guard lock(parts_->mutex);
    families.insert(families.end(), parts_->gauges.begin(), parts_->gauges.end());
  }
  std::ostringstream out;
  out.imbue(std::locale::classic());
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

}  // namespace telemetry
