#include "devices/catalogue.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace devices {
namespace {

constexpr std::array kRows{
    CatalogueRow{"A100-80G", "nvidia", 80, "a100-80"},
    CatalogueRow{"A100", "nvidia", 40, "a100-40"},
    CatalogueRow{"A800", "nvidia", 80, "a100-80"},
    CatalogueRow{"H100", "nvidia", 80, "a100-80"},
    CatalogueRow{"H800", "nvidia", 80, "a100-80"},
    CatalogueRow{"H200", "nvidia", 141, "h200"},
    CatalogueRow{"H20", "nvidia", 96, ""},
    CatalogueRow{"B200", "nvidia", 180, "b200"},
    CatalogueRow{"A30", "nvidia", 24, "a30"},
    CatalogueRow{"A10", "nvidia", 24, ""},
    CatalogueRow{"A40", "nvidia", 48, ""},
    CatalogueRow{"L40S", "nvidia", 48, ""},
    CatalogueRow{"L40", "nvidia", 48, ""},
    CatalogueRow{"L20", "nvidia", 48, ""},
    CatalogueRow{"L4", "nvidia", 24, ""},
    CatalogueRow{"T4", "nvidia", 16, ""},
    CatalogueRow{"V100", "nvidia", 32, ""},
    CatalogueRow{"P100", "nvidia", 16, ""},
    CatalogueRow{"4090", "nvidia", 24, ""},
    CatalogueRow{"3090", "nvidia", 24, ""},
    CatalogueRow{"910B", "huawei", 64, ""},
    CatalogueRow{"910C", "huawei", 128, ""},
    CatalogueRow{"910A", "huawei", 32, ""},
    CatalogueRow{"310P", "huawei", 21, ""},
    CatalogueRow{"MI300X", "amd", 192, ""},
    CatalogueRow{"MI250X", "amd", 128, ""},
    CatalogueRow{"MLU590", "cambricon", 80, ""},
    CatalogueRow{"MLU370", "cambricon", 48, ""},
    CatalogueRow{"K100", "hygon", 64, ""},
    CatalogueRow{"S4000", "mthreads", 48, ""},
    CatalogueRow{"P800", "kunlunxin", 96, ""},
    CatalogueRow{"BI-V150", "iluvatar", 64, ""},
    CatalogueRow{"C500", "metax", 64, ""},
};

struct ProfileRow {
  std::string_view table;
  std::string_view name;
  std::int32_t slices = 0;
  std::int64_t memory_gib = 0;
  std::string_view starts;  // one digit a place: the axis has 8 at most
};

// Placements as `nvidia-smi mig -lgipp` prints them. A 3g takes 4 memory slices, so two of them
// fill the axis although a compute slice is left.
constexpr std::array kProfiles{
    ProfileRow{"a100-40", "1g.5gb", 1, 5, "0123456"},
    ProfileRow{"a100-40", "1g.10gb", 2, 10, "0246"},
    ProfileRow{"a100-40", "2g.10gb", 2, 10, "024"},
    ProfileRow{"a100-40", "3g.20gb", 4, 20, "04"},
    ProfileRow{"a100-40", "4g.20gb", 4, 20, "0"},
    ProfileRow{"a100-40", "7g.40gb", 8, 40, "0"},
    ProfileRow{"a100-80", "1g.10gb", 1, 10, "0123456"},
    ProfileRow{"a100-80", "1g.20gb", 2, 20, "0246"},
    ProfileRow{"a100-80", "2g.20gb", 2, 20, "024"},
    ProfileRow{"a100-80", "3g.40gb", 4, 40, "04"},
    ProfileRow{"a100-80", "4g.40gb", 4, 40, "0"},
    ProfileRow{"a100-80", "7g.80gb", 8, 80, "0"},
    ProfileRow{"h200", "1g.18gb", 1, 18, "0123456"},
    ProfileRow{"h200", "1g.35gb", 2, 35, "0246"},
    ProfileRow{"h200", "2g.35gb", 2, 35, "024"},
    ProfileRow{"h200", "3g.71gb", 4, 71, "04"},
    ProfileRow{"h200", "4g.71gb", 4, 71, "0"},
    ProfileRow{"h200", "7g.141gb", 8, 141, "0"},
    ProfileRow{"b200", "1g.23gb", 1, 23, "0123456"},
    ProfileRow{"b200", "1g.45gb", 2, 45, "0246"},
    ProfileRow{"b200", "2g.45gb", 2, 45, "024"},
    ProfileRow{"b200", "3g.90gb", 4, 90, "04"},
    ProfileRow{"b200", "4g.90gb", 4, 90, "0"},
    ProfileRow{"b200", "7g.180gb", 8, 180, "0"},
    ProfileRow{"a30", "1g.6gb", 1, 6, "0123"},
    ProfileRow{"a30", "2g.12gb", 2, 12, "02"},
    ProfileRow{"a30", "4g.24gb", 4, 24, "0"},
};

constexpr std::int64_t kGib = std::int64_t{1} << 30;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

// Does `word` stand in `text` on its own, not inside a longer word: "L4" is not in "L40S".
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool is_begin = at == 0 || !is_word_character(text[at - 1]);
    const bool is_end = end == text.size() || !is_word_character(text[end]);
    if (is_begin && is_end) return true;
  }
  return false;
}

}  // namespace

std::span<const CatalogueRow> catalogue() { return kRows; }

const CatalogueRow* find_model(std::string_view model) {
  const std::string wanted = lowered(model);
  for (const CatalogueRow& row : kRows)
    if (lowered(row.model) == wanted) return &row;
  return nullptr;
}

std::string model_of_product(std::string_view product) {
  const std::string text = lowered(product);
  for (const CatalogueRow& row : kRows)
    if (has_word(text, lowered(row.model))) return std::string(row.model);
  std::string_view rest = product;
  for (const std::string_view vendor : {"NVIDIA ", "Tesla ", "GeForce "})
    if (rest.starts_with(vendor)) rest.remove_prefix(vendor.size());
  std::string name(rest);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

void set_partitions(model::Device& device) {
  const CatalogueRow* row = find_model(device.model);
  if (row == nullptr || row->partitions.empty()) return;
  std::string_view table = row->partitions;
  // One name, two memories: the larger card has profiles of twice the size.
  if (table == "a100-40" && device.memory.value > 60 * kGib) table = "a100-80";
  device.memory_slices = table == "a30" ? 4 : 8;
  device.profiles.clear();
  for (const ProfileRow& profile : kProfiles) {
    if (profile.table != table) continue;
    model::SliceProfile& slice = device.profiles.emplace_back();
    slice.name = profile.name;
    slice.memory_slices = profile.slices;
    slice.memory = base::Bytes(profile.memory_gib * kGib);
    for (const char place : profile.starts)
      slice.starts.push_back(place - '0');
  }
}

std::span<const std::string_view> visibility_variables(std::string_view vendor) {
  static constexpr std::array<std::string_view, 1> kNvidia{"CUDA_VISIBLE_DEVICES"};
  static constexpr std::array<std::string_view, 1> kHuawei{"ASCEND_RT_VISIBLE_DEVICES"};
  static constexpr std::array<std::string_view, 2> kAmd{"HIP_VISIBLE_DEVICES",
                                                        "ROCR_VISIBLE_DEVICES"};
  static constexpr std::array<std::string_view, 1> kHygon{"HIP_VISIBLE_DEVICES"};
  static constexpr std::array<std::string_view, 1> kCambricon{"MLU_VISIBLE_DEVICES"};
  static constexpr std::array<std::string_view, 1> kMthreads{"MUSA_VISIBLE_DEVICES"};
  static constexpr std::array<std::string_view, 1> kKunlunxin{"XPU_VISIBLE_DEVICES"};
  if (vendor == "huawei") return kHuawei;
  if (vendor == "amd") return kAmd;
  if (vendor == "hygon") return kHygon;
  if (vendor == "cambricon") return kCambricon;
  if (vendor == "mthreads") return kMthreads;
  if (vendor == "kunlunxin") return kKunlunxin;
  return kNvidia;
}

}  // namespace devices
