#include "schedule/bounds.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/units.h"
#include "schedule/fixed_point.h"

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The least capacity of the route's core links.
double route_bps(const Network& network, const Routes& routes, SiteId from, SiteId to) {
  double least_bps = kInfinity;
  for (; to != from; to = routes.parent(from, to))
    least_bps =
        std::min(least_bps, static_cast<double>(network.links[routes.link_into(from, to)].capacity_bps));
  return least_bps;
}

/// By island: the block of the partition that it is in.
std::vector<std::size_t> blocks_of(const Round& round, std::size_t islands, std::vector<double>& sizes) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> block(islands, kNone);
  for (const Clique& clique : round.cliques) {
    for (const Rank rank : clique) block[rank] = sizes.size();
    sizes.push_back(static_cast<double>(clique.size()));
  }
  for (std::size_t& of_island : block) {
    if (of_island != kNone) continue;
    of_island = sizes.size();
    sizes.push_back(1);
  }
  return block;
}

}  // namespace

double pair_seconds(const Network& network, const Routes& routes, Rank a, Rank b, double update_bytes,
                    bool any_mode) {
  const SiteId at_a = network.islands[a].site;
  const SiteId at_b = network.islands[b].site;
  double least_bps = static_cast<double>(std::min({network.egress_bps[at_a], network.egress_bps[at_b],
                                                   network.ingress_bps[at_a], network.ingress_bps[at_b]}));
  if (!any_mode)
    least_bps =
        std::min({least_bps, route_bps(network, routes, at_a, at_b), route_bps(network, routes, at_b, at_a)});
  const std::uint64_t latency_ns = std::max(routes.latency_ns(at_a, at_b), routes.latency_ns(at_b, at_a));
  return static_cast<double>(latency_ns) * kSecondsPerNs +
         update_bytes * static_cast<double>(kBitsPerByte) / least_bps;
}

Result<DisagreementBound> disagreement_bound(const Network& network, const Routes& routes,
                                             double update_bytes, bool any_mode) {
  if (!(update_bytes > 0) || !std::isfinite(update_bytes))
    return invalid_input("the update must be larger than 0 bytes");
  const std::size_t islands = network.islands.size();
  for (const Island& island : network.islands)
    if (!routes.reaches(network.islands[0].site, island.site) ||
        !routes.reaches(island.site, network.islands[0].site))
      return invalid_input(
          fmt::format("there is no way between islands {} and {}", network.islands[0].id, island.id));
  // Prim's algorithm: the tree grows from rank 0 by the nearest island outside.
  DisagreementBound bound;
  std::vector<bool> inside(islands, false);
  std::vector<DisagreementBound::Edge> nearest(islands, {0, 0, kInfinity});
  std::size_t latest = 0;
  double total_s = 0;
  for (std::size_t size = 1; size < islands; ++size) {
    inside[latest] = true;
    std::size_t next = 0;
    double least_s = kInfinity;
    for (std::size_t other = 0; other < islands; ++other) {
      if (inside[other]) continue;
      const Rank a = static_cast<Rank>(latest);
      const Rank b = static_cast<Rank>(other);
      const double seconds = pair_seconds(network, routes, a, b, update_bytes, any_mode);
      if (seconds < nearest[other].seconds) nearest[other] = {a, b, seconds};
      if (nearest[other].seconds >= least_s) continue;
      least_s = nearest[other].seconds;
      next = other;
    }
    total_s += least_s;
    bound.tree.push_back(nearest[next]);
    latest = next;
  }
  bound.seconds = 1.5 * total_s / static_cast<double>(islands);
  return bound;
}

bool allows_any_mode(const Capabilities& capabilities) {
  return capabilities.family != Family::kDirect || capabilities.aggregation == Aggregation::kTree;
}

double optimality_gap(double disagreement_s, double bound_s) {
  return disagreement_s > 0 ? (disagreement_s - bound_s) / disagreement_s : 0;
}

double two_round_correlation(const Round& first, const Round& second, std::size_t islands) {
  std::vector<double> sizes_a;
  std::vector<double> sizes_b;
  const auto block_a = blocks_of(first, islands, sizes_a);
  const auto block_b = blocks_of(second, islands, sizes_b);
  Eigen::MatrixXd common = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(sizes_a.size()),
                                                 static_cast<Eigen::Index>(sizes_b.size()));
  for (std::size_t i = 0; i < islands; ++i)
    common(static_cast<Eigen::Index>(block_a[i]), static_cast<Eigen::Index>(block_b[i])) += 1;
  const double n = static_cast<double>(islands);
  for (Eigen::Index i = 0; i < common.rows(); ++i)
    for (Eigen::Index j = 0; j < common.cols(); ++j) {
      const double root = std::sqrt(sizes_a[i] * sizes_b[j]);
      common(i, j) = common(i, j) / root - root / n;
    }
  return std::sqrt(squared_norm(common));
}

}  // namespace tombolo::schedule
