#include "cli/submit_manifest.h"

#include <filesystem>
#include <string_view>

#include <boost/json.hpp>

#include "base/text.h"

namespace cli {
namespace {

using base::Code;
namespace json = boost::json;

tl::unexpected<base::Error> refuse(std::string_view flag, std::string message, std::string hint) {
  return base::fail_field(Code::InvalidArgument, fmt::format("--{}", flag), std::move(message),
                          std::move(hint));
}

// Runs `parse` over a flag that was given and names the flag in what it refuses.
template <class Parse>
base::Result<base::Done> checked(const Invocation& typed, std::string_view flag, Parse parse,
                                 std::string_view example) {
  if (!typed.has(flag)) return base::Done{};
  if (const auto parsed = parse(typed.value(flag)); !parsed)
    return refuse(flag, parsed.error().message,
                  fmt::format("write for example --{} {}", flag, example));
  return base::Done{};
}

base::Result<std::int64_t> count_flag(const Invocation& typed, std::string_view flag,
                                      std::int64_t least, std::int64_t most,
                                      std::int64_t otherwise) {
  if (!typed.has(flag)) return otherwise;
  const base::Result<std::int64_t> number = base::parse_integer(typed.value(flag));
  if (number && *number >= least && *number <= most) return *number;
  return refuse(
      flag,
      fmt::format("\"{}\" is not a whole number from {} to {}", typed.value(flag), least, most),
      fmt::format("write for example --{} {}", flag, least > 0 ? 4 : 0));
}

// `gpu:` of the manifest; null when no device is asked for.
base::Result<json::value> device_request(const Invocation& typed) {
  const std::vector<std::string> models = typed.values("model");
  const bool has_part = typed.has("gpu-memory") || typed.has("slice");
  if (!typed.has("gpus") && !has_part) {
    if (!models.empty())
      return refuse("model", "names a device model but no device", "add --gpus 1");
    return json::value(nullptr);
  }
  json::object request;
  if (typed.has("gpus")) {
    const base::Result<std::int64_t> milli = base::parse_milli(typed.value("gpus"));
    if (!milli)
      return refuse("gpus", milli.error().message, "write for example --gpus 2 or --gpus 0.5");
    if (*milli > 1000 && *milli % 1000 != 0)
      return refuse("gpus", "asks for more than one device and a part of one",
                    "ask for whole devices, or for a part below 1");
    if (*milli == 0 && !has_part) return json::value(nullptr);
    if (*milli % 1000 == 0 && has_part)
      return refuse("gpus", "asks for whole devices beside a part of one",
                    "leave --gpus out, or give it below 1");
    if (*milli % 1000 == 0)
      request["count"] = *milli / 1000;
    else
      request["share"] = base::print_milli(*milli);
  }
  if (typed.has("gpu-memory")) {
    const std::string memory = typed.value("gpu-memory");
    if (!memory.ends_with('%'))
      if (const auto bytes = base::parse_bytes(memory); !bytes)
        return refuse("gpu-memory", bytes.error().message,
                      "write for example --gpu-memory 40Gi or 50%");
    request["memory"] = memory;
  }
  if (typed.has("slice")) request["slice"] = typed.value("slice");
  if (!models.empty()) request["model"] = json::value_from(models);
  return json::value(std::move(request));
}

base::Result<json::object> variables(const Invocation& typed, const Environment& environment) {
  json::object found;
  for (const std::string& word : typed.values("env")) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (name.empty())
      return refuse("env", fmt::format("\"{}\" names no variable", word),
                    "write NAME or NAME=VALUE");
    if (equals != std::string::npos) {
      found[name] = word.substr(equals + 1);
      continue;
    }
    const auto mine = environment.find(name);
    if (mine == environment.end())
      return refuse("env", fmt::format("{} is not set here", name),
                    fmt::format("set it, or write --env {}=VALUE", name));
    found[name] = mine->second;
  }
  return found;
}

base::Result<json::object> labels(const Invocation& typed) {
  json::object found;
  for (const std::string& word : typed.values("label")) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return refuse("label", fmt::format("\"{}\" is no NAME=VALUE", word),
                    "write for example --label team=nlp");
    found[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return found;
}

base::Result<base::Done> add_members(const Invocation& typed, const std::string& kind,
                                     json::object& spec) {
  const base::Result<std::int64_t> members = count_flag(typed, "members", 1, 100'000, 1);
  if (!members) return tl::unexpected(members.error());
  const base::Result<std::int64_t> least = count_flag(typed, "min-members", 1, *members, *members);
  if (!least) return tl::unexpected(least.error());
  if (kind == "Notebook") {
    if (*members != 1) return refuse("members", "a notebook has one member", "leave --members out");
    return base::Done{};
  }
  if (typed.has("min-members"))
    spec["replicas"] = json::object{{"min", *least}, {"max", *members}};
  else if (*members != 1)
    spec["replicas"] = *members;
  return base::Done{};
}

base::Result<base::Done> add_resources(const Invocation& typed, json::object& spec) {
  if (auto done = checked(typed, "cpus", base::parse_milli, "4"); !done) return done;
  if (auto done = checked(typed, "memory", base::parse_bytes, "64Gi"); !done) return done;
  const base::Result<json::value> devices = device_request(typed);
  if (!devices) return tl::unexpected(devices.error());
  json::object resources;
  if (!devices->is_null()) resources["gpu"] = *devices;
  if (typed.has("cpus")) resources["cpu"] = typed.value("cpus");
  if (typed.has("memory")) resources["memory"] = typed.value("memory");
  if (!resources.empty()) spec["resources"] = std::move(resources);
  return base::Done{};
}

base::Result<base::Done> add_times(const Invocation& typed, json::object& spec) {
  if (auto done = checked(typed, "time", base::parse_duration, "2h"); !done) return done;
  if (auto done = checked(typed, "estimate", base::parse_duration, "90m"); !done) return done;
  if (typed.has("time")) spec["timeLimit"] = typed.value("time");
  if (typed.has("estimate")) spec["estimate"] = typed.value("estimate");
  return base::Done{};
}

base::Result<base::Done> add_command(const Invocation& typed, const std::string& directory,
                                     const Environment& environment, json::object& spec) {
  const base::Result<json::object> env = variables(typed, environment);
  if (!env) return tl::unexpected(env.error());
  spec["command"] = json::value_from(typed.command);
  if (!env->empty()) spec["env"] = *env;
  // An image has a file system of its own, where this directory means nothing.
  if (typed.has("image") && !typed.has("directory")) return base::Done{};
  const std::filesystem::path wanted = typed.value("directory", directory);
  const std::filesystem::path absolute =
      wanted.is_absolute() ? wanted : std::filesystem::path(directory) / wanted;
  spec["workdir"] = absolute.lexically_normal().string();
  return base::Done{};
}

}  // namespace

base::Result<json::value> submit_manifest(const Invocation& typed, const std::string& directory,
                                          const Environment& environment) {
  if (typed.command.empty())
    return base::fail_field(
        Code::InvalidArgument, "-- COMMAND",
        fmt::format("berth {} has no command to run", typed.verb->name),
        fmt::format("write it behind --: berth {} --gpus 1 -- python train.py", typed.verb->name));
  const std::string kind = typed.value("kind", "TrainingJob");
  json::object metadata, spec;
  if (typed.has("name")) {
    const std::string name = typed.value("name");
    if (const auto valid = base::check_name(name, "--name"); !valid)
      return tl::unexpected(valid.error());
    metadata["name"] = name;
  }
  if (typed.has("queue")) metadata["queue"] = typed.value("queue");
  const base::Result<json::object> named = labels(typed);
  if (!named) return tl::unexpected(named.error());
  if (!named->empty()) metadata["labels"] = *named;

  if (typed.has("class")) spec["class"] = typed.value("class");
  const base::Result<std::int64_t> boost = count_flag(typed, "priority", -100, 100, 0);
  if (!boost) return tl::unexpected(boost.error());
  if (*boost != 0) spec["priorityBoost"] = *boost;
  if (auto done = add_members(typed, kind, spec); !done) return tl::unexpected(done.error());
  if (auto done = add_resources(typed, spec); !done) return tl::unexpected(done.error());
  if (typed.has("pool")) spec["pools"] = json::value_from(typed.values("pool"));
  if (auto done = add_times(typed, spec); !done) return tl::unexpected(done.error());
  if (auto done = add_command(typed, directory, environment, spec); !done)
    return tl::unexpected(done.error());
  if (typed.has("image")) spec["image"] = typed.value("image");
  return json::value(json::object{{"apiVersion", "berth/v1"},
                                  {"kind", kind},
                                  {"metadata", std::move(metadata)},
                                  {"spec", std::move(spec)}});
}

}  // namespace cli
