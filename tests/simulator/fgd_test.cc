// The fragmentation experiment: on the recorded lists the rules of the literature give what was
// published and placement by value gives more; on any list equal seeds give equal runs.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "platform/file.h"
#include "simulator/csv_table.h"
#include "simulator/fgd_experiment.h"
#include "simulator/fgd_results.h"
#include "simulator/fgd_role.h"
#include "simulator/trace_reader.h"

namespace simulator {
namespace {

constexpr std::string_view kNodes =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "n0,64000,262144,8,A\n"
    "n1,64000,262144,8,A\n"
    "n2,32000,131072,4,B\n"
    "n3,32000,131072,2,B\n";

constexpr std::string_view kPods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
    "p0,4000,8192,1,1000,\n"
    "p1,2000,8192,1,500,\n"
    "p2,2000,8192,1,300,B\n"
    "p3,16000,8192,4,1000,A|B\n"
    "p4,8000,8192,0,0,\n"
    "p5,1000,8192,1,200,\n";

struct Input {
  Nodes nodes = *openb_nodes(*CsvTable::parse(std::string(kNodes), "nodes"));
  Trace trace = *openb_requests(*CsvTable::parse(std::string(kPods), "pods"));
};

std::filesystem::path openb_folder() {
  const char* data = std::getenv("BERTH_DATA");
  return data == nullptr ? std::filesystem::path() : std::filesystem::path(data) / "openb-2023";
}

TEST(FgdExperiment, EqualSeedsGiveEqualRunsAndNobodyGetsMoreThanThereIs) {
  const Input input;
  const FgdWorkload workload("small", input.trace, input.nodes);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto first = workload.run(kFgdPolicies, base::Seed{seed});
    const auto second = workload.run(kFgdPolicies, base::Seed{seed});
    ASSERT_EQ(first.size(), kFgdPolicies.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_GT(first[i].placed, 0) << kFgdPolicies[i].name;
      EXPECT_EQ(first[i].placed, second[i].placed);
      for (std::size_t percent = 0; percent < first[i].points.size(); ++percent) {
        const FgdPoint& point = first[i].points[percent];
        EXPECT_EQ(point.allocated, second[i].points[percent].allocated);
        EXPECT_LE(point.allocated, 1e6);
        EXPECT_LE(point.fragmented, 1e6 - point.allocated + 1e-6);
      }
    }
  }
}

TEST(FgdExperiment, ThePublishedTableComesOutAndPlacementByValueIsAboveIt) {
  const std::filesystem::path data = openb_folder();
  if (!std::filesystem::exists(data / "openb_pod_list_default.csv"))
    GTEST_SKIP() << "set BERTH_DATA to a folder with openb-2023 to compare with what was published";
  const Nodes nodes = *openb_nodes(*CsvTable::read(data / "openb_node_list_gpu_node.csv"));
  const FgdPublished published = *read_published(data / "expected_fgd.csv");
  for (const std::string name : {"openb_pod_list_default", "openb_pod_list_gpuspec33"}) {
    const FgdWorkload workload(name, *openb_requests(*CsvTable::read(data / (name + ".csv"))),
                               nodes);
    std::array<FgdCell, kFgdPolicies.size()> cells;
    for (const std::uint64_t seed : {42U, 43U, 44U}) {
      auto runs = workload.run(kFgdPolicies, base::Seed{seed});
      for (std::size_t i = 0; i < runs.size(); ++i)
        cells[i].runs.push_back(std::move(runs[i]));
    }
    // Three seeds of a spread of 0.3 (Random 0.8) around means of ten.
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string policy(kFgdPolicies[i].name);
      const double ours = mean_at(cells[i], 100, &FgdPoint::allocated) / 10'000;
      if (policy == "Berth") {
        EXPECT_GT(ours, published.at({"alloc_pct", name, "FGD", 100}) + 0.5) << name;
        continue;
      }
      EXPECT_NEAR(ours, published.at({"alloc_pct", name, policy, 100}),
                  policy == "Random" ? 1.6 : 0.6)
          << name << ", " << policy;
      EXPECT_NEAR(mean_at(cells[i], 100, &FgdPoint::fragmented) / 10'000,
                  published.at({"frag_pct_of_cluster_gpu", name, policy, 100}),
                  policy == "Random" ? 1.6 : 0.6)
          << name << ", " << policy;
    }
  }
}

int run(std::vector<std::string> words, std::string& said) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const int code = fgd_main(words);
  said = testing::internal::GetCapturedStderr() + testing::internal::GetCapturedStdout();
  return code;
}

TEST(FgdExperiment, TheCommandWritesTheTableAndSaysWhatItMisses) {
  const platform::TemporaryFolder folder;
  const std::filesystem::path data = folder.path() / "data", out = folder.path() / "out";
  std::filesystem::create_directory(data);
  std::string said;
  EXPECT_EQ(run({"--experiment", "fgd", "--data", data, "--out", out}, said), 1);
  EXPECT_NE(said.find("openb_node_list_gpu_node.csv"), std::string::npos) << said;
  std::ofstream(data / "openb_node_list_gpu_node.csv") << kNodes;
  EXPECT_EQ(run({"--experiment", "fgd", "--data", data, "--out", out}, said), 1);
  EXPECT_NE(said.find("there is no openb_pod_list_"), std::string::npos) << said;
  std::ofstream(data / "openb_pod_list_small.csv") << kPods;
  EXPECT_EQ(
      run({"--experiment", "fgd", "--data", data, "--out", out, "--workloads", "large"}, said), 1);
  EXPECT_NE(said.find("openb_pod_list_large.csv"), std::string::npos) << said;
  EXPECT_EQ(run({"--experiment", "fgd", "--data", data, "--out", out, "--policies", "Best"}, said),
            1);
  EXPECT_NE(said.find("'Best' is not a policy"), std::string::npos) << said;
  EXPECT_EQ(run({"--experiment", "fgd", "--data", data, "--out", out, "--seeds", "2"}, said), 0)
      << said;
  const auto csv = CsvTable::read(out / "fgd.csv");
  ASSERT_TRUE(csv) << base::to_text(csv.error());
  for (const std::string_view column :
       {"workload", "policy", "seed", "arrived_pct", "alloc_pct", "frag_pct"})
    EXPECT_TRUE(csv->column(column)) << column;
  EXPECT_GT(csv->rows(), kFgdPolicies.size());
  EXPECT_TRUE(std::filesystem::exists(out / "report.html"));
}

}  // namespace
}  // namespace simulator
