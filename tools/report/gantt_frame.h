#pragma once

#include <string>
#include <vector>

namespace tombolo::report {

/// The paper on which bars over time are drawn: a lane for every island, time to the right.
struct GanttFrame {
  double span_s = 1;  ///< From the left edge to the right one; above 0.
  double lane_px = 21;
  std::size_t lanes = 0;

  double px_per_s() const;
  double x(double seconds) const;
  double top() const;  ///< Of the first lane.
  double y(std::size_t lane) const;
  double floor() const;  ///< Below the last lane.
};

/// The element that holds the drawing; `what` says what it shows to those who cannot see it.
std::string open_gantt(const GanttFrame& frame, const std::string& what);
/// Lanes' names, ticks of time and what they count.
std::string draw_gantt_axes(const GanttFrame& frame, const std::vector<std::string>& lanes,
                            const std::string& caption);
/// A line from top to bottom, from a little above the lanes on.
std::string draw_gantt_barrier(const GanttFrame& frame, double seconds, double above_px);
/// A bar from x to `end`, in pixels, or nothing if it could not be seen; `part` is its class, colours repeat.
std::string draw_gantt_part(double x, double end, double y, double height, const char* part,
                            std::size_t colour);

}  // namespace tombolo::report
