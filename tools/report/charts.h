#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tombolo::report {

/// One round of a time chart, in seconds.
struct TimeBar {
  std::string label;                  ///< Under the bar.
  std::optional<double> measured_s;   ///< None: it failed, and a mark says so.
  std::optional<double> predicted_s;  ///< A line across the bar.
  bool good = true;                   ///< Else the bar is in the colour of errors.
};

/// Bars of measured times, each with a line at the predicted one and their ratio above. As wide as the bars
/// need.
std::string time_chart(const std::vector<TimeBar>& bars);

/// One bar of a group.
struct AmountBar {
  std::string label;             ///< Before the bar: "out", "in".
  std::optional<double> amount;  ///< None: a dash.
};

struct AmountGroup {
  std::string label;
  std::string note;  ///< Small, below the label.
  std::vector<AmountBar> bars;
  bool computed = false;  ///< Hatched instead of filled.
  bool emphasised = false;
};

/// Horizontal bars in groups over one axis from 0; `unit` stands behind each figure.
std::string amount_chart(const std::vector<AmountGroup>& groups, const std::string& unit);

/// Shares of a whole in one narrow bar; the classes are those of `classes`, and an amount of nothing takes no
/// room.
std::string share_bar(const std::vector<double>& amounts, const std::vector<std::string>& classes);

/// Ticks from 0 in steps of 1, 2 or 5 times a power of ten that reach `most`, in at most `count` steps.
std::vector<double> axis_ticks(double most, int count);

}  // namespace tombolo::report
