#include "cli/submit_manifest.h"

#include <filesystem>
#include <variant>

#include "base/text.h"
#include "manifest/print.h"
#include "manifest/submit_flags.h"

namespace cli {
namespace {

using base::Code;

// `--env NAME` takes the caller's value; what has one already stays as it is.
base::Result<std::vector<std::string>> variables(const Invocation& typed,
                                                 const Environment& environment) {
  std::vector<std::string> found;
  for (const std::string& word : typed.values("env")) {
    if (word.find('=') != std::string::npos) {
      found.push_back(word);
      continue;
    }
    const auto mine = environment.find(word);
    if (mine == environment.end())
      return base::fail_field(Code::InvalidArgument, "--env",
                              fmt::format("{} is not set here", word),
                              fmt::format("set it, or write --env {}=VALUE", word));
    found.push_back(fmt::format("{}={}", word, mine->second));
  }
  return found;
}

// An image has a file system of its own, where the caller's directory means nothing.
std::string directory_of(const Invocation& typed, const std::string& directory) {
  if (typed.has("image") && !typed.has("dir")) return "";
  const std::filesystem::path wanted = typed.value("dir", directory);
  const std::filesystem::path absolute =
      wanted.is_absolute() ? wanted : std::filesystem::path(directory) / wanted;
  return absolute.lexically_normal().string();
}

base::Result<std::int64_t> priority_of(const Invocation& typed) {
  const base::Result<std::int64_t> boost = base::parse_integer(typed.value("priority", "0"));
  if (boost && *boost >= -100 && *boost <= 100) return *boost;
  return base::fail_field(
      Code::InvalidArgument, "--priority",
      fmt::format("\"{}\" is not a whole number from -100 to 100", typed.value("priority")),
      "write for example --priority 10");
}

}  // namespace

base::Result<std::string> submit_manifest(const Invocation& typed, const std::string& directory,
                                          const Environment& environment) {
  base::Result<std::vector<std::string>> env = variables(typed, environment);
  if (!env) return tl::unexpected(env.error());
  const base::Result<std::int64_t> boost = priority_of(typed);
  if (!boost) return tl::unexpected(boost.error());
  base::Result<manifest::Document> document =
      manifest::document_of({.kind = typed.value("kind", "TrainingJob"),
                             .name = typed.value("name"),
                             .queue = typed.value("queue"),
                             .class_name = typed.value("class"),
                             .gpus = typed.value("gpus"),
                             .share = typed.value("share"),
                             .gpu_memory = typed.value("gpu-memory"),
                             .slice = typed.value("slice"),
                             .models = typed.values("model"),
                             .cpus = typed.value("cpus"),
                             .memory = typed.value("memory"),
                             .members = typed.value("members"),
                             .min_members = typed.value("min-members"),
                             .time = typed.value("time"),
                             .estimate = typed.value("estimate"),
                             .pools = typed.values("pool"),
                             .topology = typed.value("topology"),
                             .labels = typed.values("label"),
                             .env = std::move(*env),
                             .argv = typed.command,
                             .directory = directory_of(typed, directory),
                             .image = typed.value("image")});
  if (!document) return tl::unexpected(document.error());
  std::get<manifest::WorkloadDocument>(document->body).workload.priority_boost = *boost;
  return manifest::print(*document, manifest::Format::Json);
}

}  // namespace cli
