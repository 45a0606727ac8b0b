// Goal: the arithmetic behind a report: series of unknown length, percentiles, fragmentation.

#include <gtest/gtest.h>

#include "simulator/fragmentation.h"
#include "simulator/report.h"
#include "simulator/results.h"
#include "simulator/time_series.h"

namespace simulator {
namespace {

using base::Duration;
using base::Instant;

TEST(TimeSeries, MeansAreWeightedByTime) {
  TimeSeries series(Instant{0}, Duration{100}, 4);
  series.set(Instant{0}, 10);
  series.set(Instant{50}, 20);
  series.set(Instant{150}, 0);
  EXPECT_EQ(series.means(Instant{200}), (std::vector<double>{15, 10}));
  EXPECT_EQ(static_cast<std::int64_t>(series.integral(Instant{200})), 50 * 10 + 100 * 20);
}

TEST(TimeSeries, IntervalsMergeWithoutLosingAnything) {
  TimeSeries series(Instant{0}, Duration{10}, 4);
  std::int64_t expected = 0;
  for (std::int64_t at = 0; at < 1000; at += 7) {
    series.set(Instant{at}, at);
    expected += at * (std::min<std::int64_t>(at + 7, 1000) - at);
  }
  const std::vector<double> means = series.means(Instant{1000});
  EXPECT_LE(means.size(), 4u);
  EXPECT_EQ(static_cast<std::int64_t>(series.integral(Instant{1000})), expected);
  TimeSeries filled = series;
  filled.set(Instant{1000}, 0);
  double sum = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * filled.width().millis;
    sum += means[i] *
           static_cast<double>(std::min(begin + filled.width().millis, std::int64_t{1000}) - begin);
  }
  EXPECT_NEAR(sum, static_cast<double>(expected), 1e-6);
}

TEST(Distribution, PercentilesAreMembersByNearestRank) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 200; i >= 1; --i)
    values.push_back(i);
  const Distribution found = distribution_of(values);
  EXPECT_EQ(found.count, 200);
  EXPECT_EQ(found.p50_ms, 100);
  EXPECT_EQ(found.p90_ms, 180);
  EXPECT_EQ(found.p99_ms, 198);
  EXPECT_EQ(found.max_ms, 200);
  EXPECT_DOUBLE_EQ(found.mean_ms, 100.5);
  EXPECT_EQ(distribution_of({}).count, 0);
  EXPECT_EQ(distribution_of({7}).p99_ms, 7);
}

model::NodeRecord a_node(std::vector<std::int64_t> used_milli, std::int64_t free_cores) {
  model::NodeRecord record;
  record.node.allocatable.set(model::kCpu, free_cores * 1000);
  record.node.devices.resize(used_milli.size());
  for (const std::int64_t used : used_milli) {
    model::DeviceUse use;
    use.milli = base::MilliDevice(used);
    record.devices.push_back(use);
    record.node.devices[record.devices.size() - 1].model = "T4";
  }
  return record;
}

TEST(Fragmentation, CountsWhatATypicalMemberCannotUse) {
  model::State state;
  state.nodes.insert(model::NodeId{1}, a_node({0, 600}, 8));  // 1000 and 400 free
  const MemberKind whole{.cpu_milli = 4000, .devices = 1, .milli_of_device = 1000, .weight = 3};
  const MemberKind half{.cpu_milli = 4000, .devices = 1, .milli_of_device = 500, .weight = 1};
  const MemberKind two{.cpu_milli = 4000, .devices = 2, .milli_of_device = 1000, .weight = 1};
  EXPECT_EQ(fragmentation_milli(state, {whole}), 400);
  EXPECT_EQ(fragmentation_milli(state, {half}), 400);
  EXPECT_EQ(fragmentation_milli(state, {two}), 1400);  // cannot run there at all
  EXPECT_EQ(fragmentation_milli(state, {whole, two}), (400 * 3 + 1400) / 4);
  EXPECT_EQ(fragmentation_milli(state, {}), 0);

  MemberKind other = whole;
  other.models = {"P100"};
  EXPECT_EQ(fragmentation_milli(state, {other}), 1400);
  MemberKind hungry = whole;
  hungry.cpu_milli = 9000;
  EXPECT_EQ(fragmentation_milli(state, {hungry}), 1400);
}

TEST(Report, TextInTheReportIsEscaped) {
  Simulation simulation{.trace = "<script>&\"'"};
  simulation.policies.push_back({.policy = "a<b"});
  const std::string html = report_html(simulation);
  EXPECT_EQ(html.find("<script>&"), std::string::npos);
  EXPECT_EQ(html.find("a<b"), std::string::npos);
  EXPECT_NE(report_json(simulation).find("<script>&\\\"'"), std::string::npos);
}

TEST(Report, ThePageNeedsNothingFromElsewhere) {
  const std::string html = report_html({.trace = "t", .policies = {{.policy = "fifo"}}});
  for (const char* outside : {"http:", "https:", "src=", "@import", "url("})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
}

TEST(Report, TimesCarryTheirUnit) {
  EXPECT_EQ(human_time(0), "0 s");
  EXPECT_EQ(human_time(250), "250 ms");
  EXPECT_EQ(human_time(90'000), "90.0 s");
  EXPECT_EQ(human_time(600'000), "10.0 min");
  EXPECT_EQ(human_time(36'000'000), "10.0 h");
  EXPECT_EQ(human_time(864'000'000), "10.0 d");
}

}  // namespace
}  // namespace simulator
