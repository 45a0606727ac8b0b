#pragma once
// What is known of device models before one is seen: vendor, memory, partitions. Data, and never
// trusted over what a device says of itself. Partition tables are on the memory axis: a profile
// takes `memory_slices` of the model's axis and may start only at the listed places.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/amount.h"
#include "model/device.h"

namespace devices {

struct CatalogueRow {
  std::string_view model;   // as people ask for it: "H800"
  std::string_view vendor;  // "nvidia"
  std::int64_t memory_gib = 0;
  std::string_view partitions;  // name of a partition table; empty: cannot be partitioned
};
std::span<const CatalogueRow> catalogue();

// By model, in any case of letters; nothing when unknown.
const CatalogueRow* find_model(std::string_view model);

// "NVIDIA A100-SXM4-80GB" -> "A100", "NVIDIA H200" -> "H200"; for a product that the catalogue does
// not know, its name without the vendor and with '-' for spaces.
std::string model_of_product(std::string_view product);

// Axis length and profiles of a model; leaves the device as it is when it cannot be partitioned.
void set_partitions(model::Device& device);

// The environment variables that choose visible devices, by vendor: "nvidia" ->
// CUDA_VISIBLE_DEVICES. Unknown vendors are treated as "nvidia", whose variable most frameworks
// read.
std::span<const std::string_view> visibility_variables(std::string_view vendor);

}  // namespace devices
