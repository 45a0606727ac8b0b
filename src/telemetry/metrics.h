#pragma once
// Berth's own metrics in the Prometheus text format. Gauges are taken from State as a whole, so a
// queue that is gone leaves no stale series; counters and histograms grow with what the loop and
// the HTTP side tell. The number of series is bounded: queues and pools beyond the limit are summed
// under the label value "_other".
//
//   Metrics metrics({.version = "0.1.0"});
//   metrics.see_state(controller.state());      // on the loop, every few seconds
//   RestOptions{.metrics = [&] { return metrics.text(); }}
//
// Thread contract: every method from any thread; State is only read inside see_state and
// see_events.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/controller.h"
#include "model/event.h"
#include "model/state.h"

namespace telemetry {

struct MetricsOptions {
  std::string version = "dev";
  std::size_t max_queues = 200;
  std::size_t max_pools = 100;
};

class Metrics {
 public:
  explicit Metrics(MetricsOptions options);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Replaces every gauge.
  void see_state(const model::State& state);
  // What one commit contained; `state` is the State after it.
  void see_events(const model::State& state, const std::vector<model::Event>& events);
  // Counters since the controller's construction; never lower than those seen before.
  void see_counters(const controller::ControllerCounters& counters);
  void see_turn(std::int64_t micros);
  // `operation` is one of a fixed set, as RestOptions::on_answer gives it.
  void see_request(std::string_view operation, int status, std::int64_t micros);

  // The exposition, format 0.0.4.
  std::string text() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace telemetry
