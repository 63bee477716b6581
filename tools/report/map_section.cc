#include "tools/report/map_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tools/report/assets.h"
#include "tools/report/circle_map.h"
#include "tools/report/cliques.h"
#include "tools/report/drawing.h"
#include "tools/report/geometry.h"
#include "tools/report/labels.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

constexpr double kMapWidthPx = 1120;
constexpr double kDotPx = 6;
constexpr double kSmallDotPx = 3.2;  // In the main view, for what an inset shows larger.
constexpr double kLabelHeightPx = 15;
constexpr double kThinPx = 1.4;
constexpr double kThickPx = 3.4;
constexpr std::size_t kMostInsets = 2;
constexpr std::size_t kMostLabelCharacters = 28;

/// Everything that is drawn, in degrees; sites without coordinates are left out.
struct Scene {
  std::vector<std::size_t> sites;           ///< Indices in the summary.
  std::vector<Degrees> places;              ///< Of those sites.
  std::vector<std::size_t> links;           ///< Indices in the summary.
  std::vector<std::vector<Degrees>> lines;  ///< Of those links.
};

Scene make_scene(const RunSummary& summary) {
  Scene scene;
  const auto place = [&](std::size_t site) {
    return Degrees{*summary.sites[site].lon_deg, *summary.sites[site].lat_deg};
  };
  for (std::size_t i = 0; i < summary.sites.size(); ++i)
    if (summary.sites[i].lat_deg) {
      scene.sites.push_back(i);
      scene.places.push_back(place(i));
    }
  for (std::size_t i = 0; i < summary.topology_links.size(); ++i) {
    const TopologyLink& link = summary.topology_links[i];
    if (!summary.sites[link.a].lat_deg || !summary.sites[link.b].lat_deg) continue;
    scene.links.push_back(i);
    scene.lines.push_back(great_circle(place(link.a), place(link.b)));
  }
  return scene;
}

/// Line widths by capacity, on a logarithmic scale from the least to the most that occurs.
class Thickness {
 public:
  explicit Thickness(const std::vector<TopologyLink>& links) {
    for (const TopologyLink& link : links)
      if (link.rate_bps && *link.rate_bps > 0) rates_.insert(*link.rate_bps);
  }

  double px(const std::optional<double>& rate_bps) const {
    if (!rate_bps || *rate_bps <= 0 || rates_.size() < 2) return kThinPx + (rates_.size() == 1 ? 0.8 : 0);
    const double least = std::log(*rates_.begin());
    const double most = std::log(*rates_.rbegin());
    return kThinPx + (kThickPx - kThinPx) * (std::log(*rate_bps) - least) / (most - least);
  }

  /// A sample of each width, with the capacity that it stands for; of many the least and the most.
  std::string legend() const {
    std::vector<double> shown(rates_.begin(), rates_.end());
    if (shown.size() > 4) shown = {shown.front(), shown.back()};
    std::string html;
    for (const double rate : shown)
      html += fmt::format(
          "<span><svg width=\"34\" height=\"10\" aria-hidden=\"true\"><line class=\"link\" x1=\"1\" y1=\"5\" "
          "x2=\"33\" "
          "y2=\"5\" stroke-width=\"{}\"/></svg>{}</span>",
          format_coordinate(px(rate)), escape_html(format_rate(rate)));
    return html;
  }

 private:
  std::set<double> rates_;
};

/// The links as thin lines, an empty group where the script draws the cliques, and broad invisible lines that
/// are easy to point at.
std::string draw_links(const RunSummary& summary, const Scene& scene, const View& view,
                       const Thickness& thickness) {
  std::string lines;
  std::string targets;
  for (std::size_t i = 0; i < scene.links.size(); ++i) {
    const TopologyLink& link = summary.topology_links[scene.links[i]];
    std::string data;
    for (const std::vector<Point>& copy : project(scene.lines[i], view)) data += path_data(copy, false);
    if (data.empty()) continue;
    lines += fmt::format("<path class=\"link\" stroke-width=\"{}\" d=\"{}\"/>\n",
                         format_coordinate(thickness.px(link.rate_bps)), data);
    targets += fmt::format("<path class=\"target\" data-link=\"{}\" data-tip=\"{}\" d=\"{}\"/>\n",
                           scene.links[i], escape_html(link_tip(summary, link)), data);
  }
  return lines + "<g class=\"cliques\"></g>\n" + targets;
}

/// The dots, then their names; `hidden` are parts of the view that an inset shows instead, `taken` the
/// insets.
std::string draw_sites(const RunSummary& summary, const Scene& scene, const View& view,
                       const std::vector<Rect>& hidden, const std::vector<Rect>& taken) {
  Obstacles obstacles;
  obstacles.dot_radius_px = kDotPx;
  obstacles.taken = taken;
  obstacles.taken.insert(obstacles.taken.end(), hidden.begin(), hidden.end());
  for (const std::vector<Degrees>& line : scene.lines)
    for (const std::vector<Point>& copy : project(line, view))
      obstacles.line_points.insert(obstacles.line_points.end(), copy.begin(), copy.end());
  std::string dots;
  std::vector<Label> labels;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < scene.sites.size(); ++i) {
    const Point dot = view.to_nearest_point(scene.places[i]);
    if (!view.frame.contains(dot)) continue;
    const SummarySite& site = summary.sites[scene.sites[i]];
    const bool small =
        std::any_of(hidden.begin(), hidden.end(), [&](const Rect& part) { return part.contains(dot); });
    dots += fmt::format(
        "<circle class=\"site\" data-site=\"{}\" data-tip=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n",
        scene.sites[i], escape_html(site_tip(site)), format_coordinate(dot.x), format_coordinate(dot.y),
        small ? kSmallDotPx : kDotPx);
    obstacles.dots.push_back(dot);
    if (small) continue;
    const std::string city = shorten(site.city, kMostLabelCharacters);
    const double bold = 1.12 * text_width_px(shorten(site.id, kMostLabelCharacters));
    labels.push_back({dot, bold + (city.empty() ? 0 : 4 + text_width_px(city)), kLabelHeightPx});
    owners.push_back(scene.sites[i]);
  }
  std::string names;
  std::string leaders;
  const std::vector<PlacedLabel> placed = place_labels(labels, obstacles, view.frame.grown(-4));
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (!placed[i].shown) continue;
    const SummarySite& site = summary.sites[owners[i]];
    const Rect& box = placed[i].box;
    if (placed[i].leader)
      leaders += fmt::format("<line class=\"leader\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n",
                             format_coordinate(labels[i].dot.x), format_coordinate(labels[i].dot.y),
                             format_coordinate(std::clamp(labels[i].dot.x, box.x, box.right())),
                             format_coordinate(std::clamp(labels[i].dot.y, box.y, box.bottom())));
    names += fmt::format("<text class=\"name\" x=\"{}\" y=\"{}\"><tspan class=\"id\">{}</tspan> {}</text>\n",
                         format_coordinate(box.x), format_coordinate(box.y + kLabelHeightPx - 3.5),
                         escape_html(shorten(site.id, kMostLabelCharacters)),
                         escape_html(shorten(site.city, kMostLabelCharacters)));
  }
  return leaders + dots + names;
}

struct Parts {
  std::vector<Rect> hidden;
  std::vector<Rect> taken;
};

std::string draw_view(const RunSummary& summary, const Scene& scene, const View& view, std::size_t number,
                      const Parts& parts, const Thickness& thickness) {
  const Rect& frame = view.frame;
  const std::string box = fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
                                      format_coordinate(frame.x), format_coordinate(frame.y),
                                      format_coordinate(frame.width), format_coordinate(frame.height));
  return fmt::format(
      "<g class=\"view\" data-view=\"{0}\">\n<clipPath id=\"map-clip-{0}\"><rect {1} rx=\"6\"/></clipPath>\n"
      "<g clip-path=\"url(#map-clip-{0})\">\n<rect class=\"sea\" {1}/>\n{2}{3}{4}</g>\n"
      "<rect class=\"frame\" {1} rx=\"6\"/>\n</g>\n",
      number, box, draw_outlines(view), draw_links(summary, scene, view, thickness),
      draw_sites(summary, scene, view, parts.hidden, parts.taken));
}

/// A frame round what the inset enlarges, and a line from it to the inset.
std::string draw_callout(const Inset& inset) {
  const Rect& from = inset.source;
  const Rect& to = inset.view.frame;
  const Point middle{from.x + from.width / 2, from.y + from.height / 2};
  const Point end{std::clamp(middle.x, to.x, to.right()), std::clamp(middle.y, to.y, to.bottom())};
  const Point start{std::clamp(end.x, from.x, from.right()), std::clamp(end.y, from.y, from.bottom())};
  return fmt::format(
      "<rect class=\"callout\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/>\n"
      "<line class=\"callout\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n",
      format_coordinate(from.x), format_coordinate(from.y), format_coordinate(from.width),
      format_coordinate(from.height), format_coordinate(start.x), format_coordinate(start.y),
      format_coordinate(end.x), format_coordinate(end.y));
}

/// A round's times for people, as far as there are any.
std::string times_text(const SummaryRound& round) {
  std::string times = "predicted " + format_fixed(round.predicted_s, 3) + " s, measured " +
                      format_fixed(round.measured_s, 3) + " s";
  if (const auto ratio = round.ratio()) times += ", ratio " + format_fixed(ratio, 2);
  if (round.exact) times += *round.exact ? ", exact" : ", NOT EXACT";
  return times;
}

nlohmann::json detail_data(const MapDetail& detail) {
  nlohmann::json data{{"uses", nlohmann::json::array()},
                      {"trees", nlohmann::json::object()},
                      {"link_notes", nlohmann::json::object()},
                      {"site_notes", nlohmann::json::object()}};
  for (const MapUse& use : detail.uses)
    data["uses"].push_back({use.clique, use.link, std::round(use.share * 1e4) / 1e4});
  for (const MapTree& tree : detail.trees) data["trees"][std::to_string(tree.site)] = tree.links;
  for (const auto& [link, note] : detail.link_notes) data["link_notes"][std::to_string(link)] = note;
  for (const auto& [site, note] : detail.site_notes) data["site_notes"][std::to_string(site)] = note;
  return data;
}

/// What the script needs to colour the cliques: the cliques of each round. The caller adds each link's line
/// in each view.
nlohmann::json make_data(const RunSummary& summary, std::span<const MapDetail> details) {
  const DrawnRounds drawn = draw_rounds(summary);
  nlohmann::json data{{"cliques", nlohmann::json::array()},
                      {"rounds", nlohmann::json::array()},
                      {"views", nlohmann::json::array()}};
  for (const DrawnClique& clique : drawn.cliques)
    data["cliques"].push_back(
        {{"members", clique.members}, {"sites", clique.sites}, {"links", clique.links}});
  for (std::size_t i = 0; i < summary.rounds.size(); ++i) {
    const SummaryRound& round = summary.rounds[i];
    nlohmann::json entry = i < details.size() ? detail_data(details[i]) : nlohmann::json::object();
    entry["number"] = round.round;
    entry["cliques"] = drawn.rounds[i];
    entry["times"] = i < details.size() ? details[i].note : times_text(round);
    data["rounds"].push_back(std::move(entry));
  }
  return data;
}

/// By the link's index in the topology; a link has several lines where it leaves the map and comes in again.
nlohmann::json line_data(const Scene& scene, const View& view) {
  nlohmann::json lines = nlohmann::json::object();
  for (std::size_t i = 0; i < scene.links.size(); ++i) {
    nlohmann::json copies = nlohmann::json::array();
    for (const std::vector<Point>& copy : project(scene.lines[i], view)) {
      nlohmann::json numbers = nlohmann::json::array();
      for (const Point& p : copy) {
        numbers.push_back(std::round(p.x * 10) / 10);
        numbers.push_back(std::round(p.y * 10) / 10);
      }
      copies.push_back(std::move(numbers));
    }
    if (!copies.empty()) lines[std::to_string(scene.links[i])] = std::move(copies);
  }
  return lines;
}

std::string controls(std::size_t rounds) {
  if (rounds == 0) return {};
  return fmt::format(
      "<div class=\"stepper\">\n<span class=\"buttons\">"
      "<button type=\"button\" data-step=\"-1\" title=\"Previous round (left arrow)\">\u2039</button>"
      "<button type=\"button\" data-play title=\"Play (p)\">\u25b6</button>"
      "<button type=\"button\" data-step=\"1\" title=\"Next round (right arrow)\">\u203a</button></span>\n"
      "<input type=\"range\" min=\"0\" max=\"{}\" value=\"0\" aria-label=\"Round\"{}>\n"
      "<output class=\"round\"></output><span class=\"times\"></span>\n<span class=\"chips\"></span></div>\n"
      "<noscript><p class=\"note\">Stepping through the rounds needs JavaScript; the table of rounds has "
      "them "
      "all.</p></noscript>\n",
      rounds - 1, rounds == 1 ? " hidden" : "");
}

/// The widths of the cliques' lines; map.js draws them by the same rule.
std::string load_legend(bool with_loads) {
  if (!with_loads) return {};
  std::string html;
  for (const int percent : {10, 50, 100})
    html += fmt::format(
        "<span><svg width=\"34\" height=\"12\" aria-hidden=\"true\"><line class=\"load\" x1=\"2\" y1=\"6\" "
        "x2=\"32\" "
        "y2=\"6\" stroke-width=\"{}\"/></svg>{} % of a link</span>",
        format_coordinate(1.5 + 0.075 * percent), percent);
  return html + "<span>a site under the pointer shows its tree, a clique's name picks it out</span>";
}

std::string frame_map(std::size_t rounds, double width_px, double height_px, const std::string& drawing,
                      const std::string& legend) {
  return fmt::format(
      "{}<div class=\"frame-map\"><svg class=\"map\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Map of "
      "the "
      "sites and links\">\n{}</svg></div>\n"
      "<p class=\"legend\">{}<span class=\"hint\">point at a link or site for its figures</span></p>\n",
      controls(rounds), format_coordinate(width_px), format_coordinate(height_px), drawing, legend);
}

}  // namespace

Section map_section(const RunSummary& summary, std::span<const MapDetail> details) {
  Section section{.id = "map", .title = "Map", .body = {}};
  const Scene scene = make_scene(summary);
  if (!details.empty() && scene.sites.size() < summary.sites.size()) {
    const DrawnMap circle = circle_map(summary);
    section.body = frame_map(summary.rounds.size(), circle.width_px, circle.height_px, circle.drawing,
                             load_legend(!details.empty()));
    section.data = make_data(summary, details);
    section.data["views"].push_back(circle.lines);
    section.script = assets::map_js();
    return section;
  }
  if (scene.sites.empty()) {
    section.body =
        paragraph("The summary of this run has no sites with latitude and longitude, so there is no map.");
    return section;
  }
  std::vector<View> views{fit_view(scene.places, scene.lines, kMapWidthPx)};
  const std::vector<Inset> insets = make_insets(views.front(), scene.places, scene.lines, kMostInsets);
  const Thickness thickness(summary.topology_links);
  Parts parts;
  std::string callouts;
  for (const Inset& inset : insets) {
    parts.hidden.push_back(inset.source);
    parts.taken.push_back(inset.view.frame);
    views.push_back(inset.view);
    callouts += draw_callout(inset);
  }
  std::string drawing = draw_view(summary, scene, views.front(), 0, parts, thickness) + callouts;
  for (std::size_t i = 1; i < views.size(); ++i)
    drawing += draw_view(summary, scene, views[i], i, {}, thickness);
  section.body = frame_map(summary.rounds.size(), kMapWidthPx, views.front().frame.height, drawing,
                           thickness.legend() + load_legend(!details.empty()));
  std::string missing;
  for (const SummarySite& site : summary.sites)
    if (!site.lat_deg) missing += (missing.empty() ? "" : ", ") + site.id;
  if (!missing.empty())
    section.body += paragraph("Not on the map, for want of coordinates: " + missing + ".");
  section.data = make_data(summary, details);
  for (const View& view : views) section.data["views"].push_back(line_data(scene, view));
  section.script = assets::map_js();
  return section;
}

}  // namespace tombolo::report
