#include "daemon/doctor.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/result.h"
#include "controller/replay.h"
#include "invariants/state_check.h"
#include "lifecycle/checkpoint.h"
#include "store/sqlite/sqlite_store.h"

namespace berthd {

namespace {

void add(Diagnosis& diagnosis, bool is_sound, std::string text) {
  diagnosis.lines.push_back({.is_sound = is_sound, .text = std::move(text)});
}

void check_checkpoint(store::SqliteStore& store, Diagnosis& diagnosis) {
  const auto stored = store.latest_checkpoint();
  if (!stored) return add(diagnosis, false, "checkpoint: " + base::to_text(stored.error()));
  if (!stored->has_value()) return add(diagnosis, true, "checkpoint: none yet");
  const std::string name = fmt::format("checkpoint: of event {}", (*stored)->sequence.value);
  // A restart would replay the whole journal instead, so damage here costs time and no data.
  if (const auto decoded = lifecycle::decode_checkpoint((*stored)->bytes); !decoded)
    return add(diagnosis, false, name + ", " + base::to_text(decoded.error()));
  const auto short_way = controller::replay(store, controller::ReplayFrom::Checkpoint);
  if (!short_way) return add(diagnosis, false, name + ", " + base::to_text(short_way.error()));
  const auto long_way = controller::replay(store, controller::ReplayFrom::Beginning);
  if (!long_way) return;  // told about the journal already
  // A running daemon may append between the two readings.
  const bool is_same = short_way->state == long_way->state ||
                       short_way->state.last_sequence != long_way->state.last_sequence;
  add(diagnosis, is_same,
      name +
          (is_same ? ", agrees with the journal" : ", does not give what the whole journal gives"));
}

}  // namespace

bool Diagnosis::is_sound() const { return std::ranges::all_of(lines, &Line::is_sound); }

Diagnosis diagnose(const std::string& data_folder) {
  Diagnosis diagnosis;
  const std::string file = data_folder + "/journal.db";
  if (!std::filesystem::exists(file)) {
    add(diagnosis, false, "journal: there is no " + file + "; give the data folder with --data");
    return diagnosis;
  }
  auto store = store::SqliteStore::open({.file = file, .is_read_only = true});
  if (!store) {
    add(diagnosis, false, "journal: " + base::to_text(store.error()));
    return diagnosis;
  }
  const auto replayed = controller::replay(**store, controller::ReplayFrom::Beginning);
  if (!replayed) {
    add(diagnosis, false, "journal: " + base::to_text(replayed.error()));
  } else {
    const auto head = (*store)->chain_head();
    add(diagnosis, head.has_value(),
        fmt::format("journal: {} events, chain head {}", replayed->events,
                    head ? *head : base::to_text(head.error())));
  }
  check_checkpoint(**store, diagnosis);
  if (!replayed) return diagnosis;
  const auto violations = invariants::check(replayed->state);
  if (violations.empty()) add(diagnosis, true, "state: every invariant holds");
  for (const auto& violation : violations)
    add(diagnosis, false, "state: [" + violation.invariant + "] " + violation.text);
  return diagnosis;
}

std::string to_text(const Diagnosis& diagnosis) {
  std::string text;
  for (const Diagnosis::Line& line : diagnosis.lines)
    text += (line.is_sound ? "ok       " : "DAMAGED  ") + line.text + "\n";
  return text;
}

}  // namespace berthd
