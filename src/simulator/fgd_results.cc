#include "simulator/fgd_results.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "simulator/report_page.h"
#include "simulator/svg_chart.h"

namespace simulator {

using base::Result;

namespace {

constexpr std::string_view kPrefix = "openb_pod_list_";
constexpr std::int64_t kAt = 100;  // percent arrived, where tables are read

std::string_view short_name(std::string_view workload) {
  return workload.starts_with(kPrefix) ? workload.substr(kPrefix.size()) : workload;
}

std::vector<double> values_at(const FgdCell& cell, std::int64_t percent,
                              double FgdPoint::* measure) {
  std::vector<double> values;
  for (const FgdRun& run : cell.runs)
    if (const FgdPoint& point = run.points[static_cast<std::size_t>(percent)]; point.arrivals > 0)
      values.push_back(point.*measure);
  return values;
}

std::vector<std::string> policies_of(const std::vector<FgdCell>& cells) {
  std::vector<std::string> names;
  for (const FgdCell& cell : cells)
    if (std::ranges::find(names, cell.policy) == names.end()) names.push_back(cell.policy);
  return names;
}

std::vector<std::string> workloads_of(const std::vector<FgdCell>& cells) {
  std::vector<std::string> names;
  for (const FgdCell& cell : cells)
    if (std::ranges::find(names, cell.workload) == names.end()) names.push_back(cell.workload);
  return names;
}

const FgdCell* find(const std::vector<FgdCell>& cells, const std::string& workload,
                    const std::string& policy) {
  const auto found = std::ranges::find_if(cells, [&](const FgdCell& cell) {
    return cell.workload == workload && cell.policy == policy;
  });
  return found == cells.end() ? nullptr : &*found;
}

struct Measure {
  std::string_view metric;  // in the published file
  double FgdPoint::* of;
  Words title;
};
const std::array<Measure, 3> kMeasures{
    {{"alloc_pct", &FgdPoint::allocated, {"Allocated, % of all devices", "已分配，占全部设备 %"}},
     {"frag_pct_of_cluster_gpu",
      &FgdPoint::fragmented,
      {"Free but of no use to a typical request, % of all devices",
       "空闲但典型请求无法使用，占全部设备 %"}},
     {"frag_ratio_pct_of_idle",
      &FgdPoint::fragmented_idle,
      {"The same, % of what is free", "同上，占空闲设备 %"}}}};

std::optional<double> published_at(const FgdPublished& published, const Measure& measure,
                                   const std::string& workload, const std::string& policy) {
  const auto found = published.find({std::string(measure.metric), workload, policy, kAt});
  return found == published.end() ? std::nullopt : std::optional(found->second);
}

// "95.21 -0.02": ours, and how far from the published mean of the policy; of Berth, from FGD's.
std::string text_of(const FgdCell* cell, const FgdPublished& published, const Measure& measure) {
  if (cell == nullptr) return "-";
  const double ours = mean_at(*cell, kAt, measure.of) / 10'000;
  const auto theirs = published_at(published, measure, cell->workload,
                                   cell->policy == "Berth" ? "FGD" : cell->policy);
  return theirs ? fmt::format("{:.2f} {:+.2f}", ours, ours - *theirs) : fmt::format("{:.2f}", ours);
}

std::string text_table(const std::vector<FgdCell>& cells, const FgdPublished& published,
                       const Measure& measure) {
  std::string out = fmt::format("{}, at {} % arrived\n{:<13}", measure.title.english, kAt, "");
  const auto policies = policies_of(cells);
  for (const std::string& policy : policies)
    out += fmt::format("{:>14}", policy);
  out += "\n";
  for (const std::string& workload : workloads_of(cells)) {
    out += fmt::format("{:<13}", short_name(workload));
    for (const std::string& policy : policies)
      out += fmt::format("{:>14}", text_of(find(cells, workload, policy), published, measure));
    out += "\n";
  }
  out += fmt::format("{:<13}", "mean");
  for (const std::string& policy : policies) {
    double sum = 0;
    double count = 0;
    for (const FgdCell& cell : cells) {
      if (cell.policy != policy) continue;
      sum += mean_at(cell, kAt, measure.of) / 10'000;
      ++count;
    }
    out += fmt::format("{:>14}", fmt::format("{:.2f}      ", sum / std::max(count, 1.0)));
  }
  return out + "\n";
}

std::string speed_text(const std::vector<FgdCell>& cells) {
  std::string out = "Processor time of one run, mean\n";
  for (const std::string& policy : policies_of(cells)) {
    double micros = 0, decisions = 0, runs = 0;
    for (const FgdCell& cell : cells) {
      if (cell.policy != policy) continue;
      for (const FgdRun& run : cell.runs) {
        micros += static_cast<double>(run.micros);
        decisions += static_cast<double>(run.decisions);
        ++runs;
      }
    }
    out += fmt::format("  {:<12}{:>7.1f} ms, {:.0f} decisions, {:.0f} a second\n", policy,
                       micros / runs / 1000, decisions / runs, 1e6 * decisions / micros);
  }
  return out;
}

int style_of(const std::string& policy) {
  const auto at = std::ranges::find(kFgdPolicies, policy, &FgdPolicy::name);
  return static_cast<int>(at - kFgdPolicies.begin()) % kSeriesStyles;
}

std::string legend(const std::vector<FgdCell>& cells) {
  std::string out = "<div class='key'>";
  for (const std::string& policy : policies_of(cells))
    out += fmt::format("<span><i class='s{0}' style='color:var(--s{0})'></i>{1}</span>",
                       style_of(policy), html_escape(policy));
  return out + "</div>";
}

std::string html_table(const std::vector<FgdCell>& cells, const FgdPublished& published,
                       const Measure& measure) {
  std::string out =
      "<h2>" + html_words(measure.title) + "</h2><div class='card'><table><thead><tr><th></th>";
  const auto policies = policies_of(cells);
  for (const std::string& policy : policies)
    out += "<th>" + html_escape(policy) + "</th>";
  out += "</tr></thead><tbody>";
  for (const std::string& workload : workloads_of(cells)) {
    out += "<tr><td>" + html_escape(short_name(workload)) + "</td>";
    for (const std::string& policy : policies) {
      const FgdCell* cell = find(cells, workload, policy);
      out += fmt::format("<td{}>{}</td>", policy == "Berth" ? " class='best'" : "",
                         cell == nullptr ? "-"
                                         : fmt::format("{} <small>±{:.2f}</small>",
                                                       text_of(cell, published, measure),
                                                       spread_at(*cell, kAt, measure.of) / 10'000));
    }
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

// What is free and of no use, as the cluster fills.
std::string chart_of(const std::vector<FgdCell>& cells, const std::string& workload) {
  LineChart chart{.title = {std::string(short_name(workload)), std::string(short_name(workload))},
                  .y_label = {"% of all devices free but of no use, by % arrived",
                              "空闲但无法使用的设备占比（横轴：已到达 %）"},
                  .x_axis = XAxis::Percent,
                  .y_unit = "%",
                  .x_max = static_cast<double>(kFgdArrivedMax)};
  for (const std::string& policy : policies_of(cells)) {
    const FgdCell* cell = find(cells, workload, policy);
    if (cell == nullptr) continue;
    Line line{.name = policy, .style = style_of(policy)};
    for (std::int64_t percent = 0; percent <= kFgdArrivedMax; ++percent)
      if (!values_at(*cell, percent, &FgdPoint::fragmented).empty())
        line.points.emplace_back(static_cast<double>(percent),
                                 mean_at(*cell, percent, &FgdPoint::fragmented) / 10'000);
    chart.lines.push_back(std::move(line));
  }
  return svg_line_chart(chart);
}

}  // namespace

double mean_at(const FgdCell& cell, std::int64_t percent, double FgdPoint::* measure) {
  const std::vector<double> values = values_at(cell, percent, measure);
  double sum = 0;
  for (const double value : values)
    sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double spread_at(const FgdCell& cell, std::int64_t percent, double FgdPoint::* measure) {
  const std::vector<double> values = values_at(cell, percent, measure);
  if (values.size() < 2) return 0;
  const double mean = mean_at(cell, percent, measure);
  double sum = 0;
  for (const double value : values)
    sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

Result<FgdPublished> read_published(const std::filesystem::path& file) {
  FgdPublished published;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return published;
  const Result<CsvTable> table = CsvTable::read(file);
  if (!table) return tl::unexpected(table.error());
  std::array<std::size_t, 5> at{};
  std::size_t next = 0;
  for (const std::string_view name : {"metric", "workload", "policy", "arrived_pct", "mean"}) {
    const Result<std::size_t> column = table->column(name);
    if (!column) return tl::unexpected(column.error());
    at[next++] = *column;
  }
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const Result<std::int64_t> percent = table->integer(row, at[3], 0, 1000);
    if (!percent) return tl::unexpected(percent.error());
    const std::string mean(table->cell(row, at[4]));
    char* end = nullptr;
    const double value = std::strtod(mean.c_str(), &end);
    if (mean.empty() || *end != '\0')
      return table->bad_cell(row, at[4], "is not a number", "write it like 95.2");
    published[{std::string(table->cell(row, at[0])), std::string(table->cell(row, at[1])),
               std::string(table->cell(row, at[2])), *percent}] = value;
  }
  return published;
}

std::string fgd_csv(const std::vector<FgdCell>& cells) {
  std::string out = "workload,policy,seed,arrived_pct,alloc_pct,frag_pct\n";
  for (const FgdCell& cell : cells)
    for (std::size_t i = 0; i < cell.runs.size(); ++i)
      for (std::size_t percent = 0; percent < cell.runs[i].points.size(); ++percent) {
        const FgdPoint& point = cell.runs[i].points[percent];
        if (point.arrivals == 0) continue;
        fmt::format_to(std::back_inserter(out), "{},{},{},{},{:.3f},{:.3f}\n", cell.workload,
                       cell.policy, cell.seeds[i], percent, point.allocated / 10'000,
                       point.fragmented / 10'000);
      }
  return out;
}

std::string fgd_text(const std::vector<FgdCell>& cells, const FgdPublished& published) {
  std::string out;
  for (const Measure& measure : kMeasures)
    out += text_table(cells, published, measure) + "\n";
  if (!published.empty())
    out += "Behind each figure: the difference to the published mean; of Berth, to FGD's.\n\n";
  return out + speed_text(cells);
}

std::string fgd_html(const std::vector<FgdCell>& cells, const FgdPublished& published) {
  std::string out = page_begin(
      {"Placement and fragmentation", "放置与碎片"},
      {"Requests of a recorded mix arrive one by one and nobody leaves. Where they go is decided "
       "by "
       "the placement of the product, by the rule that the policy names; means over the seeds, at "
       "100 % arrived. Behind a figure: the difference to the published mean; of Berth, to FGD's.",
       "按记录的请求分布逐个到达，无人离开。放置由产品本身按策略所选规则决定；为各种子在到达 100 % "
       "时的均值。数字之后为与已发表均值之差；Berth 与 FGD 相比。"});
  for (const Measure& measure : kMeasures)
    out += html_table(cells, published, measure);
  out += "<h2>" + html_words({"As the cluster fills", "随集群填满"}) + "</h2>" + legend(cells) +
         "<div class='charts'>";
  for (const std::string& workload : workloads_of(cells))
    out += chart_of(cells, workload);
  return out + "</div>" + page_end();
}

}  // namespace simulator
