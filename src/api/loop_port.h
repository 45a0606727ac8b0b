#pragma once
// The way from the HTTP side to the loop, which alone owns the Controller: messages, never shared
// state. The daemon implements it over its mailbox; tests implement it over a Controller of their
// own.
//
// Thread contract: every method may be called from any thread; what is handed in runs on the loop's
// thread, one at a time, and must not block.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/amount.h"
#include "base/instant.h"
#include "base/result.h"
#include "controller/command.h"
#include "controller/controller.h"
#include "controller/store.h"
#include "devices/device_source.h"
#include "governance/ledger.h"
#include "model/event.h"
#include "model/node.h"

namespace api {

// What a node really does, whoever makes it do so; what is not measured stays empty.
struct NodeUse {
  std::optional<std::int32_t> cpu_percent;  // of all its processors, 0..100
  std::optional<base::Bytes> memory_used;
  bool operator==(const NodeUse&) const = default;
};

class LoopPort {
 public:
  using Reader = std::function<void(const controller::Controller&, base::Instant now)>;
  using Listener = std::function<void(const std::vector<model::Event>&)>;

  virtual ~LoopPort() = default;

  // The answer comes after the commit. False: the loop stops or its inbox is full, and `answer` is
  // not called.
  [[nodiscard]] virtual bool command(controller::Command command, controller::Answer answer) = 0;
  // Runs between two turns. False as above.
  [[nodiscard]] virtual bool read(Reader reader) = 0;
  // Called after every commit with what was committed, in order, for as long as the loop runs.
  // Called once, before the first request; events that were committed before are in the store.
  virtual void subscribe(Listener listener) = 0;
  // Only to read the journal; Store::read may be called from any thread.
  virtual controller::Store& store() = 0;
  // Who used what, beside the controller; asked only inside a reader. Null: it is not kept.
  virtual const governance::Ledger* ledger() const { return nullptr; }
  // The real use of a node, and of one of its devices, as it was measured last; asked only inside a
  // reader, and never waits for a device.
  virtual NodeUse node_use(const model::Node&) const { return {}; }
  virtual std::optional<devices::DeviceSample> device_use(const model::Node&,
                                                          std::int32_t /*device*/) const {
    return std::nullopt;
  }
  // An error while the loop has not recovered yet, cannot commit, or stops.
  virtual base::Result<base::Done> readiness() = 0;
};

}  // namespace api
