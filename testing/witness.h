#pragma once
// Stands beside a World and notes everything that must never happen: invariants of the State after
// each event, of the journal with each event, an incremental planner that plans otherwise than a
// fresh one, untrue explanations, a journal or checkpoint that does not give the State again.
//
//   Witness witness(world);
//   … world.submit(…); world.settle(); witness.look_at_rest(); …
//   EXPECT_EQ(witness.faults(), "");

#include <string>

#include "invariants/journal_check.h"
#include "testing/world.h"

namespace testkit {

struct WitnessOptions {
  bool checks_state = true;
  bool checks_journal = true;
  bool checks_fresh_planner = true;
  bool checks_charged_steps = true;  // that the fresh planner is charged the same, too
  bool checks_explanations = true;
};

class Witness {
 public:
  // `world` outlives the witness; its hooks are taken.
  explicit Witness(World& world, WitnessOptions options = {});

  // After settle(): the explanations of all waiting workloads are true, and nothing that could
  // start is left waiting.
  void look_at_rest();
  // The journal, encoded, decoded and applied again, and the checkpoint, give the same State.
  void look_at_records();
  // One line each; empty when all is well. Notes at most a screenful.
  const std::string& faults() const { return faults_; }

 private:
  void note(std::string text);
  void compare_with_fresh(const model::Plan& plan);

  World& world_;
  WitnessOptions options_;
  invariants::JournalCheck journal_;
  std::size_t journal_faults_ = 0;
  int count_ = 0;
  std::string faults_;
};

}  // namespace testkit
