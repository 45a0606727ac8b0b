// NVML without an NVIDIA device: a library of the same binary interface is compiled here and
// loaded. It has three devices: a healthy H200, one that is lost, and one that gives no
// utilisation.

#include "devices/nvidia/nvml.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "platform/file.h"

namespace {

using base::Code;
using devices::nvidia::Nvml;

constexpr const char* kFake = R"(
#include <stdio.h>
#include <string.h>
static int devices[3] = {0, 1, 2};
int nvmlInit_v2(void) { return INIT_STATUS; }
int nvmlShutdown(void) { return 0; }
const char* nvmlErrorString(int status) { return status == 9 ? "Driver Not Loaded" : "?"; }
int nvmlDeviceGetCount_v2(unsigned* count) { *count = 3; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, int** device) { *device = &devices[i]; return 0; }
int nvmlDeviceGetName(int* device, char* name, unsigned size) {
  strncpy(name, *device == 0 ? "NVIDIA H200" : "NVIDIA A100-SXM4-80GB", size); return 0; }
int nvmlDeviceGetUUID(int* device, char* uuid, unsigned size) {
  snprintf(uuid, size, "GPU-%d", *device); return 0; }
static int asked[3];
int nvmlDeviceGetMemoryInfo(int* device, unsigned long long* info) {
  if (*device == 1 && asked[1]++ > 0) return 15; /* lost after it was listed */
  info[0] = 85899345920ULL; info[1] = 1; info[2] = 1000 + *device; return 0; }
int nvmlDeviceGetUtilizationRates(int* device, unsigned* rates) {
  if (*device == 2) return 3; rates[0] = 87; rates[1] = 20; return 0; }
int nvmlDeviceGetPowerUsage(int* device, unsigned* value) { *value = 412000; return *device; }
)";

class FakeNvml : public ::testing::Test {
 protected:
  // Path of the compiled library; empty when this machine has no C compiler.
  std::string compile(const std::string& source, const std::string& init_status) {
    const std::string library = (folder_.path() / "libfake.so").string();
    std::ofstream(folder_.path() / "fake.c") << source;
    std::vector<std::string> words{"cc",
                                   "-shared",
                                   "-fPIC",
                                   "-w",
                                   "-DINIT_STATUS=" + init_status,
                                   "-o",
                                   library,
                                   (folder_.path() / "fake.c").string()};
    std::vector<char*> argv;
    for (std::string& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    if (::posix_spawnp(&pid, "cc", nullptr, nullptr, argv.data(), environ) != 0) return {};
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status == 0 ? library : std::string();
  }

  platform::TemporaryFolder folder_;
};

TEST_F(FakeNvml, DevicesAndTheirReadings) {
  const std::string library = compile(kFake, "0");
  if (library.empty()) GTEST_SKIP() << "no C compiler (cc) to build the stand-in with";
  const auto nvml = Nvml::load(library);
  ASSERT_TRUE(nvml) << base::to_text(nvml.error());
  const auto devices = (*nvml)->devices();
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[0].model, "H200");
  EXPECT_EQ(devices[0].uuid, "GPU-0");
  EXPECT_EQ(devices[0].vendor, "nvidia");
  EXPECT_EQ(devices[0].memory.value, std::int64_t{80} << 30);
  EXPECT_EQ(devices[0].memory_slices, 8);
  EXPECT_EQ(devices[0].source, model::DeviceSource::Probed);
  EXPECT_EQ(devices[0].health, model::Health::Ok);
  EXPECT_EQ(devices[1].health, model::Health::Separate);
  EXPECT_EQ(devices[2].profiles.front().name, "1g.10gb");

  const auto busy = (*nvml)->sample(0);
  ASSERT_TRUE(busy);
  EXPECT_EQ(busy->busy_percent, 87);
  EXPECT_EQ(busy->memory_used, base::Bytes(1000));
  EXPECT_EQ(busy->power_mw, 412000);
  EXPECT_EQ(busy->temperature_c, std::nullopt);  // this library cannot tell
  const auto silent = (*nvml)->sample(2);
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->busy_percent, std::nullopt);  // absent is not zero
  EXPECT_EQ((*nvml)->sample(3), std::nullopt);
}

TEST_F(FakeNvml, ADriverThatDoesNotAnswerIsNamed) {
  const std::string library = compile(kFake, "9");
  if (library.empty()) GTEST_SKIP() << "no C compiler (cc) to build the stand-in with";
  const auto nvml = Nvml::load(library);
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, Code::Unavailable);
  EXPECT_NE(nvml.error().message.find("Driver Not Loaded"), std::string::npos);
}

TEST_F(FakeNvml, ALibraryWithoutTheFunctionsIsRefused) {
  const std::string library = compile("int nvmlInit_v2(void) { return INIT_STATUS; }", "0");
  if (library.empty()) GTEST_SKIP() << "no C compiler (cc) to build the stand-in with";
  const auto nvml = Nvml::load(library);
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, Code::Unsupported);
}

TEST(Nvml, WithoutTheLibraryThereAreNoDevices) {
  const auto nvml = Nvml::load("libno-such-driver.so.1");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, Code::NotFound);
}

}  // namespace
