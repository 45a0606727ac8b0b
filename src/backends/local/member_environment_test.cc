#include "backends/local/member_environment.h"

#include <gtest/gtest.h>

namespace {

using controller::StartEffect;
using model::Device;
using model::DeviceAssignment;

Device device(std::string vendor, std::string uuid, model::DeviceSource source) {
  return Device{.uuid = std::move(uuid),
                .vendor = std::move(vendor),
                .model = "M",
                .memory = base::Bytes(80),
                .source = source};
}

StartEffect effect_with(std::vector<DeviceAssignment> devices) {
  StartEffect effect;
  effect.attempt = {.workload = model::WorkloadId(42), .ordinal = 3};
  effect.queue = "a/b";
  effect.workload.id = model::WorkloadId(42);
  effect.workload.groups.resize(1);
  effect.workload.groups[0].name = "worker";
  effect.placement.members.resize(2);
  effect.placement.members[1].devices = std::move(devices);
  return effect;
}

DeviceAssignment whole(std::int32_t index) {
  return {.device = index, .milli = base::kWholeDevice, .memory = base::Bytes(80)};
}

const backends::local::MemberContext kSecond{
    .rank = 1, .master_port = 23456, .checkpoint_folder = "/data/checkpoints/42"};

TEST(MemberEnvironment, DevicesAreNamedAsTheirVendorNamesThem) {
  const std::vector<Device> devices{device("nvidia", "GPU-aa", model::DeviceSource::Probed),
                                    device("huawei", "npu-0", model::DeviceSource::Declared),
                                    device("nvidia", "GPU-bb", model::DeviceSource::Probed),
                                    device("huawei", "npu-1", model::DeviceSource::Declared)};
  const auto environment =
      member_environment(effect_with({whole(2), whole(3)}), kSecond, {}, devices);
  EXPECT_EQ(environment.at("CUDA_VISIBLE_DEVICES"), "GPU-bb");
  EXPECT_EQ(environment.at("ASCEND_RT_VISIBLE_DEVICES"), "1");  // the second of its vendor
  EXPECT_EQ(environment.at("BERTH_DEVICES"), "2,3");
  EXPECT_EQ(environment.at("BERTH_DEVICE_SOURCE"), "probed,declared");
}

TEST(MemberEnvironment, WithoutDevicesNoneIsVisible) {
  const auto environment =
      member_environment(effect_with({}), kSecond, {{"CUDA_VISIBLE_DEVICES", "0,1,2"}},
                         {device("amd", "x", model::DeviceSource::Declared)});
  EXPECT_EQ(environment.at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(environment.at("HIP_VISIBLE_DEVICES"), "");
  EXPECT_EQ(environment.at("ROCR_VISIBLE_DEVICES"), "");
  EXPECT_EQ(environment.at("BERTH_DEVICES"), "");
}

TEST(MemberEnvironment, AManifestCannotWidenWhatItWasGiven) {
  StartEffect effect = effect_with({whole(0)});
  effect.workload.command.environment = {{"CUDA_VISIBLE_DEVICES", "0,1"},
                                         {"BERTH_WORKLOAD", "1"},
                                         {"MASTER_PORT", "1"},
                                         {"MINE", "x"}};
  const auto environment =
      member_environment(effect, kSecond, {{"PATH", "/bin"}, {"MINE", "base"}},
                         {device("nvidia", "d0", model::DeviceSource::Declared),
                          device("nvidia", "d1", model::DeviceSource::Declared)});
  EXPECT_EQ(environment.at("CUDA_VISIBLE_DEVICES"), "0");
  EXPECT_EQ(environment.at("BERTH_WORKLOAD"), "42");
  EXPECT_EQ(environment.at("BERTH_ATTEMPT"), "42.3");
  EXPECT_EQ(environment.at("BERTH_GROUP"), "worker");
  EXPECT_EQ(environment.at("MASTER_PORT"), "23456");
  EXPECT_EQ(environment.at("MINE"), "x");
  EXPECT_EQ(environment.at("PATH"), "/bin");
}

TEST(MemberEnvironment, AMemberIsOneNodeOfItsJob) {
  const auto environment = member_environment(effect_with({}), kSecond, {}, {});
  EXPECT_EQ(environment.at("RANK"), "1");
  EXPECT_EQ(environment.at("WORLD_SIZE"), "2");
  EXPECT_EQ(environment.at("LOCAL_RANK"), "0");
  EXPECT_EQ(environment.at("LOCAL_WORLD_SIZE"), "1");
  EXPECT_EQ(environment.at("PET_NODE_RANK"), "1");
  EXPECT_EQ(environment.at("PET_MASTER_PORT"), "23456");
}

TEST(MemberEnvironment, AShareSaysHowMuchOfTheDeviceItIs) {
  const auto environment = member_environment(
      effect_with({{.device = 0, .milli = base::MilliDevice(250), .memory = base::Bytes(20)}}),
      kSecond, {}, {device("nvidia", "d0", model::DeviceSource::Declared)});
  EXPECT_EQ(environment.at("BERTH_DEVICE_MILLI"), "250");
  EXPECT_EQ(environment.at("BERTH_DEVICE_MEMORY"), "20");
}

TEST(MemberEnvironment, AnAssignmentToADeviceThatIsNotThereIsPassedOver) {
  const auto environment =
      member_environment(effect_with({whole(7), whole(-1)}), kSecond, {},
                         {device("nvidia", "d0", model::DeviceSource::Probed)});
  EXPECT_EQ(environment.at("CUDA_VISIBLE_DEVICES"), "");
}

}  // namespace
