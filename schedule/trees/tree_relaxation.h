#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "schedule/trees/tree_choice.h"
#include "schedule/trees/tree_master.h"

namespace tombolo::schedule {

/// One question that a search has answered: whether a member's tree uses a link.
struct TreeDecision {
  std::size_t clique = 0;
  std::size_t member = 0;
  std::uint32_t link = 0;
  bool used = false;
};

/// How much a member uses a tree in a linear programme's answer.
struct TreeShare {
  std::size_t clique = 0;
  std::size_t member = 0;
  const LinkTree* tree = nullptr;
  double share = 0;
};

/// What a linear programme says of all rounds that keep to some decisions.
struct TreeBound {
  bool feasible = false;          ///< Whether any can be quicker than the limit.
  double bound_s = 0;             ///< None is quicker than this, or than the limit.
  std::vector<TreeShare> shares;  ///< Of an answer that is split over trees.
};

/// The round as a linear programme over bundles of trees, which are found as its prices ask for them.
class TreeRelaxation {
 public:
  /// Model and round must outlive it. It solves at most `max_programmes` linear programmes in all.
  TreeRelaxation(const RoundModel& model, PackedCliques& round, std::size_t max_programmes);

  /// Adds what is known already.
  void add(const RoundTrees& trees);

  /// Solves it for rounds that last `time_s`, to bound those that are quicker than `limit_s`; stops early
  /// where there are none. A bound holds even if the programmes ran out; the shares may then be none.
  TreeBound solve(const std::vector<TreeDecision>& decisions, double time_s, double limit_s);

  bool exhausted() const { return programmes_left_ == 0; }
  /// All trees that were found, without branches that serve nobody.
  const TreePool& pool() const { return pool_; }

 private:
  using Point = CliquePricer::Point;

  bool add_bundle(std::size_t clique, std::vector<LinkTree> trees);
  bool keeps(const TreeBundle& bundle, const std::vector<TreeDecision>& decisions) const;
  RulesByMember rules(const std::vector<TreeDecision>& decisions, std::size_t clique) const;
  std::uint64_t latency_limit_ns(std::size_t clique, double limit_s) const;
  bool find_curves(const std::vector<TreeDecision>& decisions, std::span<const double> prices,
                   double limit_s);
  const Point* cheapest(std::size_t clique, double time_s) const;
  double least_fullness(double time_s) const;
  double bound_s(double limit_s) const;
  bool add_cheapest(double time_s);

  const RoundModel& model_;
  PackedCliques& round_;
  std::size_t programmes_left_;
  std::vector<TreeBundle> bundles_;
  std::set<std::pair<std::size_t, std::vector<LinkTree>>> known_;
  TreePool pool_;
  // Of the prices at hand: by clique, its trades of latency against price and what its access lines cost; and
  // what the other cliques cost, by the time they have.
  std::vector<std::vector<Point>> curves_;
  std::vector<double> access_price_;
  std::vector<std::pair<double, double>> fixed_price_;  ///< Latency, price.
};

}  // namespace tombolo::schedule
