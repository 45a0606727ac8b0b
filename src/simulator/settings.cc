#include "simulator/settings.h"

#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "policy/default_policy.h"
#include "simulator/csv_table.h"
#include "simulator/offered_load.h"
#include "simulator/trace_reader.h"

namespace simulator {

using base::Result;

namespace {

constexpr std::string_view kPhillyNodes = "75x8";

// Texts as typed, before they are understood.
struct Typed {
  std::string load, start_delay = "2s", stop_delay = "5s", checkpoint = "30m", format = "text";
  std::vector<std::string> policies;
  bool skips_verify = false;
};

void add_options(CLI::App& app, Settings& settings, Typed& typed) {
  app.add_option("--trace", settings.trace, "philly, openb, or a file in Berth's own trace format")
      ->required(false);
  app.add_option("--file", settings.file, "the trace's CSV file");
  app.add_option("--nodes", settings.nodes, "equal nodes, NODESxDEVICES[:MODEL]; philly: 75x8");
  app.add_option("--nodes-file", settings.nodes_file,
                 "node list with sn, cpu_milli, memory_mib, gpu, model; openb: beside the trace");
  app.add_option("--policy", typed.policies,
                 "fifo, priority or default; may be repeated; left out: all three");
  app.add_option("--load", typed.load,
                 "compress arrivals until device work arrives at so many times what the nodes can "
                 "do, 0.9; left out: as recorded");
  app.add_option("--repeat", settings.repeat, "copies of the trace for --load; 0: as few as needed")
      ->check(CLI::Range(0, 1000));
  app.add_option("--limit", settings.limit, "replay only so many jobs from the beginning");
  app.add_option("--seed", settings.seed.value, "seed of everything random; default 1");
  app.add_option("--out", settings.out, "folder for the report and the journals")->required();
  app.add_option("--format", typed.format, "what is printed")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--threads", settings.threads, "policies replayed at once; 0: one a processor")
      ->check(CLI::Range(0, 64));
  app.add_option("--start-delay", typed.start_delay, "from start to running; default 2s");
  app.add_option("--stop-delay", typed.stop_delay, "from stop to gone; default 5s");
  app.add_option("--checkpoint", typed.checkpoint,
                 "how often training saves its work, 0s: never; default 30m");
  app.add_flag("--no-verify", typed.skips_verify, "do not replay the journals afterwards");
  app.add_option("--generate", settings.generate,
                 "write a synthetic trace of so many jobs to --out (a file), and nothing else")
      ->check(CLI::Range(1, 10'000'000));
}

Result<base::Done> understand(Settings& settings, const Typed& typed) {
  const auto duration = [](const std::string& text, std::string_view flag,
                           base::Duration& to) -> Result<base::Done> {
    const Result<base::Duration> parsed = base::parse_duration(text);
    if (!parsed)
      return base::fail_field(base::Code::InvalidArgument, std::string(flag),
                              parsed.error().message, "write it like 90s, 30m or 2h");
    to = *parsed;
    return base::Done{};
  };
  for (auto done : {duration(typed.start_delay, "--start-delay", settings.start_delay),
                    duration(typed.stop_delay, "--stop-delay", settings.stop_delay),
                    duration(typed.checkpoint, "--checkpoint", settings.checkpoint)})
    if (!done) return done;
  if (!typed.load.empty()) {
    const Result<std::int64_t> load = base::parse_milli(typed.load);
    if (!load || *load < 1 || *load > 100'000)
      return base::fail_field(base::Code::InvalidArgument, "--load",
                              fmt::format("'{}' is not a load", typed.load),
                              "write a number from 0.001 to 100, like 0.9");
    settings.load_milli = *load;
  }
  std::vector<std::string> names = typed.policies;
  if (names.empty()) names = {"fifo", "priority", "default"};
  for (const std::string& name : names) {
    const auto policy = policy::policy_named(name);
    if (!policy)
      return base::fail_field(base::Code::InvalidArgument, "--policy",
                              fmt::format("'{}' is not a policy", name),
                              "use fifo, priority or default");
    for (const model::PolicySet& other : settings.policies)
      if (other.name == policy->name)
        return base::fail_field(base::Code::InvalidArgument, "--policy",
                                fmt::format("'{}' is given twice", name), "name each policy once");
    settings.policies.push_back(*policy);
  }
  settings.prints_json = typed.format == "json";
  settings.is_verified = !typed.skips_verify;
  if (settings.generate == 0 && settings.trace.empty())
    return base::fail_field(base::Code::InvalidArgument, "--trace", "no trace is named",
                            "use philly, openb, or a file");
  const bool is_known = settings.trace == "philly" || settings.trace == "openb";
  if (is_known && settings.file.empty())
    return base::fail_field(base::Code::InvalidArgument, "--file",
                            fmt::format("the CSV file of trace {} is not named", settings.trace),
                            "download the trace and name its file");
  if (!is_known && settings.file.empty()) settings.file = settings.trace;
  if (!settings.nodes.empty() && !settings.nodes_file.empty())
    return base::fail_field(base::Code::InvalidArgument, "--nodes-file",
                            "both --nodes and --nodes-file are given", "choose one");
  return base::Done{};
}

Result<Nodes> load_nodes(const Settings& settings) {
  std::filesystem::path file = settings.nodes_file;
  if (file.empty() && settings.nodes.empty() && settings.trace == "openb")
    file = settings.file.parent_path() / "openb_node_list_all_node.csv";
  if (!file.empty()) {
    const Result<CsvTable> table = CsvTable::read(file);
    if (!table) return tl::unexpected(table.error());
    return openb_nodes(*table);
  }
  if (settings.nodes.empty() && settings.trace != "philly")
    return base::fail_field(base::Code::InvalidArgument, "--nodes", "no cluster is given",
                            "write --nodes 4x8, or name a list with --nodes-file");
  return nodes_of_shape(settings.nodes.empty() ? kPhillyNodes : settings.nodes);
}

Result<Trace> load_trace(const Settings& settings, const Nodes& nodes) {
  const Result<CsvTable> table = CsvTable::read(settings.file);
  if (!table) return tl::unexpected(table.error());
  std::size_t largest = 1;
  for (const controller::NodeReport& report : nodes)
    largest = std::max(largest, report.node.devices.size());
  if (settings.trace == "philly") return philly_trace(*table, static_cast<std::int64_t>(largest));
  if (settings.trace == "openb") return openb_trace(*table);
  return own_trace(*table, settings.file.stem().string());
}

// openb has no tenants: online work is guaranteed everything, and lends what it does not use.
std::vector<TraceQueue> queues_for(const Settings& settings, const Trace& trace,
                                   std::int64_t capacity) {
  if (settings.trace != "openb") return queues_by_demand(trace.jobs, capacity);
  return {{.name = "offline"}, {.name = "online", .guarantee_milli = capacity}};
}

}  // namespace

std::variant<Settings, UsageAnswer> settings_of(std::span<const std::string> words) {
  Settings settings;
  Typed typed;
  CLI::App app("Replay a trace under one or more policies and compare them", "berth simulate");
  add_options(app, settings, typed);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 takes them
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& problem) {
    std::ostringstream out, err;
    const bool is_help = app.exit(problem, out, err) == 0;
    return UsageAnswer{.text = is_help ? out.str() : "berth simulate: " + err.str(),
                       .exit_code = is_help ? 0 : 2};
  }
  if (const Result<base::Done> done = understand(settings, typed); !done)
    return UsageAnswer{.text = "berth simulate: " + base::to_text(done.error()) + "\n",
                       .exit_code = 2};
  return settings;
}

Result<Experiment> load_experiment(const Settings& settings) {
  Result<Nodes> nodes = load_nodes(settings);
  if (!nodes) return tl::unexpected(nodes.error());
  Result<Trace> trace = load_trace(settings, *nodes);
  if (!trace) return tl::unexpected(trace.error());
  Experiment experiment{.trace = std::move(*trace), .nodes = std::move(*nodes), .load = {}};
  std::vector<TraceJob>& jobs = experiment.trace.jobs;
  if (settings.limit > 0 && jobs.size() > static_cast<std::size_t>(settings.limit))
    jobs.resize(static_cast<std::size_t>(settings.limit));
  const std::int64_t capacity = capacity_milli(experiment.nodes);
  if (settings.load_milli > 0) {
    const Result<LoadResult> made = compress_to_load(
        experiment.trace, capacity, {.load_milli = settings.load_milli, .repeat = settings.repeat});
    if (!made) return tl::unexpected(made.error());
    experiment.load = fmt::format(
        "trace repeated {} times and compressed into {}, so that its device work is {} of what the "
        "nodes can do in that time; {} run times cut to {}",
        made->repeat, base::print_duration_short(made->span),
        base::print_milli(settings.load_milli), made->cut_jobs,
        base::print_duration_short(made->span));
  }
  experiment.trace.queues = queues_for(settings, experiment.trace, capacity);
  return experiment;
}

}  // namespace simulator
