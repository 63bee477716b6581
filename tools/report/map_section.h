#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tools/report/page.h"
#include "tools/report/summary.h"

namespace tombolo::report {

/// How much of a link a clique takes in a round.
struct MapUse {
  std::size_t clique = 0;  ///< By index in the round.
  std::size_t link = 0;    ///< By index in RunSummary::topology_links.
  double share = 0;        ///< Of the capacity, in the direction that it fills more.
};

/// How what one site sends gets to the other members of its clique.
struct MapTree {
  std::size_t site = 0;
  std::vector<std::size_t> links;
};

/// What a round asks of the network, for pages that know it.
struct MapDetail {
  std::string note;  ///< Beside the round's number.
  std::vector<MapUse> uses;
  std::vector<MapTree> trees;
  std::map<std::size_t, std::string> link_notes;  ///< By link: added to its tooltip.
  std::map<std::size_t, std::string> site_notes;  ///< By site, likewise.
};

/// The sites on a map of the world with the links between them, and the cliques of each round to step
/// through. Without coordinates it says so. With `details`, one by round, the cliques' lines are as broad as
/// the share of the link that they take, a site shows its tree, and sites without coordinates make the map a
/// circle.
Section map_section(const RunSummary& summary, std::span<const MapDetail> details = {});

}  // namespace tombolo::report
