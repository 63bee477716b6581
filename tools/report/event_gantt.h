#pragma once

#include <string>
#include <vector>

namespace tombolo::report {

/// One exchange of a cycle that repeats.
struct EventBar {
  std::string name;
  std::vector<std::size_t> lanes;  ///< Its members, by index in EventGantt::lanes.
  std::size_t round = 0;           ///< Its colour.
  std::size_t fragment = 0;        ///< Its line in the lane.
  double start_s = 0;
  double sending_s = 0;
  double latency_s = 0;
};

/// A steady state without barriers.
struct EventGantt {
  std::vector<std::string> lanes;
  double cycle_s = 0;
  double span_s = 0;  ///< How much time is drawn: cycles are repeated to fill it.
  std::size_t fragments = 1;
  std::vector<EventBar> bars;
};

/// The most fragments that are drawn, the first ones; a lane has no room for more.
inline constexpr std::size_t kMostDrawnFragments = 8;

/// A lane for every island, in it a line for every fragment. A bar's full part is sending, its pale part the
/// latency until the result is there; colours are rounds. Empty if no time passes.
std::string event_gantt_chart(const EventGantt& gantt);

}  // namespace tombolo::report
