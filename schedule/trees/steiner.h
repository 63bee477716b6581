#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/topology.h"

namespace tombolo::schedule {

/// Links of a tree, as ascending indices in Network::links.
using LinkTree = std::vector<std::uint32_t>;

/// For one set of terminals, from any site: trees of least price for each height (the latency from the root
/// to the farthest terminal). Dreyfus and Wagner's dynamic programme over subsets of terminals, with all
/// trades of price against height kept: exact, at a cost of 3^terminals x sites.
class SteinerTable {
 public:
  static constexpr std::size_t kMaxTerminals = 14;
  static constexpr std::size_t kMaxPaths = 64;  ///< As many terminals where there are no subsets.

  /// One tree that no other beats in both price and height. What is in both of two branches is paid twice, so
  /// the links may cost less than this; never more.
  struct Label {
    double price = 0;
    std::uint64_t height_ns = 0;
    std::uint32_t link = kNone;   ///< The first link, where there is one below it;
    std::uint32_t below = kNone;  ///< else two trees from the same site, or none: a terminal.
    std::uint32_t beside = kNone;
  };

  /// `network` must outlive the table.
  explicit SteinerTable(const Network& network);

  /// Solves for `terminals`, different sites, at most kMaxTerminals (kMaxPaths); `price` by link, at least 0;
  /// no link that is in `forbidden` (empty: none), no height above `limit_ns`. With `subsets` false only for
  /// each terminal alone: shortest paths.
  void solve(std::span<const SiteId> terminals, std::span<const double> price,
             const std::vector<bool>& forbidden, std::uint64_t limit_ns, bool subsets);

  /// The trees from `root` to the terminals in `mask` (bit i: terminals[i]; not 0): ascending price,
  /// descending height. Empty: none within the limit.
  std::span<const std::uint32_t> trees(SiteId root, std::uint64_t mask) const {
    return frontier_[slot(mask) * sites_ + root];
  }
  const Label& label(std::uint32_t index) const { return labels_[index]; }
  /// Adds the label's links to `links`.
  void collect(std::uint32_t index, std::vector<std::uint32_t>& links) const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Candidate;

  std::size_t slot(std::uint64_t mask) const {
    return subsets_ ? mask : static_cast<std::size_t>(std::countr_zero(mask));
  }
  void merge(std::uint64_t mask, SiteId site, std::vector<Candidate>& candidates) const;
  void spread(std::uint64_t mask, std::vector<std::vector<Candidate>>& from);

  const Network& network_;
  std::size_t sites_;
  std::vector<std::vector<std::uint32_t>> into_;  ///< By site: the links that lead to it.
  std::vector<double> price_;
  std::vector<bool> forbidden_;
  std::uint64_t limit_ns_ = 0;
  std::vector<Label> labels_;
  bool subsets_ = true;
  std::vector<std::vector<std::uint32_t>> frontier_;  ///< [mask or terminal][site].
};

}  // namespace tombolo::schedule
