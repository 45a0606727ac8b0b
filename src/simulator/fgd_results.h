#pragma once
// What the fragmentation experiment gave, for people and programs.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "simulator/csv_table.h"
#include "simulator/fgd_experiment.h"

namespace simulator {

struct FgdCell {  // one workload under one policy
  std::string workload;
  std::string policy;
  std::vector<std::uint64_t> seeds;
  std::vector<FgdRun> runs;  // by seed
};

// Of the runs that had an arrival there; parts per million.
double mean_at(const FgdCell& cell, std::int64_t percent, double FgdPoint::* measure);
double spread_at(const FgdCell& cell, std::int64_t percent, double FgdPoint::* measure);

// Published means by (metric, workload, policy, arrived percent); empty where there is no file.
using FgdPublished =
    std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, double>;
base::Result<FgdPublished> read_published(const std::filesystem::path& file);

std::string fgd_csv(const std::vector<FgdCell>& cells);
std::string fgd_text(const std::vector<FgdCell>& cells, const FgdPublished& published);
std::string fgd_html(const std::vector<FgdCell>& cells, const FgdPublished& published);

}  // namespace simulator
