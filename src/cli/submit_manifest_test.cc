#include "cli/submit_manifest.h"

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace cli {
namespace {

namespace json = boost::json;
using Words = std::vector<std::string>;

base::Result<json::value> manifest_of(Words words, const Environment& environment = {}) {
  words.insert(words.begin(), "submit");
  if (std::ranges::find(words, "--") == words.end()) words.insert(words.end(), {"--", "true"});
  const auto invocation = parse_command_line(words);
  EXPECT_TRUE(invocation.has_value()) << invocation.error().message;
  return submit_manifest(*invocation, "/home/ann/project", environment);
}

json::value written(const Words& words, const Environment& environment = {}) {
  const auto manifest = manifest_of(words, environment);
  EXPECT_TRUE(manifest.has_value()) << manifest.error().field << ": " << manifest.error().message;
  return manifest.value_or(json::value());
}

std::string refused_field(const Words& words) {
  const auto manifest = manifest_of(words);
  EXPECT_FALSE(manifest.has_value());
  if (manifest) return "";
  EXPECT_FALSE(manifest.error().hint.empty()) << manifest.error().message;
  return manifest.error().field;
}

TEST(SubmitManifest, SaysEverythingThatTheFlagsSay) {
  EXPECT_EQ(written({"--gpus",   "2",          "--queue", "nlp",        "--time",
                     "2h",       "--name",     "ft",      "-c",         "8",
                     "-m",       "64Gi",       "-n",      "4",          "--min-members",
                     "2",        "--model",    "H800",    "--model",    "A800",
                     "--pool",   "p1",         "--label", "team=x",     "--class",
                     "training", "--priority", "5",       "--estimate", "90m",
                     "--",       "python",     "train.py"}),
            json::parse(R"({"apiVersion":"berth/v1","kind":"TrainingJob",
              "metadata":{"name":"ft","queue":"nlp","labels":{"team":"x"}},
              "spec":{"class":"training","priorityBoost":5,"replicas":{"min":2,"max":4},
                "resources":{"gpu":{"count":2,"model":["H800","A800"]},"cpu":"8","memory":"64Gi"},
                "pools":["p1"],"timeLimit":"2h","estimate":"90m",
                "command":["python","train.py"],"workdir":"/home/ann/project"}})"));
}

TEST(SubmitManifest, PartsOfADevice) {
  EXPECT_EQ(written({"--gpus", "0.5"}).at("spec").at("resources").at("gpu"),
            json::parse(R"({"share":"0.5"})"));
  EXPECT_EQ(written({"--gpu-memory", "50%"}).at("spec").at("resources").at("gpu"),
            json::parse(R"({"memory":"50%"})"));
  EXPECT_EQ(written({"--slice", "1g.10gb"}).at("spec").at("resources").at("gpu"),
            json::parse(R"({"slice":"1g.10gb"})"));
  EXPECT_FALSE(written({"--gpus", "0"}).at("spec").as_object().contains("resources"));
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
  EXPECT_FALSE(written({"--kind", "Notebook"}).at("spec").as_object().contains("replicas"));
  EXPECT_EQ(refused_field({"--kind", "Notebook", "-n", "2"}), "--members");
}

TEST(SubmitManifest, AMistakeNamesItsFlag) {
  EXPECT_EQ(refused_field({"--gpus", "1.5"}), "--gpus");
  EXPECT_EQ(refused_field({"--gpus", "two"}), "--gpus");
  EXPECT_EQ(refused_field({"--gpus", "-1"}), "--gpus");
  EXPECT_EQ(refused_field({"--gpus", "2", "--gpu-memory", "40Gi"}), "--gpus");
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
  EXPECT_EQ(refused_field({"--"}), "-- COMMAND");
}

}  // namespace
}  // namespace cli
