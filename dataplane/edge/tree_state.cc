#include "dataplane/edge/tree_state.h"

#include <algorithm>

#include "base/serial.h"

namespace tombolo::dataplane {

// lint: set-up, runs in control before the lane sees the epoch
ResultCounts::ResultCounts(const EpochTable& table)
    : period_(table.period), places_(table.forwarding.size(), kNoPlace) {
  for (std::size_t tree = 0; tree < places_.size(); ++tree) {
    const multicast::Branch* const branch = table.forwarding.find(static_cast<std::uint16_t>(tree));
    if (branch == nullptr || branch->traffic != multicast::Traffic::kResults || branch->deliver == 0)
      continue;
    places_[tree] = static_cast<std::uint32_t>(counts_.size());
    counts_.resize(counts_.size() + kRounds);
  }
}

bool ResultCounts::add(std::uint16_t tree, std::uint32_t round) {
  Count* const count = use(tree, round);
  if (count == nullptr) return false;
  ++count->come;
  return count->is_full();
}

bool ResultCounts::set_total(std::uint16_t tree, std::uint32_t round, std::uint64_t total) {
  Count* const count = use(tree, round);
  if (count == nullptr) return false;
  count->total = total;
  return count->is_full();
}

/// nullptr for a tree that ends at no island here, and for a round that is older than those that are kept.
ResultCounts::Count* ResultCounts::use(std::uint16_t tree, std::uint32_t round) {
  if (places_[tree] == kNoPlace) return nullptr;
  Count& count = counts_[places_[tree] + round / period_ % kRounds];
  if (count.used && count.round == round) return &count;
  if (count.used && serial_before(round, count.round)) return nullptr;
  count = Count{};
  count.used = true;
  count.round = round;
  return &count;
}

// lint: set-up, runs in control before the lane sees the epoch
SourceEnds::SourceEnds(const EpochTable& table) {
  // Two open rounds at each fold point of the site, and a word for each schedule entry that an island gives
  // up; as much again for what finds no room on a link.
  std::size_t most = table.sites.size() * aggregation::kMaxOpenRounds;
  for (const LocalIsland& island : table.islands)
    most += static_cast<std::size_t>(std::count_if(island.members.begin(), island.members.end(),
                                                   [](const auto& entry) { return entry.on_tree; }));
  ends_.resize(2 * most);
}

bool SourceEnds::add(const SourceEnd& end) {
  if (!has_room(1)) return false;
  ends_[(head_ + count_) % ends_.size()] = end;
  ++count_;
  return true;
}

void SourceEnds::pop() {
  head_ = (head_ + 1) % ends_.size();
  --count_;
}

}  // namespace tombolo::dataplane
