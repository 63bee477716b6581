#include "tools/report/circle_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tools/report/drawing.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

constexpr double kWidthPx = 1120;
constexpr double kHeightPx = 560;
constexpr double kRadiusPx = 225;
constexpr double kLabelPx = 14;  // From a dot to its name.
constexpr std::size_t kMostLabels = 60;
constexpr std::size_t kMostLabelCharacters = 28;

}  // namespace

std::string link_tip(const RunSummary& summary, const TopologyLink& link) {
  std::string tip = summary.sites[link.a].id + " \xe2\x80\x93 " + summary.sites[link.b].id;
  if (link.rtt_ms) tip += "\nRTT " + format_fixed(link.rtt_ms, 3) + " ms";
  if (link.rate_bps) tip += "\n" + format_rate(link.rate_bps);
  return tip;
}

std::string site_tip(const SummarySite& site) {
  std::string tip = site.city.empty() ? site.id : site.id + ", " + site.city;
  if (site.islands.size() != 1 || site.islands.front() != site.id)
    tip += "\n" + shorten(fmt::format("islands: {}", fmt::join(site.islands, ", ")), 200);
  if (!site.lat_deg) return tip;
  return tip + fmt::format("\n{:.2f}\u00b0, {:.2f}\u00b0", *site.lat_deg, *site.lon_deg);
}

DrawnMap circle_map(const RunSummary& summary) {
  DrawnMap map{.drawing = {}, .width_px = kWidthPx, .height_px = kHeightPx};
  const std::size_t count = summary.sites.size();
  std::vector<Point> dots;
  std::string sites;
  for (std::size_t i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(count);
    const double right = std::sin(angle);
    const double up = std::cos(angle);
    dots.push_back({kWidthPx / 2 + kRadiusPx * right, kHeightPx / 2 - kRadiusPx * up});
    sites += fmt::format(
        "<circle class=\"site\" data-site=\"{}\" data-tip=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", i,
        escape_html(site_tip(summary.sites[i])), format_coordinate(dots[i].x), format_coordinate(dots[i].y),
        count <= kMostLabels ? 6 : 3);
    if (count > kMostLabels) continue;
    const char* const anchor = right > 0.2 ? "start" : right < -0.2 ? "end" : "middle";
    sites += fmt::format("<text class=\"name\" text-anchor=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", anchor,
                         format_coordinate(dots[i].x + kLabelPx * right),
                         format_coordinate(dots[i].y - (kLabelPx + 2) * up + 4),
                         escape_html(shorten(summary.sites[i].id, kMostLabelCharacters)));
  }
  std::string links;
  std::string targets;
  for (std::size_t i = 0; i < summary.topology_links.size(); ++i) {
    const TopologyLink& link = summary.topology_links[i];
    const Point a = dots[link.a];
    const Point b = dots[link.b];
    const std::string data = path_data({a, b}, false);
    links += fmt::format("<path class=\"link\" stroke-width=\"1.2\" d=\"{}\"/>\n", data);
    targets += fmt::format("<path class=\"target\" data-link=\"{}\" data-tip=\"{}\" d=\"{}\"/>\n", i,
                           escape_html(link_tip(summary, link)), data);
    map.lines[std::to_string(i)] = {{std::round(a.x * 10) / 10, std::round(a.y * 10) / 10,
                                     std::round(b.x * 10) / 10, std::round(b.y * 10) / 10}};
  }
  map.drawing = fmt::format(
      "<g class=\"view\" data-view=\"0\">\n<rect class=\"sea\" width=\"{0}\" height=\"{1}\" rx=\"6\"/>\n{2}"
      "<g class=\"cliques\"></g>\n{3}{4}<rect class=\"frame\" width=\"{0}\" height=\"{1}\" "
      "rx=\"6\"/>\n</g>\n",
      format_coordinate(kWidthPx), format_coordinate(kHeightPx), links, targets, sites);
  return map;
}

}  // namespace tombolo::report
