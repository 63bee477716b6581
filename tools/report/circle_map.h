#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/report/summary.h"

namespace tombolo::report {

/// A drawing of a network and its links' lines for the map's script: by link, lists of x, y, x, y, ...
struct DrawnMap {
  std::string drawing;  ///< The inside of an SVG.
  double width_px = 0;
  double height_px = 0;
  nlohmann::json lines = nlohmann::json::object();
};

/// The sites evenly on a circle in their order, for networks without coordinates.
DrawnMap circle_map(const RunSummary& summary);

/// The tooltip of a link and of a site.
std::string link_tip(const RunSummary& summary, const TopologyLink& link);
std::string site_tip(const SummarySite& site);

}  // namespace tombolo::report
