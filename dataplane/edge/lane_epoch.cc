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

}  // namespace

// lint: set-up, runs in control before the lane sees the epoch
Result<std::unique_ptr<LaneEpoch>> LaneEpoch::create(std::shared_ptr<const EpochTable> table,
                                                     std::uint32_t first_round, std::uint16_t lane,
                                                     fold::InstructionSet instruction_set) {
  if (table->period == 0 || table->lane_count == 0) return invalid_input("no schedule entry, or no lane");
  for (std::size_t island = 0; island < table->islands.size(); ++island)
    if (auto checked = check_receive_trees(*table, island); !checked) return std::move(checked).error();
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
  epoch->points.reserve(table->islands.size());
  for (const LocalIsland& island : table->islands) {
    aggregation::FoldPointConfig config;
    config.entries = island.members;
    config.first_round = first_round;
    config.geometry = {lane, table->lane_count, table->chunk_elements, table->max_payload_bytes};
    config.instruction_set = instruction_set;
    config.non_finite = table->non_finite;
    config.deadline_ns = table->deadline_ns;
    auto point = aggregation::FoldPoint::create(config);
    if (!point) return std::move(point).error();
    epoch->points.push_back(std::move(point).value());
  }
  return epoch;
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
  return closed && grants.unfinished() == 0 && grants.pending() == 0;
}

}  // namespace tombolo::dataplane
