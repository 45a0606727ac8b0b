#include "testing/scenario_facts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"
#include "base/text.h"
#include "policy/checks.h"
#include "policy/default_policy.h"

namespace testkit {

using base::Code;
using base::Done;
using base::Result;

namespace {

// Reads the values of a phrase; the first fault stays, unknown keys are one.
class Reader {
 public:
  explicit Reader(const Phrase& phrase) : phrase_(phrase) {}

  bool has(std::string_view key) {
    used_.push_back(std::string(key));
    return phrase_.value(key) != nullptr;
  }
  std::string text(std::string_view key, std::string otherwise = {}) {
    return has(key) ? *phrase_.value(key) : otherwise;
  }
  template <class Parse, class T>
  T parsed(std::string_view key, Parse parse, T otherwise) {
    if (!has(key)) return otherwise;
    const auto value = parse(*phrase_.value(key));
    if (value) return *value;
    if (fault_.empty()) fault_ = std::string(key) + ": " + value.error().message;
    return otherwise;
  }
  std::int64_t integer(std::string_view key, std::int64_t otherwise) {
    return parsed(key, base::parse_integer, otherwise);
  }
  std::int64_t bytes(std::string_view key) {
    return parsed(key, base::parse_bytes, std::int64_t{0});
  }
  std::int64_t milli(std::string_view key, std::int64_t otherwise = 0) {
    return parsed(key, base::parse_milli, otherwise);
  }
  base::Duration duration(std::string_view key, base::Duration otherwise = {}) {
    return parsed(key, base::parse_duration, otherwise);
  }
  bool yes(std::string_view key, bool otherwise) {
    const std::string value = text(key, otherwise ? "yes" : "no");
    if (value != "yes" && value != "no" && fault_.empty())
      fault_ = std::string(key) + ": say yes or no";
    return value == "yes";
  }
  template <class E>
  E named(std::string_view key, E otherwise) {
    if (!has(key)) return otherwise;
    const auto value = base::enum_from<E>(*phrase_.value(key));
    if (value) return *value;
    if (fault_.empty()) fault_ = std::string(key) + ": unknown value " + *phrase_.value(key);
    return otherwise;
  }
  // "a,b" or "a|b"
  std::vector<std::string> list(std::string_view key) {
    std::vector<std::string> parts;
    std::string part;
    for (const char c : text(key) + ",") {
      if (c != ',' && c != '|')
        part.push_back(c);
      else if (!part.empty())
        parts.push_back(std::exchange(part, {}));
    }
    return parts;
  }
  // "key:value"
  static std::pair<std::string, std::string> pair_of(const std::string& text) {
    const auto colon = text.find(':');
    if (colon == std::string::npos) return {text, {}};
    return {text.substr(0, colon), text.substr(colon + 1)};
  }

  Result<Done> done() {
    for (const auto& [key, value] : phrase_.values)
      if (std::find(used_.begin(), used_.end(), key) == used_.end() && fault_.empty())
        fault_ = "unknown key " + key;
    if (fault_.empty()) return Done{};
    return base::fail(Code::InvalidArgument, "{} {}: {}", phrase_.word(0), phrase_.word(1), fault_);
  }

 private:
  const Phrase& phrase_;
  std::vector<std::string> used_;
  std::string fault_;
};

NodeBuilder node_of(const std::string& name, const std::string& pool, Reader& read) {
  NodeBuilder node = a_node(name);
  node.in_pool(pool);
  node.gpus(static_cast<int>(read.integer("gpus", 0)), read.text("model", "H800"),
            read.has("gpu_memory") ? read.bytes("gpu_memory") : 80 * kGi);
  if (read.has("cpus")) node.cpus(read.integer("cpus", 0));
  if (read.has("memory")) node.memory(read.bytes("memory"));
  if (read.has("scratch")) node.resource(model::kScratch, read.bytes("scratch"));
  if (!read.yes("shareable", true)) node.unshareable();
  if (read.has("slices")) node.sliced_in(static_cast<std::int32_t>(read.integer("slices", 4)));
  for (const std::string& taint : read.list("taint"))
    node.taint(Reader::pair_of(taint).first, Reader::pair_of(taint).second);
  for (const std::string& attribute : read.list("attr"))
    node.attribute(Reader::pair_of(attribute).first, Reader::pair_of(attribute).second);
  return node;
}

model::WorkloadClass class_of(const std::string& name, Reader& read) {
  model::WorkloadClass made = a_class(name);
  for (const model::WorkloadClass& shipped : policy::default_classes())
    if (shipped.name == name) made = shipped;
  made.id = {};
  made.priority = read.integer("priority", made.priority);
  made.reclaimable = read.named("reclaimable", made.reclaimable);
  made.preemptible = read.named("preemptible", made.preemptible);
  made.min_runtime = read.duration("min_runtime", made.min_runtime);
  made.order = read.named("order", made.order);
  made.strategy = read.named("strategy", made.strategy);
  if (read.has("max_runtime")) made.max_runtime = read.duration("max_runtime");
  made.evictions_per_day =
      static_cast<std::int32_t>(read.integer("evictions_per_day", made.evictions_per_day));
  made.retries = static_cast<std::int32_t>(read.integer("retries", made.retries));
  if (read.has("may_preempt")) made.may_preempt = read.list("may_preempt");
  return made;
}

model::PolicySet policy_of(const std::string& name, Reader& read) {
  model::PolicySet made = policy::policy_named(name).value_or(policy::default_policy());
  made.sharing = read.named("sharing", made.sharing);
  if (read.has("order")) made.order = read.named("order", model::Order::Fifo);
  made.uses_class_priority = read.yes("class_priority", made.uses_class_priority);
  made.allows_reclaim = read.yes("reclaim", made.allows_reclaim);
  made.allows_preemption = read.yes("preemption", made.allows_preemption);
  made.claim_lifetime = read.duration("claim_lifetime", made.claim_lifetime);
  if (read.has("placement"))
    made.placement = read.named("placement", model::PlacementRule::BestFit);
  return made;
}

// The pool that a row means when it names none: the first that was defined and has no children.
std::string first_leaf(const World& world) {
  std::string name;
  world.state().pools.each([&](model::PoolId, const model::PoolRecord& pool) {
    if (name.empty() && pool.children.empty()) name = pool.pool.name;
  });
  return name;
}

QueueBuilder queue_of(const World& world, const std::string& name, Reader& read) {
  QueueBuilder queue = a_queue(name);
  const std::string pool = read.text("pool", first_leaf(world));
  QuotaSpec row{.pool = pool};
  if (read.has("guarantee")) row.guarantee = read.milli("guarantee");
  if (read.has("lend")) row.lend = read.milli("lend");
  if (read.has("max")) row.max = read.milli("max");
  if (row.guarantee || row.lend || row.max) queue.quota(row);
  if (read.has("cpu_max"))
    queue.quota({.pool = pool,
                 .resource = model::kCpu,
                 .guarantee = {},
                 .lend = {},
                 .max = read.milli("cpu_max")});
  queue.weight(read.integer("weight", 1)).priority(read.integer("priority", 0));
  if (read.yes("strict", false)) queue.strict();
  queue.exclusive(read.named("exclusive", model::Exclusive::Nothing));
  if (read.yes("shares_devices", false)) queue.shares_devices();
  if (read.has("claim_backoff")) queue.claim_backoff(read.duration("claim_backoff"));
  return queue;
}

Result<Done> establish_pool(World& world, const Phrase& fact, std::vector<NodeBuilder>& nodes) {
  Reader read(fact);
  const std::string name = fact.word(1);
  world.define(a_pool(name, read.text("parent")));
  for (std::int64_t i = 1; i <= read.integer("nodes", 0); ++i)
    nodes.push_back(node_of(name + "-" + std::to_string(i), name, read));
  return read.done();
}

Result<Done> define_queue(World& world, const Phrase& fact) {
  Reader read(fact);
  world.define(queue_of(world, fact.word(1), read));
  const Result<Done> is_read = read.done();
  if (!is_read) return is_read;
  // What was just defined must be what the edge would have let in.
  const auto id = world.state().queue_by_name.at(fact.word(1));
  return policy::check_queue(world.state(), world.state().queues.at(id).queue);
}

}  // namespace

Result<WorldOptions> world_options_of(const std::vector<ScenarioLine>& lines) {
  WorldOptions options;
  for (const ScenarioLine& line : lines) {
    if (line.kind != ScenarioLine::Kind::Fact) continue;
    for (const Phrase& fact : line.phrases) {
      if (fact.word(0) != "world") continue;
      Reader read(fact);
      options.start_delay = read.duration("start_delay");
      options.stop_delay = read.duration("stop_delay");
      if (const auto done = read.done(); !done) return tl::unexpected(done.error());
    }
  }
  return options;
}

Result<Done> establish(World& world, const std::vector<Phrase>& facts,
                       std::optional<std::uint64_t> shuffle) {
  std::vector<NodeBuilder> nodes;
  std::vector<model::WorkloadClass> classes;
  for (const model::WorkloadClass& shipped : policy::default_classes())
    classes.push_back(shipped);
  for (const Phrase& fact : facts) {
    const std::string kind = fact.word(0);
    if (fact.word(1).empty() && kind != "policy" && kind != "world")
      return base::fail(Code::InvalidArgument, "{} needs a name", kind);
    Result<Done> done = Done{};
    Reader read(fact);
    if (kind == "pool") {
      done = establish_pool(world, fact, nodes);
    } else if (kind == "node") {
      nodes.push_back(node_of(fact.word(1), read.text("pool", first_leaf(world)), read));
      done = read.done();
    } else if (kind == "class") {
      model::WorkloadClass made = class_of(fact.word(1), read);
      const auto known = std::find_if(classes.begin(), classes.end(),
                                      [&](const auto& c) { return c.name == made.name; });
      made.id = known == classes.end()
                    ? model::ClassId(static_cast<std::uint32_t>(classes.size() + 1))
                    : known->id;
      if (known == classes.end())
        classes.push_back(made);
      else
        *known = made;
      done = read.done();
    }
    if (!done) return done;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    nodes[i].numbered(model::NodeId(static_cast<std::uint32_t>(i + 1)));
  if (shuffle) {
    base::Random random{base::Seed{*shuffle}};
    const auto mix = [&random](auto& list) {
      for (std::size_t i = list.size(); i > 1; --i)
        std::swap(list[i - 1], list[random.below(i)]);
    };
    mix(nodes);
    mix(classes);
  }
  for (const NodeBuilder& node : nodes)
    world.see(node);
  for (const model::WorkloadClass& made : classes)
    world.define(made);
  for (const Phrase& fact : facts) {
    if (fact.word(0) == "queue") {
      if (const auto done = define_queue(world, fact); !done) return done;
    } else if (fact.word(0) == "policy") {
      Reader read(fact);
      world.define(policy_of(fact.word(1), read));
      if (const auto done = read.done(); !done) return done;
    }
  }
  return Done{};
}

Result<WorkloadBuilder> workload_of(const std::string& name, const Phrase& phrase) {
  Reader read(phrase);
  WorkloadBuilder workload = a_workload(name);
  workload.in_queue(read.text("queue", "default")).of_class(read.text("class", "training"));
  const std::int64_t members = read.integer("members", 1);
  workload.elastic(static_cast<std::int32_t>(read.integer("min", members)),
                   static_cast<std::int32_t>(members));
  if (read.has("gpus")) workload.gpus(read.integer("gpus", 0));
  if (read.has("share"))
    workload.share(read.milli("share"), read.bytes("gpu_memory"));
  else if (read.has("gpu_memory"))
    workload.device_memory(read.bytes("gpu_memory"));
  if (read.has("slice")) workload.slice(read.text("slice"));
  if (read.has("model")) workload.of_models(read.list("model"));
  if (read.has("cpus")) workload.resource(model::kCpu, read.milli("cpus"));
  if (read.has("memory")) workload.memory(read.bytes("memory"));
  if (read.has("scratch")) workload.resource(model::kScratch, read.bytes("scratch"));
  if (read.has("pools")) workload.in_pools(read.list("pools"));
  for (const std::string& attribute : read.list("attr"))
    workload.on_attribute(Reader::pair_of(attribute).first, Reader::pair_of(attribute).second);
  for (const std::string& taint : read.list("tolerate"))
    workload.tolerates(Reader::pair_of(taint).first, Reader::pair_of(taint).second);
  if (read.has("limit")) workload.time_limit(read.duration("limit"));
  if (read.has("estimate")) workload.estimate(read.duration("estimate"));
  if (read.has("deadline")) workload.deadline(kStart + read.duration("deadline"));
  workload.boost(read.integer("boost", 0));
  if (read.has("retries"))
    workload.retry({.max = static_cast<std::int32_t>(read.integer("retries", 0)), .rules = {}});
  if (read.has("on")) {  // on=user_error:retry,oom:hold
    model::RetryPolicy retry = workload.spec().workload.retry;
    for (const std::string& rule : read.list("on")) {
      const auto [end, action] = Reader::pair_of(rule);
      retry.rules.push_back(
          {.on = base::enum_from<model::EndClass>(end).value_or(model::EndClass::UserError),
           .code = {},
           .action =
               base::enum_from<model::RetryAction>(action).value_or(model::RetryAction::Fail)});
    }
    workload.retry(retry);
  }
  read.has("runs");
  if (const auto done = read.done(); !done) return tl::unexpected(done.error());
  return workload;
}

namespace {

Result<model::WorkloadId> known_workload(const World& world, const std::string& name) {
  const model::WorkloadId id = world.workload_named(name);
  if (id.is_none()) return base::fail(Code::NotFound, "no workload is called '{}'", name);
  return id;
}

Result<Done> submit(World& world, const Phrase& action) {
  const auto workload = workload_of(action.word(1), action);
  if (!workload) return tl::unexpected(workload.error());
  const WorkloadSpec& spec = workload->spec();
  if (!world.state().queue_by_name.contains(spec.queue))
    return base::fail(Code::NotFound, "no queue is called '{}'", spec.queue);
  if (!world.state().class_by_name.contains(spec.class_name))
    return base::fail(Code::NotFound, "no class is called '{}'", spec.class_name);
  const model::WorkloadId id = world.submit(*workload);
  Reader read(action);
  if (read.has("runs")) world.runs_for(id, read.duration("runs"));
  return Done{};
}

Result<Done> act_on_workload(World& world, const Phrase& action) {
  const auto id = known_workload(world, action.word(1));
  if (!id) return tl::unexpected(id.error());
  const std::string verb = action.word(0);
  Reader read(action);
  if (verb == "cancel")
    world.cancel(*id);
  else if (verb == "hold")
    world.hold(*id);
  else if (verb == "release")
    world.release(*id);
  else
    world.end(
        *id,
        read.named("class", read.has("code") ? model::EndClass::UserError : model::EndClass::Ok),
        static_cast<std::int32_t>(read.integer("code", 0)));
  return read.done();
}

Result<Done> act_on_node(World& world, const Phrase& action) {
  const std::string text = action.word(1);
  const std::string name = text.substr(0, text.find(':'));
  const auto found = world.state().node_by_name.find(name);
  if (found == world.state().node_by_name.end())
    return base::fail(Code::NotFound, "no node is called '{}'", name);
  if (action.word(0) == "node") {
    const auto condition = base::enum_from<model::NodeCondition>(action.word(2));
    if (!condition)
      return base::fail(Code::InvalidArgument, "'{}' is no condition", action.word(2));
    world.set_condition(found->second, *condition);
    return Done{};
  }
  const auto health = base::enum_from<model::Health>(action.word(2));
  const auto index = base::parse_integer(text.substr(std::min(text.find(':') + 1, text.size())));
  if (!health || !index)
    return base::fail(Code::InvalidArgument, "say device NODE:INDEX HEALTH, not '{} {}'", text,
                      action.word(2));
  world.set_health(found->second, static_cast<std::int32_t>(*index), *health);
  return Done{};
}

}  // namespace

Result<Done> act(World& world, const Phrase& action) {
  const std::string verb = action.word(0);
  if (verb == "submit") return submit(world, action);
  if (verb == "cancel" || verb == "hold" || verb == "release" || verb == "end")
    return act_on_workload(world, action);
  if (verb == "device" || (verb == "node" && action.words.size() == 3))
    return act_on_node(world, action);
  Reader read(action);
  if (verb == "queue") return define_queue(world, action);
  if (verb == "class")
    world.define(class_of(action.word(1), read));
  else if (verb == "policy")
    world.define(policy_of(action.word(1), read));
  else if (verb == "node")
    world.see(node_of(action.word(1), read.text("pool", first_leaf(world)), read));
  else
    return base::fail(Code::InvalidArgument, "'{}' is no action", verb);
  return read.done();
}

}  // namespace testkit
