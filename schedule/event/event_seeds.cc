#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "schedule/event/event_search.h"

namespace tombolo::schedule {
namespace {

std::uint64_t latency_ns(const EventModel& model, Rank a, Rank b) {
  const auto& islands = model.network().islands;
  return model.routes().latency_ns(islands[a].site, islands[b].site);
}

/// Near islands become neighbours: always on to the nearest that is left, from the most remote one on.
std::vector<Rank> near_order(const EventModel& model) {
  const std::size_t n = model.network().islands.size();
  std::vector<Rank> left(n);
  std::iota(left.begin(), left.end(), Rank{0});
  const auto reach = [&](Rank rank) {
    std::uint64_t farthest = 0;
    for (Rank other = 0; other < n; ++other) farthest = std::max(farthest, latency_ns(model, rank, other));
    return farthest;
  };
  auto next = std::max_element(left.begin(), left.end(), [&](Rank a, Rank b) { return reach(a) < reach(b); });
  std::vector<Rank> order;
  while (true) {
    const Rank at = *next;
    order.push_back(at);
    left.erase(next);
    if (left.empty()) return order;
    next = std::min_element(left.begin(), left.end(), [&](Rank a, Rank b) {
      return latency_ns(model, at, a) < latency_ns(model, at, b);
    });
  }
}

void add_clique(Round& round, Clique clique) {
  if (clique.size() < 2 || clique.size() > kMaxCliqueMembers) return;
  std::sort(clique.begin(), clique.end());
  round.cliques.push_back(std::move(clique));
}

/// Runs of `width` neighbours, then the first of each run, the second of each, and so on.
Schedule grid_of(const std::vector<Rank>& order, std::size_t width) {
  Schedule schedule{fmt::format("groups of {}", width), {}};
  Round near;
  Round far;
  for (std::size_t first = 0; first < order.size(); first += width) {
    const std::size_t last = std::min(order.size(), first + width);
    add_clique(near, Clique(order.begin() + static_cast<std::ptrdiff_t>(first),
                            order.begin() + static_cast<std::ptrdiff_t>(last)));
  }
  for (std::size_t column = 0; column < width; ++column) {
    Clique clique;
    for (std::size_t at = column; at < order.size(); at += width) clique.push_back(order[at]);
    add_clique(far, std::move(clique));
  }
  for (Round& round : std::vector<Round>{near, far})
    if (!round.cliques.empty()) schedule.rounds.push_back(round);
  return schedule;
}

/// Pairs at distance 1, 2, 4, ... along the order, and the two ends of what such pairs leave alone.
Schedule doubling(const std::vector<Rank>& order) {
  Schedule schedule{"doubling pairs", {}};
  for (std::size_t step = 1; step < order.size(); step *= 2) {
    Round round;
    std::vector<Rank> alone;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t other = i ^ step;
      if (other >= order.size())
        alone.push_back(order[i]);
      else if (i < other)
        add_clique(round, {order[i], order[other]});
    }
    for (std::size_t i = 0; i + 1 < alone.size(); i += 2) add_clique(round, {alone[i], alone[i + 1]});
    if (!round.cliques.empty()) schedule.rounds.push_back(std::move(round));
  }
  return schedule;
}

}  // namespace

std::vector<Schedule> event_seeds(const EventModel& model) {
  const std::size_t n = model.network().islands.size();
  std::vector<Schedule> seeds;
  if (auto full = full_schedule(model.network().islands); full) seeds.push_back(std::move(*full));
  const std::vector<Rank> order = near_order(model);
  for (std::size_t width = 2; width * 2 <= n && width <= kMaxCliqueMembers; ++width) {
    Schedule grid = grid_of(order, width);
    // Columns that are longer than a clique may be are left out: such a grid does not join all.
    if ((n + width - 1) / width <= kMaxCliqueMembers) seeds.push_back(std::move(grid));
    if (width > 8) width += width / 4;
  }
  seeds.push_back(doubling(order));
  return seeds;
}

}  // namespace tombolo::schedule
