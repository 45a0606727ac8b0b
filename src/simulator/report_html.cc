// The report as one page: a table that compares the policies, charts, and how to read them.

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulator/report.h"
#include "simulator/report_page.h"
#include "simulator/svg_chart.h"

namespace simulator {

namespace {

constexpr int kStyles = 6;

// FIFO and priority keep their colours whatever else is compared with them.
int style_of(const Simulation& simulation, std::size_t index) {
  const std::string& policy = simulation.policies[index].policy;
  if (policy == "fifo") return 0;
  if (policy == "priority") return 1;
  if (policy == "default") return 2;
  return static_cast<int>(index) % (kStyles - 3) + 3;
}

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

std::string percent(double ppm) { return fmt::format("{:.2f} %", ppm / 10'000); }

enum class Better { Less, More, Neither };

// One row of the comparison; the best value is marked where there is a better and it is not shared
// by all.
template <class ValueOf, class TextOf>
void append_row(std::string& out, const Simulation& simulation, const Words& name, Better better,
                ValueOf value_of, TextOf text_of) {
  out += "<tr><td>" + html_words(name) + "</td>";
  std::vector<double> values;
  for (const PolicyResult& result : simulation.policies)
    values.push_back(static_cast<double>(value_of(result)));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_best = better != Better::Neither && *least != *most &&
                         values[i] == (better == Better::Less ? *least : *most);
    out += is_best ? "<td class='best'>" : "<td>";
    out += html_escape(text_of(values[i])) + "</td>";
  }
  out += "</tr>";
}

void append_group_row(std::string& out, const Simulation& simulation, const Words& name) {
  fmt::format_to(std::back_inserter(out), "<tr class='group'><td colspan='{}'>{}</td></tr>",
                 simulation.policies.size() + 1, html_words(name));
}

std::string whole(double value) { return with_commas(static_cast<std::int64_t>(value)); }

void append_waiting_rows(std::string& out, const Simulation& simulation) {
  const auto time = [](double ms) { return human_time(ms); };
  append_group_row(out, simulation, {"Waiting and completion", "等待与完成"});
  append_row(
      out, simulation, {"wait to first start, mean", "首次启动等待，平均"}, Better::Less,
      [](const auto& r) { return r.wait.mean_ms; }, time);
  append_row(
      out, simulation, {"wait, 50th percentile", "等待，50 百分位"}, Better::Less,
      [](const auto& r) { return r.wait.p50_ms; }, time);
  append_row(
      out, simulation, {"wait, 90th percentile", "等待，90 百分位"}, Better::Less,
      [](const auto& r) { return r.wait.p90_ms; }, time);
  append_row(
      out, simulation, {"wait, 99th percentile", "等待，99 百分位"}, Better::Less,
      [](const auto& r) { return r.wait.p99_ms; }, time);
  append_row(
      out, simulation, {"submission to completion, mean", "提交到完成，平均"}, Better::Less,
      [](const auto& r) { return r.completion.mean_ms; }, time);
  append_row(
      out, simulation, {"submission to completion, 50th percentile", "提交到完成，50 百分位"},
      Better::Less, [](const auto& r) { return r.completion.p50_ms; }, time);
  append_row(
      out, simulation, {"submission to completion, 99th percentile", "提交到完成，99 百分位"},
      Better::Less, [](const auto& r) { return r.completion.p99_ms; }, time);
  append_row(
      out, simulation, {"makespan", "总时长"}, Better::Less,
      [](const auto& r) { return r.makespan.millis; }, time);
  append_row(
      out, simulation, {"most jobs queued at once", "最大排队作业数"}, Better::Less,
      [](const auto& r) { return r.max_queued; }, [](double n) { return whole(n) + " jobs"; });
  append_row(
      out, simulation, {"jobs finished", "完成的作业"}, Better::More,
      [](const auto& r) { return r.finished; }, [](double n) { return whole(n) + " jobs"; });
}

void append_device_rows(std::string& out, const Simulation& simulation) {
  append_group_row(out, simulation, {"Devices", "设备"});
  append_row(
      out, simulation,
      {"allocated while jobs arrive, time-weighted, of all devices",
       "作业到达期间的分配率（按时间加权，占全部设备）"},
      Better::More, [](const auto& r) { return r.arrivals_ppm; }, percent);
  append_row(
      out, simulation,
      {"allocated up to the last end, of all devices", "直到最后结束的分配率（占全部设备）"},
      Better::More, [](const auto& r) { return r.allocation_ppm; }, percent);
  append_row(
      out, simulation,
      {"free but fragmented while jobs arrive, of all devices",
       "作业到达期间空闲但成碎片（占全部设备）"},
      Better::Less, [](const auto& r) { return r.fragmentation_ppm; }, percent);
  append_row(
      out, simulation, {"evictions for other work", "为其他作业而驱逐"}, Better::Less,
      [](const auto& r) { return r.evictions; }, [](double n) { return whole(n) + " attempts"; });
  append_row(
      out, simulation,
      {"device time of evicted attempts, checkpoints not deducted",
       "被驱逐运行占用的设备时间（未扣除检查点）"},
      Better::Less, [](const auto& r) { return r.evicted_device_ms; },
      [](double ms) { return fmt::format("{:.1f} device-h", ms / 3'600'000); });
}

void append_machine_rows(std::string& out, const Simulation& simulation) {
  append_group_row(
      out, simulation,
      {"Planner and journal, on the machine that ran this", "调度器与日志（运行本次模拟的机器）"});
  append_row(
      out, simulation, {"decisions", "决策数"}, Better::Neither,
      [](const auto& r) { return r.decisions; }, [](double n) { return whole(n) + " decisions"; });
  append_row(
      out, simulation, {"wall time", "实际用时"}, Better::Neither,
      [](const auto& r) { return r.machine.wall_seconds; },
      [](double s) { return fmt::format("{:.2f} s", s); });
  append_row(
      out, simulation, {"processor time", "处理器用时"}, Better::Neither,
      [](const auto& r) { return r.machine.processor_seconds; },
      [](double s) { return fmt::format("{:.2f} s", s); });
  append_row(
      out, simulation, {"decisions a second", "每秒决策数"}, Better::Neither,
      [](const auto& r) { return r.machine.decisions_per_second; },
      [](double n) { return whole(n) + " /s"; });
  append_row(
      out, simulation, {"journal", "日志大小"}, Better::Neither,
      [](const auto& r) { return r.journal_bytes; },
      [](double n) { return fmt::format("{:.1f} MB", n / 1e6); });
}

std::string comparison_table(const Simulation& simulation) {
  std::string out = "<div class='card'><table><thead><tr><th></th>";
  for (const PolicyResult& result : simulation.policies)
    out += "<th>" + html_escape(result.policy) + "</th>";
  out += "</tr></thead><tbody>";
  append_waiting_rows(out, simulation);
  append_device_rows(out, simulation);
  append_machine_rows(out, simulation);
  return out + "</tbody></table></div>";
}

// Charts end a little after the last arrival: a tail of a few long jobs would squeeze all else.
double shown_seconds(const Simulation& simulation) {
  double shown = 1;
  for (const PolicyResult& result : simulation.policies)
    shown = std::max(shown, std::min(static_cast<double>(result.makespan.millis),
                                     static_cast<double>(result.arrival_span.millis) * 1.15) /
                                1000);
  return shown;
}

template <class SeriesOf>
LineChart chart_over_time(const Simulation& simulation, Words title, Words y_label,
                          std::string unit, double factor, SeriesOf series_of) {
  LineChart chart{.title = std::move(title),
                  .y_label = std::move(y_label),
                  .y_unit = std::move(unit),
                  .x_max = shown_seconds(simulation)};
  for (std::size_t i = 0; i < simulation.policies.size(); ++i) {
    const Series& series = series_of(simulation.policies[i]);
    Line line{.name = simulation.policies[i].policy, .style = style_of(simulation, i)};
    const double width = static_cast<double>(series.width.millis) / 1000;
    for (std::size_t k = 0; k < series.values.size(); ++k) {
      const double at = (static_cast<double>(k) + 0.5) * width;
      if (at > chart.x_max) break;
      line.points.emplace_back(at, series.values[k] * factor);
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

LineChart wait_curve(const Simulation& simulation) {
  LineChart chart{
      .title = {"Wait to first start", "首次启动等待"},
      .y_label = {"share of all jobs that waited at most so long", "等待不超过该时长的作业占比"},
      .x_axis = XAxis::LogTime,
      .y_unit = "%",
      .y_max = 100};
  for (std::size_t i = 0; i < simulation.policies.size(); ++i) {
    const PolicyResult& result = simulation.policies[i];
    Line line{.name = result.policy, .style = style_of(simulation, i)};
    chart.x_max = std::max(chart.x_max, static_cast<double>(result.wait.max_ms) / 1000);
    for (std::size_t k = 0; k < result.curve.at_most_ppm.size(); ++k)
      line.points.emplace_back(static_cast<double>(wait_steps()[k].millis) / 1000,
                               static_cast<double>(result.curve.at_most_ppm[k]) / 10'000);
    chart.lines.push_back(std::move(line));
  }
  // Steps beyond the longest wait are all 100 %.
  for (Line& line : chart.lines)
    std::erase_if(line.points, [&](const auto& point) { return point.first > chart.x_max * 2; });
  return chart;
}

std::string class_chart(const Simulation& simulation) {
  std::vector<SpanRow> rows;
  if (simulation.policies.empty()) return {};
  for (const GroupResult& group : simulation.policies.front().classes)
    for (std::size_t i = 0; i < simulation.policies.size(); ++i)
      for (const GroupResult& other : simulation.policies[i].classes)
        if (other.name == group.name)
          rows.push_back({.group = group.name,
                          .name = simulation.policies[i].policy,
                          .style = style_of(simulation, i),
                          .p50_s = static_cast<double>(other.wait.p50_ms) / 1000,
                          .p90_s = static_cast<double>(other.wait.p90_ms) / 1000,
                          .p99_s = static_cast<double>(other.wait.p99_ms) / 1000});
  return svg_span_chart({"Wait by class: 50th, 90th (dots) and 99th (ring) percentile",
                         "按类别的等待：50、90（点）与 99（圆环）百分位"},
                        rows);
}

std::string queue_chart(const PolicyResult& result) {
  constexpr std::size_t kRowsMax = 30;
  std::vector<const QueueResult*> queues;
  for (const QueueResult& queue : result.queues)
    queues.push_back(&queue);
  std::stable_sort(queues.begin(), queues.end(), [](const QueueResult* a, const QueueResult* b) {
    return a->wanted_milli > b->wanted_milli;
  });
  if (queues.size() > kRowsMax) queues.resize(kRowsMax);
  BarChart chart{.title = {"Devices held by queue, policy " + result.policy,
                           "各队列持有的设备，策略 " + result.policy},
                 .unit = "devices"};
  for (const QueueResult* queue : queues)
    chart.rows.push_back(
        {.name = queue->jobs.name,
         .value = queue->held_milli / 1000,
         .tick = queue->entitled_milli / 1000,
         .second_tick = static_cast<double>(queue->guarantee_milli) / 1000,
         .tooltip = fmt::format(
             "{}: {:.1f} devices held, {:.1f} entitled, {:.1f} wanted, {:.0f} "
             "guaranteed; {} jobs, wait 50 % {}, 99 % {}",
             queue->jobs.name, queue->held_milli / 1000, queue->entitled_milli / 1000,
             queue->wanted_milli / 1000, static_cast<double>(queue->guarantee_milli) / 1000,
             queue->jobs.jobs, human_time(static_cast<double>(queue->jobs.wait.p50_ms)),
             human_time(static_cast<double>(queue->jobs.wait.p99_ms)))});
  return svg_bar_chart(chart);
}

std::string legend(const Simulation& simulation) {
  std::string out = "<div class='key'>";
  for (std::size_t i = 0; i < simulation.policies.size(); ++i)
    fmt::format_to(std::back_inserter(out),
                   "<span><i class='s{0}' style='color:var(--s{0})'></i>{1}"
                   "</span>",
                   style_of(simulation, i), html_escape(simulation.policies[i].policy));
  return out + "</div>";
}

std::string charts(const Simulation& simulation) {
  std::string out = "<h2>" + html_words({"Over time", "随时间变化"}) + "</h2>";
  out += legend(simulation) + "<div class='charts'>";
  LineChart allocation = chart_over_time(
      simulation, {"Allocation", "分配率"}, {"% of all devices", "占全部设备的百分比"}, "%", 1e-4,
      [](const auto& r) -> const Series& { return r.allocation; });
  allocation.y_max = 100;
  out += svg_line_chart(allocation);
  out += svg_line_chart(chart_over_time(simulation, {"Queue", "排队"},
                                        {"jobs waiting", "等待的作业数"}, "", 1.0,
                                        [](const auto& r) -> const Series& { return r.queued; }));
  out += svg_line_chart(chart_over_time(
      simulation, {"Fragmentation", "碎片"},
      {"% of all devices, free but of no use to a typical job", "空闲但典型作业无法使用的设备占比"},
      "%", 1e-4, [](const auto& r) -> const Series& { return r.fragmentation; }));
  out += svg_line_chart(wait_curve(simulation));
  out += "</div><h2>" + html_words({"Who waits", "谁在等待"}) + "</h2>" + legend(simulation) +
         class_chart(simulation);
  out += "<h2>" + html_words({"Queues: use and entitlement", "队列：使用与应得"}) + "</h2>";
  out += "<div class='key'><span><i style='color:var(--s2)'></i>" +
         html_words({"held, mean while jobs arrive", "持有（到达期间平均）"}) +
         "</span><span><i style='color:var(--ink)'></i>" +
         html_words({"entitled, mean", "应得（平均）"}) +
         "</span><span><i style='color:var(--s1)'></i>" + html_words({"guaranteed", "保障"}) +
         "</span></div><div class='charts'>";
  for (const PolicyResult& result : simulation.policies)
    out += queue_chart(result);
  return out + "</div>";
}

std::string notes(const Simulation& simulation) {
  std::string out = "<h2>" + html_words({"How to read this", "说明"}) +
                    "</h2><div class='card' "
                    "style='padding:12px 18px'>";
  const auto note = [&out](const Words& words) { out += "<p>" + html_words(words) + "</p>"; };
  note(
      {"Times are virtual: the same controller as in the daemon is driven event by event, so that "
       "equal input gives an equal journal, byte for byte.",
       "时间为虚拟时间：与守护进程相同的控制器逐事件驱动，相同输入产生逐字节相同的日志。"});
  note(
      {"Fragmentation: expected share of free devices that a member drawn from the trace's mix "
       "could "
       "not use (FGD, ATC 2023). Entitlement: guarantees in demand, then surplus by weight.",
       "碎片：从负载分布中抽取的成员无法使用的空闲设备的期望占比（FGD，ATC "
       "2023）。应得：先满足有需求的保障，再按权重分配余量。"});
  note({fmt::format("Starts take {}, stops at most {}; training goes on from a checkpoint every {} "
                    "after an eviction.",
                    human_time(static_cast<double>(simulation.start_delay.millis)),
                    human_time(static_cast<double>(simulation.stop_delay.millis)),
                    human_time(static_cast<double>(simulation.checkpoint.millis))),
        fmt::format("启动用时 {}，停止至多 {}；训练作业被驱逐后从每 {} 一次的检查点继续。",
                    human_time(static_cast<double>(simulation.start_delay.millis)),
                    human_time(static_cast<double>(simulation.stop_delay.millis)),
                    human_time(static_cast<double>(simulation.checkpoint.millis)))});
  if (!simulation.load.empty()) note({"Arrivals: " + simulation.load, "到达：" + simulation.load});
  for (const PolicyResult& result : simulation.policies)
    fmt::format_to(std::back_inserter(out), "<p>{} {} <code>{}</code></p>",
                   html_words({"Journal", "日志"}), html_escape(result.policy),
                   html_escape(result.journal_hash));
  return out + "</div>";
}

}  // namespace

std::string report_html(const Simulation& simulation) {
  const std::string title = "Berth simulation: " + simulation.trace;
  const std::string jobs = with_commas(simulation.jobs);
  const std::string devices = with_commas(simulation.devices);
  const std::string load = percent(static_cast<double>(simulation.offered_ppm));
  std::string out = page_begin(
      {title, "Berth 模拟：" + simulation.trace},
      {fmt::format("{} jobs on {} devices of {} nodes. The jobs ask for {} of the cluster's device "
                   "time while they arrive.",
                   jobs, devices, with_commas(simulation.nodes), load),
       fmt::format("{} 个作业，{} 台节点，{} 个设备。到达期间作业需求为集群设备时间的 {}。", jobs,
                   with_commas(simulation.nodes), devices, load)});
  out += "<h2>" + html_words({"Policies compared", "策略对比"}) + "</h2>";
  out += comparison_table(simulation);
  out += charts(simulation);
  out += notes(simulation);
  return out + page_end();
}

}  // namespace simulator
