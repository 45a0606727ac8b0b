#include "governance/amount_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "governance/internal/wording.h"

namespace governance {

namespace {

using internal::say;

// What a bare amount of bytes is of.
std::string_view bytes_noun(model::ResourceId resource, Language language) {
  const bool is_english = language == Language::English;
  if (resource == model::kMemory) return is_english ? "memory" : "内存";
  if (resource == model::kScratch) return is_english ? "scratch" : "本地磁盘";
  return is_english ? "device memory" : "显存";
}

std::string_view chinese_unit(std::string_view unit) {
  if (unit == "d") return "天";
  if (unit == "h") return "小时";
  if (unit == "m") return "分钟";
  if (unit == "s") return "秒";
  return "毫秒";
}

}  // namespace

std::string amount_text(const model::State& state, model::ResourceId resource, std::int64_t amount,
                        Language language) {
  const bool is_one = amount == 1000;
  switch (resource.value) {
    case model::kDevice.value:
      return say(language, is_one ? "{} GPU" : "{} GPUs", "{} 张 GPU", base::print_milli(amount));
    case model::kCpu.value:
      return say(language, is_one ? "{} core" : "{} cores", "{} 核 CPU", base::print_milli(amount));
    case model::kMemory.value:
    case model::kScratch.value:
    case model::kDeviceMemory.value:
      return fmt::format("{} {}", base::print_bytes(amount), bytes_noun(resource, language));
    case model::kNetwork.value:
      return say(language, amount == 1 ? "{} network device" : "{} network devices",
                 "{} 个网络设备", amount);
    default:
      return fmt::format("{} {}", amount, resource_name(state, resource));
  }
}

std::string time_text(base::Instant time, base::Instant now, Language language) {
  if (time == base::kNever) return say(language, "never", "永不");
  const std::string text = base::print_instant(time);  // …T09:30:00.000Z
  const std::size_t separator = text.find('T');
  const std::string_view date = std::string_view(text).substr(0, separator);
  const std::string_view clock = std::string_view(text).substr(separator + 1, 8);
  const std::string_view shown = clock.ends_with(":00") ? clock.substr(0, 5) : clock;
  if (base::print_instant(now).starts_with(date)) return fmt::format("{} UTC", shown);
  return fmt::format("{} {} UTC", date, shown);
}

std::string time_text_with_distance(base::Instant time, base::Instant now, Language language) {
  const std::string text = time_text(time, now, language);
  if (time <= now || time == base::kNever) return text;
  return say(language, "{} (in {})", "{}（{}后）", text, duration_text(time - now, language));
}

std::string duration_text(base::Duration duration, Language language) {
  if (duration == base::kForever) return say(language, "forever", "永久");
  const std::string english = base::print_duration_short(duration);
  if (language == Language::English) return english;
  std::string chinese;
  for (std::string_view rest = english; !rest.empty();) {
    const std::size_t number = rest.find_first_not_of("-0123456789");
    chinese += rest.substr(0, number);
    rest.remove_prefix(number);
    const std::size_t unit = std::min(rest.find_first_of("0123456789"), rest.size());
    chinese += chinese_unit(rest.substr(0, unit));
    rest.remove_prefix(unit);
  }
  return chinese;
}

std::string device_time_text(std::int64_t milli_device_millis, Language language) {
  constexpr std::int64_t kTenthOfADeviceHour = 1000LL * 3'600'000 / 10;
  const std::int64_t tenths = milli_device_millis / kTenthOfADeviceHour;
  return say(language, "{} GPU-hours", "{} GPU 小时", base::print_milli(tenths * 100));
}

std::string pool_text(const model::State& state, model::PoolId pool, Language language) {
  const model::PoolRecord* record = state.pools.find(pool);
  if (record == nullptr) return say(language, "pool {}", "资源池 {}", pool.value);
  return say(language, "pool {}", "资源池 {}", record->pool.name);
}

std::string queue_text(const model::State& state, model::QueueId queue, Language language) {
  const model::QueueRecord* record = state.queues.find(queue);
  if (record == nullptr) return say(language, "queue {}", "队列 {}", queue.value);
  return say(language, "queue {}", "队列 {}", record->queue.name);
}

std::string node_text(const model::State& state, model::NodeId node) {
  const model::NodeRecord* record = state.nodes.find(node);
  return record == nullptr ? fmt::format("node {}", node.value) : record->node.name;
}

std::string workload_text(const model::State& state, model::WorkloadId workload) {
  const model::WorkloadRecord* record = state.workloads.find(workload);
  if (record == nullptr || record->workload.name.empty()) return std::to_string(workload.value);
  return record->workload.name;
}

}  // namespace governance
