#include "schedule/baselines/edge_coloring.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"

namespace tombolo::schedule::baselines {
namespace {

constexpr int kNone = -1;

/// A proper partial coloring that grows by one edge at a time.
class Coloring {
 public:
  Coloring(std::size_t islands, std::size_t colors)
      : islands_(islands),
        colors_(colors),
        color_(islands * islands, kNone),
        neighbour_(islands * colors, kNone) {}

  void add(std::size_t u, std::size_t v) {
    std::vector<std::size_t> fan = maximal_fan(u, v);
    const int c = free_color(u);
    const int d = free_color(fan.back());
    invert_path(u, c, d);
    // The inversion may have broken the fan; some prefix of it still is one and ends where d is free.
    std::size_t last = 0;
    while (!is_free(fan[last], d)) {
      CHECK(last + 1 < fan.size() && is_free(fan[last], color(u, fan[last + 1])));
      ++last;
    }
    fan.resize(last + 1);
    // Rotate: each edge of the fan takes the color of the next, the last takes d.
    std::vector<int> next;
    for (std::size_t i = 1; i < fan.size(); ++i) next.push_back(color(u, fan[i]));
    next.push_back(d);
    for (const std::size_t w : fan)
      if (color(u, w) != kNone) clear(u, w);
    for (std::size_t i = 0; i < fan.size(); ++i) set(u, fan[i], next[i]);
  }

  int color(std::size_t a, std::size_t b) const { return color_[a * islands_ + b]; }

 private:
  bool is_free(std::size_t node, int color) const {
    return neighbour_[node * colors_ + static_cast<std::size_t>(color)] == kNone;
  }
  int free_color(std::size_t node) const {
    int color = 0;
    while (!is_free(node, color)) ++color;
    CHECK(static_cast<std::size_t>(color) < colors_);
    return color;
  }
  void set(std::size_t a, std::size_t b, int color) {
    color_[a * islands_ + b] = color_[b * islands_ + a] = color;
    neighbour_[a * colors_ + static_cast<std::size_t>(color)] = static_cast<int>(b);
    neighbour_[b * colors_ + static_cast<std::size_t>(color)] = static_cast<int>(a);
  }
  void clear(std::size_t a, std::size_t b) {
    const auto color = static_cast<std::size_t>(color_[a * islands_ + b]);
    color_[a * islands_ + b] = color_[b * islands_ + a] = kNone;
    neighbour_[a * colors_ + color] = neighbour_[b * colors_ + color] = kNone;
  }

  /// Neighbours of u from v on, each joined to u by a color that is free at the one before.
  std::vector<std::size_t> maximal_fan(std::size_t u, std::size_t v) const {
    std::vector<std::size_t> fan{v};
    std::vector<bool> used(islands_, false);
    used[v] = true;
    for (bool grown = true; grown;) {
      grown = false;
      for (std::size_t color = 0; color < colors_ && !grown; ++color) {
        const int next = neighbour_[u * colors_ + color];
        if (next == kNone || used[static_cast<std::size_t>(next)] ||
            !is_free(fan.back(), static_cast<int>(color)))
          continue;
        fan.push_back(static_cast<std::size_t>(next));
        used[fan.back()] = true;
        grown = true;
      }
    }
    return fan;
  }

  /// Exchanges c and d along the path from u that begins with d; c is free at u.
  void invert_path(std::size_t u, int c, int d) {
    if (c == d) return;
    std::vector<std::size_t> path{u};
    for (int color = d; !is_free(path.back(), color); color = color == c ? d : c)
      path.push_back(
          static_cast<std::size_t>(neighbour_[path.back() * colors_ + static_cast<std::size_t>(color)]));
    std::vector<int> inverted;
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
      inverted.push_back(color(path[i], path[i + 1]) == c ? d : c);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) clear(path[i], path[i + 1]);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) set(path[i], path[i + 1], inverted[i]);
  }

  std::size_t islands_;
  std::size_t colors_;
  std::vector<int> color_;      ///< [a][b].
  std::vector<int> neighbour_;  ///< [node][color].
};

}  // namespace

std::vector<std::vector<Edge>> matchings_of(std::span<const Edge> edges, std::size_t islands) {
  std::vector<std::size_t> degree(islands, 0);
  for (const auto& [a, b] : edges) {
    ++degree[a];
    ++degree[b];
  }
  const std::size_t colors = *std::max_element(degree.begin(), degree.end()) + 1;
  Coloring coloring(islands, colors);
  for (const auto& [a, b] : edges) coloring.add(a, b);
  std::vector<std::vector<Edge>> matchings(colors);
  for (const Edge& edge : edges)
    matchings[static_cast<std::size_t>(coloring.color(edge.first, edge.second))].push_back(edge);
  std::erase_if(matchings, [](const std::vector<Edge>& matching) { return matching.empty(); });
  return matchings;
}

std::vector<Edge> physical_edges(const Scene& scene) {
  const Network& network = scene.setting().network;
  const Routes& routes = scene.setting().routes;
  std::map<SiteId, Rank> first;
  std::vector<Edge> edges;
  for (std::size_t rank = 0; rank < scene.islands(); ++rank) {
    const auto [place, is_new] = first.emplace(network.islands[rank].site, static_cast<Rank>(rank));
    if (!is_new) edges.emplace_back(place->second, static_cast<Rank>(rank));
  }
  const auto linked = [&](SiteId a, SiteId b) {
    return std::any_of(network.links.begin(), network.links.end(),
                       [&](const DirectedLink& link) { return link.from == a && link.to == b; });
  };
  for (const auto& [a, rank_a] : first)
    for (const auto& [b, rank_b] : first) {
      if (rank_a >= rank_b) continue;
      if (linked(a, b)) {
        edges.emplace_back(rank_a, rank_b);
        continue;
      }
      SiteId site = routes.parent(a, b);
      while (site != a && !first.contains(site)) site = routes.parent(a, site);
      if (site == a) edges.emplace_back(rank_a, rank_b);
    }
  std::sort(edges.begin(), edges.end());
  return edges;
}

}  // namespace tombolo::schedule::baselines
