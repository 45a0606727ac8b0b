#pragma once
// A small made-up trace with something of everything: three queues, four classes, gangs, shares,
// CPU-only work and a busy middle. Made from a seed with integer arithmetic only, so the same on
// every machine; traces/small.csv is synthetic_trace({.jobs = 300, .seed = Seed{1}}).

#include <cstdint>

#include "base/random.h"
#include "simulator/trace.h"

namespace simulator {

struct SyntheticOptions {
  std::int32_t jobs = 300;
  base::Seed seed{1};
};

Trace synthetic_trace(SyntheticOptions options);

}  // namespace simulator
