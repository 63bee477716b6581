#pragma once

#include <span>
#include <string>
#include <vector>

#include "schedule/optimize/problem.h"
#include "schedule/round_model.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"
#include "tools/report/gantt.h"
#include "tools/report/map_section.h"
#include "tools/report/summary.h"

namespace tombolo::tools {

/// A schedule on a network, as drawings want it. `times` are the rounds' times by the problem's model.
struct RoundPictures {
  report::RunSummary summary;              ///< Sites, links and rounds.
  std::vector<report::MapDetail> details;  ///< By round: link loads and trees.
  report::Gantt gantt;
  /// [round][resource]: the share of its capacity that the round takes.
  std::vector<std::vector<double>> shares;
};

/// `topology` is what the problem's network was made from: its links stand in the same order.
RoundPictures picture_rounds(const schedule::Topology& topology, const schedule::Problem& problem,
                             const schedule::Schedule& schedule, std::span<const schedule::RoundTime> times);

/// "AMS LON NYC" of a clique.
std::string clique_name(const schedule::Clique& clique, const schedule::Network& network);

}  // namespace tombolo::tools
