#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "schedule/core_loads.h"
#include "schedule/round_model.h"

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;

}  // namespace

CliqueLoad RoundModel::load(const Clique& clique, CliqueMode mode) const {
  CHECK(clique.size() >= 2);
  if (mode.mode == Mode::kTree && mode.root == kCentralRoot) {
    const auto root = central_root(clique);
    CHECK(root.has_value());
    mode.root = *root;
  }
  const std::size_t ranks = network_.islands.size();
  const double others = static_cast<double>(clique.size() - 1);
  const double shard = 1 / static_cast<double>(clique.size());
  CliqueLoad load;
  load.latency_s = static_cast<double>(latency_ns(clique, mode)) * kSecondsPerNs;
  load.loads.reserve(2 * clique.size() + network_.links.size());
  for (const Rank rank : clique) {
    const double copies = replicates(site(rank)) ? 1 : others;
    double sent = 1;
    if (mode.mode == Mode::kDirect) sent = copies;
    if (mode.mode == Mode::kSharded) sent = others * shard + copies * shard;
    load.loads.push_back({rank, sent});
  }
  for (const Rank rank : clique) {
    const double arrivals = aggregates(site(rank)) ? 1 : others;
    double received = 1;
    if (mode.mode == Mode::kDirect) received = arrivals;
    if (mode.mode == Mode::kSharded) received = arrivals * shard + others * shard;
    load.loads.push_back({static_cast<std::uint32_t>(ranks + rank), received});
  }
  CoreLoads core(network_.links.size(), network_.site_names.size());
  if (mode.mode == Mode::kTree) {
    add_tree(clique, mode.root, core);
  } else {
    for (const Rank source : clique) {
      add_copies(site(source), clique, mode.mode == Mode::kSharded ? shard : 1, core);
      if (mode.mode == Mode::kDirect) continue;
      for (const Rank other : clique)  // The first half: a shard of its own to each.
        for (SiteId at = site(other); at != site(source); at = routes_.parent(site(source), at))
          core.add(routes_.link_into(site(source), at), shard);
    }
  }
  core.append_to(load.loads, 2 * ranks);
  return load;
}

Status RoundModel::check_message(const Message& message) const {
  const std::size_t ranks = network_.islands.size();
  if (message.from >= ranks || message.to >= ranks || message.from == message.to)
    return invalid_input(fmt::format("a message from rank {} to rank {}; there are {} islands", message.from,
                                     message.to, ranks));
  const Island& from = network_.islands[message.from];
  const Island& to = network_.islands[message.to];
  if (!(message.share > 0) || !std::isfinite(message.share))
    return invalid_input(fmt::format("the message from {} to {} is of {} updates; must be above 0", from.id,
                                     to.id, message.share));
  if (!routes_.reaches(from.site, to.site))
    return invalid_input(fmt::format("there is no way from island {} to island {}", from.id, to.id));
  return ok_status();
}

Result<CliqueLoad> RoundModel::load(const MessageRound& round) const {
  if (round.messages.empty()) return invalid_input("a round of messages must have one");
  const std::size_t ranks = network_.islands.size();
  std::vector<double> access(2 * ranks, 0.0);
  // Copies of the same data, together: by source, payload and share.
  std::map<std::tuple<Rank, std::uint32_t, double>, std::vector<Rank>> sent;
  CliqueLoad load;
  for (const Message& message : round.messages) {
    if (auto valid = check_message(message); !valid) return std::move(valid).error();
    sent[{message.from, message.payload, message.share}].push_back(message.to);
    double& received = access[ranks + message.to];
    const bool folds = round.foldable && aggregates(site(message.to));
    received = folds ? std::max(received, message.share) : received + message.share;
    const std::uint64_t way_ns = routes_.latency_ns(site(message.from), site(message.to));
    load.latency_s = std::max(load.latency_s, static_cast<double>(way_ns) * kSecondsPerNs);
  }
  CoreLoads core(network_.links.size(), network_.site_names.size());
  for (const auto& [data, receivers] : sent) {
    const auto& [from, payload, share] = data;
    access[from] += replicates(site(from)) ? share : share * static_cast<double>(receivers.size());
    add_copies(site(from), receivers, share, core);
  }
  for (std::size_t resource = 0; resource < access.size(); ++resource)
    if (access[resource] > 0) load.loads.push_back({static_cast<std::uint32_t>(resource), access[resource]});
  core.append_to(load.loads, 2 * ranks);
  return load;
}

/// One source's copies of the same data to all receivers: one on a link while the source and every link up to
/// this one replicate, else one for each receiver behind it.
void RoundModel::add_copies(SiteId source, const Clique& receivers, double updates, CoreLoads& core) const {
  core.start_tree();
  const std::size_t first = std::size_t{source} * network_.site_names.size();
  for (const Rank receiver : receivers) {
    for (SiteId at = site(receiver); at != source; at = routes_.parent(source, at)) {
      const bool shared = replicates(source) && (multicast_route_.empty() || multicast_route_[first + at]);
      // The links before a shared one are shared, and counted with it.
      if (shared && !core.enter(at)) break;
      core.add(routes_.link_into(source, at), updates);
    }
  }
}

/// Partials fold at every site that can on their way to the root; where one cannot, they pass it apart. The
/// routes to one root form a tree: where two of them meet they go on together (see Routes on ties).
void RoundModel::add_tree(const Clique& clique, SiteId root, CoreLoads& core) const {
  std::vector<std::pair<std::uint64_t, SiteId>> sites;  // By distance to the root.
  std::vector<std::uint32_t> uplink(network_.site_names.size(), 0);
  std::vector<SiteId> next(network_.site_names.size(), root);
  std::vector<double> partials(network_.site_names.size(), 0.0);
  core.start_tree();
  core.enter(root);
  for (const Rank rank : clique) {
    partials[site(rank)] += 1;
    // The route is known from its end: each site on it learns where it leads.
    for (SiteId at = root; at != site(rank);) {
      const SiteId before = routes_.parent(site(rank), at);
      uplink[before] = routes_.link_into(site(rank), at);
      next[before] = at;
      if (core.enter(before)) sites.emplace_back(routes_.latency_ns(before, root), before);
      at = before;
    }
  }
  std::sort(sites.rbegin(), sites.rend());
  for (const auto& [distance_ns, at] : sites) {
    const double sent = aggregates(at) ? 1 : partials[at];
    core.add(uplink[at], sent * capabilities_.partial_ratio);
    partials[next[at]] += sent;
  }
  add_copies(root, clique, 1, core);
}

std::uint64_t RoundModel::latency_ns(const Clique& clique, CliqueMode mode) const {
  if (mode.mode == Mode::kTree) return tree_latency_ns(clique, mode.root);
  std::uint64_t latency_ns = 0;
  for (const Rank a : clique)
    for (const Rank b : clique) latency_ns = std::max(latency_ns, routes_.latency_ns(site(a), site(b)));
  return mode.mode == Mode::kSharded ? 2 * latency_ns : latency_ns;
}

/// Up from the farthest member, and down to the farthest: twice the radius where both ways are alike.
std::uint64_t RoundModel::tree_latency_ns(const Clique& clique, SiteId root) const {
  std::uint64_t up_ns = 0;
  std::uint64_t down_ns = 0;
  for (const Rank rank : clique) {
    up_ns = std::max(up_ns, routes_.latency_ns(site(rank), root));
    down_ns = std::max(down_ns, routes_.latency_ns(root, site(rank)));
  }
  return up_ns + down_ns;
}

std::optional<SiteId> RoundModel::central_root(const Clique& clique) const {
  std::optional<SiteId> best;
  std::uint64_t least_ns = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < network_.site_names.size(); ++i) {
    const SiteId root = static_cast<SiteId>(i);
    if (!aggregates(root) || !routes_.reaches(root, site(clique.front())) ||
        !routes_.reaches(site(clique.front()), root))
      continue;
    const std::uint64_t radius_ns = tree_latency_ns(clique, root);
    if (radius_ns >= least_ns) continue;
    least_ns = radius_ns;
    best = root;
  }
  return best;
}

std::vector<CliqueMode> RoundModel::allowed_modes(const Clique& clique) const {
  if (capabilities_.family == Family::kSharded) return {{Mode::kSharded}};
  std::vector<CliqueMode> modes{{Mode::kDirect}};
  if (capabilities_.family == Family::kBest) modes.push_back({Mode::kSharded});
  if (capabilities_.aggregation == Aggregation::kTree)
    if (const auto root = central_root(clique)) modes.push_back({Mode::kTree, *root});
  return modes;
}

}  // namespace tombolo::schedule
