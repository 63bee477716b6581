#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tombolo::report {

/// A named value.
struct NamedBar {
  std::string label;
  double value = 0;         ///< At least 0; infinite: a bar that leaves the drawing.
  std::string figure;       ///< Behind the bar.
  std::string tip = {};     ///< What the tooltip adds.
  bool emphasised = false;  ///< In the colour of what the page is about.
};

struct BarChart {
  std::string title;                ///< What a reader hears who does not see it.
  std::vector<NamedBar> bars;       ///< From the top.
  std::optional<double> marked;     ///< A line across all bars.
  std::string marked_label = {};    ///< Its name, below the bars.
  std::optional<double> most = {};  ///< Longer bars are cut off here, and a mark says so.
};

/// Horizontal bars over one axis from 0.
std::string bar_chart(const BarChart& chart);

}  // namespace tombolo::report
