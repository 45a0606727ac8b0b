// Text as a trace file: every reader ends with a trace or an Error that names a place.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "simulator/csv_table.h"
#include "simulator/trace_reader.h"

namespace {

template <class T>
void has_a_message(const base::Result<T>& result) {
  ASSERT(result.has_value() || !result.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = simulator::CsvTable::parse(
      std::string(reinterpret_cast<const char*>(data), size), "trace.csv");
  has_a_message(table);
  if (!table) return 0;
  has_a_message(simulator::philly_trace(*table, 8));
  has_a_message(simulator::openb_trace(*table));
  has_a_message(simulator::own_trace(*table, "own"));
  has_a_message(simulator::openb_nodes(*table));
  return 0;
}
