#include "simulator/fgd_role.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "platform/system_clock.h"
#include "platform/terminal_progress.h"
#include "simulator/csv_table.h"
#include "simulator/fgd_experiment.h"
#include "simulator/fgd_results.h"
#include "simulator/trace_reader.h"

namespace simulator {

using base::Result;

namespace {

constexpr std::string_view kListPrefix = "openb_pod_list_";
constexpr std::string_view kNodeList = "openb_node_list_gpu_node.csv";
constexpr std::string_view kPublished = "expected_fgd.csv";

struct Request {
  std::string experiment;
  std::filesystem::path data, out;
  std::vector<std::string> workloads, policies;
  std::string mix = "known";
  std::uint64_t first_seed = 42;
  std::int32_t seeds = 10;
  std::int32_t threads = 0;
};

void add_options(CLI::App& app, Request& request) {
  app.add_option("--experiment", request.experiment, "fgd")->check(CLI::IsMember({"fgd"}));
  app.add_option("--data", request.data,
                 "folder with openb_pod_list_*.csv, openb_node_list_gpu_node.csv and, to compare, "
                 "expected_fgd.csv")
      ->required();
  app.add_option("--workloads", request.workloads,
                 "lists to run, by what follows openb_pod_list_; left out: all")
      ->delimiter(',');
  app.add_option("--policies", request.policies,
                 "Random, DotProd, Clustering, Packing, BestFit, FGD, Berth; left out: all")
      ->delimiter(',');
  app.add_option("--mix", request.mix,
                 "what FGD and Berth know of the requests: known, their frequencies; learned, what "
                 "came so far")
      ->check(CLI::IsMember({"known", "learned"}));
  app.add_option("--first-seed", request.first_seed, "default 42");
  app.add_option("--seeds", request.seeds, "runs of each; default 10")->check(CLI::Range(1, 1000));
  app.add_option("--threads", request.threads, "0: one a processor")->check(CLI::Range(0, 64));
  app.add_option("--out", request.out, "folder for fgd.csv, report.txt and report.html")
      ->required();
}

Result<std::vector<FgdPolicy>> policies_of(const Request& request) {
  if (request.policies.empty())
    return std::vector<FgdPolicy>(kFgdPolicies.begin(), kFgdPolicies.end());
  std::vector<FgdPolicy> policies;
  for (const std::string& name : request.policies) {
    const auto found = std::ranges::find(kFgdPolicies, name, &FgdPolicy::name);
    if (found == kFgdPolicies.end())
      return base::fail_field(base::Code::InvalidArgument, "--policies",
                              fmt::format("'{}' is not a policy of this experiment", name),
                              "use Random, DotProd, Clustering, Packing, BestFit, FGD or Berth");
    policies.push_back(*found);
  }
  return policies;
}

Result<std::vector<std::filesystem::path>> lists_of(const Request& request) {
  std::vector<std::filesystem::path> files;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(request.data, failure)) {
    const std::string stem = entry.path().stem().string();
    if (!stem.starts_with(kListPrefix) || entry.path().extension() != ".csv") continue;
    const bool is_wanted = request.workloads.empty() ||
                           std::ranges::find(request.workloads, stem.substr(kListPrefix.size())) !=
                               request.workloads.end();
    if (is_wanted) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const std::string& name : request.workloads)
    if (std::ranges::none_of(files, [&](const auto& file) {
          return file.stem().string() == std::string(kListPrefix) + name;
        }))
      return base::fail_field(
          base::Code::NotFound, "--workloads",
          fmt::format("there is no {}{}.csv in {}", kListPrefix, name, request.data.string()),
          "name what follows openb_pod_list_ in a file's name");
  if (files.empty())
    return base::fail_field(
        base::Code::NotFound, "--data",
        fmt::format("there is no {}*.csv in {}", kListPrefix, request.data.string()),
        "download the openb traces of 2023 and name their folder");
  return files;
}

struct Loaded {
  Nodes nodes;
  std::vector<FgdWorkload> workloads;  // read `nodes`
};

Result<base::Done> load(const Request& request, Loaded& loaded) {
  const Result<CsvTable> table = CsvTable::read(request.data / kNodeList);
  if (!table) return tl::unexpected(table.error());
  Result<Nodes> nodes = openb_nodes(*table);
  if (!nodes) return tl::unexpected(nodes.error());
  loaded.nodes = std::move(*nodes);
  for (const controller::NodeReport& report : loaded.nodes)
    if (report.node.devices.empty())
      return base::fail_field(base::Code::InvalidArgument, std::string(kNodeList),
                              fmt::format("node {} has no device", report.node.name),
                              "list nodes with devices only");
  const auto files = lists_of(request);
  if (!files) return tl::unexpected(files.error());
  for (const std::filesystem::path& file : *files) {
    const Result<CsvTable> pods = CsvTable::read(file);
    if (!pods) return tl::unexpected(pods.error());
    const Result<Trace> trace = openb_requests(*pods);
    if (!trace) return tl::unexpected(trace.error());
    if (trace->jobs.empty())
      return base::fail_field(base::Code::InvalidArgument, file.filename().string(), "lists no pod",
                              "name a list with pods");
    loaded.workloads.emplace_back(file.stem().string(), *trace, loaded.nodes);
  }
  return base::Done{};
}

// Workloads and seeds on as many threads as asked for; each pair runs all policies.
std::vector<FgdCell> run_all(const Request& request, const Loaded& loaded,
                             const std::vector<FgdPolicy>& policies) {
  const auto seeds = static_cast<std::size_t>(request.seeds);
  const std::size_t count = loaded.workloads.size() * seeds;
  std::vector<std::vector<FgdRun>> results(count);
  platform::TerminalProgress progress("runs", static_cast<std::int64_t>(count));
  std::mutex progress_lock;
  std::atomic<std::size_t> next{0};
  std::int64_t finished = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      results[i] = loaded.workloads[i / seeds].run(
          policies, base::Seed{request.first_seed + static_cast<std::uint64_t>(i % seeds)},
          request.mix == "learned" ? FgdMix::Learned : FgdMix::Known);
      const std::lock_guard<std::mutex> hold(progress_lock);
      progress.update(++finished);
    }
  };
  const std::size_t threads = request.threads > 0
                                  ? static_cast<std::size_t>(request.threads)
                                  : std::max(1u, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < std::min(threads, count); ++i)
      workers.emplace_back(work);
    work();
  }
  std::vector<FgdCell> cells;
  for (std::size_t w = 0; w < loaded.workloads.size(); ++w)
    for (std::size_t p = 0; p < policies.size(); ++p) {
      FgdCell cell{.workload = loaded.workloads[w].name(), .policy = std::string(policies[p].name)};
      for (std::size_t s = 0; s < seeds; ++s) {
        cell.seeds.push_back(request.first_seed + s);
        cell.runs.push_back(std::move(results[w * seeds + s][p]));
      }
      cells.push_back(std::move(cell));
    }
  return cells;
}

int refuse(const base::Error& error) {
  fmt::print(stderr, "berth simulate: {}\n", base::to_text(error));
  return 1;
}

Result<base::Done> write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) return base::Done{};
  return base::fail_field(base::Code::Unavailable, "--out",
                          fmt::format("{} cannot be written", file.string()),
                          "name a folder that you may write to");
}

int run(const Request& request) {
  const auto policies = policies_of(request);
  if (!policies) return refuse(policies.error());
  Loaded loaded;
  if (const auto done = load(request, loaded); !done) return refuse(done.error());
  const auto published = read_published(request.data / kPublished);
  if (!published) return refuse(published.error());
  std::error_code failure;
  std::filesystem::create_directories(request.out, failure);
  const std::int64_t began = platform::steady_micros();
  const std::vector<FgdCell> cells = run_all(request, loaded, *policies);
  const double seconds = static_cast<double>(platform::steady_micros() - began) / 1e6;
  const std::string text =
      fgd_text(cells, *published) +
      fmt::format("\n{} runs in {:.1f} s\n", cells.size() * static_cast<std::size_t>(request.seeds),
                  seconds);
  for (const auto& [name, content] : {std::pair{"fgd.csv", fgd_csv(cells)},
                                      {"report.txt", text},
                                      {"report.html", fgd_html(cells, *published)}})
    if (const auto done = write(request.out / name, content); !done) return refuse(done.error());
  fmt::print("{}", text);
  return 0;
}

}  // namespace

int fgd_main(std::span<const std::string> words) {
  Request request;
  CLI::App app("The fragmentation experiment of FGD (ATC 2023) with the product's own placement",
               "berth simulate --experiment fgd");
  add_options(app, request);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 takes them
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& problem) {
    std::ostringstream out, err;
    const bool is_help = app.exit(problem, out, err) == 0;
    fmt::print(is_help ? stdout : stderr, "{}",
               is_help ? out.str() : "berth simulate: " + err.str());
    return is_help ? 0 : 2;
  }
  return run(request);
}

}  // namespace simulator
