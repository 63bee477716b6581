#include "dataplane/edge/lane_epoch.h"

#include <algorithm>
#include <utility>

namespace tombolo::dataplane {

// lint: set-up, runs in control before the lane sees the epoch
Result<std::unique_ptr<LaneEpoch>> LaneEpoch::create(std::shared_ptr<const EpochTable> table,
                                                     std::uint32_t first_round, std::uint16_t lane) {
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
    config.geometry = {lane, table->lane_count, table->chunk_elements};
    config.deadline_ns = table->deadline_ns;
    auto point = aggregation::FoldPoint::create(config);
    if (!point) return std::move(point).error();
    epoch->points.push_back(std::move(point).value());
  }
  return epoch;
}

bool LaneEpoch::drained() const {
  return end_round != kNoEnd && std::all_of(points.begin(), points.end(), [](const auto& point) {
           return point.open_rounds().size() == 0;
         });
}

}  // namespace tombolo::dataplane
