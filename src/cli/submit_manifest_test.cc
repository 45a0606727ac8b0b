#include "cli/submit_manifest.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include "manifest/parse.h"

namespace cli {
namespace {

namespace json = boost::json;
using Words = std::vector<std::string>;

base::Result<std::string> manifest_of(Words words, const Environment& environment = {}) {
  words.insert(words.begin(), "submit");
  if (std::ranges::find(words, "--") == words.end()) words.insert(words.end(), {"--", "true"});
  const auto invocation = parse_command_line(words);
  EXPECT_TRUE(invocation.has_value()) << invocation.error().message;
  return submit_manifest(*invocation, "/home/ann/project", environment);
}

json::value written(const Words& words, const Environment& environment = {}) {
  const auto manifest = manifest_of(words, environment);
  EXPECT_TRUE(manifest.has_value()) << manifest.error().field << ": " << manifest.error().message;
  return json::parse(manifest.value_or("null"));
}

std::string refused_field(const Words& words) {
  const auto manifest = manifest_of(words);
  EXPECT_FALSE(manifest.has_value());
  if (manifest) return "";
  EXPECT_FALSE(manifest.error().hint.empty()) << manifest.error().message;
  return manifest.error().field;
}

// What a document says, whatever form it is written in.
manifest::WorkloadDocument read(const Words& words) {
  const auto text = manifest_of(words);
  EXPECT_TRUE(text.has_value()) << text.error().field << ": " << text.error().message;
  const auto documents = manifest::parse(text.value_or(""));
  EXPECT_TRUE(documents.has_value())
      << documents.error().field << ": " << documents.error().message;
  if (!documents || documents->size() != 1) return {};
  return std::get<manifest::WorkloadDocument>(documents->front().body);
}

TEST(SubmitManifest, SaysEverythingThatTheFlagsSay) {
  const manifest::WorkloadDocument document = read(
      {"--gpus",  "2",        "--queue",    "nlp",  "--time",     "2h",  "--name",        "ft",
       "-c",      "8",        "-m",         "64Gi", "-n",         "4",   "--min-members", "2",
       "--model", "H800",     "--model",    "A800", "--pool",     "p1",  "--label",       "team=x",
       "--class", "training", "--priority", "5",    "--estimate", "90m", "--topology",    "rack",
       "--",      "python",   "train.py"});
  const model::Workload& workload = document.workload;
  EXPECT_EQ(workload.kind, model::Kind::TrainingJob);
  EXPECT_EQ(workload.name, "ft");
  EXPECT_EQ(document.queue, "nlp");
  EXPECT_EQ(document.class_name, "training");
  EXPECT_EQ(document.pools, (Words{"p1"}));
  ASSERT_EQ(workload.groups.size(), 1u);
  EXPECT_EQ(workload.groups[0].members, 4);
  EXPECT_EQ(workload.groups[0].min_members, 2);
  EXPECT_EQ(workload.groups[0].per_member.of(model::kCpu), 8000);
  EXPECT_EQ(workload.groups[0].per_member.of(model::kMemory), std::int64_t{64} << 30);
  ASSERT_EQ(workload.groups[0].device_options.size(), 1u);
  EXPECT_EQ(workload.groups[0].device_options[0].count.value, 2);
  EXPECT_EQ(workload.groups[0].device_options[0].models, (Words{"H800", "A800"}));
  EXPECT_EQ(workload.priority_boost, 5);
  EXPECT_EQ(workload.time_limit, base::hours(2));
  EXPECT_EQ(workload.estimate, base::minutes(90));
  EXPECT_EQ(workload.constraints.topology.required, "rack");
  EXPECT_EQ(workload.labels.at("team"), "x");
  EXPECT_EQ(workload.command.argv, (Words{"python", "train.py"}));
  EXPECT_EQ(workload.command.directory, "/home/ann/project");
}

TEST(SubmitManifest, PartsOfADevice) {
  EXPECT_EQ(read({"--gpus", "0.5"}).workload.groups[0].device_options[0].share.value, 500);
  EXPECT_EQ(read({"--share", "0.25"}).workload.groups[0].device_options[0].share.value, 250);
  EXPECT_EQ(read({"--gpu-memory", "50%"}).workload.groups[0].device_options[0].memory_percent, 50);
  EXPECT_EQ(read({"--slice", "1g.10gb"}).workload.groups[0].device_options[0].slice, "1g.10gb");
  EXPECT_TRUE(read({"--gpus", "0"}).workload.groups[0].device_options.empty());
}

TEST(SubmitManifest, OnlyNamedVariablesGoAlong) {
  const json::value manifest = written({"--env", "HOME", "--env", "A=b=c", "--env", "EMPTY="},
                                       {{"HOME", "/home/ann"}, {"SECRET", "x"}});
  EXPECT_EQ(manifest.at("spec").at("env"),
            json::parse(R"({"HOME":"/home/ann","A":"b=c","EMPTY":""})"));
  EXPECT_EQ(refused_field({"--env", "NOT_SET"}), "--env");
}

TEST(SubmitManifest, TheDirectoryIsTheCallersOrTheOneNamed) {
  EXPECT_EQ(written({"-C", "sub/../data"}).at("spec").at("workdir"), "/home/ann/project/data");
  EXPECT_EQ(written({"-C", "/data"}).at("spec").at("workdir"), "/data");
  EXPECT_FALSE(written({"--image", "torch:2"}).at("spec").as_object().contains("workdir"));
}

TEST(SubmitManifest, ANotebookHasOneMember) {
  EXPECT_EQ(read({"--kind", "Notebook"}).workload.kind, model::Kind::Notebook);
  EXPECT_EQ(refused_field({"--kind", "Notebook", "-n", "2"}), "--members");
}

TEST(SubmitManifest, AMistakeNamesItsFlag) {
  EXPECT_EQ(refused_field({"--gpus", "1.5"}), "--gpus");
  EXPECT_EQ(refused_field({"--gpus", "two"}), "--gpus");
  EXPECT_EQ(refused_field({"--gpus", "-1"}), "--gpus");
  EXPECT_NE(refused_field({"--gpus", "2", "--gpu-memory", "40Gi"}), "");
  EXPECT_EQ(refused_field({"--gpu-memory", "lots"}), "--gpu-memory");
  EXPECT_EQ(refused_field({"--model", "H800"}), "--model");
  EXPECT_EQ(refused_field({"--cpus", "x"}), "--cpus");
  EXPECT_EQ(refused_field({"--memory", "64GG"}), "--memory");
  EXPECT_EQ(refused_field({"--members", "0"}), "--members");
  EXPECT_EQ(refused_field({"--members", "99999999999999999999"}), "--members");
  EXPECT_EQ(refused_field({"--members", "2", "--min-members", "3"}), "--min-members");
  EXPECT_EQ(refused_field({"--time", "soon"}), "--time");
  EXPECT_EQ(refused_field({"--priority", "101"}), "--priority");
  EXPECT_EQ(refused_field({"--label", "alone"}), "--label");
  EXPECT_EQ(refused_field({"--name", "Not A Name"}), "--name");
  EXPECT_EQ(refused_field({"--kind", "Notebook", "--"}), "command");
}

}  // namespace
}  // namespace cli
