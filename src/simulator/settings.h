#pragma once
// What `berth simulate` was asked to do, and the traces and nodes that it means.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "base/result.h"
#include "model/policy_set.h"
#include "simulator/results.h"
#include "simulator/trace.h"

namespace simulator {

struct Settings {
  std::string trace;  // "philly", "openb", or a file of our own format
  std::filesystem::path file;
  std::filesystem::path nodes_file;  // empty: `nodes`
  std::string nodes;                 // "75x8"
  std::vector<model::PolicySet> policies;
  std::int64_t load_milli = 0;  // 0: arrivals as recorded
  std::int32_t repeat = 0;      // 0: chosen by the load
  std::int64_t limit = 0;       // first jobs only; 0: all
  base::Seed seed{1};
  std::filesystem::path out;
  bool prints_json = false;
  bool is_verified = true;
  std::int32_t threads = 0;  // 0: one for each processor
  base::Duration start_delay = base::seconds(2);
  base::Duration stop_delay = base::seconds(5);
  base::Duration checkpoint = base::minutes(30);
  std::int32_t generate = 0;  // jobs of a synthetic trace to write to `out`; 0: simulate
};

// Help that was asked for, or usage that was wrong: what to print, and the exit code.
struct UsageAnswer {
  std::string text;
  int exit_code = 0;
};

std::variant<Settings, UsageAnswer> settings_of(std::span<const std::string> words);

struct Experiment {
  Trace trace;
  Nodes nodes;
  std::string load;  // how arrivals were changed; empty: not at all
};
// Reads trace and nodes, makes the load, and gives every queue its guarantee.
base::Result<Experiment> load_experiment(const Settings& settings);

}  // namespace simulator
