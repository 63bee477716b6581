#include "schedule/trees/tree_choice.h"

#include <cmath>

namespace tombolo::schedule {
namespace {

constexpr int kMostPasses = 20;
/// Times and sums that differ by less, as a share, are equal.
constexpr double kEqual = 1e-9;
/// High enough that the fullest resources count most, and low enough that all count.
constexpr double kPower = 8;

/// What is compared: the round's time, then how uneven its resources are filled.
struct Worth {
  double time_s = 0;
  double uneven = 0;

  bool better_than(const Worth& other) const {
    if (time_s < other.time_s * (1 - kEqual)) return true;
    return time_s <= other.time_s * (1 + kEqual) && uneven < other.uneven * (1 - kEqual);
  }
};

Worth worth(const PackedCliques& round, const std::vector<CliqueLoad>& loads) {
  std::vector<const CliqueLoad*> all;
  for (const CliqueLoad& load : loads) all.push_back(&load);
  for (const CliqueLoad& load : round.fixed) all.push_back(&load);
  Worth result{RoundModel::least_time(all, round.update_s), 0};
  std::vector<double> full(round.update_s.size(), 0.0);
  for (const CliqueLoad* const load : all)
    for (const ResourceLoad& asked : load->loads)
      full[asked.resource] +=
          asked.updates * round.update_s[asked.resource] / (result.time_s - load->latency_s);
  for (const double one : full) result.uneven += std::pow(one, kPower);
  return result;
}

}  // namespace

double PackedCliques::time_s(const RoundTrees& trees) const {
  std::vector<CliqueLoad> loads;
  for (std::size_t c = 0; c < cliques.size(); ++c) loads.push_back(cliques[c].load(trees[c]));
  return worth(*this, loads).time_s;
}

double improve_choice(const PackedCliques& round, const TreePool& pool, RoundTrees& trees) {
  std::vector<CliqueLoad> loads;
  for (std::size_t c = 0; c < trees.size(); ++c) loads.push_back(round.cliques[c].load(trees[c]));
  Worth best = worth(round, loads);
  bool better = true;
  for (int pass = 0; better && pass < kMostPasses; ++pass) {
    better = false;
    for (std::size_t c = 0; c < trees.size(); ++c)
      for (std::size_t i = 0; i < trees[c].size(); ++i)
        for (const LinkTree& other : pool[c][i]) {
          if (other == trees[c][i]) continue;
          LinkTree kept = std::move(trees[c][i]);
          trees[c][i] = other;
          CliqueLoad load = round.cliques[c].load(trees[c]);
          std::swap(load, loads[c]);
          const Worth now = worth(round, loads);
          if (now.better_than(best)) {
            best = now;
            better = true;
            continue;
          }
          trees[c][i] = std::move(kept);
          loads[c] = std::move(load);
        }
  }
  return best.time_s;
}

}  // namespace tombolo::schedule
