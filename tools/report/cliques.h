#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/report/summary.h"

namespace tombolo::report {

/// A clique as the map shows it; the same clique in many rounds is one entry.
struct DrawnClique {
  std::vector<std::string> members;  ///< Islands, as the summary names them.
  std::vector<std::size_t> sites;    ///< Of the members that have a known site; ascending.
  std::vector<std::size_t> links;    ///< Topology links that its trees use; ascending.
};

struct DrawnRounds {
  std::vector<DrawnClique> cliques;
  std::vector<std::vector<std::size_t>> rounds;  ///< [round]: indices of cliques.
};

/// The cliques of all rounds, with the links on the shortest routes between their members. A clique whose
/// routes are not known (no latencies, sites that are not connected, too many members) has no links.
DrawnRounds draw_rounds(const RunSummary& summary);

}  // namespace tombolo::report
