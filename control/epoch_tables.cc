#include "control/epoch_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "control/tree_tables.h"
#include "multicast/forwarding.h"
#include "protocol/port.h"

namespace tombolo::control {
namespace {

using schedule::EpochPlan;
using schedule::PlannedClique;
using schedule::Rank;
using schedule::SiteId;

/// A link's sender keeps what three round trips carry, and what arrives while acknowledgements wait for their
/// interval or a scheduler.
constexpr double kRoundTripsKept = 3.0;
constexpr double kAcknowledgementDelayS = 0.05;
constexpr std::uint32_t kLeastWindow = 256;
constexpr std::uint32_t kLargestWindow = 1U << 16;
/// Bodies of FEEDBACK, HELLO and CONFIG fit; small chunks do not shrink a buffer below it.
constexpr std::uint32_t kLeastPayload = 704;
constexpr std::uint64_t kReceiveBuffers = 4096;

std::optional<std::uint8_t> find_link(const EdgePlace& place, bool is_island, std::uint16_t id) {
  for (std::size_t i = 0; i < place.links.size(); ++i)
    if (place.links[i].is_island == is_island && place.links[i].id == id) return static_cast<std::uint8_t>(i);
  return std::nullopt;
}

/// A clique and the position in it of one rank, in one entry; nullptr when the rank rests.
struct Membership {
  const PlannedClique* clique = nullptr;
  std::size_t member = 0;
};

Membership membership(const schedule::PlannedEntry& entry, Rank rank) {
  for (const PlannedClique& clique : entry.cliques) {
    const auto found = std::find(clique.members.begin(), clique.members.end(), rank);
    if (found != clique.members.end())
      return {&clique, static_cast<std::size_t>(found - clique.members.begin())};
  }
  return {};
}

dataplane::LocalIsland local_island(const EpochPlan& plan, Rank rank, std::uint8_t link) {
  dataplane::LocalIsland island;
  island.rank = rank;
  island.link = link;
  for (const schedule::PlannedEntry& entry : plan.entries) {
    aggregation::MemberEntry member;
    dataplane::SendEntry send;
    if (const Membership in = membership(entry, rank); in.clique != nullptr) {
      member.members = static_cast<std::uint8_t>(in.clique->members.size());
      member.self = static_cast<std::uint8_t>(in.member);
      std::copy(in.clique->members.begin(), in.clique->members.end(), member.ranks.begin());
      const auto& receive = in.clique->receive_trees[in.member];
      std::copy(receive.begin(), receive.end(), member.receive_trees.begin());
      member.on_tree = in.clique->on_tree();
      member.window_chunks = in.clique->window_chunks;
      member.has_weights = !in.clique->weights.empty();
      std::copy(in.clique->weights.begin(), in.clique->weights.end(), member.weights.begin());
      send.stream_rate_bps = in.clique->stream_rate_bps;
      send.send_trees = in.clique->send_trees[in.member];
    }
    island.members.push_back(member);
    island.sends.push_back(std::move(send));
  }
  return island;
}

/// This site's part in one tree. Without edge aggregation the islands that receive are links like others.
Result<multicast::Branch> branch_of(const EpochPlan& plan, const schedule::PlannedTree& tree,
                                    const schedule::TreeHop& hop, const EdgePlace& place,
                                    const std::vector<dataplane::LocalIsland>& islands,
                                    const TreeTables& on_trees) {
  const auto no_link = [&](const char* what, std::uint16_t id) {
    return invalid_input(fmt::format("tree {}: the edge has no link to {} {}", tree.id, what, id));
  };
  multicast::Branch branch;
  branch.rank = tree.source;
  branch.entry = tree.entry;
  const bool is_root = hop.parent == hop.site;
  if (!is_root || tree.source != schedule::kNoRank) {
    const auto parent = find_link(place, is_root, is_root ? tree.source : hop.parent);
    if (!parent) return no_link(is_root ? "island" : "site", is_root ? tree.source : hop.parent);
    branch.parent_link = *parent;
  }
  for (const SiteId child : hop.children) {
    const auto link = find_link(place, false, child);
    if (!link) return no_link("site", child);
    branch.child_links |= std::uint64_t{1} << *link;
  }
  for (const Rank rank : hop.deliver) {
    const auto link = find_link(place, true, rank);
    if (!link) return no_link("island", rank);
    if (!plan.edge_aggregation) {
      branch.child_links |= std::uint64_t{1} << *link;
      continue;
    }
    const auto local = std::find_if(islands.begin(), islands.end(),
                                    [rank](const auto& island) { return island.rank == rank; });
    branch.deliver |= std::uint64_t{1} << (local - islands.begin());
  }
  if (tree.use != schedule::TreeUse::kDirect) on_trees.complete(tree, hop, branch);
  return branch;
}

std::uint32_t window_for(double load_bps, double rtt_s, const EpochPlan& plan) {
  const double packet_bits = 8.0 * static_cast<double>(encoded_bytes(plan.format, plan.chunk_elements) +
                                                       kHeaderBytes + kFramingBytes);
  const double packets =
      load_bps * (kRoundTripsKept * rtt_s + kAcknowledgementDelayS) / packet_bits / plan.lane_count;
  const double bounded = std::clamp(packets, double{kLeastWindow}, double{kLargestWindow});
  return std::bit_ceil(static_cast<std::uint32_t>(std::ceil(bounded)));
}

/// The most that crosses an island's access link in one direction, over the entries.
double access_load_bps(const EpochPlan& plan, Rank rank) {
  double most = 0;
  for (const schedule::PlannedEntry& entry : plan.entries) {
    const Membership in = membership(entry, rank);
    if (in.clique == nullptr) continue;
    const double sends = static_cast<double>(in.clique->send_trees[in.member].size());
    const double receives = plan.edge_aggregation ? 1.0 : static_cast<double>(in.clique->members.size() - 1);
    most = std::max(most, static_cast<double>(in.clique->stream_rate_bps) * std::max(sends, receives));
  }
  return most;
}

/// Contributions that the slots of one fold point may hold: two windows, in each of two live epochs.
std::uint64_t slot_buffers(const EpochPlan& plan, Rank rank) {
  std::uint64_t most = 0;
  for (const schedule::PlannedEntry& entry : plan.entries)
    if (const Membership in = membership(entry, rank); in.clique != nullptr && !in.clique->on_tree())
      most = std::max<std::uint64_t>(most, in.clique->members.size() * in.clique->window_chunks);
  return most * aggregation::kMaxOpenRounds * 2;
}

/// The same for a fold point of a site.
std::uint64_t slot_buffers(const dataplane::SitePoint& point) {
  std::uint64_t most = 0;
  for (const aggregation::MemberEntry& entry : point.inputs)
    most = std::max(most, std::uint64_t{entry.members} * entry.window_chunks);
  return most * aggregation::kMaxOpenRounds * 2;
}

/// An edge copies what waits long into its arena: of the contributions in its slots only the newest of each
/// window hold a packet buffer.
void add_slots(EdgeNeeds& needs, std::uint64_t contributions, const EpochPlan& plan) {
  if (contributions == 0) return;
  constexpr std::uint64_t kWindows = aggregation::kMaxOpenRounds * 2;
  const std::uint32_t payload_bytes = plan.max_payload_bytes();
  const std::uint64_t held = aggregation::held_buffers(aggregation::kHeldBytes, payload_bytes);
  needs.slot_buffers += std::min(contributions, held * plan.lane_count * kWindows);
  needs.arena_bytes += contributions * aggregation::Arena::cell_bytes(payload_bytes);
}

std::uint32_t buffer_bytes(const EpochPlan& plan) {
  return kHeaderBytes + std::max(plan.max_payload_bytes(), kLeastPayload);
}

}  // namespace

Result<std::shared_ptr<const dataplane::EpochTable>> make_epoch_table(const EpochPlan& plan,
                                                                      const EdgePlace& place,
                                                                      dataplane::Losses losses) {
  auto table = std::make_shared<dataplane::EpochTable>();
  table->job = plan.job;
  table->epoch = plan.epoch;
  table->losses = std::move(losses);
  table->edge_aggregation = plan.edge_aggregation;
  table->lane_count = plan.lane_count;
  table->chunk_elements = plan.chunk_elements;
  table->max_payload_bytes = plan.max_payload_bytes();
  table->non_finite = plan.non_finite;
  table->deadline_ns = plan.deadline_ns;
  table->period = static_cast<std::uint32_t>(plan.entries.size());
  for (const schedule::PlannedIsland& island : plan.islands) {
    if (island.site != place.site) continue;
    const auto link = find_link(place, true, island.rank);
    if (!link)
      return invalid_input(fmt::format("the edge of {} has no link to its island of rank {}",
                                       plan.site_names[place.site], island.rank));
    table->islands.push_back(local_island(plan, island.rank, *link));
  }
  TreeTables on_trees(plan, place.site, table->islands.size());
  if (table->islands.size() + on_trees.points() > multicast::kMaxLocalPoints)
    return invalid_input(fmt::format("the edge of {} would have {} fold points; at most {}",
                                     plan.site_names[place.site], table->islands.size() + on_trees.points(),
                                     multicast::kMaxLocalPoints));
  table->narrow_partials = plan.partial_format == schedule::PartialFormat::kUpdate;
  std::vector<multicast::BranchSpec> specs;
  for (const schedule::PlannedTree& tree : plan.trees)
    for (const schedule::TreeHop& hop : tree.hops) {
      if (hop.site != place.site) continue;
      auto branch = branch_of(plan, tree, hop, place, table->islands, on_trees);
      if (!branch) return std::move(branch).error();
      specs.push_back({tree.id, std::move(branch).value()});
    }
  table->sites = on_trees.take_points();
  auto forwarding = multicast::ForwardingTable::build(specs, place.links.size(), table->points());
  if (!forwarding) return std::move(forwarding).error();
  table->forwarding = std::move(forwarding).value();
  return std::shared_ptr<const dataplane::EpochTable>(std::move(table));
}

std::uint64_t EdgeNeeds::cache_buffers() const {
  return std::accumulate(link_windows.begin(), link_windows.end(), std::uint64_t{0}) * lane_count;
}

EdgeNeeds edge_needs(const EpochPlan& plan, const EdgePlace& place) {
  EdgeNeeds needs;
  needs.lane_count = plan.lane_count;
  needs.buffer_bytes = buffer_bytes(plan);
  needs.receive_buffers = kReceiveBuffers;
  for (const dataplane::SitePoint& point : TreeTables(plan, place.site, 0).take_points())
    add_slots(needs, slot_buffers(point), plan);
  for (const Neighbour& neighbour : place.links) {
    double load_bps = 0;
    double rtt_s = 0;
    if (neighbour.is_island) {
      load_bps = access_load_bps(plan, neighbour.id);
      if (plan.edge_aggregation) add_slots(needs, slot_buffers(plan, neighbour.id), plan);
    } else {
      for (const schedule::PlannedLink& link : plan.links) {
        const bool ours = (link.from == place.site && link.to == neighbour.id) ||
                          (link.to == place.site && link.from == neighbour.id);
        if (!ours) continue;
        load_bps = std::max(load_bps, static_cast<double>(link.load_bps));
        rtt_s = static_cast<double>(link.rtt_ns) / static_cast<double>(kSecond);
      }
    }
    needs.link_windows.push_back(window_for(load_bps, rtt_s, plan));
  }
  return needs;
}

EdgeNeeds island_needs(const EpochPlan& plan, Rank rank) {
  EdgeNeeds needs;
  needs.lane_count = plan.lane_count;
  needs.buffer_bytes = buffer_bytes(plan);
  needs.receive_buffers = kReceiveBuffers;
  needs.link_windows.push_back(window_for(access_load_bps(plan, rank), 0, plan));
  if (!plan.edge_aggregation) needs.slot_buffers = slot_buffers(plan, rank);
  return needs;
}

void widen(EdgeNeeds& needs, const EdgeNeeds& other) {
  needs.lane_count = std::max(needs.lane_count, other.lane_count);
  needs.slot_buffers = std::max(needs.slot_buffers, other.slot_buffers);
  needs.arena_bytes = std::max(needs.arena_bytes, other.arena_bytes);
  needs.receive_buffers = std::max(needs.receive_buffers, other.receive_buffers);
  needs.buffer_bytes = std::max(needs.buffer_bytes, other.buffer_bytes);
  needs.link_windows.resize(std::max(needs.link_windows.size(), other.link_windows.size()));
  for (std::size_t i = 0; i < other.link_windows.size(); ++i)
    needs.link_windows[i] = std::max(needs.link_windows[i], other.link_windows[i]);
}

}  // namespace tombolo::control
