// What a node could take at most: never less than what fits, exactly what fits by one option.

#include "policy/eligibility.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "testing/builders.h"

namespace {

using model::Device;
using model::DeviceRequest;
using testkit::a_node;

struct Left {
  const Device* device = nullptr;
  std::int64_t milli = 1000;
  std::int64_t bytes = 0;
  std::uint32_t slices = 0;
  bool has_shares = false;
};

// The most members that any way of filling the devices reaches, by trying them all.
class Naive {
 public:
  Naive(const model::Node& node, const std::vector<DeviceRequest>& options) : options_(options) {
    for (const Device& device : node.devices)
      left_.push_back({.device = &device, .bytes = device.memory.value});
  }
  std::int64_t most(std::int64_t cap) {
    if (cap == 0) return 0;
    std::int64_t best = 0;
    const std::vector<Left> before = left_;
    const auto go_on = [&] {
      best = std::max(best, 1 + most(cap - 1));
      left_ = before;
    };
    for (const DeviceRequest& option : options_) {
      if (option.is_whole()) {
        if (take_whole(option)) go_on();
        left_ = before;
        continue;
      }
      for (Left& left : left_)
        for (int start = 0; start < 8; ++start)
          if (take_part(left, option, start)) go_on();
    }
    return best;
  }

 private:
  bool take_whole(const DeviceRequest& option) {
    std::int64_t missing = option.count.value;
    for (Left& left : left_) {
      const bool is_whole = left.milli == 1000 && left.slices == 0 && !left.has_shares;
      if (missing == 0 || !is_whole || !policy::accepts_model(option, *left.device)) continue;
      left.milli = 0;
      left.has_shares = true;
      --missing;
    }
    return missing == 0;
  }
  static bool take_part(Left& left, const DeviceRequest& option, int start) {
    const auto part = policy::part_of(option, *left.device);
    if (!part) return false;
    if (part->profile == nullptr) {
      if (start > 0 || left.slices != 0 || part->milli.value > left.milli ||
          part->memory.value > left.bytes)
        return false;
      left.milli -= part->milli.value;
      left.bytes -= part->memory.value;
      return left.has_shares = true;
    }
    const std::uint32_t mask = ((1U << part->profile->memory_slices) - 1U) << start;
    if (left.has_shares || (left.slices & mask) != 0 ||
        start + part->profile->memory_slices > left.device->memory_slices ||
        std::ranges::find(part->profile->starts, start) == part->profile->starts.end())
      return false;
    left.slices |= mask;
    return true;
  }

  const std::vector<DeviceRequest>& options_;
  std::vector<Left> left_;
};

DeviceRequest any_option(bool is_sliced) {
  DeviceRequest option;
  const int kind = *rc::gen::inRange(0, is_sliced ? 4 : 3);
  if (kind == 0) option.count = base::Count(*rc::gen::inRange(1, 4));
  if (kind == 1) option.share = base::MilliDevice(*rc::gen::inRange(4, 10) * 100);
  if (kind == 2) {
    option.share = base::MilliDevice(*rc::gen::inRange(3, 8) * 100);
    option.memory = base::Bytes(*rc::gen::inRange(30, 80) * testkit::kGi);
  }
  if (kind == 3) option.slice = *rc::gen::element<std::string>("2s", "4s");
  if (*rc::gen::arbitrary<bool>()) option.models = {*rc::gen::element<std::string>("H800", "A100")};
  return option;
}

RC_GTEST_PROP(MembersOnEmpty, IsNeverLessThanWhatFitsAndExactWithOneOption, ()) {
  const bool is_sliced = *rc::gen::arbitrary<bool>();
  auto builder = a_node("n").gpus(*rc::gen::inRange(0, 3)).gpus(*rc::gen::inRange(0, 3), "A100");
  if (is_sliced) builder.sliced_in(8);
  model::TaskGroup group;
  group.members = 4;
  group.per_member = {};
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i)
    group.device_options.push_back(any_option(is_sliced));
  const std::int64_t given = policy::members_on_empty(builder.node(), group);
  const std::int64_t most = Naive(builder.node(), group.device_options).most(group.members);
  RC_ASSERT(given >= most);
  if (group.device_options.size() == 1) RC_ASSERT(given == most);
}

}  // namespace
