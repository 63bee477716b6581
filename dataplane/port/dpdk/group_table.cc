#include "dataplane/port/dpdk/group_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "dataplane/port/dpdk/frame.h"

namespace tombolo::dataplane {
namespace {

bool is_group_or_none(std::uint32_t group) { return group == 0 || is_multicast(group); }

}  // namespace

// lint: set-up, runs before the first packet
GroupTable::GroupTable(std::vector<std::uint32_t> neighbours)
    : neighbours_(std::move(neighbours)), entries_(std::make_unique<Entry[]>(neighbours_.size())) {}

void GroupTable::set(std::size_t index, const LinkGroups& groups) {
  CHECK(index < neighbours_.size());
  CHECK(is_group_or_none(groups.send) && is_group_or_none(groups.accept[0]) &&
        is_group_or_none(groups.accept[1]));
  Entry& entry = entries_[index];
  for (std::size_t i = 0; i < groups.accept.size(); ++i)
    entry.accept[i].store(groups.accept[i], std::memory_order_relaxed);
  entry.send.store(groups.send, std::memory_order_relaxed);
}

bool GroupTable::accepts(std::uint32_t source, std::uint32_t group) const {
  const auto place = std::lower_bound(neighbours_.begin(), neighbours_.end(), source);
  if (place == neighbours_.end() || *place != source) return false;
  return entries_[static_cast<std::size_t>(place - neighbours_.begin())].has(group);
}

bool GroupTable::listens_to(std::uint32_t group) const {
  for (std::size_t i = 0; i < neighbours_.size(); ++i)
    if (entries_[i].has(group)) return true;
  return false;
}

}  // namespace tombolo::dataplane
