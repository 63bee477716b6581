#include "schedule/barrier_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/bounds.h"
#include "schedule/round_shares.h"

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Rows = std::vector<std::vector<double>>;  ///< [island][island].

double kth_smallest(std::vector<double> values, std::size_t k) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// The notation is that of BOUNDS.md, section 4.
class Bound {
 public:
  Bound(const RoundModel& model, double update_bytes, const DisagreementBound& tree)
      : model_(model),
        n_(model.network().islands.size()),
        direct_(!allows_any_mode(model.capabilities())),
        update_s_(model.update_seconds(update_bytes)) {
    find_pairs(update_bytes);
    find_widest(tree);
    find_spread();
    find_ways();
  }

  double seconds() const {
    std::vector<IslandSpread> islands;
    for (std::size_t j = 0; j < n_; ++j) islands.push_back(spread_of(j));
    return least_spread_s(islands, lengths_s_) / static_cast<double>(n_);
  }

 private:
  /// w and the latencies.
  void find_pairs(double update_bytes) {
    const Network& network = model_.network();
    w_.assign(n_, std::vector<double>(n_, 0));
    latency_s_ = w_;
    for (std::size_t a = 0; a < n_; ++a)
      for (std::size_t b = 0; b < n_; ++b) {
        if (a == b) continue;
        const auto from = static_cast<Rank>(a);
        const auto to = static_cast<Rank>(b);
        w_[a][b] = pair_seconds(network, model_.routes(), from, to, update_bytes, !direct_);
        const SiteId at_a = network.islands[a].site;
        const SiteId at_b = network.islands[b].site;
        latency_s_[a][b] =
            kSecondsPerNs * static_cast<double>(std::max(model_.routes().latency_ns(at_a, at_b),
                                                         model_.routes().latency_ns(at_b, at_a)));
      }
  }

  /// b: the longest step on the way through the tree, whose edges come as it grew.
  void find_widest(const DisagreementBound& tree) {
    b_.assign(n_, std::vector<double>(n_, 0));
    std::vector<std::size_t> inside{0};
    for (const DisagreementBound::Edge& edge : tree.tree) {
      for (const std::size_t other : inside)
        b_[edge.b][other] = b_[other][edge.b] = std::max(b_[other][edge.a], edge.seconds);
      inside.push_back(edge.b);
      lengths_s_.push_back(edge.seconds);
    }
    std::sort(lengths_s_.begin(), lengths_s_.end());
    lengths_s_.erase(std::unique(lengths_s_.begin(), lengths_s_.end()), lengths_s_.end());
  }

  /// T(k), the least time of a round with a clique of k; then X(m).
  void find_spread() {
    const std::vector<double> whole_s = farthest_of(w_);
    const std::vector<double> latency_s = farthest_of(latency_s_);
    const std::vector<Access> accesses = find_accesses();
    std::vector<double> round_s(n_ + 1, kInfinity);
    for (std::size_t k = 2; k <= n_; ++k)
      round_s[k] = std::max(whole_s[k], latency_s[k] + sending_s(accesses, k));
    spread_s_.assign(n_ + 1, 0);
    for (std::size_t m = 2; m <= n_; ++m) {
      spread_s_[m] = kInfinity;
      for (std::size_t k = 2; k <= m; ++k)
        spread_s_[m] = std::min(spread_s_[m], round_s[k] + spread_s_[(m + k - 1) / k]);
    }
  }

  /// By k: the least that any member of a set of k can be from the farthest of the others.
  std::vector<double> farthest_of(const Rows& distances) const {
    std::vector<double> least(n_ + 1, kInfinity);
    for (std::vector<double> row : distances) {
      std::sort(row.begin(), row.end());
      for (std::size_t k = 1; k <= n_; ++k) least[k] = std::min(least[k], row[k - 1]);
    }
    return least;
  }

  /// What a direct clique costs a member.
  struct Access {
    double each_s = 0;      ///< For every other member's update, on its access link.
    double enter_s = 0;     ///< For one from another site, on all links into its site together.
    double neighbours = 0;  ///< Islands at its site, itself included.
  };

  /// Nothing costs anything where sites and links differ in what they can do, or other modes than direct are
  /// allowed.
  std::vector<Access> find_accesses() const {
    std::vector<Access> accesses(n_);
    if (!direct_ || !model_.all_alike()) return accesses;
    const Network& network = model_.network();
    std::vector<double> per_s(network.site_names.size(), 0);
    std::vector<double> islands(network.site_names.size(), 0);
    for (std::size_t link = 0; link < network.links.size(); ++link)
      per_s[network.links[link].to] += 1 / update_s_[2 * n_ + link];
    for (const Island& island : network.islands) ++islands[island.site];
    for (std::size_t i = 0; i < n_; ++i) {
      const SiteId site = network.islands[i].site;
      if (!model_.capabilities().multicast) accesses[i].each_s = update_s_[i];
      if (model_.capabilities().aggregation == Aggregation::kNone)
        accesses[i].each_s = std::max(accesses[i].each_s, update_s_[n_ + i]);
      accesses[i].enter_s = per_s[site] > 0 ? 1 / per_s[site] : 0;
      accesses[i].neighbours = islands[site];
    }
    return accesses;
  }

  /// How long the slowest member of a clique of k sends or receives at least.
  static double sending_s(const std::vector<Access>& accesses, std::size_t k) {
    const double members = static_cast<double>(k);
    std::vector<double> each_s;
    for (const Access& access : accesses)
      each_s.push_back(
          std::max((members - 1) * access.each_s, (members - access.neighbours) * access.enter_s));
    return kth_smallest(std::move(each_s), k);
  }

  /// delta: over several rounds a way may be shorter than w. (Floyd and Warshall.)
  void find_ways() {
    way_s_ = w_;
    if (!direct_) return;  // There w is as short as any way already.
    for (std::size_t k = 0; k < n_; ++k)
      for (std::size_t i = 0; i < n_; ++i) {
        const double first_s = way_s_[i][k];
        for (std::size_t j = 0; j < n_; ++j) way_s_[i][j] = std::min(way_s_[i][j], first_s + way_s_[k][j]);
      }
  }

  IslandSpread spread_of(std::size_t j) const {
    std::vector<double> widest_s = b_[j];
    std::vector<double> way_s = way_s_[j];
    std::sort(widest_s.begin(), widest_s.end());
    std::sort(way_s.begin(), way_s.end());
    IslandSpread spread;
    for (std::size_t m = 1; m < n_; ++m)
      spread.steps.push_back({widest_s[m], std::max(way_s[m], spread_s_[m + 1])});
    // The nearest island is a neighbour in the tree.
    if (n_ > 1) spread.shortest_s = widest_s[1];
    return spread;
  }

  const RoundModel& model_;
  std::size_t n_;
  bool direct_;                   ///< Whether cliques can only exchange directly.
  std::vector<double> update_s_;  ///< By resource.
  Rows w_;
  Rows latency_s_;
  Rows b_;
  Rows way_s_;
  std::vector<double> spread_s_;   ///< By number of islands.
  std::vector<double> lengths_s_;  ///< Those of the tree's edges, each once, ascending.
};

}  // namespace

Result<double> barrier_bound_s(const RoundModel& model, double update_bytes) {
  const auto tree = disagreement_bound(model.network(), model.routes(), update_bytes,
                                       allows_any_mode(model.capabilities()));
  if (!tree) return tree.error();
  return Bound(model, update_bytes, *tree).seconds();
}

Capabilities covering(Capabilities capabilities, const Schedule& schedule) {
  for (const Round& round : schedule.rounds) {
    for (const std::optional<CliqueMode>& mode : round.modes)
      if (mode && mode->mode != Mode::kDirect) capabilities.family = Family::kBest;
    if (!round.trees.empty()) capabilities.family = Family::kBest;
  }
  return capabilities;
}

}  // namespace tombolo::schedule
