#include "devices/catalogue.h"

#include <gtest/gtest.h>

#include <set>

namespace {

TEST(Catalogue, ProductsOfDriversHaveTheNamesThatPeopleUse) {
  const std::pair<const char*, const char*> products[] = {
      {"NVIDIA H200", "H200"},
      {"NVIDIA H800", "H800"},
      {"NVIDIA A100-SXM4-80GB", "A100"},
      {"NVIDIA A100-PCIE-40GB", "A100"},
      {"NVIDIA H20", "H20"},
      {"NVIDIA L40S", "L40S"},
      {"NVIDIA L4", "L4"},
      {"Tesla V100-SXM2-32GB", "V100"},
      {"NVIDIA GeForce RTX 4090", "4090"},
      {"NVIDIA RTX 6000 Ada Generation", "RTX-6000-Ada-Generation"},
  };
  for (const auto& [product, model] : products)
    EXPECT_EQ(devices::model_of_product(product), model) << product;
}

TEST(Catalogue, ModelsAreFoundInAnyCaseAndAreUnique) {
  ASSERT_NE(devices::find_model("h800"), nullptr);
  EXPECT_EQ(devices::find_model("H8000"), nullptr);
  EXPECT_EQ(devices::find_model(""), nullptr);
  std::set<std::string_view> seen;
  for (const auto& row : devices::catalogue()) {
    EXPECT_TRUE(seen.insert(row.model).second) << row.model;
    EXPECT_GT(row.memory_gib, 0) << row.model;
    EXPECT_EQ(devices::find_model(row.model), &row);
  }
}

TEST(Catalogue, EveryProfileLiesOnTheMemoryAxis) {
  for (const auto& row : devices::catalogue()) {
    model::Device device;
    device.model = row.model;
    device.memory = base::Bytes(row.memory_gib << 30);
    devices::set_partitions(device);
    EXPECT_EQ(device.memory_slices == 0, row.partitions.empty()) << row.model;
    EXPECT_EQ(device.profiles.empty(), row.partitions.empty()) << row.model;
    for (const auto& profile : device.profiles) {
      EXPECT_FALSE(profile.starts.empty());
      for (const std::int32_t start : profile.starts)
        EXPECT_LE(start + profile.memory_slices, device.memory_slices)
            << row.model << " " << profile.name;
      EXPECT_LE(profile.memory, device.memory) << row.model << " " << profile.name;
    }
  }
}

TEST(Catalogue, TheLargerA100HasTheLargerProfiles) {
  model::Device device;
  device.model = "A100";
  device.memory = base::Bytes(std::int64_t{80} << 30);
  devices::set_partitions(device);
  EXPECT_EQ(device.profiles.front().name, "1g.10gb");
  device.memory = base::Bytes(std::int64_t{40} << 30);
  devices::set_partitions(device);
  EXPECT_EQ(device.profiles.front().name, "1g.5gb");
}

TEST(Catalogue, EachVendorHasItsVariables) {
  EXPECT_EQ(devices::visibility_variables("nvidia").front(), "CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(devices::visibility_variables("huawei").front(), "ASCEND_RT_VISIBLE_DEVICES");
  EXPECT_EQ(devices::visibility_variables("amd").size(), 2U);
  EXPECT_EQ(devices::visibility_variables("").front(), "CUDA_VISIBLE_DEVICES");
}

}  // namespace
