#pragma once
// The contract of controller/cluster_backend.h as one suite, the same for every implementation. A
// driver wraps one implementation: it makes work that ends by itself or does not, lets time pass,
// and puts a new controller in the place of the old one.
//
//   INSTANTIATE_TEST_SUITE_P(Local, BackendContract, ::testing::Values(make_local_driver), …);

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "controller/cluster_backend.h"

namespace backends_test {

class BackendDriver {
 public:
  using Seen = std::vector<controller::Observation>;
  virtual ~BackendDriver() = default;

  virtual controller::ClusterBackend& backend() = 0;  // watched by this driver
  // Two members, epoch 1. The first ends by itself soon and well, the second only when stopped.
  virtual controller::StartEffect short_work(std::uint64_t workload) = 0;
  virtual controller::StartEffect endless_work(std::uint64_t workload) = 0;
  // Lets time pass until `is_there`; false when it does not come.
  virtual bool reach(const std::function<bool(const Seen&)>& is_there) = 0;
  virtual Seen seen() = 0;
  // A controller that knows nothing takes over: what was seen is forgotten, the world goes on.
  virtual void restart() = 0;
};

using MakeDriver = std::unique_ptr<BackendDriver> (*)();

class BackendContract : public ::testing::TestWithParam<MakeDriver> {
 protected:
  using Seen = BackendDriver::Seen;

  static controller::StopEffect stop_of(const controller::StartEffect& start,
                                        model::EndClass end_class = model::EndClass::Preempted) {
    controller::StopEffect stop;
    stop.attempt = start.attempt;
    stop.epoch = start.epoch;
    stop.grace = base::milliseconds(300);
    stop.end_class = end_class;
    return stop;
  }
  static bool is_running(const Seen& seen, model::AttemptId attempt) {
    return std::any_of(seen.begin(), seen.end(), [&](const controller::Observation& one) {
      const auto* report = std::get_if<controller::RunningReport>(&one);
      return report != nullptr && report->attempt == attempt;
    });
  }
  // The ends reported of an attempt, in order, repetitions included.
  static std::vector<model::MemberEnd> ends(const Seen& seen, model::AttemptId attempt) {
    std::vector<model::MemberEnd> found;
    for (const controller::Observation& one : seen)
      if (const auto* report = std::get_if<controller::EndReport>(&one);
          report != nullptr && report->attempt == attempt)
        found.insert(found.end(), report->members.begin(), report->members.end());
    return found;
  }
  static bool is_over(const Seen& seen, model::AttemptId attempt) {
    const std::vector<model::MemberEnd> found = ends(seen, attempt);
    const auto has = [&](std::int32_t rank) {
      return std::any_of(found.begin(), found.end(),
                         [&](const model::MemberEnd& end) { return end.rank == rank; });
    };
    return has(0) && has(1);
  }
  void reach_running(const controller::StartEffect& start) {
    ASSERT_TRUE(driver_->reach([&](const Seen& seen) { return is_running(seen, start.attempt); }))
        << model::to_text(start.attempt) << " never runs";
  }
  void reach_end(const controller::StartEffect& start) {
    ASSERT_TRUE(driver_->reach([&](const Seen& seen) { return is_over(seen, start.attempt); }))
        << model::to_text(start.attempt) << " never ends";
  }
  controller::ClusterBackend& backend() { return driver_->backend(); }

  std::unique_ptr<BackendDriver> driver_ = GetParam()();
};

TEST_P(BackendContract, WatchingReportsTheNodes) {
  EXPECT_TRUE(driver_->reach([](const Seen& seen) {
    return std::any_of(seen.begin(), seen.end(), [](const controller::Observation& one) {
      const auto* report = std::get_if<controller::NodeReport>(&one);
      return report != nullptr && !report->node.name.empty() &&
             report->node.allocatable.of(model::kCpu) > 0;
    });
  }));
}

TEST_P(BackendContract, AStartRunsAndItsEndFollowsForEveryMember) {
  const auto start = driver_->short_work(1);
  backend().start(start);
  reach_running(start);
  reach_end(start);
  // One member may be gone before the other is up, but not both.
  std::size_t ends_before_running = 0;
  for (const controller::Observation& one : driver_->seen()) {
    if (std::holds_alternative<controller::RunningReport>(one)) break;
    if (const auto* report = std::get_if<controller::EndReport>(&one))
      ends_before_running += report->members.size();
  }
  EXPECT_LT(ends_before_running, 2U);
  for (const model::MemberEnd& end : ends(driver_->seen(), start.attempt)) {
    EXPECT_EQ(end.end_class, model::EndClass::Ok);
    EXPECT_TRUE(end.rank == 0 || end.rank == 1) << end.rank;
  }
}

TEST_P(BackendContract, AStartGivenAgainChangesNothing) {
  const auto start = driver_->short_work(1);
  for (int i = 0; i < 3; ++i)
    backend().start(start);
  reach_end(start);
  backend().start(start);
  backend().start(driver_->short_work(2));
  reach_end(driver_->short_work(2));
  const auto listed = backend().list();
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->size(), 2U);
  for (const model::MemberEnd& end : ends(driver_->seen(), start.attempt))
    EXPECT_EQ(end.end_class, model::EndClass::Ok);
}

TEST_P(BackendContract, AStartOfWhatHasEndedReportsItsEndAgain) {
  const auto start = driver_->short_work(1);
  backend().start(start);
  reach_end(start);
  driver_->restart();
  backend().start(start);
  reach_end(start);
}

TEST_P(BackendContract, AStopEndsEveryMemberWithItsClass) {
  const auto start = driver_->endless_work(1);
  backend().start(start);
  reach_running(start);
  EXPECT_TRUE(ends(driver_->seen(), start.attempt).empty());
  backend().stop(stop_of(start));
  backend().stop(stop_of(start));
  reach_end(start);
  for (const model::MemberEnd& end : ends(driver_->seen(), start.attempt))
    EXPECT_EQ(end.end_class, model::EndClass::Preempted);
  backend().stop(stop_of(start, model::EndClass::Timeout));
  for (const model::MemberEnd& end : ends(driver_->seen(), start.attempt))
    EXPECT_EQ(end.end_class, model::EndClass::Preempted);
}

TEST_P(BackendContract, AStopRightBehindItsStartWins) {
  const auto start = driver_->endless_work(1);
  backend().start(start);
  backend().stop(stop_of(start));
  reach_end(start);
}

TEST_P(BackendContract, AStopBeforeTheStartPreventsIt) {
  const auto start = driver_->endless_work(1);
  backend().stop(stop_of(start));
  backend().start(start);
  reach_end(start);
  EXPECT_FALSE(is_running(driver_->seen(), start.attempt));
  for (const model::MemberEnd& end : ends(driver_->seen(), start.attempt))
    EXPECT_EQ(end.end_class, model::EndClass::Preempted);
}

TEST_P(BackendContract, EffectsOfAnOlderEpochAreIgnored) {
  auto start = driver_->endless_work(1);
  start.epoch = model::Epoch(3);
  backend().start(start);
  reach_running(start);
  auto old_stop = stop_of(start, model::EndClass::Timeout);
  old_stop.epoch = model::Epoch(2);
  backend().stop(old_stop);
  auto old_start = driver_->short_work(2);
  old_start.epoch = model::Epoch(1);
  backend().start(old_start);
  // Something later of the right epoch shows that the two before were passed over.
  backend().stop(stop_of(start));
  reach_end(start);
  for (const model::MemberEnd& end : ends(driver_->seen(), start.attempt))
    EXPECT_EQ(end.end_class, model::EndClass::Preempted);
  const auto listed = backend().list();
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->size(), 1U);
}

TEST_P(BackendContract, AfterARestartEverythingIsListed) {
  const auto running = driver_->endless_work(1);
  const auto ended = driver_->short_work(2);
  const auto forgotten = driver_->short_work(3);
  for (const auto& start : {running, ended, forgotten})
    backend().start(start);
  reach_running(running);
  reach_end(ended);
  reach_end(forgotten);
  backend().forget(forgotten.attempt);
  driver_->restart();
  const auto listed = backend().list();
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 2U);
  for (const controller::AttemptReport& report : *listed) {
    const bool is_first = report.attempt == running.attempt;
    EXPECT_TRUE(is_first || report.attempt == ended.attempt);
    EXPECT_EQ(report.ended.size(), is_first ? 0U : 2U);
    if (is_first) {
      EXPECT_TRUE(report.is_running);
    }
  }
  // And what runs can still be stopped.
  backend().stop(stop_of(running));
  reach_end(running);
}

TEST_P(BackendContract, ALogThatDoesNotExistIsNotFound) {
  const auto chunk =
      backend().read_log({.attempt = {.workload = model::WorkloadId(99), .ordinal = 1}});
  ASSERT_FALSE(chunk);
  EXPECT_EQ(chunk.error().code, base::Code::NotFound);
}

}  // namespace backends_test
