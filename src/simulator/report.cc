#include "simulator/report.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json_text.h"
#include "base/text.h"

namespace simulator {

namespace {

// Members of one JSON object, in the order of writing.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  ~JsonObject() { out_ += '}'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  std::string& key(std::string_view name) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    base::append_json_string(out_, name);
    out_ += ':';
    return out_;
  }
  void text(std::string_view name, std::string_view value) {
    base::append_json_string(key(name), value);
  }
  void number(std::string_view name, std::int64_t value) { key(name) += std::to_string(value); }
  void real(std::string_view name, double value) {
    fmt::format_to(std::back_inserter(key(name)), "{:.3f}", std::isfinite(value) ? value : 0.0);
  }
  void truth(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }

 private:
  std::string& out_;
  bool is_first_ = true;
};

void append_distribution(std::string& out, const Distribution& distribution) {
  JsonObject object(out);
  object.number("count", distribution.count);
  object.real("meanMillis", distribution.mean_ms);
  object.number("p50Millis", distribution.p50_ms);
  object.number("p90Millis", distribution.p90_ms);
  object.number("p99Millis", distribution.p99_ms);
  object.number("maxMillis", distribution.max_ms);
}

void append_series(std::string& out, const Series& series) {
  JsonObject object(out);
  object.number("startMillis", series.start.millis);
  object.number("intervalMillis", series.width.millis);
  std::string& values = object.key("means");
  values += '[';
  for (std::size_t i = 0; i < series.values.size(); ++i)
    fmt::format_to(std::back_inserter(values), "{}{:.1f}", i == 0 ? "" : ",", series.values[i]);
  values += ']';
}

void append_group(std::string& out, const GroupResult& group) {
  JsonObject object(out);
  object.text("name", group.name);
  object.number("jobs", group.jobs);
  object.number("finished", group.finished);
  append_distribution(object.key("wait"), group.wait);
  append_distribution(object.key("completion"), group.completion);
}

void append_queue(std::string& out, const QueueResult& queue) {
  JsonObject object(out);
  append_group(object.key("jobs"), queue.jobs);
  object.number("guaranteeMilliDevices", queue.guarantee_milli);
  object.real("heldMilliDevicesMean", queue.held_milli);
  object.real("entitledMilliDevicesMean", queue.entitled_milli);
  object.real("wantedMilliDevicesMean", queue.wanted_milli);
  append_series(object.key("heldMilliDevices"), queue.held);
  append_series(object.key("entitledMilliDevices"), queue.entitled);
}

void append_counts(JsonObject& object, const PolicyResult& result) {
  object.number("jobs", result.jobs);
  object.number("finished", result.finished);
  object.number("failed", result.failed);
  object.number("unfinished", result.unfinished);
  object.number("arrivalsAllocationPpm", result.arrivals_ppm);
  object.number("allocationPpm", result.allocation_ppm);
  object.number("fragmentationPpm", result.fragmentation_ppm);
  object.number("arrivalSpanMillis", result.arrival_span.millis);
  object.number("makespanMillis", result.makespan.millis);
  object.number("maxQueued", result.max_queued);
  object.number("starts", result.starts);
  object.number("evictions", result.evictions);
  object.number("evictedDeviceMillis", result.evicted_device_ms);
  object.number("waitDecisions", result.waits);
  object.number("decisions", result.decisions);
  object.number("events", result.events);
  object.number("turns", result.turns);
  object.number("journalBytes", result.journal_bytes);
  object.text("journalHash", result.journal_hash);
  object.truth("journalReplays", result.is_verified);
}

template <class Items, class Append>
void append_list(std::string& out, const Items& items, Append append) {
  out += '[';
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) out += ',';
    is_first = false;
    append(out, item);
  }
  out += ']';
}

void append_policy(std::string& out, const PolicyResult& result) {
  JsonObject object(out);
  object.text("policy", result.policy);
  append_counts(object, result);
  append_distribution(object.key("wait"), result.wait);
  append_distribution(object.key("completion"), result.completion);
  append_list(object.key("waitAtMostPpm"), result.curve.at_most_ppm,
              [](std::string& to, std::int64_t ppm) { to += std::to_string(ppm); });
  append_series(object.key("allocationPpmOverTime"), result.allocation);
  append_series(object.key("queuedOverTime"), result.queued);
  append_series(object.key("fragmentationPpmOverTime"), result.fragmentation);
  append_list(object.key("classes"), result.classes, append_group);
  append_list(object.key("queues"), result.queues, append_queue);
  JsonObject machine(object.key("machine"));
  machine.real("wallSeconds", result.machine.wall_seconds);
  machine.real("processorSeconds", result.machine.processor_seconds);
  machine.real("verifySeconds", result.machine.verify_seconds);
  machine.number("decisionsPerSecond", result.machine.decisions_per_second);
  machine.number("eventsPerSecond", result.machine.events_per_second);
}

std::string percent(std::int64_t ppm) {
  return fmt::format("{:.2f} %", static_cast<double>(ppm) / 10'000);
}

using Row = std::pair<std::string, std::vector<std::string>>;

// One row a metric, one column a policy.
std::vector<Row> text_rows(const Simulation& simulation) {
  std::vector<Row> rows;
  const auto add = [&](std::string name, auto&& value_of) {
    Row row{std::move(name), {}};
    for (const PolicyResult& result : simulation.policies)
      row.second.push_back(value_of(result));
    rows.push_back(std::move(row));
  };
  add("jobs finished", [](const auto& r) { return fmt::format("{} of {}", r.finished, r.jobs); });
  add("wait, mean", [](const auto& r) { return human_time(r.wait.mean_ms); });
  add("wait, 50 %", [](const auto& r) { return human_time(static_cast<double>(r.wait.p50_ms)); });
  add("wait, 90 %", [](const auto& r) { return human_time(static_cast<double>(r.wait.p90_ms)); });
  add("wait, 99 %", [](const auto& r) { return human_time(static_cast<double>(r.wait.p99_ms)); });
  add("completion, mean", [](const auto& r) { return human_time(r.completion.mean_ms); });
  add("completion, 99 %",
      [](const auto& r) { return human_time(static_cast<double>(r.completion.p99_ms)); });
  add("devices allocated, arrivals", [](const auto& r) { return percent(r.arrivals_ppm); });
  add("devices allocated, to the end", [](const auto& r) { return percent(r.allocation_ppm); });
  add("devices fragmented, arrivals", [](const auto& r) { return percent(r.fragmentation_ppm); });
  add("makespan", [](const auto& r) { return human_time(static_cast<double>(r.makespan.millis)); });
  add("most jobs queued", [](const auto& r) { return std::to_string(r.max_queued); });
  add("evictions", [](const auto& r) { return std::to_string(r.evictions); });
  add("evicted device time", [](const auto& r) {
    return fmt::format("{:.0f} device-h", static_cast<double>(r.evicted_device_ms) / 3'600'000);
  });
  add("decisions", [](const auto& r) { return std::to_string(r.decisions); });
  add("decisions a second",
      [](const auto& r) { return std::to_string(r.machine.decisions_per_second); });
  add("wall time", [](const auto& r) { return fmt::format("{:.2f} s", r.machine.wall_seconds); });
  add("processor time",
      [](const auto& r) { return fmt::format("{:.2f} s", r.machine.processor_seconds); });
  add("journal", [](const auto& r) {
    return fmt::format("{:.1f} MB", static_cast<double>(r.journal_bytes) / 1e6);
  });
  add("journal replays", [](const auto& r) { return r.is_verified ? "yes" : "not checked"; });
  return rows;
}

base::Result<base::Done> write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out)
    return base::fail(base::Code::Exhausted, "report {} cannot be written: {}", path.string(),
                      std::strerror(errno));
  return base::Done{};
}

}  // namespace

std::string human_time(double millis) {
  const double seconds = millis / 1000;
  if (seconds == 0) return "0 s";
  if (seconds < 1) return fmt::format("{:.0f} ms", millis);
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds < 172'800) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86'400);
}

std::string report_json(const Simulation& simulation) {
  std::string out;
  {
    JsonObject object(out);
    object.text("trace", simulation.trace);
    object.text("file", simulation.file);
    object.number("jobs", simulation.jobs);
    object.number("nodes", simulation.nodes);
    object.number("devices", simulation.devices);
    object.number("offeredLoadPpm", simulation.offered_ppm);
    object.text("load", simulation.load);
    object.key("seed") += std::to_string(simulation.seed);
    object.text("version", simulation.version);
    object.number("startDelayMillis", simulation.start_delay.millis);
    object.number("stopDelayMillis", simulation.stop_delay.millis);
    object.number("checkpointMillis", simulation.checkpoint.millis);
    object.number("peakMemoryBytes", simulation.peak_memory_bytes);
    append_list(object.key("waitStepsMillis"), wait_steps(),
                [](std::string& to, base::Duration step) { to += std::to_string(step.millis); });
    append_list(object.key("policies"), simulation.policies, append_policy);
  }
  out += '\n';
  return out;
}

std::string report_text(const Simulation& simulation) {
  const std::vector<Row> rows = text_rows(simulation);
  std::string out = fmt::format("{}: {} jobs on {} nodes with {} devices, offered load {}\n",
                                simulation.trace, simulation.jobs, simulation.nodes,
                                simulation.devices, percent(simulation.offered_ppm));
  if (!simulation.load.empty()) out += "arrivals: " + simulation.load + "\n";
  out += '\n';
  constexpr std::size_t kNameWidth = 30, kColumnWidth = 16;
  fmt::format_to(std::back_inserter(out), "{:<{}}", "", kNameWidth);
  for (const PolicyResult& result : simulation.policies)
    fmt::format_to(std::back_inserter(out), "{:>{}}", result.policy, kColumnWidth);
  out += '\n';
  for (const auto& [name, values] : rows) {
    fmt::format_to(std::back_inserter(out), "{:<{}}", name, kNameWidth);
    for (const std::string& value : values)
      fmt::format_to(std::back_inserter(out), "{:>{}}", value, kColumnWidth);
    out += '\n';
  }
  out += '\n';
  for (const PolicyResult& result : simulation.policies)
    fmt::format_to(std::back_inserter(out), "journal {:<9} {}\n", result.policy,
                   result.journal_hash);
  fmt::format_to(std::back_inserter(out), "peak memory of all replays together: {:.0f} MB\n",
                 static_cast<double>(simulation.peak_memory_bytes) / 1e6);
  return out;
}

base::Result<base::Done> write_reports(const Simulation& simulation,
                                       const std::filesystem::path& folder) {
  for (const auto& [name, text] : {std::pair{"report.json", report_json(simulation)},
                                   std::pair{"report.txt", report_text(simulation)},
                                   std::pair{"report.html", report_html(simulation)}})
    if (const base::Result<base::Done> done = write_file(folder / name, text); !done) return done;
  return base::Done{};
}

}  // namespace simulator
