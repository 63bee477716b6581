#include "tools/report/small_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tools/report/drawing.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

constexpr double kWidthPx = 112;
constexpr double kCircleHeightPx = 74;
constexpr double kDotPx = 2.9;
constexpr double kApartPx = 9.5;
constexpr double kRimPx = 7;
constexpr int kPasses = 200;
constexpr std::size_t kColours = 8;

/// Pushes dots apart that are nearer than kApartPx, and back inside the drawing; a few passes, so that a
/// crowd spreads. Dots at one place part in directions that depend on their indices alone.
void spread(std::vector<Point>& dots, double height_px) {
  for (int pass = 0; pass < kPasses; ++pass)
    for (std::size_t i = 0; i < dots.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        double dx = dots[i].x - dots[j].x;
        double dy = dots[i].y - dots[j].y;
        double away = std::hypot(dx, dy);
        if (away >= kApartPx) continue;
        if (away < 1e-3) {
          const double angle = static_cast<double>(i * 7 + j);
          dx = std::cos(angle);
          dy = std::sin(angle);
          away = 1;
        }
        const double push = (kApartPx - std::min(away, kApartPx)) / 2 / away;
        dots[i] = {dots[i].x + dx * push, dots[i].y + dy * push};
        dots[j] = {dots[j].x - dx * push, dots[j].y - dy * push};
      }
      dots[i].x = std::clamp(dots[i].x, kRimPx, kWidthPx - kRimPx);
      dots[i].y = std::clamp(dots[i].y, kRimPx, height_px - kRimPx);
    }
}

/// The shortest lines that join all members, as a path.
std::string joining_lines(const std::vector<std::size_t>& members, std::span<const Point> dots) {
  std::vector<bool> joined(members.size());
  std::vector<double> away(members.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> from(members.size());
  std::string data;
  std::size_t latest = 0;
  for (std::size_t count = 1; count < members.size(); ++count) {
    joined[latest] = true;
    std::size_t next = members.size();
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (joined[m]) continue;
      const Point a = dots[members[m]];
      const Point b = dots[members[latest]];
      if (const double d = std::hypot(a.x - b.x, a.y - b.y); d < away[m]) {
        away[m] = d;
        from[m] = latest;
      }
      if (next == members.size() || away[m] < away[next]) next = m;
    }
    data += path_data({dots[members[from[next]]], dots[members[next]]}, false);
    latest = next;
  }
  return data;
}

}  // namespace

SmallMaps::SmallMaps(std::span<const std::optional<Degrees>> islands) {
  std::vector<Degrees> places;
  for (const auto& place : islands)
    if (place) places.push_back(*place);
  if (places.size() == islands.size() && !places.empty()) {
    const View view = fit_view(places, {}, kWidthPx);
    height_px_ = view.frame.height;
    land_ = draw_outlines(view);
    for (const Degrees& place : places) dots_.push_back(view.to_nearest_point(place));
  } else {
    height_px_ = kCircleHeightPx;
    for (std::size_t i = 0; i < islands.size(); ++i) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(islands.size());
      dots_.push_back({kWidthPx / 2 + (kWidthPx / 2 - kRimPx) * std::sin(angle),
                       kCircleHeightPx / 2 - (kCircleHeightPx / 2 - kRimPx) * std::cos(angle)});
    }
  }
  spread(dots_, height_px_);
}

std::string SmallMaps::shared() const {
  return fmt::format(
      "<svg class=\"small map shared\" aria-hidden=\"true\"><defs><clipPath id=\"small-clip\"><rect "
      "width=\"{0}\" "
      "height=\"{1}\" rx=\"4\"/></clipPath><g id=\"small-map\" clip-path=\"url(#small-clip)\"><rect "
      "class=\"sea\" "
      "width=\"{0}\" height=\"{1}\"/>{2}</g></defs></svg>\n",
      format_coordinate(kWidthPx), format_coordinate(height_px_), land_);
}

std::string SmallMaps::draw(const std::vector<std::vector<std::size_t>>& cliques,
                            const std::string& label) const {
  const std::string safe = escape_html(label);
  std::string out = fmt::format(
      "<svg class=\"small map\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"{2}\" data-tip=\"{2}\"><use href=\"#small-map\"/>",
      format_coordinate(kWidthPx), format_coordinate(height_px_), safe);
  std::vector<std::size_t> colour_of(dots_.size(), kColours);
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    for (const std::size_t island : cliques[c]) colour_of[island] = c % kColours;
    if (cliques[c].size() > 1)
      out += fmt::format("<path class=\"clique c{}\" d=\"{}\"/>", c % kColours,
                         joining_lines(cliques[c], dots_));
  }
  for (std::size_t i = 0; i < dots_.size(); ++i)
    out +=
        fmt::format("<circle class=\"site {}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
                    colour_of[i] == kColours ? std::string("resting") : fmt::format("c{}", colour_of[i]),
                    format_coordinate(dots_[i].x), format_coordinate(dots_[i].y), format_coordinate(kDotPx));
  return out + "</svg>";
}

}  // namespace tombolo::report
