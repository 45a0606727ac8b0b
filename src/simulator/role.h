#pragma once
// `berth simulate`: replays a trace under one or several policies and writes a comparison.
//
//   berth simulate --trace philly --file philly.csv --nodes 75x8 --out report
//   berth simulate --trace openb --file openb_pod_list_default.csv --load 0.9 --out report
//   berth simulate --trace traces/small.csv --nodes 6x8 --policy fifo --policy default --out report
//
// Exit codes: 0 done, 1 refused or failed, 2 usage.

#include <span>
#include <string>

namespace simulator {

// `words` are the arguments behind "simulate". Writes to standard output and standard error.
int main(std::span<const std::string> words);

}  // namespace simulator
