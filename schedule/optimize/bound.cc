#include "schedule/optimize/bound.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/units.h"

namespace tombolo::schedule {
namespace {

double access_distance_s(const Problem& problem, Rank a, Rank b) {
  const Network& network = problem.network();
  const SiteId from = network.islands[a].site;
  const SiteId to = network.islands[b].site;
  const double slowest_bps =
      static_cast<double>(std::min({network.egress_bps[from], network.egress_bps[to],
                                    network.ingress_bps[from], network.ingress_bps[to]}));
  const auto latency_ns =
      std::max(problem.routes().latency_ns(from, to), problem.routes().latency_ns(to, from));
  return static_cast<double>(latency_ns) * 1e-9 +
         problem.update_bytes() * static_cast<double>(kBitsPerByte) / slowest_bps;
}

double distance_s(const Problem& problem, Rank a, Rank b) {
  const Capabilities& can = problem.capabilities();
  if (can.family != Family::kDirect || can.aggregation == Aggregation::kTree)
    return access_distance_s(problem, a, b);
  const auto time = problem.model().time(Round{{{std::min(a, b), std::max(a, b)}}}, problem.update_bytes());
  return time ? time->seconds : std::numeric_limits<double>::infinity();
}

}  // namespace

/// Prim's algorithm: the island nearest to the tree joins it.
double disagreement_bound_s(const Problem& problem) {
  const std::size_t n = problem.islands();
  std::vector<double> nearest_s(n, std::numeric_limits<double>::infinity());
  std::vector<bool> joined(n, false);
  double tree_s = 0;
  std::size_t latest = 0;
  for (std::size_t step = 1; step < n; ++step) {
    joined[latest] = true;
    std::size_t next = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (joined[i]) continue;
      nearest_s[i] =
          std::min(nearest_s[i], distance_s(problem, static_cast<Rank>(latest), static_cast<Rank>(i)));
      if (next == n || nearest_s[i] < nearest_s[next]) next = i;
    }
    tree_s += nearest_s[next];
    latest = next;
  }
  return 1.5 * tree_s / static_cast<double>(n);
}

}  // namespace tombolo::schedule
