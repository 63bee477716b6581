#include "schedule/round_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/check.h"
#include "base/units.h"

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;
/// Resources whose times differ by less are equal; the first in order is named.
constexpr double kTie = 1e-12;

}  // namespace

Result<RoundTime> RoundModel::time(const Round& round, double update_bytes) const {
  if (capabilities_.aggregation == Aggregation::kTree)
    return Error{ErrorCode::kNotSupported, "aggregation tree is not supported yet"};
  if (capabilities_.family != Family::kDirect)
    return Error{ErrorCode::kNotSupported, "only the family direct is supported yet"};
  if (!(update_bytes > 0) || !std::isfinite(update_bytes))
    return invalid_input("the update must be larger than 0 bytes");
  CHECK(!round.cliques.empty());
  for (const Clique& clique : round.cliques)
    if (auto joined = check_joined(clique); !joined) return std::move(joined).error();

  Uses uses(2 * network_.islands.size() + network_.links.size());
  RoundTime result;
  for (const Clique& clique : round.cliques) {
    const std::uint64_t latency_ns = clique_latency_ns(clique);
    result.latency_ns.push_back(latency_ns);
    add_access_uses(clique, latency_ns, uses);
    add_core_uses(clique, latency_ns, uses);
  }

  const double bits = update_bytes * static_cast<double>(kBitsPerByte);
  for (std::size_t resource = 0; resource < uses.size(); ++resource) {
    const double seconds = least_time(uses[resource], bits / capacity_bps(resource));
    if (seconds <= result.seconds * (1 + kTie)) continue;
    result.seconds = seconds;
    result.bottleneck = resource_name(resource);
    result.bottleneck_updates = 0;
    for (const Use& use : uses[resource]) result.bottleneck_updates += use.updates;
  }
  return result;
}

/// The least time at which one resource carries what it must; `update_s` is the time that it takes for one
/// update. 0 if nothing uses it.
double RoundModel::least_time(const std::vector<Use>& uses, double update_s) {
  double slowest_s = 0;  // The latest of the cliques, if each had the resource to itself.
  double latest_s = 0;   // Largest latency of a clique that uses it.
  double updates = 0;
  for (const Use& use : uses) {
    const double latency_s = static_cast<double>(use.latency_ns) * kSecondsPerNs;
    slowest_s = std::max(slowest_s, latency_s + use.updates * update_s);
    latest_s = std::max(latest_s, latency_s);
    updates += use.updates;
  }
  if (uses.size() <= 1) return slowest_s;
  // The load falls as the time grows. At `low` it is at least the capacity, since one clique alone fills it;
  // at `high` at most, since there every T - L_C is at least updates * update_s. Halving ends when no double
  // lies between the two.
  double low = slowest_s;
  double high = latest_s + updates * update_s;
  for (double middle = std::midpoint(low, high); middle > low && middle < high;
       middle = std::midpoint(low, high)) {
    double load = 0;
    for (const Use& use : uses)
      load += use.updates * update_s / (middle - static_cast<double>(use.latency_ns) * kSecondsPerNs);
    (load > 1 ? low : high) = middle;
  }
  return high;
}

Status RoundModel::check_joined(const Clique& clique) const {
  for (const Rank a : clique)
    for (const Rank b : clique) {
      const Island& from = network_.islands[a];
      const Island& to = network_.islands[b];
      if (!routes_.reaches(from.site, to.site))
        return invalid_input("there is no way from island " + from.id + " to island " + to.id);
    }
  return ok_status();
}

std::uint64_t RoundModel::clique_latency_ns(const Clique& clique) const {
  std::uint64_t latency_ns = 0;
  for (const Rank a : clique)
    for (const Rank b : clique)
      latency_ns =
          std::max(latency_ns, routes_.latency_ns(network_.islands[a].site, network_.islands[b].site));
  return latency_ns;
}

void RoundModel::add_access_uses(const Clique& clique, std::uint64_t latency_ns, Uses& uses) const {
  const double others = static_cast<double>(clique.size() - 1);
  const double sent = capabilities_.multicast ? 1 : others;
  const double received = capabilities_.aggregation == Aggregation::kEdge ? 1 : others;
  for (const Rank rank : clique) {
    uses[rank].push_back({sent, latency_ns});
    uses[network_.islands.size() + rank].push_back({received, latency_ns});
  }
}

void RoundModel::add_core_uses(const Clique& clique, std::uint64_t latency_ns, Uses& uses) const {
  std::map<std::uint32_t, double> updates_by_link;
  for (const Rank source_rank : clique) {
    const SiteId source = network_.islands[source_rank].site;
    std::vector<bool> in_tree(network_.site_names.size(), false);
    for (const Rank rank : clique) {
      for (SiteId site = network_.islands[rank].site; site != source; site = routes_.parent(source, site)) {
        if (capabilities_.multicast && in_tree[site]) break;
        in_tree[site] = true;
        updates_by_link[routes_.link_into(source, site)] += 1;
      }
    }
  }
  for (const auto& [link, updates] : updates_by_link)
    uses[2 * network_.islands.size() + link].push_back({updates, latency_ns});
}

double RoundModel::capacity_bps(std::size_t resource) const {
  const std::size_t ranks = network_.islands.size();
  if (resource < ranks) return static_cast<double>(network_.egress_bps[network_.islands[resource].site]);
  if (resource < 2 * ranks)
    return static_cast<double>(network_.ingress_bps[network_.islands[resource - ranks].site]);
  return static_cast<double>(network_.links[resource - 2 * ranks].capacity_bps);
}

std::string RoundModel::resource_name(std::size_t resource) const {
  const std::size_t ranks = network_.islands.size();
  if (resource < ranks) return "egress " + network_.islands[resource].id;
  if (resource < 2 * ranks) return "ingress " + network_.islands[resource - ranks].id;
  const DirectedLink& link = network_.links[resource - 2 * ranks];
  return "core " + network_.site_names[link.from] + "-" + network_.site_names[link.to];
}

}  // namespace tombolo::schedule
