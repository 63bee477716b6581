#include "schedule/round_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "base/check.h"
#include "base/units.h"
#include "schedule/mode_choice.h"

namespace tombolo::schedule {
namespace {

/// A resource this close to its capacity is a bottleneck; the first in order is named.
constexpr double kFull = 1 - 1e-9;

/// What the capabilities say of each site or link, or of all, where the network does not deny it.
std::vector<bool> combined(std::size_t count, bool all, const std::vector<bool>& each,
                           const std::vector<bool>& network) {
  CHECK(each.empty() || each.size() == count);
  CHECK(network.empty() || network.size() == count);
  std::vector<bool> result(count, all);
  for (std::size_t i = 0; i < count; ++i) {
    if (!each.empty()) result[i] = each[i];
    if (!network.empty() && !network[i]) result[i] = false;
  }
  return result;
}

}  // namespace

RoundModel::RoundModel(const Network& network, const Routes& routes, Capabilities capabilities)
    : network_(network), routes_(routes), capabilities_(std::move(capabilities)) {
  const std::size_t sites = network.site_names.size();
  site_replicates_ =
      combined(sites, capabilities_.multicast, capabilities_.site_replicates, network.site_replicates);
  site_aggregates_ = combined(sites, capabilities_.aggregation != Aggregation::kNone,
                              capabilities_.site_aggregates, network.site_aggregates);
  for (const Island& island : network.islands)
    capacities_bps_.push_back(static_cast<double>(network.egress_bps[island.site]));
  for (const Island& island : network.islands)
    capacities_bps_.push_back(static_cast<double>(network.ingress_bps[island.site]));
  for (const DirectedLink& link : network.links)
    capacities_bps_.push_back(static_cast<double>(link.capacity_bps));
  std::vector<bool> links_can;
  for (const DirectedLink& link : network.links) links_can.push_back(link.multicast);
  link_multicast_ =
      combined(network.links.size(), capabilities_.multicast, capabilities_.link_multicast, links_can);
  find_multicast_routes(link_multicast_);
}

void RoundModel::find_multicast_routes(const std::vector<bool>& link_multicast) {
  if (std::find(link_multicast.begin(), link_multicast.end(), false) == link_multicast.end()) return;
  const std::size_t sites = network_.site_names.size();
  multicast_route_.assign(sites * sites, false);
  std::vector<SiteId> order(sites);
  for (std::size_t i = 0; i < sites; ++i) {
    const SiteId source = static_cast<SiteId>(i);
    std::iota(order.begin(), order.end(), SiteId{0});
    // Parents before children; sites that are not reached come last.
    std::sort(order.begin(), order.end(), [&](SiteId a, SiteId b) {
      return routes_.latency_ns(source, a) < routes_.latency_ns(source, b);
    });
    multicast_route_[i * sites + i] = true;
    for (const SiteId at : order)
      if (at != source && routes_.reaches(source, at))
        multicast_route_[i * sites + at] = multicast_route_[i * sites + routes_.parent(source, at)] &&
                                           link_multicast[routes_.link_into(source, at)];
  }
}

bool RoundModel::all_alike() const {
  const auto alike = [](const std::vector<bool>& list) {
    return std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>()) == list.end();
  };
  // Without multicast anywhere the only routes that carry it are those of a site to itself.
  const std::size_t sites = network_.site_names.size();
  const bool links_alike =
      multicast_route_.empty() || std::count(multicast_route_.begin(), multicast_route_.end(), true) ==
                                      static_cast<std::ptrdiff_t>(sites);
  return alike(site_replicates_) && alike(site_aggregates_) && links_alike;
}

Result<RoundTime> RoundModel::time(const Round& round, double update_bytes) const {
  if (auto valid = check_round(round, update_bytes); !valid) return std::move(valid).error();
  RoundTime result;
  if (round.cliques.empty()) {
    result.seconds = round.rest_s;
    return result;
  }
  const std::vector<double> update_s = update_seconds(update_bytes);
  std::vector<std::vector<CliqueMode>> modes;
  std::vector<std::vector<CliqueLoad>> loads;
  for (std::size_t i = 0; i < round.cliques.size(); ++i) {
    const bool given = !round.modes.empty() && round.modes[i];
    if (!round.trees.empty() && !round.trees[i].empty()) {
      modes.push_back({{Mode::kDirect}});
      loads.push_back({load(round.cliques[i], round.trees[i])});
      continue;
    }
    modes.push_back(given ? std::vector{*round.modes[i]} : allowed_modes(round.cliques[i]));
    loads.emplace_back();
    for (CliqueMode& mode : modes.back()) {
      if (mode.mode == Mode::kTree && mode.root == kCentralRoot) mode.root = *central_root(round.cliques[i]);
      loads.back().push_back(load(round.cliques[i], mode));
    }
  }
  const std::vector<std::span<const CliqueLoad>> options(loads.begin(), loads.end());
  const ModeChoice choice = choose_modes(options, update_s);
  result.seconds = choice.seconds;
  result.modes_proven = choice.proven;
  std::vector<const CliqueLoad*> chosen;
  for (std::size_t i = 0; i < round.cliques.size(); ++i) {
    result.modes.push_back(modes[i][choice.picks[i]]);
    const bool chosen_trees = !round.trees.empty() && !round.trees[i].empty();
    result.latency_ns.push_back(chosen_trees ? latency_ns(round.cliques[i], round.trees[i])
                                             : latency_ns(round.cliques[i], result.modes.back()));
    chosen.push_back(&loads[i][choice.picks[i]]);
  }
  name_bottleneck(chosen, update_s, result);
  return result;
}

Result<double> RoundModel::time(const MessageRound& round, double update_bytes) const {
  if (!(update_bytes > 0) || !std::isfinite(update_bytes))
    return invalid_input("the update must be larger than 0 bytes");
  const auto asked = load(round);
  if (!asked) return asked.error();
  const CliqueLoad* const all = &*asked;
  return least_time({&all, 1}, update_seconds(update_bytes));
}

/// Everything that time() refuses.
Status RoundModel::check_round(const Round& round, double update_bytes) const {
  if (!(update_bytes > 0) || !std::isfinite(update_bytes))
    return invalid_input("the update must be larger than 0 bytes");
  if (round.cliques.empty() && !(round.rest_s > 0 && std::isfinite(round.rest_s)))
    return invalid_input("a round without cliques must say how long it rests, above 0 s");
  CHECK(round.modes.empty() || round.modes.size() == round.cliques.size());
  for (std::size_t i = 0; i < round.cliques.size(); ++i) {
    const Clique& clique = round.cliques[i];
    if (auto joined = check_joined(clique); !joined) return joined;
    if (round.modes.empty() || !round.modes[i] || round.modes[i]->mode != Mode::kTree) continue;
    const std::string name = "the clique of island " + network_.islands[clique.front()].id;
    if (capabilities_.aggregation != Aggregation::kTree)
      return invalid_input(name + ": mode tree needs aggregation tree");
    const SiteId root = round.modes[i]->root;
    if (root == kCentralRoot ? !central_root(clique) : root >= site_aggregates_.size() || !aggregates(root))
      return invalid_input(name + ": mode tree needs a root that aggregates");
    if (root != kCentralRoot &&
        !(routes_.reaches(root, site(clique.front())) && routes_.reaches(site(clique.front()), root)))
      return invalid_input(name + ": there is no way to the root " + network_.site_names[root]);
  }
  return check_trees(round);
}

/// The first resource that is full at the round's time.
void RoundModel::name_bottleneck(std::span<const CliqueLoad* const> cliques, std::span<const double> update_s,
                                 RoundTime& time) const {
  struct Sum {
    double utilisation = 0;
    double updates = 0;
  };
  std::map<std::uint32_t, Sum> sums;
  for (const CliqueLoad* const clique : cliques)
    for (const ResourceLoad& load : clique->loads) {
      Sum& sum = sums[load.resource];
      sum.updates += load.updates;
      sum.utilisation += load.updates * update_s[load.resource] / (time.seconds - clique->latency_s);
    }
  for (const auto& [resource, sum] : sums) {
    if (sum.utilisation < kFull) continue;
    time.bottleneck = resource_name(resource);
    time.bottleneck_updates = sum.updates;
    return;
  }
}

std::vector<double> RoundModel::update_seconds(double update_bytes) const {
  std::vector<double> seconds;
  for (const double capacity : capacities_bps_)
    seconds.push_back(update_bytes * static_cast<double>(kBitsPerByte) / capacity);
  return seconds;
}

Status RoundModel::check_joined(const Clique& clique) const {
  for (const Rank a : clique)
    for (const Rank b : clique)
      if (!routes_.reaches(site(a), site(b)))
        return invalid_input("there is no way from island " + network_.islands[a].id + " to island " +
                             network_.islands[b].id);
  return ok_status();
}

std::string RoundModel::resource_name(std::size_t resource) const {
  const std::size_t ranks = network_.islands.size();
  if (resource < ranks) return "egress " + network_.islands[resource].id;
  if (resource < 2 * ranks) return "ingress " + network_.islands[resource - ranks].id;
  const DirectedLink& link = network_.links[resource - 2 * ranks];
  return "core " + network_.site_names[link.from] + "-" + network_.site_names[link.to];
}

}  // namespace tombolo::schedule
