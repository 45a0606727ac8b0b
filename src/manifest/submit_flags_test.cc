#include "manifest/submit_flags.h"

#include <gtest/gtest.h>

#include "manifest/parse.h"
#include "manifest/print.h"

namespace manifest {
namespace {

SubmitFlags sleeping() {
  SubmitFlags flags;
  flags.argv = {"sleep", "10"};
  return flags;
}

WorkloadDocument good(const SubmitFlags& flags) {
  const auto document = document_of(flags);
  if (document) return std::get<WorkloadDocument>(document->body);
  ADD_FAILURE() << base::to_text(document.error());
  return {};
}

std::string field_of_error(const SubmitFlags& flags) {
  const auto document = document_of(flags);
  return document ? "taken" : document.error().field;
}

TEST(SubmitFlags, SayTheSameAsAManifest) {
  SubmitFlags flags = sleeping();
  flags.name = "t";
  flags.queue = "search/nlp";
  flags.gpus = "8";
  flags.models = {"H800"};
  flags.cpus = "96";
  flags.memory = "800Gi";
  flags.members = "16";
  flags.min_members = "4";
  flags.time = "1-12:00:00";
  flags.pools = {"h800", "a800"};
  flags.env = {"A=b=c", "EMPTY="};
  flags.labels = {"team=nlp"};
  flags.directory = "/data";
  const auto document = parse_one(R"(apiVersion: berth/v1
kind: Workload
metadata: {name: t, queue: search/nlp, labels: {team: nlp}}
spec:
  replicas: {min: 4, max: 16}
  resources: {gpu: {count: 8, model: [H800]}, cpu: 96, memory: 800Gi}
  pools: [h800, a800]
  timeLimit: 36h
  command: [sleep, "10"]
  env: {A: b=c, EMPTY: ""}
  workdir: /data
)");
  ASSERT_TRUE(document) << base::to_text(document.error());
  EXPECT_EQ(good(flags), std::get<WorkloadDocument>(document->body));
}

TEST(SubmitFlags, ArePrintedAsADocumentThatTheServerReads) {
  SubmitFlags flags = sleeping();
  flags.gpus = "0.5";
  const auto document = document_of(flags);
  ASSERT_TRUE(document);
  const auto again =
      parse_one(print(*document, Format::Json), {.source = "", .notation = Notation::Json});
  ASSERT_TRUE(again) << base::to_text(again.error());
  EXPECT_EQ(*again, *document);
}

TEST(SubmitFlags, APartOfADeviceMayNameItsModel) {
  SubmitFlags flags = sleeping();
  flags.gpus = "0.5";
  flags.models = {"A800"};
  const auto device = good(flags).workload.groups[0].device_options.at(0);
  EXPECT_EQ(device.share, base::MilliDevice(500));
  EXPECT_EQ(device.models, std::vector<std::string>{"A800"});
}

TEST(SubmitFlags, AnErrorNamesTheFlag) {
  const auto with = [](auto change) {
    SubmitFlags flags = sleeping();
    change(flags);
    return field_of_error(flags);
  };
  EXPECT_EQ(with([](SubmitFlags& f) { f.gpus = "-1"; }), "--gpus");
  EXPECT_EQ(with([](SubmitFlags& f) { f.gpus = "1.5"; }), "--gpus");
  EXPECT_EQ(with([](SubmitFlags& f) { f.share = "2"; }), "--share");
  EXPECT_EQ(with([](SubmitFlags& f) { f.models = {"A800"}; }), "--model");
  EXPECT_EQ(with([](SubmitFlags& f) { f.gpus = "1", f.models = {"A 8"}; }), "--model");
  EXPECT_EQ(with([](SubmitFlags& f) { f.gpu_memory = "x"; }), "--gpu-memory");
  EXPECT_EQ(with([](SubmitFlags& f) { f.gpus = "1", f.share = "0.5"; }), "--share");
  EXPECT_EQ(with([](SubmitFlags& f) { f.cpus = "many"; }), "--cpus");
  EXPECT_EQ(with([](SubmitFlags& f) { f.memory = "1Zi"; }), "--memory");
  EXPECT_EQ(with([](SubmitFlags& f) { f.members = "0"; }), "--members");
  EXPECT_EQ(with([](SubmitFlags& f) { f.members = "2", f.min_members = "3"; }), "--min-members");
  EXPECT_EQ(with([](SubmitFlags& f) { f.min_members = "3"; }), "--min-members");
  EXPECT_EQ(with([](SubmitFlags& f) { f.time = "5"; }), "--time");
  EXPECT_EQ(with([](SubmitFlags& f) { f.name = "A B"; }), "--name");
  EXPECT_EQ(with([](SubmitFlags& f) { f.queue = "/"; }), "--queue");
  EXPECT_EQ(with([](SubmitFlags& f) { f.class_name = "?"; }), "--class");
  EXPECT_EQ(with([](SubmitFlags& f) { f.pools = {"h800", "h800"}; }), "--pool");
  EXPECT_EQ(with([](SubmitFlags& f) { f.env = {"PATH"}; }), "--env");
  EXPECT_EQ(with([](SubmitFlags& f) { f.env = {"A=1", "A=2"}; }), "--env");
  EXPECT_EQ(with([](SubmitFlags& f) { f.labels = {"=x"}; }), "--label");
  EXPECT_EQ(with([](SubmitFlags& f) { f.directory = "here"; }), "--dir");
  EXPECT_EQ(with([](SubmitFlags& f) { f.kind = "Pool"; }), "--kind");
  EXPECT_EQ(with([](SubmitFlags& f) { f.kind = "Job"; }), "--kind");
  EXPECT_EQ(with([](SubmitFlags& f) { f.argv.clear(); }), "command");
  EXPECT_EQ(with([](SubmitFlags& f) { f.argv.clear(), f.image = "train:1"; }), "taken");
}

}  // namespace
}  // namespace manifest
