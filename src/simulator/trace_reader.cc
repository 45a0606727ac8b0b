#include "simulator/trace_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "model/resources.h"

namespace simulator {

using base::Code;
using base::Result;

namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr std::int64_t kMostDevices = 100'000;
constexpr std::int64_t kMostMillis = std::int64_t{1} << 53;
constexpr std::int64_t kMostMib = std::int64_t{1} << 32;
constexpr std::int64_t kMostCpu = 1'000'000'000;
constexpr std::size_t kColumnsMax = 12;

// Positions of the named columns, in their order.
Result<std::array<std::size_t, kColumnsMax>> columns_of(
    const CsvTable& table, std::initializer_list<std::string_view> names) {
  std::array<std::size_t, kColumnsMax> found{};
  std::size_t next = 0;
  for (const std::string_view name : names) {
    const Result<std::size_t> column = table.column(name);
    if (!column) return tl::unexpected(column.error());
    found[next++] = *column;
  }
  return found;
}

// Reads cells of one row and keeps the first error, so that a row is checked once, at its end.
class RowReader {
 public:
  RowReader(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  std::int64_t integer(std::size_t column, std::int64_t low, std::int64_t high) {
    return take(table_.integer(row_, column, low, high)).value_or(0);
  }
  base::Duration duration(std::size_t column) {
    return take(table_.duration(row_, column)).value_or(base::Duration{});
  }
  base::Instant instant(std::size_t column) {
    return take(table_.instant(row_, column)).value_or(base::Instant{});
  }
  std::string_view text(std::size_t column) { return table_.cell(row_, column); }
  std::string word(std::size_t column) {
    const std::string_view text = table_.cell(row_, column);
    if (const auto checked = base::check_name(text, ""); !checked)
      refuse(column, "is not a name", "write 1 to 63 of a-z 0-9 - _ .");
    return std::string(text);
  }
  void refuse(std::size_t column, std::string message, std::string hint) {
    if (!error_)
      error_ = table_.bad_cell(row_, column, std::move(message), std::move(hint)).value();
  }
  const std::optional<base::Error>& error() const { return error_; }

 private:
  template <class T>
  Result<T> take(Result<T> value) {
    if (!value && !error_) error_ = value.error();
    return value;
  }

  const CsvTable& table_;
  std::size_t row_;
  std::optional<base::Error> error_;
};

// "V100M16|V100M32" as a list; empty: any model.
std::vector<std::string> models_of(std::string_view text) {
  std::vector<std::string> models;
  while (!text.empty()) {
    const std::size_t end = text.find('|');
    if (const std::string_view model = text.substr(0, end); !model.empty())
      models.emplace_back(model);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return models;
}

std::int64_t largest_divisor(std::int64_t number, std::int64_t at_most) {
  std::int64_t divisor = std::min(number, at_most);
  while (number % divisor != 0)
    --divisor;
  return divisor;
}

struct Qos {
  std::string_view name, queue, class_name;
};
constexpr std::array<Qos, 4> kQos{{{"LS", "online", "inference"},
                                   {"Guaranteed", "online", "notebook"},
                                   {"Burstable", "offline", "training"},
                                   {"BE", "offline", "batch"}}};
constexpr std::array<std::string_view, 4> kClasses{"inference", "notebook", "training", "batch"};

// What a pod asks for, from the columns that every list has.
TraceJob openb_request(RowReader& row, const std::array<std::size_t, kColumnsMax>& at,
                       std::optional<std::size_t> spec) {
  TraceJob job;
  job.name = row.word(at[0]);
  job.per_member.set(model::kCpu, row.integer(at[1], 0, kMostCpu));
  job.per_member.set(model::kMemory, row.integer(at[2], 0, kMostMib) * kMib);
  const std::int64_t count = row.integer(at[3], 0, kMostDevices);
  const std::int64_t milli = row.integer(at[4], 0, base::kWholeDevice.value);
  if (count > 0 && milli == 0)
    row.refuse(at[4], "asks for none of a device that num_gpu asks for", "write 1 to 1000");
  if (count > 1 && milli != base::kWholeDevice.value)
    row.refuse(at[4], "shares several devices", "write 1000 when num_gpu is above 1");
  if (count == 1 && milli < base::kWholeDevice.value) {
    job.device.share = base::MilliDevice(milli);
  } else {
    job.device.count = base::Count(count);
  }
  if (spec && count > 0) job.device.models = models_of(row.text(*spec));
  return job;
}

TraceJob openb_pod(RowReader& row, const std::array<std::size_t, kColumnsMax>& at,
                   std::optional<std::size_t> spec, std::optional<std::size_t> scheduled) {
  TraceJob job = openb_request(row, at, spec);
  const auto qos = std::find_if(kQos.begin(), kQos.end(),
                                [&](const Qos& q) { return q.name == row.text(at[5]); });
  if (qos == kQos.end()) {
    row.refuse(at[5], "is not a known quality of service", "write LS, Guaranteed, Burstable or BE");
  } else {
    job.queue = qos->queue;
    job.class_name = qos->class_name;
  }
  const base::Duration created = row.duration(at[6]);
  base::Duration began = created;
  if (scheduled && !row.text(*scheduled).empty()) began = row.duration(*scheduled);
  const base::Duration deleted = row.duration(at[7]);
  if (deleted < began)
    row.refuse(at[7], "lies before the start of the pod", "check scheduled_time and deletion_time");
  job.submitted = base::Instant{created.millis};
  job.runtime = deleted - began;
  return job;
}

}  // namespace

Result<Trace> philly_trace(const CsvTable& table, std::int64_t devices_per_node) {
  const auto at = columns_of(table, {"timestamp", "duration", "num_gpus", "cluster"});
  if (!at) return tl::unexpected(at.error());
  Trace trace{.name = "philly"};
  trace.jobs.reserve(table.rows());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    RowReader row(table, i);
    TraceJob job{.submitted = row.instant((*at)[0]), .runtime = row.duration((*at)[1])};
    const std::int64_t devices = row.integer((*at)[2], 1, kMostDevices);
    job.queue = row.word((*at)[3]);
    job.class_name = "training";
    if (row.error()) return tl::unexpected(*row.error());
    const std::int64_t of_member =
        largest_divisor(devices, std::max<std::int64_t>(devices_per_node, 1));
    job.device.count = base::Count(of_member);
    job.members = static_cast<std::int32_t>(devices / of_member);
    trace.jobs.push_back(std::move(job));
  }
  sort_by_submission(trace.jobs);
  return trace;
}

Result<Trace> openb_trace(const CsvTable& table) {
  const auto at = columns_of(table, {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli",
                                     "qos", "creation_time", "deletion_time"});
  if (!at) return tl::unexpected(at.error());
  const std::optional<std::size_t> spec = table.optional_column("gpu_spec");
  const std::optional<std::size_t> scheduled = table.optional_column("scheduled_time");
  Trace trace{.name = "openb"};
  trace.jobs.reserve(table.rows());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    RowReader row(table, i);
    TraceJob job = openb_pod(row, *at, spec, scheduled);
    if (row.error()) return tl::unexpected(*row.error());
    trace.jobs.push_back(std::move(job));
  }
  sort_by_submission(trace.jobs);
  return trace;
}

Result<Trace> openb_requests(const CsvTable& table) {
  const auto at = columns_of(table, {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"});
  if (!at) return tl::unexpected(at.error());
  const std::optional<std::size_t> spec = table.optional_column("gpu_spec");
  Trace trace{.name = "openb"};
  trace.jobs.reserve(table.rows());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    RowReader row(table, i);
    TraceJob job = openb_request(row, *at, spec);
    if (row.error()) return tl::unexpected(*row.error());
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

Result<Trace> own_trace(const CsvTable& table, std::string name) {
  const auto at =
      columns_of(table, {"submit_ms", "runtime_ms", "queue", "class", "user", "members", "gpus",
                         "gpu_milli", "cpu_milli", "memory_mib", "models", "name"});
  if (!at) return tl::unexpected(at.error());
  Trace trace{.name = std::move(name)};
  trace.jobs.reserve(table.rows());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    RowReader row(table, i);
    TraceJob job;
    job.submitted = base::Instant{row.integer((*at)[0], 0, kMostMillis)};
    job.runtime = base::Duration{row.integer((*at)[1], 0, kMostMillis)};
    job.queue = row.word((*at)[2]);
    job.class_name = row.text((*at)[3]);
    if (std::find(kClasses.begin(), kClasses.end(), job.class_name) == kClasses.end())
      row.refuse((*at)[3], "is not a class", "write inference, notebook, training or batch");
    job.user = row.text((*at)[4]);
    job.members = static_cast<std::int32_t>(row.integer((*at)[5], 1, kMostDevices));
    job.device.count = base::Count(row.integer((*at)[6], 0, kMostDevices));
    job.device.share = base::MilliDevice(row.integer((*at)[7], 0, base::kWholeDevice.value));
    if (job.device.is_whole() && job.device.share.value > 0)
      row.refuse((*at)[7], "is set beside gpus", "ask for whole devices or for a share, not both");
    job.per_member.set(model::kCpu, row.integer((*at)[8], 0, kMostCpu));
    job.per_member.set(model::kMemory, row.integer((*at)[9], 0, kMostMib) * kMib);
    job.device.models = models_of(row.text((*at)[10]));
    if (!row.text((*at)[11]).empty()) job.name = row.word((*at)[11]);
    if (row.error()) return tl::unexpected(*row.error());
    trace.jobs.push_back(std::move(job));
  }
  sort_by_submission(trace.jobs);
  return trace;
}

Result<Nodes> openb_nodes(const CsvTable& table) {
  const auto at = columns_of(table, {"sn", "cpu_milli", "memory_mib", "gpu", "model"});
  if (!at) return tl::unexpected(at.error());
  Nodes nodes;
  nodes.reserve(table.rows());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    RowReader row(table, i);
    controller::NodeReport report{.pool = "cluster"};
    model::Node& node = report.node;
    node.name = row.word((*at)[0]);
    node.allocatable.set(model::kCpu, row.integer((*at)[1], 0, kMostCpu));
    node.allocatable.set(model::kMemory, row.integer((*at)[2], 0, kMostMib) * kMib);
    const std::int64_t devices = row.integer((*at)[3], 0, 64);
    const std::string model(row.text((*at)[4]));
    if (devices > 0 && model.empty())
      row.refuse((*at)[4], "names no model of the devices", "write the model, like T4");
    if (row.error()) return tl::unexpected(*row.error());
    for (std::int64_t d = 0; d < devices; ++d)
      node.devices.push_back({.uuid = fmt::format("{}-gpu-{}", node.name, d),
                              .vendor = "simulated",
                              .model = model,
                              .memory = memory_of_model(model),
                              .source = model::DeviceSource::Declared});
    nodes.push_back(std::move(report));
  }
  return nodes;
}

std::string write_trace(const Trace& trace) {
  std::string out =
      "submit_ms,runtime_ms,queue,class,user,members,gpus,gpu_milli,cpu_milli,memory_mib,models,"
      "name\n";
  for (const TraceJob& job : trace.jobs)
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{}\n",
                   job.submitted.millis, job.runtime.millis, job.queue, job.class_name, job.user,
                   job.members, job.device.count.value, job.device.share.value,
                   job.per_member.of(model::kCpu), job.per_member.of(model::kMemory) / kMib,
                   fmt::join(job.device.models, "|"), job.name);
  return out;
}

}  // namespace simulator
