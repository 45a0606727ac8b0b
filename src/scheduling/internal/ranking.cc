#include "scheduling/internal/ranking.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/random.h"
#include "policy/eligibility.h"
#include "scheduling/internal/free_node.h"

namespace scheduling::internal {

using model::DeviceRequest;
using model::NodeId;
using model::PoolId;
using model::State;
using model::TaskGroup;

namespace {

constexpr std::int16_t kUnfit = -1;
constexpr std::size_t kBlock = 256;  // nodes; of 64,000 there are as many blocks as nodes in one

// The scores of some nodes in a row, with the best of them: many are equal as a rule, so that only
// when the last of the best has gone the block is looked through.
struct Block {
  std::array<std::int16_t, kBlock> scores;
  std::int16_t top = kUnfit;
  std::int16_t at_top = kBlock;  // how many have it

  Block() { scores.fill(kUnfit); }
  std::uint64_t fitting() const {
    std::int16_t count = 0;
    for (const std::int16_t score : scores)
      count = static_cast<std::int16_t>(count + (score == kUnfit ? 0 : 1));
    return static_cast<std::uint64_t>(count);
  }
  void set(std::size_t index, std::int16_t score) {
    const std::int16_t before = std::exchange(scores[index], score);
    if (before == score) return;
    if (before == top) --at_top;
    if (score > top) {
      top = score;
      at_top = 0;
    }
    if (score == top)
      ++at_top;
    else if (at_top == 0)
      look_through();
  }

 private:
  void look_through() {
    top = scores[0];
    for (std::size_t i = 1; i < kBlock; ++i)
      top = std::max(top, scores[i]);
    at_top = 0;
    for (const std::int16_t score : scores)
      at_top = static_cast<std::int16_t>(at_top + (score == top ? 1 : 0));
  }
};

// Whether members of a kind fit on nodes of a shape.
enum class ShapeFit : std::uint8_t {
  Unknown,
  Never,
  ByNumbers,  // cpu, memory and milli of devices tell
  Look        // only a look at the node tells
};

const TaskGroup& group_of(const Request& request, std::int32_t group) {
  return request.workload->groups[static_cast<std::size_t>(group)];
}

// The numbers of a node say all about such members.
bool is_told_by_numbers(const TaskGroup& tasks) {
  for (const auto& a : tasks.per_member.amounts())
    if (a.resource != model::kCpu && a.resource != model::kMemory) return false;
  if (tasks.device_options.size() > 1) return false;
  if (tasks.device_options.empty()) return true;
  const DeviceRequest& option = tasks.device_options.front();
  return option.memory.value == 0 && option.memory_percent == 0 && option.slice.empty();
}

ScoredAsk ask_of(const TaskGroup& tasks) {
  ScoredAsk ask{.cpu = tasks.per_member.of(model::kCpu)};
  if (tasks.device_options.empty() || tasks.device_options.front().is_none()) return ask;
  const DeviceRequest& option = tasks.device_options.front();
  ask.devices = option.is_whole() ? static_cast<std::int32_t>(option.count.value) : 1;
  ask.milli = option.is_whole() ? 1000 : static_cast<std::int32_t>(option.share.value);
  return ask;
}

ShapeFit shape_fit(const model::Node& node, const model::Workload& workload, const TaskGroup& tasks,
                   bool is_told_by_numbers) {
  if (policy::never_fits(node, tasks, workload.constraints) != model::Reason::None)
    return ShapeFit::Never;
  if (!is_told_by_numbers) return ShapeFit::Look;
  if (tasks.device_options.empty() || tasks.device_options.front().is_none())
    return ShapeFit::ByNumbers;
  const DeviceRequest& option = tasks.device_options.front();
  const bool is_any_device = std::ranges::all_of(node.devices, [&](const model::Device& device) {
    return option.is_whole() ? policy::accepts_model(option, device)
                             : policy::part_of(option, device).has_value();
  });
  return is_any_device ? ShapeFit::ByNumbers : ShapeFit::Look;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return base::Random(base::Seed{hash ^ value}).next();
}

}  // namespace

struct Ranking::Row {
  // What makes members alike.
  model::Quantities per_member;
  std::vector<DeviceRequest> options;
  std::optional<std::size_t> only_option;
  std::map<std::string, std::string> attributes;
  std::vector<model::Toleration> tolerations;

  ScoredAsk ask;
  std::int64_t memory = 0;
  bool is_told_by_numbers = false;
  std::vector<ShapeFit> fits;  // by shape
  std::vector<Block> blocks;   // by slot; kUnfit: does not fit
  std::uint64_t read_to = 0;   // of the log
  std::uint64_t last_read = 0;

  bool is_for(const Request& request, const TaskGroup& tasks) const {
    const model::Constraints& constraints = request.workload->constraints;
    return per_member == tasks.per_member && options == tasks.device_options &&
           only_option == request.only_option && attributes == constraints.attributes &&
           tolerations == constraints.tolerations;
  }
  std::int16_t at(SlotIndex slot) const { return blocks[slot / kBlock].scores[slot % kBlock]; }
  void set(SlotIndex slot, std::int16_t score) { blocks[slot / kBlock].set(slot % kBlock, score); }
};

Ranking::Ranking(const State& state, const ClusterView& view, PoolId pool,
                 model::PlacementRule rule)
    : state_(state), view_(view), rule_(rule) {
  enter_nodes(pool);
}

Ranking::~Ranking() = default;

void Ranking::enter_nodes(PoolId pool) {
  const model::PoolRecord& record = state_.pools.at(pool);
  nodes_ = record.nodes;
  if (nodes_.empty()) return;
  ScoreScale scale;
  slots_.resize(nodes_.back().value - nodes_.front().value + 1);
  table_.resize(nodes_.size());
  seen_.resize(nodes_.size());
  for (SlotIndex i = 0; i < nodes_.size(); ++i)
    slots_[nodes_[i].value - nodes_.front().value] = i;
  for (const auto& [shape, nodes] : record.shapes) {
    for (const NodeId id : nodes)
      table_[slot_of(id)].shape = static_cast<std::int16_t>(shapes_.size());
    const model::Node& node = state_.nodes.at(nodes.front()).node;
    scale.cpu = std::max(scale.cpu, node.allocatable.of(model::kCpu));
    scale.milli = std::max(scale.milli, 1000 * static_cast<std::int64_t>(node.devices.size()));
    for (const model::Device& device : node.devices)
      scale.models.push_back(device.model);
    shapes_.push_back(nodes.front());
  }
  std::ranges::sort(scale.models);
  const auto repeated = std::ranges::unique(scale.models);
  scale.models.erase(repeated.begin(), repeated.end());
  scores_ = make_score_rule(rule_, state_.mix, scale);
  for (SlotIndex i = 0; i < nodes_.size(); ++i) {
    const model::Node& node = state_.nodes.at(nodes_[i]).node;
    Slot& slot = table_[i];
    slot.first_device = static_cast<std::uint32_t>(devices_.size());
    slot.device_count = static_cast<std::uint16_t>(node.devices.size());
    devices_.resize(devices_.size() + node.devices.size());
    const auto is_same = [&](const model::Device& d) {
      return d.model == node.devices.front().model;
    };
    if (!node.devices.empty() && std::ranges::all_of(node.devices, is_same))
      slot.model = static_cast<std::int16_t>(
          std::ranges::lower_bound(scale.models, node.devices.front().model) -
          scale.models.begin());
    note(view_.node(nodes_[i]));
  }
  log_.clear();
}

void Ranking::note(const FreeNode& node) {
  const SlotIndex index = slot_of(node.node->id);
  Slot& slot = table_[index];
  slot.cpu = node.free.of(model::kCpu);
  slot.memory = node.free.of(model::kMemory);
  slot.milli = 0;
  slot.whole = 0;
  slot.most = 0;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const FreeDevice& device = node.devices[i];
    std::int16_t milli = 0;
    if (device.is_whole())
      milli = 1000;
    else if (device.is_usable && !device.is_sliced())
      milli = static_cast<std::int16_t>(std::min(device.milli, 999));
    devices_[slot.first_device + i] = milli;
    slot.milli += milli;
    slot.whole = static_cast<std::int16_t>(slot.whole + (milli == 1000 ? 1 : 0));
    slot.most = std::max(slot.most, milli);
  }
  slot.sizes = 0;
  for (std::size_t k = 0; k < node.sizes.size(); ++k)
    if (node.sizes[k] > 0) slot.sizes = static_cast<std::uint16_t>(slot.sizes | (1U << k));
  slot.is_ready = node.is_ready;
  slot.knows_worth = false;
  log_.push_back(index);
  // Twice the nodes: a row that is further behind is filled anew at the cost of one look a node.
  const std::size_t most = std::max<std::size_t>(1024, 2 * nodes_.size());
  if (log_.size() <= 2 * most) return;
  log_.erase(log_.begin(), log_.end() - static_cast<std::ptrdiff_t>(most));
  log_begin_ += most + 1;
}

ScoredNode Ranking::scored(const Slot& slot) const {
  return {.cpu = slot.cpu,
          .milli = slot.milli,
          .model = slot.model,
          .sizes = slot.sizes,
          .devices = std::span(devices_).subspan(slot.first_device, slot.device_count)};
}

// ---- rows ----

Ranking::Row& Ranking::row(const Request& request, std::int32_t group) {
  const TaskGroup& tasks = group_of(request, group);
  std::uint64_t hash = request.only_option.value_or(tasks.device_options.size());
  for (const auto& a : tasks.per_member.amounts())
    hash = mixed(hash, static_cast<std::uint64_t>(a.amount));
  for (const DeviceRequest& option : tasks.device_options) {
    hash = mixed(hash, static_cast<std::uint64_t>(option.count.value * 1001 + option.share.value));
    hash = mixed(hash, option.models.size());
    for (const std::string& model : option.models)
      hash = mixed(hash, std::hash<std::string>{}(model));
  }
  Row* found = nullptr;
  for (const std::unique_ptr<Row>& each : rows_[hash])
    if (each->is_for(request, tasks)) found = each.get();
  if (found == nullptr) found = &make_row(hash, request, group);
  found->last_read = ++reads_;
  catch_up(*found, request, group);
  return *found;
}

Ranking::Row& Ranking::make_row(std::uint64_t hash, const Request& request, std::int32_t group) {
  const std::size_t bytes = nodes_.size() * sizeof(std::int16_t) + sizeof(Row);
  if (row_count_ > 8 && row_count_ * bytes > kMostBytes) drop_oldest_row();
  const TaskGroup& tasks = group_of(request, group);
  const model::Constraints& constraints = request.workload->constraints;
  auto row = std::make_unique<Row>();
  row->per_member = tasks.per_member;
  row->options = tasks.device_options;
  row->only_option = request.only_option;
  row->attributes = constraints.attributes;
  row->tolerations = constraints.tolerations;
  row->ask = ask_of(tasks);
  row->memory = tasks.per_member.of(model::kMemory);
  row->is_told_by_numbers = is_told_by_numbers(tasks);
  row->fits.resize(shapes_.size(), ShapeFit::Unknown);
  ++row_count_;
  rows_[hash].push_back(std::move(row));
  return *rows_[hash].back();
}

void Ranking::drop_oldest_row() {
  auto oldest = rows_.end();
  std::size_t index = 0;
  for (auto it = rows_.begin(); it != rows_.end(); ++it)
    for (std::size_t i = 0; i < it->second.size(); ++i)
      if (oldest == rows_.end() || it->second[i]->last_read < oldest->second[index]->last_read) {
        oldest = it;
        index = i;
      }
  oldest->second.erase(oldest->second.begin() + static_cast<std::ptrdiff_t>(index));
  if (oldest->second.empty()) rows_.erase(oldest);
  --row_count_;
}

void Ranking::catch_up(Row& row, const Request& request, std::int32_t group) {
  const std::uint64_t end = log_begin_ + log_.size();
  if (row.blocks.empty() || row.read_to < log_begin_) {
    row.blocks.assign((nodes_.size() + kBlock - 1) / kBlock, {});
    for (SlotIndex slot = 0; slot < nodes_.size(); ++slot)
      row.set(slot, score_at(row, slot, request, group).score);
  } else {
    ++pass_;
    for (std::uint64_t i = row.read_to; i < end; ++i) {
      const SlotIndex slot = log_[i - log_begin_];
      if (std::exchange(seen_[slot], pass_) == pass_) continue;
      row.set(slot, score_at(row, slot, request, group).score);
    }
  }
  row.read_to = end;
}

Score Ranking::score_at(Row& row, SlotIndex index, const Request& request, std::int32_t group) {
  constexpr Score kNo{.score = kUnfit};
  Slot& slot = table_[index];
  if (!slot.is_ready || row.ask.cpu > slot.cpu || row.memory > slot.memory) return kNo;
  ShapeFit& fit = row.fits[static_cast<std::size_t>(slot.shape)];
  if (fit == ShapeFit::Unknown)
    fit = shape_fit(state_.nodes.at(shapes_[static_cast<std::size_t>(slot.shape)]).node,
                    *request.workload, group_of(request, group), row.is_told_by_numbers);
  if (fit == ShapeFit::Never) return kNo;
  if (fit == ShapeFit::Look) return score_of_placed(row, index, request, group);
  const bool is_whole = row.ask.milli == 1000;
  if (is_whole ? row.ask.devices > slot.whole : row.ask.milli > slot.most) return kNo;
  const ScoredNode node = scored(slot);
  if (!std::exchange(slot.knows_worth, true)) slot.worth = scores_->worth(node);
  return scores_->score(node, slot.worth, row.ask);
}

// Members whose devices the numbers do not tell are scored by what they would be given there.
Score Ranking::score_of_placed(const Row& row, SlotIndex index, const Request& request,
                               std::int32_t group) {
  Slot& slot = table_[index];
  const auto member =
      place_member(state_, view_.node(nodes_[index]), request, group, Barriers::WithoutTenants);
  if (!member) return {.score = kUnfit};
  ScoredAsk ask{.cpu = row.ask.cpu, .devices = static_cast<std::int32_t>(member->devices.size())};
  if (ask.devices > 0) {
    const model::DeviceAssignment& first = member->devices.front();
    const auto milli = static_cast<std::int32_t>(first.milli.value);
    const auto device = slot.first_device + static_cast<std::size_t>(first.device);
    // A partitioned device counts as of no use, so a further slice of it takes nothing.
    ask.milli = devices_[device] < milli ? 0 : milli;
  }
  const ScoredNode node = scored(slot);
  if (!std::exchange(slot.knows_worth, true)) slot.worth = scores_->worth(node);
  return {.score = scores_->score(node, slot.worth, ask).score};
}

// ---- questions ----

Ranking::Candidate Ranking::candidate(Row& row, SlotIndex slot, const Request& request,
                                      std::int32_t group) {
  return {.node = nodes_[slot], .device = score_at(row, slot, request, group).device};
}

std::optional<Ranking::Candidate> Ranking::best(const Request& request, std::int32_t group) {
  if (nodes_.empty()) return std::nullopt;
  Row& row = this->row(request, group);
  const auto best = std::ranges::max_element(row.blocks, {}, &Block::top);
  if (best->top == kUnfit) return std::nullopt;
  const auto block = static_cast<std::size_t>(best - row.blocks.begin());
  const auto at = std::ranges::find(best->scores, best->top) - best->scores.begin();
  return candidate(row, static_cast<SlotIndex>(block * kBlock) + static_cast<SlotIndex>(at),
                   request, group);
}

std::optional<Ranking::Candidate> Ranking::by_lot(const Request& request, std::int32_t group,
                                                  std::uint64_t lot) {
  if (nodes_.empty()) return std::nullopt;
  Row& row = this->row(request, group);
  std::uint64_t fitting = 0;
  for (const Block& block : row.blocks)
    fitting += block.fitting();
  if (fitting == 0) return std::nullopt;
  base::Random random{base::Seed{lot}};
  std::uint64_t left = random.below(fitting);  // that fit before the one
  SlotIndex slot = 0;
  while (row.blocks[slot / kBlock].fitting() <= left) {
    left -= row.blocks[slot / kBlock].fitting();
    slot += kBlock;
  }
  while (row.at(slot) == kUnfit || left-- > 0)
    ++slot;
  const ScoredNode node = scored(table_[slot]);
  std::vector<std::int32_t> devices;
  for (std::size_t i = 0; i < node.devices.size(); ++i)
    if (node.devices[i] >= row.ask.milli) devices.push_back(static_cast<std::int32_t>(i));
  return Candidate{.node = nodes_[slot],
                   .device = devices.empty() ? -1 : devices[random.below(devices.size())]};
}

std::vector<Ranking::Candidate> Ranking::sorted(Row& row, std::vector<SlotIndex> slots,
                                                const Request& request, std::int32_t group) {
  std::erase_if(slots, [&](SlotIndex slot) { return row.at(slot) == kUnfit; });
  std::ranges::stable_sort(slots, std::greater<>{}, [&](SlotIndex slot) { return row.at(slot); });
  std::vector<Candidate> candidates;
  for (const SlotIndex slot : slots)
    candidates.push_back(candidate(row, slot, request, group));
  return candidates;
}

std::vector<Ranking::Candidate> Ranking::in_order(const Request& request, std::int32_t group) {
  return in_order(request, group, nodes_);
}

std::vector<Ranking::Candidate> Ranking::in_order(const Request& request, std::int32_t group,
                                                  std::span<const NodeId> among) {
  if (nodes_.empty()) return {};
  std::vector<SlotIndex> slots;
  for (const NodeId id : among)
    slots.push_back(slot_of(id));
  std::ranges::sort(slots);
  return sorted(row(request, group), std::move(slots), request, group);
}

}  // namespace scheduling::internal
