// Goal: a whole replay through the real controller. Two runs give the same bytes, the journal
// replays to the same State, every job ends, and what was measured adds up.

#include "simulator/replay.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "platform/file.h"
#include "policy/default_policy.h"
#include "simulator/journal_file.h"
#include "simulator/synthetic_trace.h"
#include "simulator/trace_reader.h"

namespace simulator {
namespace {

struct Input {
  Trace trace;
  Nodes nodes;
};

Input small_input(std::uint64_t seed, std::string_view shape = "4x8") {
  Input input{.trace = synthetic_trace({.jobs = 300, .seed = base::Seed{seed}}),
              .nodes = *nodes_of_shape(shape)};
  input.trace.queues = queues_by_demand(input.trace.jobs, capacity_milli(input.nodes));
  return input;
}

PolicyResult run(const Input& input, const model::PolicySet& policy,
                 const std::filesystem::path& journal) {
  const auto result =
      replay(input.trace, input.nodes,
             {.policy = policy, .version = "test", .journal = journal, .is_verified = true});
  EXPECT_TRUE(result) << (result ? "" : base::to_text(result.error()));
  return result ? *result : PolicyResult{};
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

TEST(Replay, TwoRunsGiveTheSameBytesUnderEveryPolicy) {
  const platform::TemporaryFolder folder;
  const Input input = small_input(1);
  for (const char* name : {"fifo", "priority", "default"}) {
    const model::PolicySet policy = *policy::policy_named(name);
    const PolicyResult first = run(input, policy, folder.path() / "first.bin");
    const PolicyResult second = run(input, policy, folder.path() / "second.bin");
    EXPECT_FALSE(first.journal_hash.empty());
    EXPECT_EQ(first.journal_hash, second.journal_hash) << name;
    EXPECT_EQ(bytes_of(folder.path() / "first.bin"), bytes_of(folder.path() / "second.bin"))
        << name;
    EXPECT_TRUE(first.is_verified) << name;
  }
}

TEST(Replay, EveryJobEndsAndTheWorkAddsUp) {
  const platform::TemporaryFolder folder;
  const Input input = small_input(2, "8x8");
  const PolicyResult result = run(input, policy::fifo_policy(), folder.path() / "journal.bin");
  EXPECT_EQ(result.finished, 300) << result.unfinished << " left";
  EXPECT_EQ(result.failed, 0);
  EXPECT_EQ(result.evictions, 0);  // fifo takes nothing back
  EXPECT_EQ(result.starts, 300);
  // Held device time = run time plus the start delay of each job, exactly.
  double work_milli_ms = 0;
  for (const TraceJob& job : input.trace.jobs)
    work_milli_ms +=
        static_cast<double>(job.device_milli()) * static_cast<double>(job.runtime.millis + 2000);
  const double capacity = static_cast<double>(capacity_milli(input.nodes));
  EXPECT_NEAR(static_cast<double>(result.allocation_ppm),
              work_milli_ms / (capacity * static_cast<double>(result.makespan.millis)) * 1e6, 2.0);
}

TEST(Replay, ADamagedJournalIsNoticed) {
  const platform::TemporaryFolder folder;
  const auto path = folder.path() / "journal.bin";
  const Input input = small_input(3);
  const PolicyResult result = run(input, policy::default_policy(), path);
  const auto accept = [](const model::Event&) { return true; };
  EXPECT_EQ(*read_journal_file(path, accept), result.journal_hash);

  std::string bytes = bytes_of(path);
  const std::string whole = bytes;
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  const auto changed = read_journal_file(path, accept);
  EXPECT_TRUE(!changed || *changed != result.journal_hash);

  std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, whole.size() - 3);
  const auto cut = read_journal_file(path, accept);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, base::Code::DataLoss);
}

TEST(Replay, AJobThatNeverFitsIsLeftAndTheReplayEnds) {
  const platform::TemporaryFolder folder;
  Input input = small_input(4, "1x4");
  const PolicyResult result = run(input, policy::fifo_policy(), folder.path() / "journal.bin");
  EXPECT_GT(result.unfinished, 0);
  EXPECT_GT(result.finished, 0);
}

TEST(SmallTrace, TheCommittedFileIsWhatTheGeneratorMakes) {
  const char* source = std::getenv("BERTH_SOURCE");
  const std::filesystem::path root = source == nullptr ? "." : source;
  const auto table = CsvTable::read(root / "traces" / "small.csv");
  ASSERT_TRUE(table) << base::to_text(table.error());
  const auto trace = own_trace(*table, "synthetic");
  ASSERT_TRUE(trace) << base::to_text(trace.error());
  EXPECT_EQ(*trace, synthetic_trace({.jobs = 300, .seed = base::Seed{1}}));
}

// The recorded traces, where the shared data is at hand.
TEST(RecordedTraces, AreReadWhole) {
  const char* data = std::getenv("BERTH_DATA");
  if (data == nullptr || !std::filesystem::exists(data))
    GTEST_SKIP() << "set BERTH_DATA to the folder with the shared traces";
  const std::filesystem::path root = data;
  const auto philly = CsvTable::read(root / "pollux-osdi21" / "traces" / "philly.csv");
  ASSERT_TRUE(philly) << base::to_text(philly.error());
  const auto jobs = philly_trace(*philly, 8);
  ASSERT_TRUE(jobs) << base::to_text(jobs.error());
  EXPECT_EQ(jobs->jobs.size(), 82'247u);
  EXPECT_EQ(queues_by_demand(jobs->jobs, 600'000).size(), 15u);

  const auto pods = CsvTable::read(root / "openb-2023" / "openb_pod_list_default.csv");
  ASSERT_TRUE(pods) << base::to_text(pods.error());
  const auto openb = openb_trace(*pods);
  ASSERT_TRUE(openb) << base::to_text(openb.error());
  EXPECT_EQ(openb->jobs.size(), 8152u);
  const auto list = CsvTable::read(root / "openb-2023" / "openb_node_list_all_node.csv");
  ASSERT_TRUE(list);
  const auto nodes = openb_nodes(*list);
  ASSERT_TRUE(nodes) << base::to_text(nodes.error());
  EXPECT_EQ(nodes->size(), 1523u);
  EXPECT_EQ(capacity_milli(*nodes), 6'212'000);
}

}  // namespace
}  // namespace simulator
