#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "manifest/internal/read_kinds.h"
#include "policy/default_policy.h"

namespace manifest {

namespace {

constexpr std::int64_t kMaxPriority = 1'000'000;
constexpr std::size_t kMaxQuotaRows = 1000;
constexpr std::size_t kMaxNameBytes = 63;
constexpr std::size_t kMaxSelectorEntries = 64;
constexpr std::size_t kMaxLevels = 16;
constexpr std::size_t kMaxClasses = 64;
// How a value is written that is optional in the model and has a default in the document.
constexpr std::string_view kUnlimited = "unlimited";
constexpr std::string_view kByClass = "by_class";

struct KnownResource {
  model::ResourceId id;
  std::string_view name;
  AmountForm form;
};
// The names that model::resource_name gives the well-known ones.
constexpr std::array<KnownResource, 6> kKnownResources{
    {{model::kCpu, "cpu", AmountForm::Milli},
     {model::kMemory, "memory", AmountForm::Bytes},
     {model::kScratch, "scratch", AmountForm::Bytes},
     {model::kDevice, "gpu", AmountForm::Milli},
     {model::kDeviceMemory, "device_memory", AmountForm::Bytes},
     {model::kNetwork, "network", AmountForm::Count}}};

const KnownResource* known_resource(std::string_view name) {
  const auto at = std::find_if(kKnownResources.begin(), kKnownResources.end(),
                               [name](const KnownResource& known) { return known.name == name; });
  return at == kKnownResources.end() ? nullptr : &*at;
}

// metadata of everything but workloads: the name alone.
std::string read_only_name(const Map& document) {
  const Field metadata = document.required("metadata", "add metadata: {name: …}");
  if (!metadata) return {};
  const Field name = metadata.map({"name"}).required("name", "give it a name");
  return name ? name.text(kMaxListItems) : std::string();
}

std::string read_simple_name(const Map& document) {
  std::string name = read_only_name(document);
  if (name.empty()) return name;
  const Field field = document["metadata"].map({"name"})["name"];
  return field.name();
}

void add_row(QueueDocument& document, const Field& at, QuotaRow row) {
  const auto same = [&row](const QuotaRow& other) {
    return other.pool == row.pool && other.resource == row.resource;
  };
  if (std::any_of(document.quotas.begin(), document.quotas.end(), same))
    at.refuse(fmt::format("there are two rows for {}{}{}", row.resource,
                          row.pool.empty() ? "" : " in pool ", row.pool),
              "keep one of the two");
  document.quotas.push_back(std::move(row));
}

void read_rows(const Field& field, QueueDocument& document) {
  for (const Field& item : field.items(kMaxQuotaRows)) {
    const Map map = item.map({"pool", "resource", "guarantee", "lend", "max"});
    QuotaRow row{.pool = {}, .resource = "gpu", .guarantee = {}, .lend = {}, .max = {}};
    if (const Field f = map["pool"]) row.pool = f.name();
    if (const Field f = map["resource"]) row.resource = f.name();
    if (const Field f = map["guarantee"]) row.guarantee = read_amount(f, row.resource);
    if (const Field f = map["lend"]) row.lend = read_amount(f, row.resource);
    if (const Field f = map["max"]) row.max = read_amount(f, row.resource);
    if (!row.guarantee && !row.lend && !row.max)
      item.refuse("the row says nothing", "add guarantee, lend or max");
    add_row(document, item, std::move(row));
  }
}

// `guarantee: 8` is about gpu, `guarantee: {gpu: 8, cpu: 64}` about each; both about the only pool.
void read_short(const Map& spec, QueueDocument& document) {
  std::map<std::string, QuotaRow> rows;
  struct Column {
    std::string_view key;
    std::optional<std::int64_t> QuotaRow::* value;
  };
  static constexpr std::array<Column, 3> kColumns{
      {{"guarantee", &QuotaRow::guarantee}, {"lend", &QuotaRow::lend}, {"max", &QuotaRow::max}}};
  for (const Column& column : kColumns) {
    const Field field = spec[column.key];
    if (!field) continue;
    if (spec["quotas"])
      return field.refuse("stands beside quotas, which say the same at length",
                          "move it into a row of quotas");
    if (!field.is_map()) {
      rows["gpu"].*column.value = read_amount(field, "gpu");
      continue;
    }
    for (const auto& [resource, amount] : field.entries(kMaxQuotaRows)) {
      if (!base::check_name(resource, amount.path()))
        amount.refuse("not the name of a resource",
                      "write gpu, cpu, memory or a name like licence");
      rows[resource].*column.value = read_amount(amount, resource);
    }
  }
  for (auto& [resource, row] : rows) {
    row.resource = resource;
    document.quotas.push_back(std::move(row));
  }
}

}  // namespace

bool is_known_resource(std::string_view resource) { return known_resource(resource) != nullptr; }

std::string_view known_resource_name(model::ResourceId resource) {
  for (const KnownResource& known : kKnownResources)
    if (known.id == resource) return known.name;
  return {};
}

AmountForm amount_form_of(std::string_view resource) {
  const KnownResource* known = known_resource(resource);
  return known == nullptr ? AmountForm::Count : known->form;
}

std::int64_t read_amount(const Field& field, std::string_view resource) {
  switch (amount_form_of(resource)) {
    case AmountForm::Milli:
      return field.milli();
    case AmountForm::Bytes:
      return field.bytes();
    case AmountForm::Count:
      return field.count();
  }
  return 0;
}

void check_queue_name(const Field& field, std::string_view name) {
  constexpr std::size_t kMaxDepthOfQueues = 8;
  if (name.empty()) return;  // a fault already
  std::size_t depth = 0;
  for (std::string_view rest = name;; ++depth) {
    const std::size_t slash = rest.find('/');
    if (const auto checked = base::check_name(rest.substr(0, slash), field.path()); !checked)
      return field.refuse("a queue is named by a path like search/nlp: " + checked.error().message,
                          checked.error().hint);
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  if (depth >= kMaxDepthOfQueues)
    field.refuse(fmt::format("queues are at most {} deep", kMaxDepthOfQueues),
                 "hang it further up");
}

QueueDocument read_queue(const Map& document) {
  QueueDocument found;
  model::Queue& queue = found.queue;
  queue.name = read_only_name(document);
  if (!queue.name.empty()) check_queue_name(document["metadata"].map({"name"})["name"], queue.name);
  const Field field = document["spec"];
  if (!field) return found;
  const Map spec =
      field.map({"guarantee", "lend", "max", "quotas", "weight", "priority", "passing", "exclusive",
                 "sharesDevicesAcrossTenants", "quantum", "claimBackoff"});
  read_short(spec, found);
  if (const Field f = spec["quotas"]) read_rows(f, found);
  if (const Field f = spec["weight"]) queue.weight = f.integer(0, 1'000'000);
  if (const Field f = spec["priority"]) queue.priority = f.integer(-kMaxPriority, kMaxPriority);
  if (const Field f = spec["passing"]) queue.passing = f.one_of<model::Passing>();
  if (const Field f = spec["exclusive"]) queue.exclusive = f.one_of<model::Exclusive>();
  if (const Field f = spec["sharesDevicesAcrossTenants"])
    queue.shares_devices_across_tenants = f.boolean();
  if (const Field f = spec["quantum"]) queue.quantum = f.duration(Field::Zero::Refused);
  if (const Field f = spec["claimBackoff"]) queue.claim_backoff = f.duration(Field::Zero::Allowed);
  return found;
}

PoolDocument read_pool(const Map& document) {
  PoolDocument found;
  found.pool.name = read_simple_name(document);
  const Field field = document["spec"];
  if (!field) return found;
  const Map spec = field.map({"parent", "selector"});
  if (const Field f = spec["parent"]) {
    found.parent = f.name();
    if (found.parent == found.pool.name)
      f.refuse(fmt::format("pool {} would be its own parent", found.parent),
               "remove parent, or name another pool");
  }
  if (const Field f = spec["selector"])
    found.pool.selector = f.text_map(kMaxSelectorEntries, kMaxNameBytes * 4);
  return found;
}

ClassDocument read_class(const Map& document) {
  ClassDocument found;
  model::WorkloadClass& value = found.workload_class;
  const std::string name = read_simple_name(document);
  // A shipped class is changed by what the document says and keeps the rest.
  for (const model::WorkloadClass& shipped : policy::default_classes())
    if (shipped.name == name) value = shipped;
  value.id = model::ClassId{};
  value.name = name;
  const Field field = document["spec"];
  if (!field) return found;
  const Map spec =
      field.map({"priority", "reclaimable", "preemptible", "minRuntime", "grace", "maxRuntime",
                 "order", "strategy", "evictionsPerDay", "retries", "mayPreempt", "chargeFactor"});
  if (const Field f = spec["priority"]) value.priority = f.integer(-kMaxPriority, kMaxPriority);
  if (const Field f = spec["reclaimable"]) value.reclaimable = f.one_of<model::Reclaimable>();
  if (const Field f = spec["preemptible"]) value.preemptible = f.one_of<model::Preemptible>();
  if (const Field f = spec["minRuntime"]) value.min_runtime = f.duration(Field::Zero::Allowed);
  if (const Field f = spec["grace"]) value.grace = f.duration(Field::Zero::Allowed);
  if (const Field f = spec["maxRuntime"]) {
    value.max_runtime.reset();
    if (f.written() != kUnlimited) value.max_runtime = f.duration(Field::Zero::Refused);
  }
  if (const Field f = spec["order"]) value.order = f.one_of<model::Order>();
  if (const Field f = spec["strategy"]) value.strategy = f.one_of<model::Strategy>();
  if (const Field f = spec["evictionsPerDay"]) value.evictions_per_day = f.small_integer(0, 1000);
  if (const Field f = spec["retries"]) value.retries = f.small_integer(0, 1'000'000);
  if (const Field f = spec["mayPreempt"]) value.may_preempt = f.texts(kMaxClasses, kMaxNameBytes);
  if (const Field f = spec["chargeFactor"]) {
    value.charge_factor_milli = f.milli();
    if (value.charge_factor_milli > 1'000'000'000)
      f.refuse("a charge factor is at most 1000000", "write it like 1.5");
  }
  return found;
}

PolicyDocument read_policy(const Map& document) {
  PolicyDocument found;
  const std::string name = read_simple_name(document);
  model::PolicySet& policy = found.policy;
  // A shipped policy is meant by its name alone; what the document says changes it.
  policy = policy::policy_named(name).value_or(policy::default_policy());
  policy.name = name;
  const Field field = document["spec"];
  if (!field) return found;
  const Map spec =
      field.map({"sharing", "order", "usesClassPriority", "allowsReclaim", "allowsPreemption",
                 "claimLifetime", "ageCreditEvery", "ageCreditMax", "keepsFinished", "placement"});
  if (const Field f = spec["sharing"]) policy.sharing = f.one_of<model::Sharing>();
  if (const Field f = spec["order"]) {
    policy.order.reset();
    if (f.written() != kByClass) policy.order = f.one_of<model::Order>();
  }
  if (const Field f = spec["usesClassPriority"]) policy.uses_class_priority = f.boolean();
  if (const Field f = spec["allowsReclaim"]) policy.allows_reclaim = f.boolean();
  if (const Field f = spec["allowsPreemption"]) policy.allows_preemption = f.boolean();
  if (const Field f = spec["claimLifetime"])
    policy.claim_lifetime = f.duration(Field::Zero::Refused);
  if (const Field f = spec["ageCreditEvery"])
    policy.age_credit_every = f.duration(Field::Zero::Refused);
  if (const Field f = spec["ageCreditMax"]) policy.age_credit_max = f.integer(0, kMaxPriority);
  if (const Field f = spec["keepsFinished"])
    policy.keeps_finished = f.duration(Field::Zero::Allowed);
  if (const Field f = spec["placement"]) {
    policy.placement.reset();
    if (f.written() != kByClass) policy.placement = f.one_of<model::PlacementRule>();
  }
  return found;
}

TopologyDocument read_topology(const Map& document) {
  TopologyDocument found;
  found.topology.name = read_simple_name(document);
  const Field field = document.required("spec", "add spec: {levels: [hall, block, rack]}");
  if (!field) return found;
  const Field levels =
      field.map({"levels"}).required("levels", "name the levels, outermost first: [hall, rack]");
  if (!levels) return found;
  for (const Field& item : levels.items(kMaxLevels)) {
    found.topology.levels.push_back(item.name());
    const auto& all = found.topology.levels;
    if (std::count(all.begin(), all.end(), all.back()) > 1)
      item.refuse(fmt::format("level {} stands twice", all.back()), "keep one of the two");
  }
  if (found.topology.levels.empty())
    levels.refuse("there is no level", "name the levels, outermost first: [hall, rack]");
  return found;
}

}  // namespace manifest
