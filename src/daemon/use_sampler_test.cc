#include "daemon/use_sampler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace berthd {
namespace {

// The second of two devices is measured. Tells when it is asked again, for then the first answers
// can be read.
class OneMeasured final : public backends::local::DeviceMetrics {
 public:
  std::optional<devices::DeviceSample> sample(std::int32_t device) override {
    if (device == 0 && ++rounds_ == 3) again.set_value();
    if (device != 1) return std::nullopt;
    return devices::DeviceSample{.busy_percent = 42};
  }
  std::promise<void> again;

 private:
  int rounds_ = 0;
};

TEST(UseSampler, GivesWhatWasReadLastAndNothingForWhatIsNotMeasured) {
  OneMeasured devices;
  UseSampler sampler(devices, base::milliseconds(1));
  ASSERT_EQ(devices.again.get_future().wait_for(std::chrono::seconds(20)),
            std::future_status::ready);
  EXPECT_FALSE(sampler.device(0));
  EXPECT_EQ(sampler.device(1), (devices::DeviceSample{.busy_percent = 42}));
  EXPECT_FALSE(sampler.device(2));
  EXPECT_FALSE(sampler.device(-1));
  ASSERT_TRUE(sampler.machine().memory_used);
  EXPECT_GT(sampler.machine().memory_used->value, 0);
}

}  // namespace
}  // namespace berthd
