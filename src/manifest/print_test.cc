// What is printed reads back as the same document, in both notations, for documents drawn at random
// from everything that parse() accepts, odd texts included. The exact look is pinned by one
// example.

#include "manifest/print.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/text.h"
#include "manifest/parse.h"

namespace manifest {
namespace {

using rc::gen::arbitrary;
using rc::gen::element;
using rc::gen::inRange;

template <class T>
std::optional<T> maybe(const rc::Gen<T>& gen) {
  return *arbitrary<bool>() ? std::optional<T>(*gen) : std::nullopt;
}

std::string a_name() {
  const auto size = *inRange<std::size_t>(1, 12);
  std::string name;
  for (std::size_t i = 0; i < size; ++i)
    name += *element('a', 'b', 'n', 'o', 'y', 'e', 's', '0', '1', '7');
  if (*arbitrary<bool>()) name += *element("-x", ".5", "_y", "0");
  return name;
}

// Characters that YAML, JSON or both treat in a special way, and words that look like numbers.
std::string a_text() {
  std::string text =
      *element<std::string>("", "yes", "null", "~", "1e3", "0x1f", "012", "-", "? a");
  const auto size = *inRange<std::size_t>(0, 8);
  for (std::size_t i = 0; i < size; ++i)
    text += *element<std::string>("a", "Z", " ", "\n", "\t", "\r", "\"", "'", "\\", "#", ": ", "- ",
                                  "{", "]", "&", "*", "!", "|", "%", "@", "`", "\x01", "\x7f",
                                  "\xc2\x85", "\xc2\xa0", "é", "中", "\xe2\x80\xa8", "\xef\xbb\xbf",
                                  "\xf0\x9f\x98\x80", "...", "---\n");
  return text;
}

std::string a_full_text() {
  std::string text = a_text();
  return text.empty() ? "x" : text;
}

std::map<std::string, std::string> a_text_map() {
  std::map<std::string, std::string> map;
  const auto size = *inRange(0, 4);
  for (int i = 0; i < size; ++i)
    map[*element<std::string>("team", "a/b", "true", "12", "-", "x.y_z", "NULL")] = a_text();
  return map;
}

base::Duration a_duration() { return base::Duration{*inRange<std::int64_t>(1, 300'000'000'000)}; }
std::int64_t an_amount() {
  const std::int64_t amount = *inRange<std::int64_t>(1, 1'000'000'000'000);
  return *arbitrary<bool>() ? amount : (amount % 2000 + 1) << *inRange(0, 31);
}

model::DeviceRequest a_device() {
  model::DeviceRequest request;
  switch (*inRange(0, 5)) {
    case 0:
      request.count = base::Count(*inRange<std::int64_t>(1, 1025));
      break;
    case 1:
      request.share = base::MilliDevice(*inRange<std::int64_t>(1, 1001));
      break;
    case 2:
      request.share = base::MilliDevice(*inRange<std::int64_t>(1, 1001));
      request.memory = base::Bytes(an_amount());
      break;
    case 3:
      request.memory_percent = *inRange(1, 101);
      break;
    default:
      request.slice = *element<std::string>("1g.10gb", "vir04", "3g.40gb+me");
      break;
  }
  if (*arbitrary<bool>()) request.models = {"H800", *element<std::string>("A800", "910B", "1")};
  request.min_isolation =
      *element(model::Isolation::None, model::Isolation::Soft, model::Isolation::Hard);
  return request;
}

// A tree of up to seven groups: inner ones first, so that each parent stands before its children.
void add_groups(WorkloadDocument& document) {
  auto& groups = document.workload.groups;
  const int inner = *inRange(0, 3);
  const int leaves = inner + *inRange(1, 4);
  for (int i = 0; i < inner; ++i)
    groups.push_back({.name = fmt::format("inner{}", i),
                      .parent = i - 1,
                      .members = 0,
                      .min_members = 1,
                      .step = 1,
                      .per_member = {},
                      .device_options = {}});
  for (int i = 0; i < leaves; ++i) {
    model::TaskGroup group;
    group.name = leaves == 1 ? "main" : fmt::format("leaf{}", i);
    group.parent = inner == 0 ? -1 : std::min(i, inner - 1);  // every inner one has a child
    group.step = *inRange(1, 4);
    group.min_members = *inRange(1, 100);
    group.members = group.min_members + group.step * *inRange(0, 10);
    if (*arbitrary<bool>()) group.per_member.set(model::kCpu, *inRange<std::int64_t>(1, 200'000));
    if (*arbitrary<bool>()) group.per_member.set(model::kMemory, an_amount());
    if (*arbitrary<bool>()) group.per_member.set(model::kScratch, an_amount());
    if (*arbitrary<bool>()) group.per_member.set(model::kNetwork, *inRange<std::int64_t>(1, 9));
    const int options = *inRange(0, 3);
    for (int k = 0; k < options; ++k)
      group.device_options.push_back(a_device());
    if (*arbitrary<bool>())
      document.custom.push_back({.group = static_cast<std::int32_t>(groups.size()),
                                 .resource = *element<std::string>("licence", "1", "nvme.slots"),
                                 .amount = *inRange<std::int64_t>(1, 1'000'000)});
    groups.push_back(std::move(group));
  }
}

void add_placement(WorkloadDocument& document) {
  model::Constraints& constraints = document.workload.constraints;
  if (*arbitrary<bool>()) document.pools = {"h800", "a800"};
  constraints.attributes = a_text_map();
  if (*arbitrary<bool>())
    constraints.tolerations = {{.key = a_full_text(), .value = a_text()}, {.key = "", .value = ""}};
  if (*arbitrary<bool>()) constraints.topology.required = "block";
  if (*arbitrary<bool>()) constraints.topology.preferred = "rack";
  if (*arbitrary<bool>()) {
    constraints.topology.segment_size = *inRange(1, 64);
    constraints.topology.segment_level = "NVLink";
  }
}

WorkloadDocument a_workload() {
  WorkloadDocument document;
  model::Workload& workload = document.workload;
  workload.kind = *element(model::Kind::Workload, model::Kind::TrainingJob,
                           model::Kind::InferenceService, model::Kind::BatchInference);
  if (*arbitrary<bool>()) workload.name = a_name();
  if (*arbitrary<bool>()) document.queue = a_name() + "/" + a_name();
  document.class_name = a_name();
  add_groups(document);
  add_placement(document);
  workload.priority_boost = *inRange<std::int64_t>(-100, 101);
  if (*arbitrary<bool>()) workload.time_limit = a_duration();
  if (*arbitrary<bool>()) workload.estimate = a_duration();
  if (*arbitrary<bool>())
    workload.deadline = base::Instant{*inRange<std::int64_t>(0, 4'000'000'000'000)};
  if (*arbitrary<bool>()) workload.command.argv = {a_full_text(), a_text(), a_text()};
  if (*arbitrary<bool>()) workload.command.environment = {{"A", a_text()}, {"NO", a_text()}};
  if (*arbitrary<bool>()) workload.command.directory = "/" + a_text();
  if (*arbitrary<bool>()) workload.command.image = a_full_text();
  if (*arbitrary<bool>())
    workload.checkpoint = {.every = a_duration(), .signal = "SIGUSR1", .grace = a_duration()};
  if (*arbitrary<bool>()) workload.retry.max = *inRange(0, 100);
  if (*arbitrary<bool>())
    workload.retry.rules = {{.on = static_cast<model::EndClass>(*inRange(0, 14)),
                             .code = maybe(inRange<std::int32_t>(0, 256)),
                             .action = static_cast<model::RetryAction>(*inRange(0, 5))}};
  workload.labels = a_text_map();
  workload.annotations = a_text_map();
  return document;
}

QueueDocument a_queue() {
  QueueDocument document;
  model::Queue& queue = document.queue;
  queue.name = *arbitrary<bool>() ? a_name() : a_name() + "/" + a_name();
  const int rows = *inRange(0, 4);
  for (int i = 0; i < rows; ++i) {
    QuotaRow row{.pool = i == 0 ? "" : fmt::format("p{}", i),
                 .resource = *element<std::string>("gpu", "cpu", "memory", "device_memory",
                                                   "network", "licence"),
                 .guarantee = maybe(inRange<std::int64_t>(0, 1'000'000)),
                 .lend = maybe(inRange<std::int64_t>(0, 1'000'000)),
                 .max = *inRange<std::int64_t>(0, 1'000'000)};
    document.quotas.push_back(row);
  }
  queue.weight = *inRange<std::int64_t>(0, 1'000'001);
  queue.priority = *inRange<std::int64_t>(-1000, 1000);
  queue.passing = *element(model::Passing::Backfill, model::Passing::Strict);
  queue.exclusive = static_cast<model::Exclusive>(*inRange(0, 4));
  queue.shares_devices_across_tenants = *arbitrary<bool>();
  if (*arbitrary<bool>()) queue.quantum = a_duration();
  queue.claim_backoff = a_duration();
  return document;
}

ClassDocument a_class() {
  ClassDocument document;
  model::WorkloadClass& value = document.workload_class;
  value.name = *element<std::string>("inference", "training", "mine");
  value.priority = *inRange<std::int64_t>(-1000, 1000);
  value.reclaimable = static_cast<model::Reclaimable>(*inRange(0, 3));
  value.preemptible = static_cast<model::Preemptible>(*inRange(0, 2));
  value.min_runtime = a_duration();
  value.grace = base::Duration{};
  if (*arbitrary<bool>()) value.max_runtime = a_duration();
  value.order = static_cast<model::Order>(*inRange(0, 4));
  value.strategy = static_cast<model::Strategy>(*inRange(0, 3));
  value.evictions_per_day = *inRange(0, 100);
  value.retries = *inRange(0, 100);
  if (*arbitrary<bool>()) value.may_preempt = {"batch", "yes"};
  value.charge_factor_milli = *inRange<std::int64_t>(0, 100'000);
  return document;
}

PolicyDocument a_policy() {
  PolicyDocument document;
  model::PolicySet& policy = document.policy;
  policy.name = *element<std::string>("fifo", "priority", "default", "mine");
  policy.sharing = static_cast<model::Sharing>(*inRange(0, 2));
  if (*arbitrary<bool>()) policy.order = static_cast<model::Order>(*inRange(0, 4));
  policy.uses_class_priority = *arbitrary<bool>();
  policy.allows_reclaim = *arbitrary<bool>();
  policy.allows_preemption = *arbitrary<bool>();
  policy.claim_lifetime = a_duration();
  policy.age_credit_every = a_duration();
  policy.age_credit_max = *inRange<std::int64_t>(0, 1000);
  policy.keeps_finished = a_duration();
  if (*arbitrary<bool>()) policy.placement = static_cast<model::PlacementRule>(*inRange(0, 7));
  return document;
}

Document a_document() {
  Document document;
  switch (*inRange(0, 8)) {
    case 0:
      document.body = a_queue();
      break;
    case 1:
      document.body = a_class();
      break;
    case 2:
      document.body = a_policy();
      break;
    case 3: {
      PoolDocument pool;
      pool.pool.name = "p" + a_name();
      if (*arbitrary<bool>()) pool.parent = "q" + a_name();
      pool.pool.selector = a_text_map();
      document.body = pool;
      break;
    }
    case 4:
      document.body = TopologyDocument{{.name = a_name(), .levels = {"hall", "no", "12"}}};
      break;
    default:
      document.body = a_workload();
      break;
  }
  return document;
}

TEST(Print, ReadsBackAsTheSameDocument) {
  const bool holds = rc::check([] {
    const Document document = a_document();
    for (const Format format : {Format::Yaml, Format::Json}) {
      const std::string text = print(document, format);
      const auto again = parse_one(
          text,
          {.source = "", .notation = format == Format::Yaml ? Notation::Yaml : Notation::Json});
      if (!again) RC_FAIL(base::to_text(again.error()) + "\n" + text);
      if (again->body != document.body) RC_FAIL("changed by printing:\n" + text);
    }
    // JSON is YAML too.
    const std::string json = print(document, Format::Json);
    const auto as_yaml = parse_one(json, {.source = "", .notation = Notation::Yaml});
    RC_ASSERT(as_yaml.has_value());
    RC_ASSERT(as_yaml->body == document.body);
  });
  EXPECT_TRUE(holds);
}

TEST(Print, ManyDocumentsReadBackInOrder) {
  const bool holds = rc::check([] {
    std::vector<Document> documents;
    const int count = *inRange(1, 4);
    for (int i = 0; i < count; ++i)
      documents.push_back(a_document());
    for (const Format format : {Format::Yaml, Format::Json}) {
      const auto again = parse(print(documents, format));
      RC_ASSERT(again.has_value());
      RC_ASSERT(again->size() == documents.size());
      for (std::size_t i = 0; i < documents.size(); ++i)
        RC_ASSERT((*again)[i].body == documents[i].body);
    }
  });
  EXPECT_TRUE(holds);
}

TEST(Print, PrintingTwiceIsPrintingOnce) {
  const bool holds = rc::check([] {
    const Document document = a_document();
    const std::string text = print(document, Format::Yaml);
    const auto again = parse_one(text);
    RC_ASSERT(again.has_value());
    RC_ASSERT(print(*again, Format::Yaml) == text);
  });
  EXPECT_TRUE(holds);
}

TEST(Print, ShowsTheFullFormOfAShortOne) {
  const auto document = parse_one(R"(apiVersion: berth/v1
kind: TrainingJob
metadata: {name: t, queue: search/nlp, labels: {rerun: "yes"}}
spec:
  replicas: 4
  resources: {gpu: 8, cpu: 1500m, memory: 40Gi}
  command: [python, "-u", a b]
  timeLimit: 36h
)");
  ASSERT_TRUE(document) << base::to_text(document.error());
  EXPECT_EQ(print(*document, Format::Yaml), R"(apiVersion: berth/v1
kind: TrainingJob
metadata:
  name: t
  queue: search/nlp
  labels:
    rerun: "yes"
spec:
  class: training
  priorityBoost: 0
  replicas:
    min: 4
    max: 4
    step: 1
  resources:
    gpu:
      count: 8
      isolation: none
    cpu: 1.5
    memory: 40Gi
  timeLimit: 1d12h
  command: [python, "-u", "a b"]
)");
}

TEST(Print, JsonHasNumbersWhereAmountsAreWhole) {
  const auto document = parse_one(R"(apiVersion: berth/v1
kind: Queue
metadata: {name: a}
spec: {quotas: [{resource: gpu, guarantee: 8, max: 8.5}]}
)");
  ASSERT_TRUE(document);
  const std::string text = print(*document, Format::Json);
  EXPECT_NE(text.find("\"guarantee\": 8,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"max\": \"8.5\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"sharesDevicesAcrossTenants\": false"), std::string::npos) << text;
}

}  // namespace
}  // namespace manifest
