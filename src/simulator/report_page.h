#pragma once
// The frame of a report: one page that needs nothing else, in English and Chinese, light and dark.
// Styles and the few lines of script are inline; nothing is fetched.

#include <string>

#include "simulator/svg_chart.h"

namespace simulator {

// Series have the CSS classes s0 … s6.
inline constexpr int kSeriesStyles = 7;

// Up to and with the heading; what follows stands inside <main>.
std::string page_begin(const Words& title, const Words& lead);
std::string page_end();

}  // namespace simulator
