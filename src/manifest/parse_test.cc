// What people write and what they get: good documents become the values meant, bad ones an error
// that names the place and the remedy. The table of bad documents is the heart of it.

#include "manifest/parse.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/text.h"

namespace manifest {
namespace {

using base::Code;

WorkloadDocument workload_of(std::string_view text) {
  auto document = parse_one(text);
  if (!document) {
    ADD_FAILURE() << base::to_text(document.error());
    return {};
  }
  if (!std::holds_alternative<WorkloadDocument>(document->body)) {
    ADD_FAILURE() << "not a workload";
    return {};
  }
  return std::get<WorkloadDocument>(document->body);
}

template <class Body>
Body body_of(std::string_view text) {
  auto document = parse_one(text);
  if (document && std::holds_alternative<Body>(document->body))
    return std::get<Body>(document->body);
  ADD_FAILURE() << (document ? "another kind" : base::to_text(document.error()));
  return {};
}

base::Error error_of(std::string_view text, ParseOptions options = {}) {
  auto documents = parse(text, options);
  if (documents) {
    ADD_FAILURE() << "was taken: " << text.substr(0, 200);
    return {};
  }
  return documents.error();
}

// A training job whose spec is `spec`, in flow form.
std::string job(std::string_view spec) {
  return "apiVersion: berth/v1\nkind: TrainingJob\nmetadata: {name: t}\nspec: " +
         std::string(spec) + "\n";
}

model::DeviceRequest only_device(std::string_view gpu) {
  const auto document = workload_of(job("{resources: {gpu: " + std::string(gpu) + "}}"));
  if (document.workload.groups.size() != 1 ||
      document.workload.groups[0].device_options.size() != 1) {
    ADD_FAILURE() << "not one device request: " << gpu;
    return {};
  }
  return document.workload.groups[0].device_options[0];
}

constexpr std::string_view kExample = R"(apiVersion: berth/v1
kind: TrainingJob
metadata: {name: llama-ft, queue: search/nlp}
spec:
  class: training
  replicas: {min: 4, max: 16, step: 4}
  resources: {gpu: {count: 8, model: [H800, A800]}, cpu: 96, memory: 800Gi}
  topology: {required: block, preferred: rack}
  command: [torchrun, train.py]
  timeLimit: 72h
  estimate: 20h
  checkpoint: {every: 30m, signal: SIGUSR1, grace: 120s}
  retry: {max: 5, on: [{class: node_lost, action: not_counted}, {class: oom, action: fail}]}
)";

TEST(Parse, ReadsTheExampleOfTheInterface) {
  const WorkloadDocument document = workload_of(kExample);
  const model::Workload& workload = document.workload;
  EXPECT_EQ(workload.name, "llama-ft");
  EXPECT_EQ(workload.kind, model::Kind::TrainingJob);
  EXPECT_EQ(document.queue, "search/nlp");
  EXPECT_EQ(document.class_name, "training");
  ASSERT_EQ(workload.groups.size(), 1U);
  const model::TaskGroup& group = workload.groups[0];
  EXPECT_EQ(group.min_members, 4);
  EXPECT_EQ(group.members, 16);
  EXPECT_EQ(group.step, 4);
  EXPECT_EQ(group.per_member.of(model::kCpu), 96'000);
  EXPECT_EQ(group.per_member.of(model::kMemory), std::int64_t{800} << 30);
  ASSERT_EQ(group.device_options.size(), 1U);
  EXPECT_EQ(group.device_options[0].count, base::Count(8));
  EXPECT_EQ(group.device_options[0].models, (std::vector<std::string>{"H800", "A800"}));
  EXPECT_EQ(workload.constraints.topology.required, "block");
  EXPECT_EQ(workload.constraints.topology.preferred, "rack");
  EXPECT_EQ(workload.command.argv, (std::vector<std::string>{"torchrun", "train.py"}));
  EXPECT_EQ(workload.time_limit, base::hours(72));
  EXPECT_EQ(workload.estimate, base::hours(20));
  EXPECT_EQ(workload.checkpoint.every, base::minutes(30));
  EXPECT_EQ(workload.checkpoint.signal, "SIGUSR1");
  EXPECT_EQ(workload.checkpoint.grace, base::seconds(120));
  EXPECT_EQ(workload.retry.max, 5);
  ASSERT_EQ(workload.retry.rules.size(), 2U);
  EXPECT_EQ(workload.retry.rules[0].on, model::EndClass::NodeLost);
  EXPECT_EQ(workload.retry.rules[0].action, model::RetryAction::NotCounted);
}

TEST(Parse, ReadsTheSameFromJson) {
  const auto from_json = workload_of(R"({
    "apiVersion": "berth/v1", "kind": "TrainingJob",
    "metadata": {"name": "llama-ft", "queue": "search/nlp"},
    "spec": {"class": "training", "replicas": {"min": 4, "max": 16, "step": 4},
      "resources": {"gpu": {"count": 8, "model": ["H800", "A800"]}, "cpu": 96, "memory": "800Gi"},
      "topology": {"required": "block", "preferred": "rack"},
      "command": ["torchrun", "train.py"], "timeLimit": "72h", "estimate": "20h",
      "checkpoint": {"every": "30m", "signal": "SIGUSR1", "grace": "120s"},
      "retry": {"max": 5, "on": [{"class": "node_lost", "action": "not_counted"},
                                 {"class": "oom", "action": "fail"}]}}})");
  EXPECT_EQ(from_json, workload_of(kExample));
}

TEST(Parse, TakesEveryFormOfADeviceRequest) {
  EXPECT_EQ(only_device("8").count, base::Count(8));
  EXPECT_EQ(only_device("0.5").share, base::MilliDevice(500));
  EXPECT_EQ(only_device("250m").share, base::MilliDevice(250));
  EXPECT_EQ(only_device("{count: 2, model: H800}").models, std::vector<std::string>{"H800"});
  EXPECT_EQ(only_device("{memory: 40Gi}").memory, base::Bytes(std::int64_t{40} << 30));
  EXPECT_EQ(only_device("{memory: 50%}").memory_percent, 50);
  EXPECT_EQ(only_device("{slice: 1g.10gb, isolation: hard}").slice, "1g.10gb");
  EXPECT_EQ(only_device("{slice: 1g.10gb, isolation: hard}").min_isolation, model::Isolation::Hard);
  const auto shared = only_device("{share: 0.25, memory: 10Gi}");
  EXPECT_EQ(shared.share, base::MilliDevice(250));
  EXPECT_EQ(shared.memory, base::Bytes(std::int64_t{10} << 30));

  const auto any = workload_of(job("{resources: {gpu: [{count: 8, model: H800}, 4, 0.5]}}"));
  const auto& options = any.workload.groups[0].device_options;
  ASSERT_EQ(options.size(), 3U);
  EXPECT_EQ(options[0].count, base::Count(8));
  EXPECT_EQ(options[1].count, base::Count(4));
  EXPECT_EQ(options[2].share, base::MilliDevice(500));

  EXPECT_TRUE(workload_of(job("{resources: {gpu: 0}}")).workload.groups[0].device_options.empty());
}

TEST(Parse, GivesEachKindItsDefaults) {
  const auto of_kind = [](std::string_view kind, std::string_view spec) {
    return workload_of("apiVersion: berth/v1\nkind: " + std::string(kind) +
                       "\nspec: " + std::string(spec));
  };
  EXPECT_EQ(of_kind("TrainingJob", "{}").class_name, "training");
  EXPECT_EQ(of_kind("InferenceService", "{}").class_name, "inference");
  EXPECT_EQ(of_kind("Notebook", "{}").class_name, "notebook");
  EXPECT_EQ(of_kind("BatchInference", "{}").class_name, "batch");
  EXPECT_EQ(of_kind("Notebook", "{class: batch}").class_name, "batch");
  // A batch starts with whatever finds a place, everything else all or nothing.
  const auto batch = of_kind("BatchInference", "{shards: 12}").workload.groups[0];
  EXPECT_EQ(batch.members, 12);
  EXPECT_EQ(batch.min_members, 1);
  EXPECT_EQ(of_kind("BatchInference", "{replicas: 12}").workload.groups[0], batch);
  EXPECT_EQ(of_kind("TrainingJob", "{replicas: 12}").workload.groups[0].min_members, 12);
}

TEST(Parse, PutsParentsBeforeChildrenInTheOrderWritten) {
  const auto document = workload_of(R"(apiVersion: berth/v1
kind: Workload
spec:
  groups:
  - {name: worker, parent: train, replicas: 4, resources: {gpu: 8, custom: {licence: 2}}}
  - {name: logger, resources: {cpu: 1}}
  - {name: server, parent: train, replicas: {min: 1, max: 3}}
  - {name: train, minChildren: 1}
)");
  const auto& groups = document.workload.groups;
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].name, "logger");
  EXPECT_EQ(groups[1].name, "train");
  EXPECT_EQ(groups[1].members, 0);
  EXPECT_EQ(groups[1].min_members, 1);
  EXPECT_EQ(groups[2].name, "worker");
  EXPECT_EQ(groups[2].parent, 1);
  EXPECT_EQ(groups[3].name, "server");
  EXPECT_EQ(groups[3].parent, 1);
  // The custom amount follows its group to its new place.
  ASSERT_EQ(document.custom.size(), 1U);
  EXPECT_EQ(document.custom[0],
            (WorkloadDocument::Custom{.group = 2, .resource = "licence", .amount = 2}));
}

TEST(Parse, KeepsPlainNumbersInTextAsWritten) {
  const auto document = workload_of(
      job("{command: [sleep, 010, 1.10, 0x1f, \"yes\", \"\"], env: {A: 1e3, B: \"\"}}"));
  EXPECT_EQ(document.workload.command.argv,
            (std::vector<std::string>{"sleep", "010", "1.10", "0x1f", "yes", ""}));
  EXPECT_EQ(document.workload.command.environment,
            (std::map<std::string, std::string>{{"A", "1e3"}, {"B", ""}}));
}

TEST(Parse, ShortAndLongQuotasMeanTheSame) {
  const auto short_form = body_of<QueueDocument>(
      "apiVersion: berth/v1\nkind: Queue\nmetadata: {name: a/b}\nspec: {guarantee: 8, max: {gpu: "
      "16}}");
  const auto long_form = body_of<QueueDocument>(
      "apiVersion: berth/v1\nkind: Queue\nmetadata: {name: a/b}\n"
      "spec: {quotas: [{resource: gpu, guarantee: 8, max: 16}]}");
  EXPECT_EQ(short_form, long_form);
  ASSERT_EQ(short_form.quotas.size(), 1U);
  EXPECT_EQ(short_form.quotas[0].guarantee, 8000);  // milli-devices
  EXPECT_EQ(short_form.quotas[0].max, 16'000);
}

TEST(Parse, AShippedPolicyIsMeantByItsName) {
  const auto fifo =
      body_of<PolicyDocument>("apiVersion: berth/v1\nkind: Policy\nmetadata: {name: fifo}\n");
  EXPECT_EQ(fifo.policy.sharing, model::Sharing::OneLine);
  EXPECT_FALSE(fifo.policy.allows_reclaim);
  const auto training = body_of<ClassDocument>(
      "apiVersion: berth/v1\nkind: Class\nmetadata: {name: training}\nspec: {priority: 250}\n");
  EXPECT_EQ(training.workload_class.priority, 250);
  EXPECT_EQ(training.workload_class.retries, 5);
}

TEST(Parse, IgnoresStatusWhichIsForReading) {
  EXPECT_EQ(workload_of(std::string(kExample) + "status: {phase: Running, anything: [1, 2]}\n"),
            workload_of(kExample));
}

TEST(Parse, ReadsManyDocumentsAndSkipsEmptyOnes) {
  const std::string text = "---\n" + std::string(kExample) + "---\n# nothing\n---\n" + job("{}");
  const auto documents = parse(text, {.source = "train.yaml"});
  ASSERT_TRUE(documents) << base::to_text(documents.error());
  ASSERT_EQ(documents->size(), 2U);
  EXPECT_EQ((*documents)[0].source, "train.yaml:2");
  EXPECT_EQ((*documents)[1].source, "train.yaml:18");
  const auto list = parse(R"([{"apiVersion": "berth/v1", "kind": "TrainingJob", "spec": {}},
                              {"apiVersion": "berth/v1", "kind": "Notebook", "spec": {}}])");
  ASSERT_TRUE(list) << base::to_text(list.error());
  EXPECT_EQ(list->size(), 2U);
}

// ---- what is refused ----

struct BadSpec {
  std::string_view spec;     // of a training job
  std::string_view field;    // the whole path
  std::string_view message;  // a part of it
  std::string_view hint;     // a part of it
};

class BadSpecs : public testing::TestWithParam<BadSpec> {};

TEST_P(BadSpecs, AreRefusedWithPathAndRemedy) {
  const BadSpec& bad = GetParam();
  const base::Error error = error_of(job(bad.spec));
  EXPECT_EQ(error.field, bad.field) << base::to_text(error);
  EXPECT_NE(error.message.find(bad.message), std::string::npos) << base::to_text(error);
  EXPECT_NE(error.hint.find(bad.hint), std::string::npos) << base::to_text(error);
  EXPECT_FALSE(error.message.ends_with('.'));
}

constexpr BadSpec kBadSpecs[] = {
    // unknown words
    {"{replica: 4}", "spec.replica", "unknown key", "did you mean replicas?"},
    {"{resources: {gpus: 8}}", "spec.resources.gpus", "unknown key", "did you mean gpu?"},
    {"{zebra: 4}", "spec.zebra", "unknown key", "keys here are"},
    {"{retry: {on: [{class: oom, action: failed}]}}", "spec.retry.on[0].action", "unknown word",
     "did you mean fail?"},
    {"{checkpoint: {signal: SIGKILL}}", "spec.checkpoint.signal", "unknown word", "SIG"},
    // amounts
    {"{resources: {cpu: -1}}", "spec.resources.cpu", "never negative", "16"},
    {"{resources: {memory: -1Gi}}", "spec.resources.memory", "never negative", "128Gi"},
    {"{resources: {gpu: -8}}", "spec.resources.gpu", "never negative", "0.5"},
    {"{resources: {memory: 99999999999Gi}}", "spec.resources.memory", "too large", ""},
    {"{resources: {memory: 99999Ti}}", "spec.resources.memory", "more than any cluster", ""},
    {"{resources: {cpu: 99999999999999999999}}", "spec.resources.cpu", "too large", ""},
    {"{resources: {cpu: .nan}}", "spec.resources.cpu", "not an amount", "16"},
    {"{resources: {cpu: .inf}}", "spec.resources.cpu", "not an amount", "16"},
    {"{resources: {cpu: 1e3}}", "spec.resources.cpu", "not an amount", "16"},
    {"{resources: {cpu: 010}}", "spec.resources.cpu", "octal", ""},
    {"{resources: {memory: 12Qi}}", "spec.resources.memory", "unit is unknown", "128Gi"},
    {"{resources: {cpu: }}", "spec.resources.cpu", "no value", "remove the line"},
    {"{resources: {cpu: [1]}}", "spec.resources.cpu", "found a list", ""},
    {"{resources: 8}", "spec.resources", "expected a map", "gpu"},
    {"{replicas: 100000, resources: {memory: 1Ti}}", "spec.resources", "more than any cluster",
     "unit"},
    {"{resources: {custom: {gpu: 1}}}", "spec.resources.custom.gpu", "not a resource of your own",
     "resources.gpu"},
    {"{resources: {custom: {licence: 1.5}}}", "spec.resources.custom.licence", "whole number", ""},
    // devices
    {"{resources: {gpu: 1.5}}", "spec.resources.gpu", "and a part of one", "share below 1"},
    {"{resources: {gpu: 2000}}", "spec.resources.gpu", "more than 1024 devices", "replicas"},
    {"{resources: {gpu: {model: H800}}}", "spec.resources.gpu", "no amount", "add count"},
    {"{resources: {gpu: {count: 1, share: 0.5}}}", "spec.resources.gpu", "whole devices", "count"},
    {"{resources: {gpu: {slice: 1g.10gb, memory: 1Gi}}}", "spec.resources.gpu", "a slice has", ""},
    {"{resources: {gpu: {share: 2}}}", "spec.resources.gpu.share", "at most 1", "count"},
    {"{resources: {gpu: {memory: 150%}}}", "spec.resources.gpu.memory", "1% to 100%", "50%"},
    {"{resources: {gpu: {count: 0}}}", "spec.resources.gpu.count", "outside 1 to 1024", ""},
    {"{resources: {gpu: {count: 1, model: [A, A]}}}", "spec.resources.gpu.model[1]", "twice", ""},
    {"{resources: {gpu: []}}", "spec.resources.gpu", "empty", ""},
    {"{resources: {gpu: [8, 0]}}", "spec.resources.gpu[1]", "no device", "leave"},
    {"{resources: {gpu: [[8]]}}", "spec.resources.gpu[0]", "found a list", ""},
    // numbers and booleans
    {"{replicas: 0}", "spec.replicas", "outside 1 to 100000", ""},
    {"{replicas: 100001}", "spec.replicas", "outside 1 to 100000", ""},
    {"{replicas: 010}", "spec.replicas", "octal", "decimal"},
    {"{replicas: 0x10}", "spec.replicas", "octal or hexadecimal", "decimal"},
    {"{replicas: \"4\"}", "spec.replicas", "found the text", "without quotes"},
    {"{replicas: 4.0}", "spec.replicas", "whole number", ""},
    {"{replicas: yes}", "spec.replicas", "whole number", ""},
    {"{replicas: {min: 8, max: 4}}", "spec.replicas.min", "min 8 is above max 4", "lower min"},
    {"{replicas: {min: 1, max: 4, step: 2}}", "spec.replicas.step", "do not lead", "max 3"},
    {"{replicas: {}}", "spec.replicas", "neither min nor max", "replicas: 4"},
    {"{priorityBoost: 101}", "spec.priorityBoost", "outside -100 to 100", ""},
    {"{shards: 4}", "spec.shards", "only BatchInference", "replicas"},
    // times
    {"{timeLimit: 0s}", "spec.timeLimit", "zero", "remove the line"},
    {"{timeLimit: -1h}", "spec.timeLimit", "never negative", "2h"},
    {"{timeLimit: 3600}", "spec.timeLimit", "without a unit", "90s"},
    {"{timeLimit: 99999d}", "spec.timeLimit", "ten years", ""},
    {"{deadline: tomorrow}", "spec.deadline", "not a point in time", "2026"},
    // commands
    {"{command: \"python train.py\"}", "spec.command", "list of words", "sh"},
    {"{command: [python, on]}", "spec.command[1]", "plain word on", "\"on\" in quotes"},
    {"{command: [python, \"a\\0b\"]}", "spec.command[1]", "NUL", ""},
    {"{command: [\"\"]}", "spec.command", "empty name", ""},
    {"{args: [a]}", "spec.args", "no command", "command"},
    {"{env: {1A: x}}", "spec.env.1A", "environment variable", "digits"},
    {"{workdir: here}", "spec.workdir", "not absolute", "start it with /"},
    // places
    {"{pools: [H800]}", "spec.pools", "not the name of a pool", ""},
    {"{pools: [a, a]}", "spec.pools", "twice", ""},
    {"{tolerations: [{value: x}]}", "spec.tolerations[0]", "without a key", "add the key"},
    {"{topology: {segment: {size: 4}}}", "spec.topology.segment.level", "is missing", "level"},
    // groups
    {"{groups: []}", "spec.groups", "no group", "add one"},
    {"{groups: [{name: a}], replicas: 2}", "spec.replicas", "beside groups", "move it"},
    {"{groups: [{replicas: 2}]}", "spec.groups[0].name", "is missing", "name"},
    {"{groups: [{name: a}, {name: a}]}", "spec.groups[1].name", "two groups", "rename"},
    {"{groups: [{name: worker}, {name: b, parent: wroker}]}", "spec.groups[1].parent",
     "there is no group wroker", "did you mean worker?"},
    {"{groups: [{name: a, parent: b}, {name: b, parent: a}, {name: c}]}", "spec.groups[0]",
     "a -> b -> a", "no parent"},
    {"{groups: [{name: x, parent: a}, {name: a, parent: b}, {name: b, parent: a}]}",
     "spec.groups[1]", "a -> b -> a", "no parent"},
    {"{groups: [{name: a, parent: a}]}", "spec.groups[0]", "a -> a", "no parent"},
    {"{groups: [{name: a, replicas: 2}, {name: b, parent: a}]}", "spec.groups[0].replicas",
     "no members of its own", "below"},
    {"{groups: [{name: a, minChildren: 2}, {name: b, parent: a}]}", "spec.groups[0].minChildren",
     "outside 1 to 1", ""},
    {"{groups: [{name: a, replicas: 60000}, {name: b, replicas: 60000}]}", "spec.groups",
     "120000 members", "split"},
};

INSTANTIATE_TEST_SUITE_P(Parse, BadSpecs, testing::ValuesIn(kBadSpecs));

struct BadText {
  std::string_view text;
  std::string_view field;
  std::string_view message;
  std::string_view hint;
};

class BadTexts : public testing::TestWithParam<BadText> {};

TEST_P(BadTexts, AreRefusedWithLineAndRemedy) {
  const BadText& bad = GetParam();
  // A brace may start YAML too, which takes some of what JSON refuses.
  const Notation notation = bad.text.starts_with('{') ? Notation::Json : Notation::Detect;
  const base::Error error = error_of(bad.text, {.source = "t.yaml", .notation = notation});
  EXPECT_EQ(error.field, bad.field) << base::to_text(error);
  EXPECT_NE(error.message.find(bad.message), std::string::npos) << base::to_text(error);
  EXPECT_NE(error.hint.find(bad.hint), std::string::npos) << base::to_text(error);
}

constexpr BadText kBadTexts[] = {
    {"", "t.yaml", "no document", "apiVersion"},
    {"---\n---\n", "t.yaml", "no document", ""},
    {"hello", "t.yaml:1", "expected a map", "kind"},
    {"kind: Queue\nmetadata: {name: a}", "t.yaml:1: apiVersion", "missing", "berth/v1"},
    {"apiVersion: berth/v2\nkind: Queue", "t.yaml:1: apiVersion", "unknown version", "berth/v1"},
    {"apiVersion: berth/v1\nspec: {}", "t.yaml:1: kind", "missing", "TrainingJob"},
    {"apiVersion: berth/v1\nkind: Trainingjob", "t.yaml:2: kind", "unknown kind", "TrainingJob?"},
    {"apiVersion: berth/v1\nkind: Deployment", "t.yaml:2: kind", "unknown kind", "kinds are"},
    {"apiVersion: berth/v1\nkind: TrainingJob", "t.yaml:1: spec", "missing", "needs"},
    {"apiVersion: berth/v1\nkind: Queue", "t.yaml:1: metadata", "missing", "name"},
    {"apiVersion: berth/v1\nkind: Queue\nmetadata: {}", "t.yaml:3: metadata.name", "missing", ""},
    {"apiVersion: berth/v1\nkind: Queue\nmetadata: {name: a//b}", "t.yaml:3: metadata.name",
     "path like search/nlp", "a-z"},
    {"apiVersion: berth/v1\nkind: Queue\nmetadata: {name: a/b/c/d/e/f/g/h/i}",
     "t.yaml:3: metadata.name", "at most 8 deep", ""},
    {"apiVersion: berth/v1\nkind: Pool\nmetadata: {name: A}", "t.yaml:3: metadata.name", "name 'A'",
     "a-z"},
    {"apiVersion: berth/v1\nkind: Pool\nmetadata: {name: a}\nspec: {parent: a}",
     "t.yaml:4: spec.parent", "own parent", ""},
    {"apiVersion: berth/v1\nkind: Queue\nmetadata: {name: a}\nspec:\n  guarantee: -1",
     "t.yaml:5: spec.guarantee", "never negative", ""},
    {"apiVersion: berth/v1\nkind: Queue\nmetadata: {name: a}\nspec:\n"
     "  sharesDevicesAcrossTenants: yes",
     "t.yaml:5: spec.sharesDevicesAcrossTenants", "expected true or false, found yes", "true"},
    {"apiVersion: berth/v1\nkind: Queue\nmetadata: {name: a}\nspec:\n  passing: true",
     "t.yaml:5: spec.passing", "unknown word true", "backfill or strict"},
    {"apiVersion: berth/v1\nkind: Queue\nmetadata: {name: a}\nspec:\n  quotas:\n  - {max: 1}\n"
     "  - {resource: gpu, max: 2}",
     "t.yaml:7: spec.quotas[1]", "two rows for gpu", ""},
    {"apiVersion: berth/v1\nkind: Topology\nmetadata: {name: a}\nspec: {levels: []}",
     "t.yaml:4: spec.levels", "no level", ""},
    {"apiVersion: berth/v1\nkind: Queue\nkind: Pool", "t.yaml:3", "kind stands twice", "keep one"},
    {"{\"apiVersion\": \"berth/v1\",\n \"kind\": \"Queue\",\n \"kind\": \"Pool\"}", "t.yaml:3",
     "kind stands twice", "keep one"},
    {"a: &x [1]\nb: *x", "t.yaml:1", "anchor", "write the value out"},
    {"a: !!binary aGk=", "t.yaml:1", "tag", "remove it"},
    {"a: [1, 2\nb: 3", "t.yaml:2", "not YAML", "indentation"},
    {"a: b: c", "t.yaml:1", "not YAML", ""},
    {"a: 'open", "t.yaml:2", "not YAML", "quotes on this line and the one before"},
    {"a: \"open\n", "t.yaml:2", "not YAML", "quotes on this line and the one before"},
    {"a: \"open\n\n\n", "t.yaml:4", "not YAML", ""},
    {"? [a]\n: b", "t.yaml:1", "key is a list", "quote"},
    {"{\"a\": 1,\n\"b\": }", "t.yaml:2", "not JSON", "commas"},
    {"{\"a\": [1,\n2", "t.yaml:2", "too early", "close"},
    {"{\"a\": NaN}x", "t.yaml:1", "not JSON", ""},
    {"a: \"\x04\"", "t.yaml", "control character 0x04 at offset 4", "remove"},
    {"a: \xff", "t.yaml", "not UTF-8: byte 0xff at offset 3", "save it as UTF-8"},
    {"a: \xc3", "t.yaml", "not UTF-8: byte 0xc3 at offset 3", ""},
    {"\xff\xfe"
     "a",
     "t.yaml", "not UTF-8: byte 0xff at offset 0", ""},
};

INSTANTIATE_TEST_SUITE_P(Parse, BadTexts, testing::ValuesIn(kBadTexts));

TEST(Parse, NamesTheLineOfANestedFault) {
  std::string text(kExample);
  text.replace(text.find("max: 16"), 7, "max: 2 ");
  const base::Error error = error_of(text, {.source = "train.yaml"});
  EXPECT_EQ(error.field, "train.yaml:6: spec.replicas.min");
  EXPECT_EQ(error.message, "min 4 is above max 2");
}

TEST(Parse, TellsTheFirstFaultOfEachDocument) {
  const std::string text = job("{replicas: 0}") + "---\n" + job("{}") + "---\n" + job("{cpu: 1}");
  const base::Error error = error_of(text, {.source = "all.yaml"});
  EXPECT_EQ(error.field, "all.yaml:4: spec.replicas");
  EXPECT_NE(error.message.find("\nalso all.yaml:14: spec.cpu: unknown key cpu"), std::string::npos)
      << error.message;
}

TEST(Parse, RefusesTenMegabytesWithoutReadingThem) {
  const base::Error error = error_of(std::string(10'000'000, '{'));
  EXPECT_EQ(error.code, Code::TooLarge);
  EXPECT_NE(error.message.find("10000000 bytes"), std::string::npos);
}

TEST(Parse, BoundsDepthInBothNotations) {
  for (const auto& [open, close] : {std::pair{'[', ']'}, {'{', '}'}}) {
    for (const std::size_t depth : {100U, 50'000U}) {
      const std::string text = std::string(depth, open) + std::string(depth, close);
      for (const Notation notation : {Notation::Yaml, Notation::Json}) {
        const base::Error error = error_of(text, {.source = "", .notation = notation});
        // JSON has no {{, which is an error before it is deep.
        if (open == '[') {
          EXPECT_EQ(error.code, Code::TooLarge) << base::to_text(error);
        }
      }
    }
  }
  std::string block;  // a map in a map in a map …
  for (std::size_t i = 0; i < 100; ++i)
    block += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(error_of(block).code, Code::TooLarge);
}

TEST(Parse, BoundsTheNumberOfDocuments) {
  std::string text;
  for (std::size_t i = 0; i <= kMaxDocuments; ++i)
    text += "---\na: 1\n";
  EXPECT_EQ(error_of(text).code, Code::TooLarge);
}

TEST(Parse, BoundsListsMapsAndTexts) {
  std::string words = "[a";
  for (int i = 0; i < 5000; ++i)
    words += ", a";
  EXPECT_EQ(error_of(job("{command: " + words + "]}")).code, Code::TooLarge);
  EXPECT_EQ(error_of(job("{command: [\"" + std::string(200'000, 'a') + "\"]}")).code,
            Code::TooLarge);
  std::string labels;
  for (int i = 0; i < 100; ++i)
    labels += fmt::format("k{}: v, ", i);
  const base::Error error = error_of("apiVersion: berth/v1\nkind: Notebook\nmetadata: {labels: {" +
                                     labels + "}}\nspec: {}");
  EXPECT_EQ(error.code, Code::TooLarge);
  EXPECT_EQ(error.field, "metadata.labels");
}

TEST(Parse, NeverCrashesOnCutOrFlippedText) {
  // Prefixes, and bytes replaced by those that mean something to a parser.
  constexpr std::string_view kMeaningful = "{}[]:,-\"'#&*!|>%@`\n\t\x01\xff?";
  const std::string good(kExample);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string text = i % 2 == 0 ? good.substr(0, i) : good;
    if (i % 2 == 1) text[i] = kMeaningful[i / 2 % kMeaningful.size()];
    const auto result = parse(text);
    taken += result.has_value();
    if (result) continue;
    ASSERT_FALSE(result.error().message.empty());
    ASSERT_TRUE(base::is_utf8(base::to_text(result.error())));
  }
  EXPECT_GT(taken, 0U);  // some of these are good documents still
}

TEST(Parse, RefusesWhatBelongsToNoDocument) {
  for (const std::string_view tail : {",", ", b", ", [2]", ", {b: 2}"}) {
    const base::Error error = error_of(job("{}") + "---\n{a: 1}" + std::string(tail) + "\n---\n");
    EXPECT_EQ(error.field, "line 6") << base::to_text(error);
    EXPECT_NE(error.message.find("column 7 belongs to no document"), std::string::npos)
        << base::to_text(error);
  }
  EXPECT_NE(error_of(",").message.find("column 1 belongs to no document"), std::string::npos);
}

TEST(Parse, AnswersEveryShortText) {
  // All texts of up to four of these: none keeps the parser for ever, none is empty-handed.
  constexpr std::string_view kMeaningful = "{}[]:,-?|a \n\"";
  std::vector<std::string> texts{""};
  std::size_t first = 0;
  for (int length = 1; length <= 4; ++length) {
    const std::size_t end = texts.size();
    for (; first < end; ++first)
      for (const char c : kMeaningful)
        texts.push_back(texts[first] + c);
  }
  EXPECT_EQ(texts.size(), 30941U);  // 1 + 13 + 13^2 + 13^3 + 13^4
  for (const std::string& text : texts) {
    const auto result = parse(text);
    if (result)
      EXPECT_TRUE(result->empty()) << text;  // nothing so short is a document
    else
      ASSERT_FALSE(result.error().message.empty()) << text;
  }
}

TEST(Parse, OneDocumentIsOne) {
  const auto two = parse_one(job("{}") + "---\n" + job("{}"));
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().message.find("2 documents"), std::string::npos);
}

}  // namespace
}  // namespace manifest
