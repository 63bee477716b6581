#include "dataplane/edge/lane_epoch.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tombolo::dataplane {
namespace {

/// Every member's chunks must have a tree that brings them here; grants and ends go up those trees.
// lint: set-up, runs in control before the lane sees the epoch
Status check_receive_trees(const EpochTable& table, std::size_t island) {
  const LocalIsland& local = table.islands[island];
  const auto where = [&local](std::size_t entry) {
    return "island of rank " + std::to_string(local.rank) + ", schedule entry " + std::to_string(entry);
  };
  if (local.members.size() != table.period || local.sends.size() != table.period)
    return invalid_input("island of rank " + std::to_string(local.rank) + ": not one entry per round of " +
                         std::to_string(table.period));
  for (std::size_t entry = 0; entry < local.members.size(); ++entry) {
    const aggregation::MemberEntry& members = local.members[entry];
    if (members.rests() || !table.edge_aggregation) continue;
    for (std::size_t member = 0; member < members.members; ++member) {
      const multicast::Branch* const branch = table.forwarding.find(members.receive_trees[member]);
      if (branch == nullptr || (branch->deliver >> island & 1) == 0 || branch->entry != entry ||
          branch->rank != members.ranks[member])
        return invalid_input(where(entry) + ": tree " + std::to_string(members.receive_trees[member]) +
                             " does not deliver the chunks of rank " + std::to_string(members.ranks[member]));
    }
  }
  return ok_status();
}

/// Every input of a site's fold point must have a tree that brings it here, and what it folds a tree that
/// starts here.
// lint: set-up, runs in control before the lane sees the epoch
Status check_site_point(const EpochTable& table, std::size_t index) {
  const SitePoint& site = table.sites[index];
  const std::size_t point = table.islands.size() + index;
  const auto wrong = [&site](std::size_t entry, const std::string& what) {
    return invalid_input("site's fold point of rank " + std::to_string(site.lowest_member) +
                         ", schedule entry " + std::to_string(entry) + ": " + what);
  };
  if (!table.edge_aggregation) return wrong(0, "nothing is folded here");
  if (site.inputs.size() != table.period || site.entries.size() != table.period)
    return wrong(0, "not one entry per round of " + std::to_string(table.period));
  for (std::size_t entry = 0; entry < site.inputs.size(); ++entry) {
    const aggregation::MemberEntry& inputs = site.inputs[entry];
    const SiteEntry& at = site.entries[entry];
    if (inputs.rests()) continue;
    if (at.below.size() != inputs.members || at.members.empty() ||
        at.members.size() > aggregation::kMaxMembers)
      return wrong(entry, "its members do not go with its inputs");
    for (std::size_t input = 0; input < inputs.members; ++input) {
      const multicast::Branch* const branch = table.forwarding.find(inputs.receive_trees[input]);
      if (branch == nullptr || branch->deliver != std::uint64_t{1} << point || branch->entry != entry ||
          branch->input != input)
        return wrong(entry, "tree " + std::to_string(inputs.receive_trees[input]) + " does not bring input " +
                                std::to_string(input));
    }
    const multicast::Branch* const out = table.forwarding.find(at.tree);
    if (out == nullptr || out->parent_point != point || out->entry != entry)
      return wrong(entry, "tree " + std::to_string(at.tree) + " does not start here");
  }
  return ok_status();
}

}  // namespace

// lint: set-up, runs in control before the lane sees the epoch
Result<std::unique_ptr<LaneEpoch>> LaneEpoch::create(std::shared_ptr<const EpochTable> table,
                                                     std::uint32_t first_round, std::uint16_t lane,
                                                     const FoldOptions& options) {
  if (table->period == 0 || table->lane_count == 0) return invalid_input("no schedule entry, or no lane");
  for (std::size_t island = 0; island < table->islands.size(); ++island)
    if (auto checked = check_receive_trees(*table, island); !checked) return std::move(checked).error();
  for (std::size_t site = 0; site < table->sites.size(); ++site)
    if (auto checked = check_site_point(*table, site); !checked) return std::move(checked).error();
  std::vector<std::uint8_t> children(table->forwarding.size());
  for (std::size_t tree = 0; tree < children.size(); ++tree) {
    const multicast::Branch* const branch = table->forwarding.find(static_cast<std::uint16_t>(tree));
    if (branch == nullptr) continue;
    const int count = std::popcount(branch->child_links) + std::popcount(branch->deliver);
    if (count > 64) return invalid_input("a tree has more than 64 children at one edge");
    children[tree] = static_cast<std::uint8_t>(count);
  }
  std::unique_ptr<LaneEpoch> epoch(
      new LaneEpoch(table, first_round, link::GrantTable(table->period, children)));
  if (!table->edge_aggregation) return epoch;
  epoch->points.reserve(table->points());
  for (std::size_t i = 0; i < table->points(); ++i) {
    aggregation::FoldPointConfig config;
    if (epoch->is_site(i))
      config.entries = epoch->site(i).inputs;
    else
      config.entries = table->islands[i].members;
    config.first_round = first_round;
    config.geometry = {lane, table->lane_count, table->chunk_elements, table->max_payload_bytes};
    config.instruction_set = options.instruction_set;
    config.held_bytes = options.held_bytes;
    config.non_finite = table->non_finite;
    config.narrow_partials = table->narrow_partials;
    config.deadline_ns = table->deadline_ns;
    auto point = aggregation::FoldPoint::create(config);
    if (!point) return std::move(point).error();
    epoch->points.push_back(std::move(point).value());
  }
  return epoch;
}

std::uint64_t LaneEpoch::members_in(std::size_t point, std::uint32_t round, std::uint64_t inputs) const {
  const SiteEntry& at = site_entry(point, round);
  std::uint64_t members = 0;
  for (; inputs != 0; inputs &= inputs - 1)
    members |= at.below[static_cast<std::size_t>(std::countr_zero(inputs))];
  return members;
}

void LaneEpoch::end_before(const LaneEpoch& next, Nanoseconds now_ns) {
  end_round = next.first_round;
  last_used_ns = now_ns;
  const Losses& losses = next.table->losses;
  if (losses.epoch != table->epoch) return;
  successor = next.table;
  for (std::size_t tree = 0; tree < losses.links.size(); ++tree) {
    const multicast::Branch* const branch = table->forwarding.find(static_cast<std::uint16_t>(tree));
    if (branch == nullptr) continue;
    std::uint64_t children = 0;
    for (std::uint64_t left = branch->child_links & losses.links[tree]; left != 0; left &= left - 1)
      children |=
          std::uint64_t{1} << child_of_link(*branch, static_cast<std::uint8_t>(std::countr_zero(left)));
    if (children != 0) grants.lose(static_cast<std::uint16_t>(tree), children);
  }
}

bool LaneEpoch::drained(Nanoseconds now_ns) const {
  if (end_round == kNoEnd) return false;
  if (now_ns >= last_used_ns && now_ns - last_used_ns >= table->deadline_ns) return true;
  const bool closed = std::all_of(points.begin(), points.end(),
                                  [](const auto& point) { return point.open_rounds().size() == 0; });
  return closed && grants.unfinished() == 0 && grants.pending() == 0 && source_ends.empty();
}

}  // namespace tombolo::dataplane
