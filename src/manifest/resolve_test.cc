// Names against a small State: pools gpu -> {h800, a800}, queues search -> {search/nlp, search/ads}
// and vision, the shipped classes.

#include "manifest/resolve.h"

#include <gtest/gtest.h>

#include "manifest/parse.h"
#include "manifest/print.h"
#include "policy/default_policy.h"

namespace manifest {
namespace {

using base::Code;

void add_pool(model::State& state, std::string name, std::string parent = {}) {
  const model::PoolId id = state.pools.next_id();
  model::PoolRecord record;
  record.pool = {.id = id, .name = name, .parent = {}, .selector = {}};
  record.path = {id};
  if (!parent.empty()) {
    record.pool.parent = state.pool_by_name.at(parent);
    model::PoolRecord& above = state.pools.at(record.pool.parent);
    above.children.push_back(id);
    record.path.insert(record.path.end(), above.path.begin(), above.path.end());
  }
  state.pools.insert(id, std::move(record));
  state.pool_by_name.emplace(std::move(name), id);
}

void add_queue(model::State& state, std::string name) {
  const model::QueueId id = state.queues.next_id();
  model::QueueRecord record;
  record.queue.id = id;
  record.queue.name = name;
  record.path = {id};
  if (const std::size_t slash = name.rfind('/'); slash != std::string::npos) {
    record.queue.parent = state.queue_by_name.at(name.substr(0, slash));
    model::QueueRecord& above = state.queues.at(record.queue.parent);
    above.children.push_back(id);
    record.path.insert(record.path.end(), above.path.begin(), above.path.end());
  }
  state.queues.insert(id, std::move(record));
  state.queue_by_name.emplace(std::move(name), id);
}

model::State with_classes() {
  model::State state;
  for (const model::WorkloadClass& shipped : policy::default_classes()) {
    state.classes.insert(shipped.id, shipped);
    state.class_by_name.emplace(shipped.name, shipped.id);
  }
  return state;
}

model::State small_state() {
  model::State state = with_classes();
  add_pool(state, "gpu");
  add_pool(state, "h800", "gpu");
  add_pool(state, "a800", "gpu");
  add_queue(state, "search");
  add_queue(state, "search/nlp");
  add_queue(state, "search/ads");
  add_queue(state, "vision");
  state.resources.emplace(model::kFirstCustom, "licence");
  state.next_workload = model::WorkloadId(1042);
  return state;
}

base::Result<Resolved> resolved(const model::State& state, std::string_view text) {
  const auto document = parse_one(text);
  if (!document) {
    ADD_FAILURE() << base::to_text(document.error());
    return base::fail(Code::Internal, "not a document");
  }
  return resolve(*document, state);
}

template <class T>
T value_of(const model::State& state, std::string_view text) {
  const auto result = resolved(state, text);
  if (!result) {
    ADD_FAILURE() << base::to_text(result.error());
    return T{};
  }
  return std::get<T>(result->value);
}

base::Error error_of(const model::State& state, std::string_view text) {
  const auto result = resolved(state, text);
  if (!result) return result.error();
  ADD_FAILURE() << "was taken: " << text;
  return {};
}

std::string document(std::string_view kind, std::string_view name, std::string_view spec = "{}") {
  return fmt::format("apiVersion: berth/v1\nkind: {}\nmetadata: {{name: {}}}\nspec: {}\n", kind,
                     name, spec);
}
std::string job(std::string_view queue, std::string_view spec) {
  return fmt::format("apiVersion: berth/v1\nkind: TrainingJob\nmetadata: {{{}}}\nspec: {}\n",
                     queue.empty() ? "" : fmt::format("queue: {}", queue), spec);
}

TEST(Resolve, TurnsTheNamesOfAWorkloadIntoIds) {
  const model::State state = small_state();
  const auto workload =
      value_of<model::Workload>(state, job("search/nlp", "{class: batch, pools: [a800, h800]}"));
  EXPECT_EQ(workload.id, model::WorkloadId(1042));
  EXPECT_EQ(workload.queue, state.queue_by_name.at("search/nlp"));
  EXPECT_EQ(workload.workload_class, state.class_by_name.at("batch"));
  EXPECT_EQ(
      workload.constraints.pools,
      (std::vector<model::PoolId>{state.pool_by_name.at("a800"), state.pool_by_name.at("h800")}));
}

TEST(Resolve, SuggestsTheNearestNameForAnUnknownOne) {
  const model::State state = small_state();
  const auto check = [&](std::string_view text, std::string_view field, std::string_view hint) {
    const base::Error error = error_of(state, text);
    EXPECT_EQ(error.code, Code::NotFound);
    EXPECT_EQ(error.field, field);
    EXPECT_NE(error.hint.find(hint), std::string::npos) << base::to_text(error);
  };
  check(job("search/npl", "{}"), "metadata.queue", "did you mean search/nlp?");
  check(job("zebra", "{}"), "metadata.queue", "queues are search, search/ads");
  check(job("vision", "{class: trainig}"), "spec.class", "did you mean training?");
  check(job("vision", "{pools: [h800, a80]}"), "spec.pools[1]", "did you mean a800?");
  check(document("Pool", "l20", "{parent: gpus}"), "spec.parent", "did you mean gpu?");
  check(document("Class", "gold", "{mayPreempt: [batsh]}"), "spec.mayPreempt[0]", "batch");
  check(document("Queue", "x", "{quotas: [{pool: h80, max: 1}]}"), "spec.quotas[0].pool", "h800");
  check(document("Queue", "x", "{quotas: [{pool: h800, resource: licens, max: 1}]}"),
        "spec.quotas[0].resource", "licence");
}

TEST(Resolve, AWorkloadWithoutAQueueGoesToTheOnlyOneOrToDefault) {
  model::State state = with_classes();
  EXPECT_EQ(error_of(state, job("", "{}")).code, Code::FailedPrecondition);
  add_queue(state, "search");
  EXPECT_EQ(value_of<model::Workload>(state, job("", "{}")).queue, model::QueueId(1));
  add_queue(state, "search/nlp");  // still one leaf
  EXPECT_EQ(value_of<model::Workload>(state, job("", "{}")).queue, model::QueueId(2));
  add_queue(state, "vision");
  const base::Error error = error_of(state, job("", "{}"));
  EXPECT_EQ(error.field, "metadata.queue");
  EXPECT_EQ(error.hint, "name one; queues are search/nlp, vision");
  add_queue(state, "default");
  EXPECT_EQ(value_of<model::Workload>(state, job("", "{}")).queue,
            state.queue_by_name.at("default"));
}

TEST(Resolve, NewCustomResourcesComeFirstAndOnce) {
  const model::State state = small_state();
  const auto result = resolved(state, R"(apiVersion: berth/v1
kind: Workload
metadata: {queue: vision}
spec:
  groups:
  - {name: a, resources: {custom: {licence: 1, nvme-slots: 2}}}
  - {name: b, resources: {custom: {nvme-slots: 3}}}
)");
  ASSERT_TRUE(result) << base::to_text(result.error());
  const model::ResourceId fresh(model::kFirstCustom.value + 1);
  ASSERT_EQ(result->resources.size(), 1U);
  EXPECT_EQ(result->resources[0],
            (model::ResourceDefined{.resource = fresh, .name = "nvme-slots"}));
  const auto& groups = std::get<model::Workload>(result->value).groups;
  EXPECT_EQ(groups[0].per_member.of(model::kFirstCustom), 1);
  EXPECT_EQ(groups[0].per_member.of(fresh), 2);
  EXPECT_EQ(groups[1].per_member.of(fresh), 3);
}

TEST(Resolve, AQueueHangsBelowTheQueueOfItsPath) {
  const model::State state = small_state();
  const auto queue = value_of<model::Queue>(state, document("Queue", "search/rank"));
  EXPECT_EQ(queue.parent, state.queue_by_name.at("search"));
  EXPECT_EQ(queue.id, state.queues.next_id());
  const base::Error error = error_of(state, document("Queue", "serch/rank"));
  EXPECT_EQ(error.code, Code::NotFound);
  EXPECT_NE(error.hint.find("apply a Queue named serch first"), std::string::npos);
}

TEST(Resolve, ADefinitionThatIsThereIsReplacedUnderItsId) {
  const model::State state = small_state();
  for (const auto& text : {document("Queue", "vision", "{weight: 3}"), document("Pool", "gpu"),
                           document("Class", "batch"), document("Policy", "fifo")}) {
    const auto result = resolved(state, text);
    ASSERT_TRUE(result) << base::to_text(result.error());
    EXPECT_TRUE(result->is_replacement) << text;
  }
  EXPECT_EQ(value_of<model::Queue>(state, document("Queue", "vision", "{weight: 3}")).id,
            state.queue_by_name.at("vision"));
  const auto fresh = resolved(state, document("Topology", "fabric", "{levels: [hall]}"));
  ASSERT_TRUE(fresh);
  EXPECT_FALSE(fresh->is_replacement);
}

TEST(Resolve, QuotasAreSortedByDimension) {
  const model::State state = small_state();
  const auto queue = value_of<model::Queue>(
      state, document("Queue", "vision",
                      "{quotas: [{pool: a800, max: 4}, {pool: h800, guarantee: 8},"
                      " {pool: h800, resource: cpu, max: 64}]}"));
  ASSERT_EQ(queue.quotas.size(), 3U);
  EXPECT_TRUE(
      std::is_sorted(queue.quotas.begin(), queue.quotas.end(),
                     [](const auto& a, const auto& b) { return a.dimension < b.dimension; }));
  EXPECT_EQ(queue.quotas[0].dimension.resource, model::kCpu);
  EXPECT_EQ(queue.quotas[0].max, 64'000);
}

TEST(Resolve, AQuotaWithoutAPoolIsAboutTheOnlyLeaf) {
  model::State state = with_classes();
  const std::string text = document("Queue", "a", "{guarantee: 8}");
  EXPECT_EQ(error_of(state, text).code, Code::FailedPrecondition);
  add_pool(state, "gpu");
  add_pool(state, "h800", "gpu");
  EXPECT_EQ(value_of<model::Queue>(state, text).quotas.at(0).dimension.pool, model::PoolId(2));
  // Once by name and once without: the same dimension.
  EXPECT_NE(error_of(state, document("Queue", "a", "{quotas: [{max: 1}, {pool: h800, max: 2}]}"))
                .message.find("second row for gpu in pool h800"),
            std::string::npos);
  add_pool(state, "a800", "gpu");
  const base::Error error = error_of(state, text);
  EXPECT_EQ(error.field, "spec.quotas[0]");
  EXPECT_NE(error.hint.find("pools are h800, a800"), std::string::npos) << base::to_text(error);
}

TEST(Resolve, AGuaranteeOnAnInnerPoolIsRefusedWithItsLeaves) {
  const model::State state = small_state();
  const base::Error error =
      error_of(state, document("Queue", "vision", "{quotas: [{pool: gpu, guarantee: 8}]}"));
  EXPECT_EQ(error.field, "spec.quotas[0].guarantee");
  EXPECT_NE(error.hint.find("h800, a800"), std::string::npos) << base::to_text(error);
  const auto queue =
      value_of<model::Queue>(state, document("Queue", "vision", "{quotas: [{pool: gpu, max: 8}]}"));
  EXPECT_EQ(queue.quotas.at(0).max, 8000);  // a ceiling may stand on any pool
}

TEST(Resolve, PoolsThatWouldFormACircleAreRefusedByName) {
  const model::State state = small_state();
  const base::Error error = error_of(state, document("Pool", "gpu", "{parent: h800}"));
  EXPECT_EQ(error.field, "spec.parent");
  EXPECT_NE(error.message.find("gpu -> h800 -> gpu"), std::string::npos) << error.message;
  EXPECT_TRUE(resolved(state, document("Pool", "h800", "{parent: gpu}")));
}

TEST(Resolve, AnErrorNamesTheFileItCameFrom) {
  const auto documents = parse(job("zebra", "{}"), {.source = "train.yaml"});
  ASSERT_TRUE(documents);
  const auto result = resolve(documents->front(), small_state());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().field, "train.yaml:1: metadata.queue");
}

TEST(Resolve, IsUndoneByDocumentOf) {
  const model::State state = small_state();
  const auto workload = parse_one(job("search/nlp",
                                      "{pools: [h800], replicas: {min: 2, max: 4}, resources: "
                                      "{gpu: [8, 0.5], cpu: 4, custom: {licence: 2}}}"));
  ASSERT_TRUE(workload);
  auto value = resolve(*workload, state);
  ASSERT_TRUE(value);
  EXPECT_EQ(document_of(state, std::get<model::Workload>(value->value)),
            std::get<WorkloadDocument>(workload->body));
  const auto queue = parse_one(
      document("Queue", "vision", "{quotas: [{pool: h800, resource: gpu, guarantee: 8, max: 9}]}"));
  ASSERT_TRUE(queue);
  value = resolve(*queue, state);
  ASSERT_TRUE(value);
  EXPECT_EQ(document_of(state, std::get<model::Queue>(value->value)),
            std::get<QueueDocument>(queue->body));
}

TEST(Resolve, WhatStateHoldsIsPrintedWithAStatusAndReadsBack) {
  const model::State state = small_state();
  model::WorkloadRecord record;
  record.workload = value_of<model::Workload>(
      state, job("search/nlp", "{resources: {gpu: 8, custom: {licence: 1}}}"));
  record.workload.user = "ada";
  record.phase = model::Phase::Running;
  model::Attempt attempt;
  attempt.id = {.workload = record.workload.id, .ordinal = 1};
  attempt.phase = model::AttemptPhase::Ended;
  attempt.end_class = model::EndClass::OutOfMemory;
  record.attempts.push_back(attempt);
  for (const Format format : {Format::Yaml, Format::Json}) {
    const std::string text = print_workload(state, record, format);
    EXPECT_NE(text.find("Running"), std::string::npos) << text;
    EXPECT_NE(text.find("1042.1"), std::string::npos) << text;
    EXPECT_NE(text.find("oom"), std::string::npos) << text;
    const auto again = parse_one(text);
    ASSERT_TRUE(again) << base::to_text(again.error()) << text;
    EXPECT_EQ(std::get<WorkloadDocument>(again->body), document_of(state, record.workload));
  }
  state.queues.each([&](model::QueueId, const model::QueueRecord& queue) {
    const auto again = parse_one(print_queue(state, queue, Format::Yaml));
    ASSERT_TRUE(again) << base::to_text(again.error());
    EXPECT_EQ(std::get<QueueDocument>(again->body), document_of(state, queue.queue));
  });
  state.pools.each([&](model::PoolId, const model::PoolRecord& pool) {
    const auto again = parse_one(print_pool(state, pool, Format::Yaml));
    ASSERT_TRUE(again) << base::to_text(again.error());
    EXPECT_EQ(std::get<PoolDocument>(again->body), document_of(state, pool.pool));
  });
}

TEST(Resolve, ANodeIsPrintedWithItsDevicesAndUse) {
  const model::State state = small_state();
  model::NodeRecord record;
  record.node.name = "n1";
  record.node.pool = state.pool_by_name.at("h800");
  record.node.allocatable.set(model::kCpu, 64'500);
  record.node.devices.resize(1);
  record.node.devices[0].uuid = "GPU-1";
  record.node.devices[0].memory = base::Bytes(std::int64_t{80} << 30);
  record.node.condition = model::NodeCondition::Cordoned;
  record.node.condition_note = "yes";  // a word that must be quoted
  record.used.set(model::kDevice, 500);
  const std::string text = print_node(state, record, Format::Yaml);
  for (const std::string_view part :
       {"kind: Node", "pool: h800", "cpu: 64.5", "uuid: GPU-1", "memory: 80Gi",
        "condition: cordoned", "conditionNote: \"yes\"", "gpu: 0.5"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

}  // namespace
}  // namespace manifest
