// Goal: what the readers refuse is refused with file, line and column; what they accept means what
// trace_reader.h says.

#include "simulator/trace_reader.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/random.h"
#include "model/resources.h"
#include "simulator/synthetic_trace.h"

namespace simulator {
namespace {

CsvTable table_of(std::string text) {
  auto table = CsvTable::parse(std::move(text), "t.csv");
  EXPECT_TRUE(table) << (table ? "" : base::to_text(table.error()));
  return std::move(*table);
}

std::string refusal_of(std::string text) {
  const auto table = CsvTable::parse(std::move(text), "t.csv");
  return table ? "accepted" : table.error().field + ": " + table.error().message;
}

TEST(CsvTable, RefusesWhatIsNoTable) {
  EXPECT_EQ(refusal_of(""), "t.csv:1: the file is empty");
  EXPECT_EQ(refusal_of("a,b\n"), "t.csv:1: no rows follow the header");
  EXPECT_EQ(refusal_of("\n\n"), "t.csv:1: there is no header row");
  EXPECT_EQ(refusal_of("a,b\n1\n"), "t.csv:2: 1 fields where the header has 2");
  EXPECT_EQ(refusal_of("a,b\n1,2\n1,2,3\n"), "t.csv:3: 3 fields where the header has 2");
  EXPECT_EQ(refusal_of("a,a\n1,2\n"), "t.csv:1: column 'a' stands twice in the header");
  EXPECT_EQ(refusal_of("a\nx\xff\n"), "t.csv:2: not UTF-8");
  EXPECT_EQ(refusal_of(std::string("a\nx\0y\n", 6)), "t.csv:2: control character in the line");
  EXPECT_EQ(refusal_of("a\n1\n\n2\n"), "t.csv:3: blank line between rows");
  EXPECT_EQ(refusal_of("a\n\"x\n"), "t.csv:2: a quoted field does not end in its line");
  EXPECT_EQ(refusal_of("a\nx\"y\n"),
            "t.csv:2: a quote inside a field that does not begin with one");
  EXPECT_EQ(refusal_of("a,b\n\"x\"y,1\n"), "t.csv:2: text behind the closing quote of a field");
}

TEST(CsvTable, ReadsQuotesLineEndsAndBlankLinesAtTheEnd) {
  const CsvTable table = table_of(
      "\xEF\xBB\xBF"
      "a,b\r\n\"x,\"\"y\"\"\",2\r\n,\"\"\n\n\n");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.cell(0, 0), "x,\"y\"");
  EXPECT_EQ(table.cell(0, 1), "2");
  EXPECT_EQ(table.cell(1, 0), "");
  EXPECT_EQ(table.cell(1, 1), "");
}

TEST(CsvTable, AMissingColumnListsThoseThatThereAre) {
  const auto column = table_of("a,b\n1,2\n").column("c");
  ASSERT_FALSE(column);
  EXPECT_EQ(column.error().field, "t.csv:1:c");
  EXPECT_EQ(column.error().hint, "the header has a, b");
}

TEST(CsvTable, ABadCellNamesFileLineAndColumn) {
  const CsvTable table = table_of("n,d\n1,2\nx,-3\n1,2s\n");
  const auto number = table.integer(1, 0, 0, 9);
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().field, "t.csv:3:n");
  EXPECT_EQ(number.error().message, "'x' is not a whole number in range");
  EXPECT_FALSE(table.duration(1, 1));
  EXPECT_FALSE(table.duration(2, 1));
  EXPECT_EQ(table.duration(0, 1)->millis, 2000);
  EXPECT_FALSE(table.integer(0, 0, 5, 9));
}

constexpr std::string_view kPhillyHeader = "timestamp,duration,num_gpus,gpu_time,cluster\n";

TEST(PhillyTrace, AVirtualClusterIsAQueueAndLargeJobsBecomeEqualMembers) {
  const auto trace =
      philly_trace(table_of(std::string(kPhillyHeader) + "2017-10-09 07:01:55,66.5,1,66.5,b\n"
                                                         "2017-10-09 07:01:54,10.0,12,120,a\n"
                                                         "2017-10-09 07:01:56,1.0,128,128,a\n"),
                   8);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->jobs.size(), 3u);
  EXPECT_EQ(trace->jobs[0].queue, "a");  // by submission
  EXPECT_EQ(trace->jobs[0].members, 2);
  EXPECT_EQ(trace->jobs[0].device.count.value, 6);
  EXPECT_EQ(trace->jobs[1].runtime.millis, 66'500);
  EXPECT_EQ(trace->jobs[1].class_name, "training");
  EXPECT_EQ(trace->jobs[2].members, 16);
  EXPECT_EQ(trace->jobs[2].device_milli(), 128'000);
}

TEST(PhillyTrace, BadRowsAreRefused) {
  const auto field_of = [](std::string_view row) {
    const auto trace = philly_trace(table_of(std::string(kPhillyHeader) + std::string(row)), 8);
    return trace ? std::string("accepted") : trace.error().field;
  };
  EXPECT_EQ(field_of("yesterday,66.0,1,66.0,b\n"), "t.csv:2:timestamp");
  EXPECT_EQ(field_of("2017-10-09 07:01:55,-1,1,66.0,b\n"), "t.csv:2:duration");
  EXPECT_EQ(field_of("2017-10-09 07:01:55,1,0,66.0,b\n"), "t.csv:2:num_gpus");
  EXPECT_EQ(field_of("2017-10-09 07:01:55,1,1,66.0,\n"), "t.csv:2:cluster");
  EXPECT_EQ(field_of("2017-10-09 07:01:55,1,1,66.0,B c\n"), "t.csv:2:cluster");
}

constexpr std::string_view kPodHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";

TEST(OpenbTrace, PodsBecomeSharesDevicesOrCpuWork) {
  const auto trace = openb_trace(table_of(std::string(kPodHeader) +
                                          "p0,12000,16384,1,460,T4|P100,LS,Running,5,100,7\n"
                                          "p1,1000,1,0,0,,BE,Failed,6,16,\n"
                                          "p2,1000,1,8,1000,,Burstable,Running,7,9,8\n"));
  ASSERT_TRUE(trace);
  const TraceJob& share = trace->jobs[0];
  EXPECT_EQ(share.device.share.value, 460);
  EXPECT_EQ(share.device.models, (std::vector<std::string>{"T4", "P100"}));
  EXPECT_EQ(share.submitted.millis, 5000);
  EXPECT_EQ(share.runtime.millis, 93'000);  // from its start, not from its creation
  EXPECT_EQ(share.class_name, "inference");
  EXPECT_EQ(share.per_member.of(model::kMemory), std::int64_t{16384} << 20);
  EXPECT_TRUE(trace->jobs[1].device.is_none());
  EXPECT_EQ(trace->jobs[1].runtime.millis, 10'000);  // never scheduled
  EXPECT_EQ(trace->jobs[1].queue, "offline");
  EXPECT_EQ(trace->jobs[2].device.count.value, 8);
}

TEST(OpenbTrace, BadPodsAreRefused) {
  const auto field_of = [](std::string_view row) {
    const auto trace = openb_trace(table_of(std::string(kPodHeader) + std::string(row)));
    return trace ? std::string("accepted") : trace.error().field;
  };
  EXPECT_EQ(field_of("p,1,1,1,0,,LS,Running,5,100,7\n"), "t.csv:2:gpu_milli");
  EXPECT_EQ(field_of("p,1,1,2,500,,LS,Running,5,100,7\n"), "t.csv:2:gpu_milli");
  EXPECT_EQ(field_of("p,1,1,1,1001,,LS,Running,5,100,7\n"), "t.csv:2:gpu_milli");
  EXPECT_EQ(field_of("p,1,1,1,500,,XX,Running,5,100,7\n"), "t.csv:2:qos");
  EXPECT_EQ(field_of("p,1,1,1,500,,LS,Running,5,6,7\n"), "t.csv:2:deletion_time");
  EXPECT_EQ(field_of("p,-1,1,1,500,,LS,Running,5,8,7\n"), "t.csv:2:cpu_milli");
}

TEST(OpenbNodes, DevicesNeedAModel) {
  const auto nodes =
      openb_nodes(table_of("sn,cpu_milli,memory_mib,gpu,model\n"
                           "n0,32000,262144,0,\nn1,64000,262144,2,P100\n"));
  ASSERT_TRUE(nodes);
  EXPECT_EQ(capacity_milli(*nodes), 2000);
  EXPECT_EQ((*nodes)[1].node.devices[1].model, "P100");
  const auto bad = openb_nodes(table_of("sn,cpu_milli,memory_mib,gpu,model\nn0,1,1,2,\n"));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().field, "t.csv:2:model");
}

TEST(OwnTrace, WritingAndReadingGiveTheSameTrace) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Trace trace = synthetic_trace({.jobs = 200, .seed = base::Seed{seed}});
    const auto read = own_trace(table_of(write_trace(trace)), "synthetic");
    ASSERT_TRUE(read) << base::to_text(read.error());
    EXPECT_EQ(*read, trace);
  }
}

TEST(OwnTrace, AShareBesideWholeDevicesIsRefused) {
  const auto trace = own_trace(
      table_of("submit_ms,runtime_ms,queue,class,user,members,gpus,gpu_milli,cpu_milli,memory_mib,"
               "models,name\n0,1,q,training,,1,1,500,0,0,,\n"),
      "own");
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().field, "t.csv:2:gpu_milli");
}

TEST(QueuesByDemand, GuaranteesAreWholeDevicesInProportionAndNeverBeyondCapacity) {
  std::vector<TraceJob> jobs(3);
  const std::int64_t seconds[] = {500, 300, 200};
  for (std::size_t i = 0; i < 3; ++i) {
    jobs[i].queue = std::string(1, static_cast<char>('a' + i));
    jobs[i].runtime = base::seconds(seconds[i]);
    jobs[i].device.count = base::Count(1);
  }
  // 7 devices: 3.5, 2.1, 1.4 -> 3, 2, 1 and the largest remainder, a.
  const auto queues = queues_by_demand(jobs, 7000);
  ASSERT_EQ(queues.size(), 3u);
  EXPECT_EQ(queues[0].guarantee_milli, 4000);
  EXPECT_EQ(queues[1].guarantee_milli, 2000);
  EXPECT_EQ(queues[2].guarantee_milli, 1000);
  EXPECT_EQ(queues[0].weight, 500'000);
}

TEST(NodesOfShape, ReadsCountDevicesAndModel) {
  const auto nodes = nodes_of_shape("3x8:A800");
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nodes->size(), 3u);
  EXPECT_EQ(capacity_milli(*nodes), 24'000);
  EXPECT_EQ(nodes->back().node.devices[7].model, "A800");
  for (const char* bad : {"", "8", "x8", "3x", "0x8", "3x65", "3x8:", "-1x8", "3x8x2"})
    EXPECT_FALSE(nodes_of_shape(bad)) << bad;
}

}  // namespace
}  // namespace simulator
