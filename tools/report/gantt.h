#pragma once

#include <string>
#include <vector>

namespace tombolo::report {

/// What a clique does in a round, in seconds from the round's start.
struct GanttClique {
  std::string name;
  std::vector<std::size_t> lanes;  ///< Its members, by index in Gantt::lanes.
  double latency_s = 0;            ///< Before anything arrives.
  double alone_s = 0;              ///< When it would be done if it had the network to itself.
  std::string note = {};           ///< Added to its tooltip.
};

struct GanttRound {
  std::string label;
  double seconds = 0;
  std::string bottleneck;  ///< Above the round.
  std::vector<GanttClique> cliques;
};

/// A cycle of rounds with barriers between them: a lane for every island, cliques in the map's colours.
struct Gantt {
  std::vector<std::string> lanes;
  std::vector<GanttRound> rounds;
};

/// A bar's pale part is latency, its full part what the transfer takes without the others, its hollow part
/// the rest of the round: shared links, and waiting for the barrier.
std::string gantt_chart(const Gantt& gantt);

}  // namespace tombolo::report
