#pragma once
// A simulation's results for people and programs: report.json has every number, report.txt fits a
// terminal, report.html is one page that needs nothing else. `machine` and peak memory depend on
// the machine that ran it; everything else is the same for every run of the same input.

#include <filesystem>
#include <string>

#include "base/result.h"
#include "simulator/results.h"

namespace simulator {

std::string report_json(const Simulation& simulation);
std::string report_text(const Simulation& simulation);
std::string report_html(const Simulation& simulation);

// All three into the folder, which must exist.
base::Result<base::Done> write_reports(const Simulation& simulation,
                                       const std::filesystem::path& folder);

// "0 s", "12.3 s", "4.5 min", "3.2 h", "1.8 d".
std::string human_time(double millis);

}  // namespace simulator
