#include "governance/internal/wording.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace governance::internal {

namespace {

using model::Reason;

struct Phrase {
  Reason reason = Reason::None;
  std::string_view english;
  std::string_view chinese;
};

constexpr auto kPhrases = std::to_array<Phrase>({
    {Reason::None, "may be taken back", "可以回收"},
    {Reason::Stopping, "stopping already", "正在停止"},
    {Reason::UnknownModel, "no device of an accepted model", "没有可接受型号的设备"},
    {Reason::UnknownSlice, "no such slice profile", "没有该切片规格"},
    {Reason::NotEnoughFree, "too few devices", "设备数量不足"},
    {Reason::NotEnoughCpu, "too few CPU cores", "CPU 不足"},
    {Reason::NotEnoughMemory, "too little memory", "内存不足"},
    {Reason::NotEnoughOther, "too little of another resource", "其他资源不足"},
    {Reason::DevicesBusy, "devices in use", "设备被占用"},
    {Reason::DeviceFragmented, "enough is free in sum, but not in pieces that fit",
     "空闲总量足够，但过于分散"},
    {Reason::NodeNotReady, "not ready", "未就绪"},
    {Reason::TaintNotTolerated, "taint not tolerated", "污点不被容忍"},
    {Reason::AttributeMismatch, "attribute missing", "缺少所需属性"},
    {Reason::WrongModel, "other device model", "设备型号不符"},
    {Reason::DeviceUnhealthy, "devices unhealthy", "设备不健康"},
    {Reason::TenantIsolation, "kept apart from another tenant", "与其他租户隔离"},
    {Reason::TopologyTooSmall, "no single domain has room for all", "没有一个拓扑域能容纳全部成员"},
    {Reason::ClaimedByOther, "claimed for another", "已为其他任务保留"},
    {Reason::OtherPool, "in another pool", "属于其他资源池"},
    {Reason::IsolationTooWeak, "isolation too weak", "隔离级别不足"},
    {Reason::MinRuntime, "within its min run time", "处于最短运行保护期"},
    {Reason::NotReclaimable, "not to be reclaimed", "不可回收"},
    {Reason::NotPreemptible, "not to be preempted", "不可抢占"},
    {Reason::NotBorrowing, "its queue is within its entitlement", "其队列未超出应得份额"},
    {Reason::EvictionLimit, "evicted often enough today", "今日驱逐次数已达上限"},
});

struct TestName {
  std::string_view english;
  std::string_view chinese;
};

// In the order of the enumeration.
constexpr auto kTestNames = std::to_array<TestName>({
    {"eligible", "可参与调度"},
    {"feasible", "可行性"},
    {"queue limit", "队列上限"},
    {"guarantee", "保障量"},
    {"kept for others", "为他人保留"},
    {"queue order", "队列次序"},
    {"place", "放置"},
    {"take back", "回收"},
    {"claim", "资源保留"},
    {"topology", "拓扑"},
});
static_assert(kTestNames.size() == static_cast<std::size_t>(model::Test::Topology) + 1);

constexpr std::string_view kClosing = "）";

}  // namespace

std::string tightened(std::string chinese) {
  for (std::size_t at = chinese.find(kClosing); at != std::string::npos;
       at = chinese.find(kClosing, at)) {
    at += kClosing.size();
    if (at < chinese.size() && chinese[at] == ' ') chinese.erase(at, 1);
  }
  return chinese;
}

std::string_view phrase_of(Reason reason, Language language) {
  const bool is_english = language == Language::English;
  for (const Phrase& phrase : kPhrases)
    if (phrase.reason == reason) return is_english ? phrase.english : phrase.chinese;
  const auto index = static_cast<std::size_t>(reason);
  const auto catalogue = model::reason_catalogue();
  if (index >= catalogue.size()) return "?";  // written by a later version
  return is_english ? catalogue[index].english : catalogue[index].chinese;
}

std::string_view test_name(model::Test test, Language language) {
  const auto index = static_cast<std::size_t>(test);
  if (index >= kTestNames.size()) return "?";
  return language == Language::English ? kTestNames[index].english : kTestNames[index].chinese;
}

}  // namespace governance::internal
