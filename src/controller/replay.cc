#include "controller/replay.h"

#include <limits>
#include <optional>
#include <utility>

#include "lifecycle/apply.h"
#include "lifecycle/checkpoint.h"
#include "platform/log.h"

namespace controller {

namespace {

base::Result<model::State> from_checkpoint(Store& store) {
  auto stored = store.latest_checkpoint();
  if (!stored) return tl::unexpected(std::move(stored.error()));
  if (!stored->has_value()) return model::State{};
  auto state = lifecycle::decode_checkpoint((*stored)->bytes);
  if (!state) return state;
  if (state->last_sequence != (*stored)->sequence)
    return base::fail(base::Code::DataLoss, "the checkpoint of event {} contains event {}",
                      (*stored)->sequence.value, state->last_sequence.value);
  return state;
}

}  // namespace

base::Result<Replay> replay(Store& store, ReplayFrom from) {
  Replay result;
  model::State& state = result.state;
  if (from == ReplayFrom::Checkpoint) {
    auto begun = from_checkpoint(store);
    if (begun) {
      state = std::move(*begun);
    } else if (begun.error().code == base::Code::DataLoss) {
      LOG(Warning, "checkpoint_damaged", {"error", base::to_text(begun.error())},
          {"remedy", "replaying the whole journal"});
    } else {
      return tl::unexpected(std::move(begun.error()));
    }
  }
  std::optional<base::Error> fault;
  const auto done = store.read(
      state.last_sequence, std::numeric_limits<std::size_t>::max(),
      [&result, &state, &fault](const model::Event& event) {
        // What apply() takes for granted was written by somebody, so it is checked here.
        if (event.sequence.value != state.last_sequence.value + 1 || event.at < state.now) {
          fault =
              base::Error{.code = base::Code::DataLoss,
                          .message = fmt::format("event {} does not follow event {}",
                                                 event.sequence.value, state.last_sequence.value),
                          .field = {},
                          .hint = "restore the data directory from a backup"};
          return false;
        }
        lifecycle::apply(state, event);
        ++result.events;
        return true;
      });
  if (!done) return tl::unexpected(done.error());
  if (fault) return tl::unexpected(std::move(*fault));
  return result;
}

}  // namespace controller
