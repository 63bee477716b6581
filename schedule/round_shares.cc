#include "schedule/round_shares.h"

#include <algorithm>
#include <cmath>

namespace tombolo::schedule {
namespace {

/// Of the search for the best weights. Any weights give a bound; more steps find a little better ones.
constexpr int kSteps = 60;
/// Shares are not taken for less when weights are chosen, so that nothing is divided by 0.
constexpr double kLeastShare = 1e-6;

/// A weighted sum of lower bounds as a function of the shares F: constant + sum over lengths l of
/// inverse[l] / F(l) + the sum over lengths l of behind[l] x the integral of F / 2 from l on.
struct Weighted {
  double constant = 0;
  std::vector<double> inverse;
  std::vector<double> behind;

  explicit Weighted(std::size_t lengths) : inverse(lengths, 0), behind(lengths, 0) {}

  void move_towards(const Weighted& other, double share) {
    constant += share * (other.constant - constant);
    for (std::size_t l = 0; l < inverse.size(); ++l) {
      inverse[l] += share * (other.inverse[l] - inverse[l]);
      behind[l] += share * (other.behind[l] - behind[l]);
    }
  }
};

/// The notation is that of BOUNDS.md: F, p, b, q.
class Game {
 public:
  Game(const std::vector<IslandSpread>& islands, const std::vector<double>& lengths_s)
      : islands_(islands), lengths_s_(lengths_s), shares_(lengths_s.size(), 1) {}

  double value() {
    Weighted weights = best_reply(false);
    double best_s = answer(weights);
    for (int step = 0; step < kSteps; ++step) {
      weights.move_towards(best_reply(true), 2.0 / (step + 3));
      best_s = std::max(best_s, answer(weights));
    }
    return best_s;
  }

 private:
  std::size_t index_of(double length_s) const {
    return static_cast<std::size_t>(std::lower_bound(lengths_s_.begin(), lengths_s_.end(), length_s) -
                                    lengths_s_.begin());
  }

  /// From each island's lower bounds the largest at the shares at hand; the residual one only if asked.
  Weighted best_reply(bool with_residual) const {
    Weighted reply(lengths_s_.size());
    std::vector<double> behind_s(lengths_s_.size(), 0);  // The integral of F from a length on.
    for (std::size_t l = lengths_s_.size(); l-- > 1;)
      behind_s[l - 1] = behind_s[l] + (lengths_s_[l] - lengths_s_[l - 1]) * shares_[l];
    for (const IslandSpread& island : islands_) {
      const std::size_t own = index_of(island.shortest_s);
      const double by_rate_s = island.shortest_s / (2 * shares_[own]);
      const double residual_s = with_residual ? (island.shortest_s + behind_s[own]) / 2 : 0;
      const double wait_s = std::max(by_rate_s, residual_s);
      double known = 1;
      for (const SpreadStep& step : island.steps) {
        const double weight = 1 / known - 1 / (known + 1);
        ++known;
        const std::size_t widest = index_of(step.widest_s);
        if (step.widest_s + step.widest_s / (2 * shares_[widest]) > wait_s + step.reached_s) {
          reply.constant += weight * step.widest_s;
          reply.inverse[widest] += weight * step.widest_s / 2;
          continue;
        }
        reply.constant += weight * step.reached_s;
        if (residual_s > by_rate_s) {
          reply.constant += weight * island.shortest_s / 2;
          reply.behind[own] += weight;
        } else {
          reply.inverse[own] += weight * island.shortest_s / 2;
        }
      }
    }
    return reply;
  }

  /// The least value over all shares from 0 to 1, length by length; leaves the shares at which it is.
  double answer(const Weighted& weights) {
    double value_s = weights.constant;
    double before = 0;  // Weights of integrals that this length is part of.
    for (std::size_t l = 0; l < lengths_s_.size(); ++l) {
      const double slope = l == 0 ? 0 : before * (lengths_s_[l] - lengths_s_[l - 1]) / 2;
      before += weights.behind[l];
      const double inverse = weights.inverse[l];
      const double share = inverse < slope ? std::sqrt(inverse / slope) : 1;
      value_s += inverse < slope ? 2 * std::sqrt(inverse * slope) : inverse + slope;
      shares_[l] = std::max(share, kLeastShare);
    }
    return value_s;
  }

  const std::vector<IslandSpread>& islands_;
  const std::vector<double>& lengths_s_;
  std::vector<double> shares_;  ///< F, by length.
};

}  // namespace

double least_spread_s(const std::vector<IslandSpread>& islands, const std::vector<double>& lengths_s) {
  if (lengths_s.empty()) return 0;
  return Game(islands, lengths_s).value();
}

}  // namespace tombolo::schedule
