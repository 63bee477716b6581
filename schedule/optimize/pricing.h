#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "schedule/optimize/partition.h"
#include "schedule/optimize/problem.h"

namespace tombolo::schedule {

/// Up to this many islands every round can be gone through: 4.2 million partitions.
inline constexpr std::size_t kMaxPricedIslands = 12;

/// A round, the modes of its cliques, and the time that it takes.
struct TimedRound {
  Partition sets;                 ///< Together all islands.
  std::vector<CliqueMode> modes;  ///< By set; of no meaning where one island rests.
  double seconds = 0;
};

/// Finds the round that removes the most per second of a given disagreement: the most weighted scatter within
/// cliques, trace(X (I - W)), per second of round time. It goes through all partitions and all modes, passing
/// over those that a bound rules out: the time of a partial round never falls as cliques join it, and what
/// the islands left can add at most, if no clique may take longer than a given time, is found for every set
/// of islands beforehand by dynamic programming.
class Pricing {
 public:
  /// For a problem that passes Problem::check, with at most kMaxPricedIslands islands. It must outlive this.
  explicit Pricing(const Problem& problem);

  struct Answer {
    std::vector<TimedRound> rounds;  ///< Above the asked value, each better than the one before.
    double bound_per_s = 0;          ///< No round has more scatter per second.
    bool complete = true;            ///< Otherwise the search was cut short and the bound is a weak one.
  };
  /// X: symmetric, positive semidefinite, rows of sum 0. Rounds of at most `known_per_s` are of no interest.
  Answer price(const Eigen::MatrixXd& x, double known_per_s);

  /// The round's time with the modes that make it least.
  TimedRound timed(const Partition& sets);

 private:
  struct Use {
    std::uint32_t link = 0;  ///< Directed.
    double alone_s = 0;      ///< What the clique's updates take on it, latency apart.
  };
  /// A clique in one mode.
  struct Option {
    CliqueMode mode;
    double latency_s = 0;
    double alone_s = 0;  ///< The clique's time if it has the network to itself.
    std::vector<Use> uses;
  };
  struct Shared {
    double latency_s = 0;
    double alone_s = 0;
  };

  void add_options(IslandSet set);
  void find_scatter(const Eigen::MatrixXd& x);
  void find_most();
  bool may_improve(double scatter, double seconds, IslandSet rest) const;
  void choose(IslandSet rest, double scatter, double seconds, Answer& answer);
  void choose_fastest(const Partition& sets, std::size_t next, double seconds, TimedRound& best);
  double join(const Option& option, double seconds);
  void leave(const Option& option);

  const Problem& problem_;
  std::size_t islands_;
  std::vector<std::vector<Option>> options_;  ///< By set.
  std::vector<double> limits_s_;              ///< Ascending; the last allows every clique.
  std::vector<double> quickest_s_;            ///< By set: the least `alone_s` of its options.

  std::vector<double> scatter_;            ///< By set, under the present X.
  std::vector<std::vector<double>> most_;  ///< [limit][set]: most scatter by cliques within the limit.

  // The partial round.
  std::vector<std::vector<Shared>> links_;  ///< By directed link: the cliques on it.
  Partition sets_;
  std::vector<CliqueMode> modes_;
  double best_per_s_ = 0;
  std::uint64_t visits_left_ = 0;
};

}  // namespace tombolo::schedule
