#pragma once

#include <cstdint>
#include <string>

#include "schedule/optimize/optimize.h"
#include "schedule/optimize/problem.h"
#include "schedule/topology.h"
#include "tools/report/page.h"
#include "tools/schedule/event_score.h"
#include "tools/schedule/optimize_studies.h"

namespace tombolo::tools {

/// What a page is made of. It computes shares of links and ratios of figures; whatever takes a search is in
/// `studies`.
struct OptimizePage {
  const schedule::Topology& topology;
  const schedule::Problem& problem;
  const schedule::Optimized& best;
  const Studies& studies;
  std::string setting;  ///< The line over the table: network, profile, size, capabilities.
  std::string command;  ///< The command line that makes this page.
  std::uint64_t seed = 0;
  const EventScore* event = nullptr;  ///< The best without barriers, if it was looked for.
};

/// The page of `schedule optimize --report`: rounds on the map, the cycle over time, loads, D by rounds, the
/// comparison, and variants of the network. The same data give the same bytes.
report::Page optimize_page(const OptimizePage& data);

}  // namespace tombolo::tools
