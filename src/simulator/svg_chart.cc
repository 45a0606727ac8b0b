#include "simulator/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

namespace simulator {

namespace {

constexpr double kWidth = 520, kHeight = 210;
constexpr double kLeft = 54, kRight = 14, kTop = 10, kBottom = 30;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr double kRowHeight = 24;
constexpr double kNameWidth = 100;
constexpr double kWideWidth = 1080;  // of a chart that has a row of the page for itself

// A round number at least as large: 1, 2 or 5 times a power of ten.
double round_up(double value) {
  if (value <= 0) return 1;
  const double decade = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0, 10.0})
    if (decade * factor >= value * 0.9999) return decade * factor;
  return decade * 10;
}

std::string short_number(double value) {
  if (value >= 10'000) return fmt::format("{:.0f}k", value / 1000);
  if (value == std::floor(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array<TimeUnit, 4> kUnits{{{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}}};

// The largest unit of which the span has at least three.
TimeUnit unit_for(double span_s) {
  TimeUnit best = kUnits[0];
  for (const TimeUnit& unit : kUnits)
    if (span_s >= 3 * unit.seconds) best = unit;
  return best;
}

// Logarithmic axis of waits: what is below a second stands at its left end.
struct LogTick {
  double seconds;
  std::string_view label;
};
constexpr std::array<LogTick, 8> kLogTicks{{{1, "1 s"},
                                            {10, "10 s"},
                                            {60, "1 min"},
                                            {600, "10 min"},
                                            {3600, "1 h"},
                                            {36000, "10 h"},
                                            {86400 * 3, "3 d"},
                                            {86400 * 30, "30 d"}}};
double log_position(double seconds, double max_s) {
  return std::clamp(std::log(std::max(seconds, 1.0)) / std::log(max_s), 0.0, 1.0);
}
double log_max(double largest_s) {
  for (const LogTick& tick : kLogTicks)
    if (tick.seconds >= largest_s && tick.seconds >= 60) return tick.seconds;
  return std::max(largest_s, kLogTicks.back().seconds);
}

void append_text(std::string& out, double x, double y, std::string_view anchor,
                 std::string_view text) {
  fmt::format_to(std::back_inserter(out), "<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>",
                 x, y, anchor, html_escape(text));
}

void append_grid_line(std::string& out, double x1, double y1, double x2, double y2,
                      std::string_view style) {
  fmt::format_to(std::back_inserter(out),
                 "<line class='{}' x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}'/>", style, x1,
                 y1, x2, y2);
}

struct Scale {
  XAxis kind = XAxis::Time;
  double x_max = 1, y_max = 1;
  double x(double seconds) const {
    const double share =
        kind == XAxis::LogTime ? log_position(seconds, x_max) : std::min(seconds / x_max, 1.0);
    return kLeft + share * kPlotWidth;
  }
  double y(double value) const {
    return kTop + kPlotHeight * (1 - std::clamp(value / y_max, 0.0, 1.0));
  }
};

Scale scale_of(const LineChart& chart) {
  double x_largest = 0, y_largest = 0;
  for (const Line& line : chart.lines)
    for (const auto& [x, y] : line.points) {
      x_largest = std::max(x_largest, x);
      y_largest = std::max(y_largest, y);
    }
  Scale scale{.kind = chart.x_axis};
  scale.x_max = chart.x_max > 0 ? chart.x_max : std::max(x_largest, 1.0);
  if (chart.x_axis == XAxis::LogTime) scale.x_max = log_max(scale.x_max);
  scale.y_max = chart.y_max > 0 ? chart.y_max : round_up(y_largest);
  return scale;
}

void append_axes(std::string& out, const LineChart& chart, const Scale& scale) {
  const double bottom = kTop + kPlotHeight;
  for (int i = 0; i <= 4; ++i) {
    const double value = scale.y_max * i / 4;
    append_grid_line(out, kLeft, scale.y(value), kWidth - kRight, scale.y(value),
                     i == 0 ? "axis" : "grid");
    append_text(out, kLeft - 6, scale.y(value) + 4, "end", short_number(value) + chart.y_unit);
  }
  if (chart.x_axis == XAxis::LogTime) {
    for (const LogTick& tick : kLogTicks) {
      if (tick.seconds > scale.x_max) break;
      append_grid_line(out, scale.x(tick.seconds), kTop, scale.x(tick.seconds), bottom, "grid");
      append_text(out, scale.x(tick.seconds), bottom + 18,
                  tick.seconds == scale.x_max ? "end" : "middle", tick.label);
    }
    return;
  }
  const TimeUnit unit = chart.x_axis == XAxis::Percent ? TimeUnit{"%", 1} : unit_for(scale.x_max);
  const double step = round_up(scale.x_max / unit.seconds / 6);
  for (double at = 0; at * unit.seconds <= scale.x_max; at += step)
    append_text(out, scale.x(at * unit.seconds), bottom + 18, "middle",
                short_number(at) + " " + std::string(unit.name));
}

// Points for the page's script, which shows the values under the pointer.
std::string points_attribute(const LineChart& chart, const Scale& scale) {
  std::string out = "[";
  for (const Line& line : chart.lines) {
    fmt::format_to(std::back_inserter(out), "{}[\"{}\"", out.size() > 1 ? "," : "",
                   html_escape(line.name));
    for (const auto& [x, y] : line.points)
      fmt::format_to(std::back_inserter(out), ",{:.1f},{:.4g}", scale.x(x), y);
    out += ']';
  }
  return out + "]";
}

}  // namespace

std::string html_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '\'')
      out += "&#39;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string html_words(const Words& words) {
  return "<span class='en'>" + html_escape(words.english) + "</span><span class='zh' lang='zh'>" +
         html_escape(words.chinese) + "</span>";
}

std::string svg_line_chart(const LineChart& chart) {
  const Scale scale = scale_of(chart);
  std::string out = fmt::format(
      "<figure><figcaption>{} <small>{}</small></figcaption>"
      "<svg class='lines' viewBox='0 0 {} {}' role='img' data-unit='{}' data-points='{}'>",
      html_words(chart.title), html_words(chart.y_label), kWidth, kHeight,
      html_escape(chart.y_unit), points_attribute(chart, scale));
  append_axes(out, chart, scale);
  for (const Line& line : chart.lines) {
    out += fmt::format("<polyline class='line s{}' points='", line.style);
    for (const auto& [x, y] : line.points)
      fmt::format_to(std::back_inserter(out), "{:.1f},{:.1f} ", scale.x(x), scale.y(y));
    out += "'/>";
  }
  fmt::format_to(std::back_inserter(out),
                 "<line class='cursor' y1='{}' y2='{}' x1='-9' x2='-9'/></svg></figure>", kTop,
                 kTop + kPlotHeight);
  return out;
}

std::string svg_bar_chart(const BarChart& chart) {
  double largest = 0;
  for (const BarRow& row : chart.rows)
    largest = std::max({largest, row.value, row.tick, row.second_tick});
  const double max = round_up(largest);
  const double height = kTop + kRowHeight * static_cast<double>(chart.rows.size()) + kBottom;
  const auto x = [max](double value) {
    return kNameWidth + (kWidth - kNameWidth - 40) * std::min(value / max, 1.0);
  };
  std::string out =
      fmt::format("<figure><figcaption>{}</figcaption><svg viewBox='0 0 {} {:.0f}' role='img'>",
                  html_words(chart.title), kWidth, height);
  for (int i = 0; i <= 4; ++i) {
    const double value = max * i / 4;
    append_grid_line(out, x(value), kTop, x(value), height - kBottom, i == 0 ? "axis" : "grid");
    append_text(out, x(value), height - kBottom + 18, "middle",
                short_number(value) + (i == 4 ? " " + chart.unit : ""));
  }
  double y = kTop;
  for (const BarRow& row : chart.rows) {
    append_text(out, kNameWidth - 8, y + kRowHeight / 2 + 4, "end", row.name);
    fmt::format_to(std::back_inserter(out),
                   "<g><title>{}</title><rect class='bar' x='{:.1f}' y='{:.1f}' width='{:.1f}' "
                   "height='{:.1f}' rx='2'/>",
                   html_escape(row.tooltip), x(0), y + 6, std::max(x(row.value) - x(0), 0.5),
                   kRowHeight - 12);
    append_grid_line(out, x(row.tick), y + 3, x(row.tick), y + kRowHeight - 3, "entitled");
    append_grid_line(out, x(row.second_tick), y + 3, x(row.second_tick), y + kRowHeight - 3,
                     "promised");
    out += "</g>";
    y += kRowHeight;
  }
  return out + "</svg></figure>";
}

std::string svg_span_chart(const Words& title, const std::vector<SpanRow>& rows) {
  double largest = 0;
  for (const SpanRow& row : rows)
    largest = std::max(largest, row.p99_s);
  const double max = log_max(largest);
  const double height = kTop + kRowHeight * static_cast<double>(rows.size()) + kBottom;
  const double left = kNameWidth + 90;
  const auto x = [&](double seconds) {
    return left + (kWideWidth - left - 40) * log_position(seconds, max);
  };
  std::string out =
      fmt::format("<figure><figcaption>{}</figcaption><svg viewBox='0 0 {} {:.0f}' role='img'>",
                  html_words(title), kWideWidth, height);
  for (const LogTick& tick : kLogTicks) {
    if (tick.seconds > max) break;
    append_grid_line(out, x(tick.seconds), kTop, x(tick.seconds), height - kBottom, "grid");
    append_text(out, x(tick.seconds), height - kBottom + 18, "middle", tick.label);
  }
  double y = kTop;
  std::string_view group;
  for (const SpanRow& row : rows) {
    const double middle = y + kRowHeight / 2;
    if (row.group != group) {
      append_text(out, 4, middle + 4, "start", row.group);
      if (!group.empty()) append_grid_line(out, 0, y, kWideWidth, y, "grid");
      group = row.group;
    }
    append_text(out, left - 10, middle + 4, "end", row.name);
    fmt::format_to(std::back_inserter(out),
                   "<g class='span s{}'><title>{} {}: 50 % {:.0f} s, 90 % {:.0f} s, 99 % {:.0f} s"
                   "</title><line x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}'/>"
                   "<circle cx='{:.1f}' cy='{:.1f}' r='5'/><circle cx='{:.1f}' cy='{:.1f}' r='4'/>"
                   "<circle class='hollow' cx='{:.1f}' cy='{:.1f}' r='3.5'/></g>",
                   row.style, html_escape(row.group), html_escape(row.name), row.p50_s, row.p90_s,
                   row.p99_s, x(row.p50_s), x(row.p99_s), middle, middle, x(row.p50_s), middle,
                   x(row.p90_s), middle, x(row.p99_s), middle);
    y += kRowHeight;
  }
  return out + "</svg></figure>";
}

}  // namespace simulator
