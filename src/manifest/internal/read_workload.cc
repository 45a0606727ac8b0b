#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "base/text.h"
#include "manifest/internal/read_kinds.h"
#include "policy/default_policy.h"

namespace manifest {

namespace {

using model::Kind;

constexpr std::size_t kMaxLabels = 64;
constexpr std::size_t kMaxLabelBytes = 256;
constexpr std::size_t kMaxAnnotationBytes = 4096;
constexpr std::size_t kMaxArgumentBytes = 128 * 1024;  // what Linux takes for one argument
constexpr std::size_t kMaxCommandBytes = 256 * 1024;   // together, as the journal keeps it
constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::size_t kMaxPools = 64;
constexpr std::size_t kMaxTolerations = 64;
constexpr std::size_t kMaxRetryRules = 64;
constexpr std::size_t kMaxDeviceOptions = 16;
constexpr std::size_t kMaxModels = 32;
constexpr std::size_t kMaxCustom = 32;
constexpr std::size_t kMaxWordBytes = 63;

// Device models, slice profiles and topology levels are words of vendors and operators: capitals
// and
// '+' occur in them.
std::string word(const Field& field) {
  std::string found = field.text(kMaxWordBytes);
  const bool is_good = std::all_of(found.begin(), found.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '+';
  });
  if (!is_good)
    field.refuse("the word holds a character that it cannot have",
                 "use letters, digits, '.', '_', '-' and '+'");
  return found;
}

std::vector<std::string> words(const Field& field, std::size_t max) {
  if (field.is_scalar()) return {word(field)};
  std::vector<std::string> found;
  for (const Field& item : field.items(max)) {
    found.push_back(word(item));
    if (std::count(found.begin(), found.end(), found.back()) > 1)
      item.refuse("stands twice in the list", "keep one of the two");
  }
  return found;
}

// ---- devices ----

// `gpu: 8`, `gpu: 0.5`
model::DeviceRequest read_device_amount(const Field& field) {
  model::DeviceRequest request;
  const std::int64_t milli = field.milli();
  if (milli > 1000 && milli % 1000 != 0)
    field.refuse("more than one device is asked for, and a part of one",
                 "ask for whole devices, or for a share below 1");
  else if (milli > kMaxDevicesPerMember * std::int64_t{1000})
    field.refuse(fmt::format("more than {} devices for one member", kMaxDevicesPerMember),
                 "ask for more members (replicas) with fewer devices each");
  else if (milli % 1000 == 0)
    request.count = base::Count(milli / 1000);
  else
    request.share = base::MilliDevice(milli);
  return request;
}

void read_device_memory(const Field& field, model::DeviceRequest& request) {
  const std::string_view written = field.written();
  if (!field.is_scalar() || !written.ends_with('%')) {
    request.memory = base::Bytes(field.bytes());
    if (request.memory.value == 0) field.refuse("no device memory is asked for", "remove the line");
    return;
  }
  const auto percent = base::parse_integer(written.substr(0, written.size() - 1));
  if (percent && *percent >= 1 && *percent <= 100)
    request.memory_percent = static_cast<std::int32_t>(*percent);
  else
    field.refuse("a part of the device memory is 1% to 100%", "write it like \"50%\"");
}

void read_share(const Field& field, model::DeviceRequest& request) {
  request.share = base::MilliDevice(field.milli());
  if (request.share.value < 1 || request.share.value > 1000)
    field.refuse("a share is above 0 and at most 1 device", "for more devices write count");
}

// `gpu: {count: 8, model: [H800, A800]}` and the other forms; exactly one of them.
model::DeviceRequest read_device_map(const Field& field) {
  model::DeviceRequest request;
  const Map map = field.map({"count", "share", "memory", "slice", "model", "isolation"});
  const Field count = map["count"], share = map["share"], memory = map["memory"],
              slice = map["slice"];
  if (count) request.count = base::Count(count.small_integer(1, kMaxDevicesPerMember));
  if (share) read_share(share, request);
  if (memory) read_device_memory(memory, request);
  if (slice) request.slice = word(slice);
  if (const Field f = map["model"]) request.models = words(f, kMaxModels);
  if (const Field f = map["isolation"]) request.min_isolation = f.one_of<model::Isolation>();

  const bool is_whole_with_part = count && (share || memory || slice);
  const bool is_slice_with_part = slice && (share || memory);
  if (!count && !share && !memory && !slice)
    field.refuse("says no amount of devices", "add count, share, memory or slice");
  else if (is_whole_with_part)
    field.refuse("count asks for whole devices, share, memory and slice for a part of one",
                 "keep count, or remove it");
  else if (is_slice_with_part)
    field.refuse("a slice has its own share and memory", "remove share and memory, or slice");
  else if (share && request.memory_percent > 0)
    field.refuse("a share takes its memory in bytes", "write memory like 40Gi, or remove share");
  return request;
}

std::vector<model::DeviceRequest> read_devices(const Field& field) {
  if (field.is_list()) {
    std::vector<model::DeviceRequest> options;
    for (const Field& item : field.items(kMaxDeviceOptions)) {
      options.push_back(item.is_map() ? read_device_map(item) : read_device_amount(item));
      if (options.back().is_none()) item.refuse("asks for no device", "leave this choice out");
    }
    if (options.empty()) field.refuse("the list of choices is empty", "write gpu: 0, or remove it");
    return options;
  }
  const auto request = field.is_map() ? read_device_map(field) : read_device_amount(field);
  if (request.is_none()) return {};
  return {request};
}

// ---- groups ----

struct Resources {
  model::Quantities per_member;
  std::vector<model::DeviceRequest> device_options;
  std::map<std::string, std::int64_t> custom;
};

Resources read_resources(const Field& field) {
  Resources found;
  const Map map = field.map({"gpu", "cpu", "memory", "scratch", "network", "custom"});
  if (const Field f = map["gpu"]) found.device_options = read_devices(f);
  if (const Field f = map["cpu"]) found.per_member.set(model::kCpu, f.milli());
  if (const Field f = map["memory"]) found.per_member.set(model::kMemory, f.bytes());
  if (const Field f = map["scratch"]) found.per_member.set(model::kScratch, f.bytes());
  if (const Field f = map["network"]) found.per_member.set(model::kNetwork, f.count());
  if (const Field f = map["custom"]) {
    for (const auto& [name, amount] : f.entries(kMaxCustom)) {
      if (const auto checked = base::check_name(name, amount.path()); !checked)
        amount.refuse(checked.error().message, checked.error().hint);
      else if (is_known_resource(name))
        amount.refuse(fmt::format("{} is not a resource of your own", name),
                      fmt::format("write resources.{} instead", name));
      if (const std::int64_t value = amount.count(); value > 0) found.custom.emplace(name, value);
    }
  }
  return found;
}

// `replicas: 4` or {min, max, step}. A batch starts with whatever shards find a place.
void read_replicas(const Field& field, Kind kind, model::TaskGroup& group) {
  if (!field.is_map()) {
    group.members = field.small_integer(1, kMaxMembers);
    group.min_members = kind == Kind::BatchInference ? 1 : group.members;
    return;
  }
  const Map map = field.map({"min", "max", "step"});
  const Field min = map["min"], max = map["max"], step = map["step"];
  if (!min && !max) field.refuse("says neither min nor max", "write replicas: 4, or {min, max}");
  if (max) group.members = max.small_integer(1, kMaxMembers);
  if (min) group.min_members = min.small_integer(1, kMaxMembers);
  if (!max) group.members = group.min_members;
  if (!min) group.min_members = kind == Kind::BatchInference ? 1 : group.members;
  if (step) group.step = step.small_integer(1, kMaxMembers);
  if (group.min_members > group.members)
    min.refuse(fmt::format("min {} is above max {}", group.min_members, group.members),
               "raise max or lower min");
  else if ((group.members - group.min_members) % group.step != 0)
    step.refuse(fmt::format("steps of {} do not lead from min {} to max {}", group.step,
                            group.min_members, group.members),
                fmt::format("use max {} or another step",
                            group.members - (group.members - group.min_members) % group.step));
}

void check_total(const Field& at, std::string_view resource, std::int64_t amount,
                 std::int32_t members) {
  std::int64_t total = 0;
  if (!__builtin_mul_overflow(amount, std::int64_t{members}, &total) && total <= kMaxAmount) return;
  at.refuse(
      fmt::format("{} members of that much {} are more than any cluster has", members, resource),
      "check the unit and the number of members");
}

void read_shape(const Field& resources, std::size_t index, model::TaskGroup& group,
                WorkloadDocument& document) {
  Resources found = read_resources(resources);
  group.per_member = std::move(found.per_member);
  group.device_options = std::move(found.device_options);
  for (const auto& a : group.per_member.amounts())
    check_total(resources, known_resource_name(a.resource), a.amount, group.members);
  for (const auto& [name, amount] : found.custom) {
    check_total(resources, name, amount, group.members);
    document.custom.push_back(
        {.group = static_cast<std::int32_t>(index), .resource = name, .amount = amount});
  }
}

// What is written about one group, before the order of the groups is known.
struct GroupText {
  Field at;
  Map map;
  std::string name;
  std::string parent;
  bool is_inner = false;
};

// The indexes of the circle of parents above `start`, from the group that was written first. What
// only hangs below the circle is left out.
std::vector<std::size_t> circle_above(const std::vector<GroupText>& groups,
                                      const std::map<std::string_view, std::size_t>& by_name,
                                      std::size_t start) {
  std::size_t at = start;
  for (std::size_t step = 0; step < groups.size(); ++step)
    at = by_name.at(groups[at].parent);
  std::vector<std::size_t> circle;
  do {
    circle.push_back(at);
    at = by_name.at(groups[at].parent);
  } while (at != circle.front());
  std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end()), circle.end());
  return circle;
}

// Indexes of the groups, each after its parent and otherwise as written. Faults: an unknown parent,
// a circle. O(groups * depth of the tree).
std::vector<std::size_t> order_of(const std::vector<GroupText>& groups) {
  std::map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < groups.size(); ++i)
    by_name.emplace(groups[i].name, i);
  std::vector<std::size_t> order;
  std::vector<char> is_placed(groups.size(), 0);
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto parent = by_name.find(groups[i].parent);
      const bool is_ready =
          groups[i].parent.empty() || (parent != by_name.end() && is_placed[parent->second] != 0);
      if (is_placed[i] != 0 || !is_ready) continue;
      is_placed[i] = 1;
      order.push_back(i);
      has_moved = true;
    }
  }
  for (std::size_t i = 0; i < groups.size() && order.size() < groups.size(); ++i) {
    if (is_placed[i] != 0) continue;
    const std::vector<std::size_t> circle = circle_above(groups, by_name, i);
    std::string text;
    for (const std::size_t at : circle)
      text += groups[at].name + " -> ";
    groups[circle.front()].at.refuse(
        "the parents of the groups form a circle: " + text + groups[circle.front()].name,
        "let one of them have no parent");
  }
  return order;
}

std::vector<GroupText> read_group_texts(const Field& field) {
  std::vector<GroupText> groups;
  std::set<std::string> names, parents;
  for (const Field& item : field.items(kMaxGroups)) {
    const Map map = item.map({"name", "parent", "replicas", "resources", "minChildren"});
    GroupText group{.at = item, .map = map, .name = {}, .parent = {}, .is_inner = false};
    const Field name = map.required("name", "give each group a name");
    if (name) group.name = name.name();
    if (name && !names.insert(group.name).second)
      name.refuse(fmt::format("two groups have the name {}", group.name), "rename one of them");
    if (const Field parent = map["parent"]) group.parent = parent.name();
    parents.insert(group.parent);
    groups.push_back(std::move(group));
  }
  if (groups.empty()) field.refuse("there is no group", "add one with name and replicas");
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (GroupText& group : groups) {
    group.is_inner = parents.contains(group.name);
    if (group.parent.empty() || names.contains(group.parent)) continue;
    const auto near = base::nearest(group.parent, known);
    group.map["parent"].refuse(
        fmt::format("there is no group {}", group.parent),
        near ? fmt::format("did you mean {}?", *near) : "name one of the groups of this workload");
  }
  return groups;
}

model::TaskGroup read_inner(const GroupText& text, std::int32_t children) {
  model::TaskGroup group;
  group.name = text.name;
  group.members = 0;
  group.min_members = children;
  for (const std::string_view key : {"replicas", "resources"})
    if (const Field f = text.map[key])
      f.refuse("a group that is a parent has no members of its own",
               "move them into a group below it");
  if (const Field f = text.map["minChildren"]) group.min_members = f.small_integer(1, children);
  return group;
}

model::TaskGroup read_leaf(const GroupText& text, Kind kind, std::size_t index,
                           WorkloadDocument& document) {
  model::TaskGroup group;
  group.name = text.name;
  if (const Field f = text.map["replicas"]) read_replicas(f, kind, group);
  if (const Field f = text.map["resources"]) read_shape(f, index, group, document);
  if (const Field f = text.map["minChildren"])
    f.refuse("no group names this one as its parent", "remove minChildren");
  return group;
}

void read_groups(const Field& field, Kind kind, const Fault& fault, WorkloadDocument& document) {
  const std::vector<GroupText> texts = read_group_texts(field);
  if (fault.error) return;
  const std::vector<std::size_t> order = order_of(texts);
  if (fault.error) return;
  std::map<std::string, std::int32_t> index_by_name, children;
  std::vector<int> depths;
  for (const GroupText& text : texts)
    ++children[text.parent];
  std::int64_t members = 0;
  for (const std::size_t at : order) {
    const GroupText& text = texts[at];
    const std::size_t index = document.workload.groups.size();
    model::TaskGroup group = text.is_inner ? read_inner(text, children[text.name])
                                           : read_leaf(text, kind, index, document);
    if (!text.parent.empty()) group.parent = index_by_name.at(text.parent);
    index_by_name.emplace(text.name, static_cast<std::int32_t>(index));
    depths.push_back(group.parent < 0 ? 1 : depths[static_cast<std::size_t>(group.parent)] + 1);
    if (depths.back() > kMaxGroupDepth)
      text.at.refuse(fmt::format("groups are nested more than {} deep", kMaxGroupDepth),
                     "hang it further up");
    members += group.members;
    document.workload.groups.push_back(std::move(group));
  }
  if (members > kMaxMembers)
    field.refuse(fmt::format("{} members in all groups together, at most {} are allowed", members,
                             kMaxMembers),
                 "split the workload");
}

// `replicas` and `resources` straight in the spec mean one group.
void read_only_group(const Map& spec, Kind kind, WorkloadDocument& document) {
  model::TaskGroup group;
  group.name = kOnlyGroup;
  const Field replicas = spec["replicas"], shards = spec["shards"];
  if (replicas && shards) shards.refuse("shards and replicas mean the same", "keep one of the two");
  if (shards && kind != Kind::BatchInference)
    shards.refuse("only BatchInference has shards", "write replicas instead");
  if (replicas) read_replicas(replicas, kind, group);
  if (shards) read_replicas(shards, kind, group);
  if (kind == Kind::Notebook && group.members != 1)
    replicas.refuse("a notebook has one member", "remove replicas, or use kind Workload");
  if (const Field f = spec["resources"]) read_shape(f, 0, group, document);
  document.workload.groups.push_back(std::move(group));
}

// ---- the rest of the spec ----

void read_placement(const Map& spec, WorkloadDocument& document) {
  model::Constraints& constraints = document.workload.constraints;
  if (const Field f = spec["pools"]) {
    document.pools = f.texts(kMaxPools, kMaxWordBytes);
    std::set<std::string> seen;
    for (const std::string& pool : document.pools) {
      if (!base::check_name(pool, f.path()))
        f.refuse(fmt::format("{} is not the name of a pool", pool), "write names of pools");
      if (!seen.insert(pool).second) f.refuse(fmt::format("{} stands twice", pool), "keep one");
    }
  }
  if (const Field f = spec["attributes"])
    constraints.attributes = f.text_map(kMaxLabels, kMaxLabelBytes);
  if (const Field f = spec["tolerations"]) {
    for (const Field& item : f.items(kMaxTolerations)) {
      model::Toleration toleration;
      const Map map = item.map({"key", "value"});
      if (const Field key = map["key"]) toleration.key = key.text(kMaxLabelBytes);
      if (const Field value = map["value"]) toleration.value = value.text(kMaxLabelBytes);
      if (toleration.key.empty() && !toleration.value.empty())
        item.refuse("a value without a key tolerates nothing", "add the key of the taint");
      constraints.tolerations.push_back(std::move(toleration));
    }
  }
  if (const Field f = spec["topology"]) {
    model::TopologyRequest& topology = constraints.topology;
    const Map map = f.map({"required", "preferred", "segment"});
    if (const Field level = map["required"]) topology.required = word(level);
    if (const Field level = map["preferred"]) topology.preferred = word(level);
    if (const Field segment = map["segment"]) {
      const Map inner = segment.map({"size", "level"});
      if (const Field size = inner.required("size", "say how many members stay together"))
        topology.segment_size = size.small_integer(1, kMaxMembers);
      if (const Field level = inner.required("level", "name the level that they share"))
        topology.segment_level = word(level);
    }
  }
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

void read_command(const Map& spec, model::Command& command) {
  const Field argv = spec["command"], rest = spec["args"];
  const auto append = [&](const Field& field) {
    if (field.is_scalar())
      return field.refuse("a command is a list of words", "write [sh, -c, \"…\"] for a shell line");
    for (const Field& item : field.items(kMaxListItems)) {
      // An argument may be empty, but then it must be written as "".
      const bool is_empty = item.is_scalar() && item.written().empty();
      command.argv.push_back(is_empty ? std::string() : item.text(kMaxArgumentBytes));
    }
  };
  if (argv) append(argv);
  if (rest && !argv && !spec["image"])
    rest.refuse("there are args but no command", "write the program into command");
  if (rest) append(rest);
  if (argv && !command.argv.empty() && command.argv[0].empty())
    argv.refuse("the program has an empty name", "write the program first");
  if (const Field f = spec["env"]) {
    for (const auto& [name, value] : f.entries(kMaxListItems)) {
      if (!is_variable_name(name))
        value.refuse("not the name of an environment variable",
                     "use letters, digits and '_', no digit first");
      const bool is_empty = value.is_scalar() && value.written().empty();
      command.environment.emplace(name, is_empty ? std::string() : value.text(kMaxArgumentBytes));
    }
  }
  if (const Field f = spec["workdir"]) {
    command.directory = f.text(kMaxPathBytes);
    if (!command.directory.starts_with('/'))
      f.refuse("the working directory is not absolute", "start it with /");
  }
  if (const Field f = spec["image"]) command.image = f.text(kMaxPathBytes);
  std::size_t bytes = 0;
  for (const std::string& argument : command.argv)
    bytes += argument.size();
  for (const auto& [name, value] : command.environment)
    bytes += name.size() + value.size();
  if (const Field at = argv ? argv : spec["env"]; at && bytes > kMaxCommandBytes)
    at.refuse(fmt::format("command and env have {} bytes together, at most {} are allowed", bytes,
                          kMaxCommandBytes),
              "put the data into a file", base::Code::TooLarge);
}

void read_checkpoint(const Field& field, model::Checkpoint& checkpoint) {
  static constexpr std::array<std::string_view, 8> kSignals{
      "SIGUSR1", "SIGUSR2", "SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGCONT", "SIGWINCH"};
  const Map map = field.map({"every", "signal", "grace"});
  if (const Field f = map["every"]) checkpoint.every = f.duration(Field::Zero::Refused);
  if (const Field f = map["signal"]) checkpoint.signal = kSignals.at(f.index_of(kSignals));
  if (const Field f = map["grace"]) checkpoint.grace = f.duration(Field::Zero::Allowed);
}

void read_retry(const Field& field, model::RetryPolicy& retry) {
  constexpr std::int32_t kMaxRetries = 1'000'000;
  const Map map = field.map({"max", "on"});
  if (const Field f = map["max"]) retry.max = f.small_integer(0, kMaxRetries);
  if (const Field f = map["on"]) {
    for (const Field& item : f.items(kMaxRetryRules)) {
      const Map rule_map = item.map({"class", "code", "action"});
      model::RetryRule rule;
      if (const Field c = rule_map.required("class", "name how the attempt ended, like node_lost"))
        rule.on = c.one_of<model::EndClass>();
      if (const Field c = rule_map["code"]) rule.code = c.small_integer(0, 255);
      if (const Field a = rule_map.required("action", "say what to do, like retry"))
        rule.action = a.one_of<model::RetryAction>();
      retry.rules.push_back(rule);
    }
  }
}

void read_times(const Map& spec, model::Workload& workload) {
  if (const Field f = spec["timeLimit"]) workload.time_limit = f.duration(Field::Zero::Refused);
  if (const Field f = spec["estimate"]) workload.estimate = f.duration(Field::Zero::Refused);
  if (const Field f = spec["deadline"]) workload.deadline = f.instant();
}

void read_metadata(const Field& field, WorkloadDocument& document) {
  const Map map = field.map({"name", "queue", "labels", "annotations"});
  model::Workload& workload = document.workload;
  if (const Field f = map["name"]) workload.name = f.name();
  if (const Field f = map["queue"]) {
    document.queue = f.text(kMaxListItems);
    check_queue_name(f, document.queue);
  }
  if (const Field f = map["labels"]) workload.labels = f.text_map(kMaxLabels, kMaxLabelBytes);
  if (const Field f = map["annotations"])
    workload.annotations = f.text_map(kMaxLabels, kMaxAnnotationBytes);
}

}  // namespace

WorkloadDocument read_workload(const Map& document, Kind kind) {
  WorkloadDocument found;
  model::Workload& workload = found.workload;
  workload.kind = kind;
  found.class_name = policy::default_class_of(kind);
  if (const Field f = document["metadata"]) read_metadata(f, found);
  const Field field = document.required("spec", "say what the workload needs");
  if (!field) return found;
  const Map spec = field.map(
      {"class",      "priorityBoost", "replicas", "shards",    "resources",  "groups",   "pools",
       "attributes", "tolerations",   "topology", "timeLimit", "estimate",   "deadline", "command",
       "args",       "env",           "workdir",  "image",     "checkpoint", "retry"});
  if (const Field f = spec["class"]) found.class_name = f.name();
  if (const Field f = spec["priorityBoost"]) workload.priority_boost = f.integer(-100, 100);
  const Field groups = spec["groups"];
  if (groups && kind == Kind::Notebook)
    groups.refuse("a notebook has one member", "remove groups, or use kind Workload");
  for (const std::string_view key : {"replicas", "shards", "resources"})
    if (const Field f = spec[key]; f && groups)
      f.refuse("stands beside groups, which have their own", "move it into a group");
  if (groups)
    read_groups(groups, kind, spec.fault(), found);
  else
    read_only_group(spec, kind, found);
  read_placement(spec, found);
  read_times(spec, workload);
  read_command(spec, workload.command);
  if (const Field f = spec["checkpoint"]) read_checkpoint(f, workload.checkpoint);
  if (const Field f = spec["retry"]) read_retry(f, workload.retry);
  return found;
}

}  // namespace manifest
