#include "schedule/trees/steiner.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace tombolo::schedule {

/// A label that may turn out to be beaten.
struct SteinerTable::Candidate {
  Label label;
  SiteId site = 0;

  auto key() const { return std::tuple(label.price, label.height_ns, site); }
  bool operator>(const Candidate& other) const { return key() > other.key(); }
};

namespace {

/// Leaves those that no other beats, ascending in price.
template <typename Candidate>
void keep_best(std::vector<Candidate>& candidates) {
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return b > a; });
  std::uint64_t least_ns = std::numeric_limits<std::uint64_t>::max();
  std::erase_if(candidates, [&](const Candidate& candidate) {
    if (candidate.label.height_ns >= least_ns) return true;
    least_ns = candidate.label.height_ns;
    return false;
  });
}

}  // namespace

SteinerTable::SteinerTable(const Network& network)
    : network_(network), sites_(network.site_names.size()), into_(sites_) {
  for (std::size_t i = 0; i < network.links.size(); ++i)
    into_[network.links[i].to].push_back(static_cast<std::uint32_t>(i));
}

void SteinerTable::solve(std::span<const SiteId> terminals, std::span<const double> price,
                         const std::vector<bool>& forbidden, std::uint64_t limit_ns, bool subsets) {
  CHECK(terminals.size() <= (subsets ? kMaxTerminals : kMaxPaths) && price.size() == network_.links.size());
  price_.assign(price.begin(), price.end());
  forbidden_ = forbidden;
  forbidden_.resize(network_.links.size(), false);
  limit_ns_ = limit_ns;
  subsets_ = subsets;
  labels_.clear();
  const std::size_t slots = subsets ? std::size_t{1} << terminals.size() : terminals.size();
  frontier_.resize(std::max(frontier_.size(), slots * sites_));
  for (auto& trees : frontier_) trees.clear();
  std::vector<std::vector<Candidate>> from(sites_);
  for (std::size_t at = subsets ? 1 : 0; at < slots; ++at) {
    const std::uint64_t mask = subsets ? at : std::uint64_t{1} << at;
    for (auto& candidates : from) candidates.clear();
    if (std::has_single_bit(mask)) {
      const SiteId terminal = terminals[static_cast<std::size_t>(std::countr_zero(mask))];
      from[terminal].push_back({{}, terminal});
    } else {
      for (std::size_t site = 0; site < sites_; ++site) merge(mask, static_cast<SiteId>(site), from[site]);
    }
    spread(mask, from);
  }
}

/// Two trees from the same site, for each way to share out the terminals. Of all pairs only those matter
/// where neither tree is higher than it needs to be: from one to the next the higher of the two comes down.
void SteinerTable::merge(std::uint64_t mask, SiteId site, std::vector<Candidate>& candidates) const {
  const std::uint64_t lowest = mask & (~mask + 1);
  for (std::uint64_t part = (mask - 1) & mask; part != 0; part = (part - 1) & mask) {
    if ((part & lowest) == 0) continue;  // Each split once.
    const auto one = trees(site, part);
    const auto two = trees(site, mask ^ part);
    for (std::size_t i = 0, j = 0; i < one.size() && j < two.size();) {
      const Label& a = labels_[one[i]];
      const Label& b = labels_[two[j]];
      candidates.push_back(
          {{a.price + b.price, std::max(a.height_ns, b.height_ns), kNone, one[i], two[j]}, site});
      if (a.height_ns >= b.height_ns) ++i;
      if (b.height_ns >= a.height_ns) ++j;
    }
  }
  keep_best(candidates);
}

/// Dijkstra's algorithm by price, then height: what comes to a site later is dearer, and counts only if it is
/// lower than all before.
void SteinerTable::spread(std::uint64_t mask, std::vector<std::vector<Candidate>>& from) {
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> open;
  for (const auto& candidates : from)
    for (const Candidate& candidate : candidates) open.push(candidate);
  std::vector<std::uint64_t> least_ns(sites_, std::numeric_limits<std::uint64_t>::max());
  while (!open.empty()) {
    const Candidate best = open.top();
    open.pop();
    if (best.label.height_ns >= least_ns[best.site]) continue;
    least_ns[best.site] = best.label.height_ns;
    const auto index = static_cast<std::uint32_t>(labels_.size());
    labels_.push_back(best.label);
    frontier_[slot(mask) * sites_ + best.site].push_back(index);
    for (const std::uint32_t link : into_[best.site]) {
      const DirectedLink& up = network_.links[link];
      const std::uint64_t height_ns = best.label.height_ns + up.one_way_ns;
      if (forbidden_[link] || height_ns > limit_ns_ || height_ns >= least_ns[up.from]) continue;
      open.push({{best.label.price + price_[link], height_ns, link, index, kNone}, up.from});
    }
  }
}

void SteinerTable::collect(std::uint32_t index, std::vector<std::uint32_t>& links) const {
  std::vector<std::uint32_t> open{index};
  while (!open.empty()) {
    const Label& at = labels_[open.back()];
    open.pop_back();
    if (at.link != kNone) links.push_back(at.link);
    for (const std::uint32_t next : {at.below, at.beside})
      if (next != kNone) open.push_back(next);
  }
}

}  // namespace tombolo::schedule
