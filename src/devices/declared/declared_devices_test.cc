#include "devices/declared/declared_devices.h"

#include <gtest/gtest.h>

namespace {

using devices::declared::DeclaredDevices;

TEST(DeclaredDevices, ComeFromTheCatalogueAndSaySo) {
  auto made = DeclaredDevices::make("n1", {{.model = "h800", .count = 2}, {.model = "910B"}});
  ASSERT_TRUE(made) << base::to_text(made.error());
  const auto devices = made->devices();
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[0].model, "H800");
  EXPECT_EQ(devices[0].vendor, "nvidia");
  EXPECT_EQ(devices[0].memory.value, std::int64_t{80} << 30);
  EXPECT_EQ(devices[0].memory_slices, 8);
  EXPECT_EQ(devices[2].vendor, "huawei");
  EXPECT_EQ(devices[2].uuid, "n1-declared-2");
  for (const auto& device : devices)
    EXPECT_EQ(device.source, model::DeviceSource::Declared);
  EXPECT_EQ(made->sample(0), std::nullopt);
}

TEST(DeclaredDevices, WhatIsWrittenWinsOverTheCatalogue) {
  const auto made = DeclaredDevices::make(
      "n1", {{.model = "H800", .vendor = "acme", .memory = base::Bytes(1000)}});
  ASSERT_TRUE(made);
  auto copy = *made;
  EXPECT_EQ(copy.devices()[0].vendor, "acme");
  EXPECT_EQ(copy.devices()[0].memory.value, 1000);
}

TEST(DeclaredDevices, AMistakeNamesItsFieldAndTheRemedy) {
  const auto missing = DeclaredDevices::make("n", {{.model = "H800"}, {.model = ""}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().field, "devices[1].model");
  const auto unknown = DeclaredDevices::make("n", {{.model = "prototype"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().field, "devices[0].memory");
  EXPECT_FALSE(unknown.error().hint.empty());
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1025}}) {
    const auto wrong = DeclaredDevices::make("n", {{.model = "H800", .count = count}});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().field, "devices[0].count");
  }
  EXPECT_FALSE(DeclaredDevices::make(
      "n", {{.model = "H800", .count = 1000}, {.model = "H800", .count = 25}}));
}

}  // namespace
