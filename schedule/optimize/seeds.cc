#include "schedule/optimize/seeds.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace tombolo::schedule {
namespace {

/// Islands in the order in which one meets them, each time going to the nearest that is left.
std::vector<Rank> tour(const Problem& problem) {
  const std::vector<Island>& islands = problem.network().islands;
  std::vector<Rank> order(islands.size());
  std::iota(order.begin(), order.end(), Rank{0});
  for (std::size_t i = 1; i < order.size(); ++i) {
    const SiteId here = islands[order[i - 1]].site;
    const auto nearest =
        std::min_element(order.begin() + static_cast<std::ptrdiff_t>(i), order.end(), [&](Rank a, Rank b) {
          return std::pair(problem.routes().latency_ns(here, islands[a].site), a) <
                 std::pair(problem.routes().latency_ns(here, islands[b].site), b);
        });
    std::swap(order[i], *nearest);
  }
  return order;
}

void add_clique(Round& round, Clique clique) {
  if (clique.size() < 2) return;
  std::sort(clique.begin(), clique.end());
  round.cliques.push_back(std::move(clique));
}

/// Two rounds: the rows, which are near, and the columns of a grid with `width` places in a row; of one row
/// there are no columns.
Schedule grid(const std::vector<Rank>& order, std::size_t width) {
  Round rows;
  Round columns;
  for (std::size_t first = 0; first < order.size(); first += width) {
    Clique row;
    for (std::size_t i = first; i < std::min(first + width, order.size()); ++i) row.push_back(order[i]);
    add_clique(rows, std::move(row));
  }
  for (std::size_t place = 0; place < width; ++place) {
    Clique column;
    for (std::size_t i = place; i < order.size(); i += width) column.push_back(order[i]);
    add_clique(columns, std::move(column));
  }
  Schedule schedule{"grid", {std::move(rows), std::move(columns)}};
  std::erase_if(schedule.rounds, [](const Round& round) { return round.cliques.empty(); });
  return schedule;
}

/// Pairs, each island with another in each round: one stands still and the others go round. With an odd
/// number one rests in each round.
Schedule tournament(const std::vector<Rank>& order, std::size_t max_rounds) {
  const std::size_t seats = order.size() + order.size() % 2;
  Schedule schedule{"tournament", {}};
  for (std::size_t r = 0; r < std::min(seats - 1, max_rounds); ++r) {
    Round round;
    const auto seated = [&](std::size_t seat) { return seat == 0 ? 0 : 1 + (seat - 1 + r) % (seats - 1); };
    for (std::size_t i = 0; i < seats / 2; ++i) {
      const std::size_t a = seated(i);
      const std::size_t b = seated(seats - 1 - i);
      if (a < order.size() && b < order.size()) add_clique(round, {order[a], order[b]});
    }
    if (!round.cliques.empty()) schedule.rounds.push_back(std::move(round));
  }
  return schedule;
}

/// In round d those meet whose places differ in the binary digit d; places beyond the last island are empty.
Schedule hypercube(const std::vector<Rank>& order) {
  Schedule schedule{"hypercube", {}};
  for (std::size_t bit = 1; bit < order.size(); bit *= 2) {
    Round round;
    for (std::size_t i = 0; i < order.size(); ++i)
      if ((i & bit) == 0 && (i | bit) < order.size()) add_clique(round, {order[i], order[i | bit]});
    schedule.rounds.push_back(std::move(round));
  }
  return schedule;
}

}  // namespace

std::vector<Schedule> plain_seeds(const Problem& problem, std::size_t max_rounds) {
  const std::vector<Rank> order = tour(problem);
  std::vector<Schedule> seeds;
  Round all;
  add_clique(all, order);
  seeds.push_back({"full", {all}});
  const std::size_t side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(order.size()))));
  for (Schedule seed : {grid(order, side), tournament(order, max_rounds), hypercube(order)})
    if (!seed.rounds.empty() && seed.rounds.size() <= max_rounds) seeds.push_back(std::move(seed));
  return seeds;
}

}  // namespace tombolo::schedule
