#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "schedule/round_model.h"

namespace tombolo::schedule {

/// Updates by directed link while one clique's load is summed.
class RoundModel::CoreLoads {
 public:
  CoreLoads(std::size_t links, std::size_t sites) : updates_(links, 0.0), mark_(sites, 0) {}

  void add(std::uint32_t link, double updates) { updates_[link] += updates; }
  /// Starts a new set of sites.
  void start_tree() { ++tree_; }
  /// Whether the site is new in the set.
  bool enter(SiteId site) { return std::exchange(mark_[site], tree_) != tree_; }

  void append_to(std::vector<ResourceLoad>& loads, std::size_t first) const {
    for (std::size_t link = 0; link < updates_.size(); ++link)
      if (updates_[link] > 0) loads.push_back({static_cast<std::uint32_t>(first + link), updates_[link]});
  }

 private:
  std::vector<double> updates_;
  std::vector<std::uint32_t> mark_;  ///< By site: the last tree that it was in.
  std::uint32_t tree_ = 0;
};

}  // namespace tombolo::schedule
