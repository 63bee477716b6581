#include "tools/schedule/simulate_baselines.h"

#include <fmt/format.h>

#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "schedule/baselines/edge_coloring.h"
#include "schedule/baselines/matchings.h"
#include "schedule/baselines/ring.h"
#include "schedule/baselines/score.h"

namespace tombolo::tools {
namespace {

namespace baselines = schedule::baselines;
using schedule::Method;
using schedule::WeightedRounds;

constexpr std::size_t kExactMatchings = 10;
constexpr std::size_t kDrawnSets = 1000;
constexpr int kBudgets = 10;

/// The round in which these matchings are active: W = I - alpha times the sum of their Laplacians.
void add_round(const baselines::Scene& scene, const baselines::Matcha& plan, const std::vector<bool>& active,
               double probability, WeightedRounds& rounds) {
  if (probability <= 0) return;
  const auto n = static_cast<Eigen::Index>(scene.islands());
  baselines::Matrix weights = baselines::Matrix::Identity(n, n);
  std::vector<schedule::Message> messages;
  for (std::size_t j = 0; j < active.size(); ++j) {
    if (!active[j]) continue;
    weights -= plan.alpha * baselines::laplacian(plan.matchings[j], scene.islands());
    for (const auto& [a, b] : plan.matchings[j]) {
      messages.push_back({a, b});
      messages.push_back({b, a});
    }
  }
  rounds.weights.push_back(weights);
  rounds.seconds.push_back(messages.empty() ? scene.step_s() : scene.pattern_time_s(messages));
  rounds.probability.push_back(probability);
}

WeightedRounds rounds_of(const baselines::Scene& scene, const baselines::Matcha& plan) {
  WeightedRounds rounds;
  const std::size_t count = plan.p.size();
  std::vector<bool> active(count);
  if (count > kExactMatchings) {
    Random random(scene.seed());
    for (std::size_t i = 0; i < kDrawnSets; ++i) {
      for (std::size_t j = 0; j < count; ++j) active[j] = random.chance(plan.p[j]);
      add_round(scene, plan, active, 1.0 / static_cast<double>(kDrawnSets), rounds);
    }
    return rounds;
  }
  for (std::size_t set = 0; set < (std::size_t{1} << count); ++set) {
    double probability = 1;
    for (std::size_t j = 0; j < count; ++j) {
      active[j] = (set >> j & 1) != 0;
      probability *= active[j] ? plan.p[j] : 1 - plan.p[j];
    }
    add_round(scene, plan, active, probability, rounds);
  }
  return rounds;
}

/// D of drawn rounds; their weights are symmetric.
double disagreement_s(const WeightedRounds& rounds, std::size_t islands) {
  baselines::RandomRounds random;
  random.apply = [&rounds](const baselines::Matrix& s) {
    baselines::Matrix sum = baselines::Matrix::Zero(s.rows(), s.cols());
    for (std::size_t r = 0; r < rounds.weights.size(); ++r)
      sum += rounds.probability[r] * (rounds.weights[r] * s * rounds.weights[r].transpose());
    return sum;
  };
  for (std::size_t r = 0; r < rounds.weights.size(); ++r) {
    random.mean_s += rounds.probability[r] * rounds.seconds[r];
    random.mean_square_s2 += rounds.probability[r] * rounds.seconds[r] * rounds.seconds[r];
  }
  return baselines::score_random(random, islands).disagreement_s;
}

}  // namespace

Method ring_method(const baselines::Scene& scene) {
  const baselines::Baseline ring = baselines::ring_all_reduce(scene);
  Method method = schedule::exact_method("ring all-reduce", ring.cycle_s, scene.islands());
  if (!ring.choices.empty()) method.note += "; " + ring.choices;
  return method;
}

Method matcha_method(const baselines::Scene& scene) {
  const auto matchings = baselines::matchings_of(baselines::physical_edges(scene), scene.islands());
  Method best;
  best.name = "MATCHA";
  best.disagreement_s = std::numeric_limits<double>::infinity();
  for (int tenth = 1; tenth <= kBudgets; ++tenth) {
    const double budget = static_cast<double>(tenth) / kBudgets;
    const baselines::Matcha plan = baselines::optimize_matcha(matchings, scene.islands(), budget);
    WeightedRounds rounds = rounds_of(scene, plan);
    const double disagreement = disagreement_s(rounds, scene.islands());
    if (disagreement >= best.disagreement_s) continue;
    best.disagreement_s = disagreement;
    best.cycle_s = 0;
    for (std::size_t r = 0; r < rounds.seconds.size(); ++r)
      best.cycle_s += rounds.probability[r] * rounds.seconds[r];
    best.note =
        fmt::format("{} matchings of the core, budget {}, alpha {:.3f}, a round takes {:.3f} s on average",
                    matchings.size(), budget, plan.alpha, best.cycle_s);
    best.how = std::move(rounds);
  }
  return best;
}

}  // namespace tombolo::tools
