#pragma once
// Charts as inline SVG, drawn by ourselves so that a report is one file without any other. Colours,
// fonts and line styles are CSS classes of the page (s0, s1, … for series; axis, grid), so that a
// chart follows light and dark. Words are given in English and Chinese, the page shows one of them.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simulator {

struct Words {
  std::string english, chinese;
};
std::string html_escape(std::string_view text);
// Both, in spans of which the page shows one.
std::string html_words(const Words& words);

struct Line {
  std::string name;
  int style = 0;                                  // class s<style>
  std::vector<std::pair<double, double>> points;  // by x
};

// Seconds since the start; seconds on a logarithmic scale; percent.
enum class XAxis { Time, LogTime, Percent };

struct LineChart {
  Words title, y_label;
  XAxis x_axis = XAxis::Time;
  std::string y_unit;  // behind each number, "%"
  double x_max = 0;    // as x_axis; 0: the largest x of the lines
  double y_max = 0;    // 0: a round number above the largest y
  std::vector<Line> lines;
};
std::string svg_line_chart(const LineChart& chart);

// One row for each thing: a bar for what it had, a tick for what it was entitled to and one for
// what it was promised.
struct BarRow {
  std::string name;
  double value = 0;
  double tick = 0, second_tick = 0;
  std::string tooltip;
};
struct BarChart {
  Words title;
  std::string unit;
  std::vector<BarRow> rows;
};
std::string svg_bar_chart(const BarChart& chart);

// For each class three marks a policy on one logarithmic axis of time: 50th, 90th, 99th percentile.
struct SpanRow {
  std::string group, name;
  int style = 0;
  double p50_s = 0, p90_s = 0, p99_s = 0;
};
std::string svg_span_chart(const Words& title, const std::vector<SpanRow>& rows);

}  // namespace simulator
