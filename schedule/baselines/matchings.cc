#include "schedule/baselines/matchings.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "schedule/baselines/connectivity.h"

namespace tombolo::schedule::baselines {
namespace {

constexpr const char* kSource =
    "Wang, Sahu, Yang, Joshi, Kar: MATCHA: Speeding Up Decentralized SGD via Matching Decomposition "
    "Sampling, "
    "arXiv 1905.09435";
constexpr std::size_t kExactMatchings = 10;
constexpr std::size_t kSamples = 1000;
constexpr int kBudgets = 10;

std::vector<Matrix> laplacians_of(const std::vector<std::vector<Edge>>& matchings, std::size_t islands) {
  std::vector<Matrix> laplacians;
  for (const std::vector<Edge>& matching : matchings) laplacians.push_back(laplacian(matching, islands));
  return laplacians;
}

/// The alpha that minimises ||E[W^2] - J||, a convex function of alpha, by golden section.
void choose_alpha(Matcha& result, std::span<const Matrix> laplacians, std::size_t islands) {
  const auto n = static_cast<Eigen::Index>(islands);
  Matrix mean = Matrix::Zero(n, n);
  Matrix spread = Matrix::Zero(n, n);
  for (std::size_t j = 0; j < laplacians.size(); ++j) {
    mean += result.p[j] * laplacians[j];
    spread += result.p[j] * (1 - result.p[j]) * laplacians[j];
  }
  const Matrix square = mean * mean + 2 * spread;
  const Matrix drift = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / static_cast<double>(n));
  const auto contraction = [&](double alpha) {
    const Matrix second = drift - 2 * alpha * mean + alpha * alpha * square;
    return Eigen::SelfAdjointEigenSolver<Matrix>(second, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
  };
  constexpr double kGolden = 0.6180339887498949;
  double low = 0;
  double high = 1;  // At alpha 1 a lone edge exchanges instead of averaging; more never helps.
  for (int step = 0; step < 60; ++step) {
    const double a = high - kGolden * (high - low);
    const double b = low + kGolden * (high - low);
    (contraction(a) <= contraction(b) ? high : low) = contraction(a) <= contraction(b) ? b : a;
  }
  result.alpha = (low + high) / 2;
  result.contraction = contraction(result.alpha);
}

/// The time of a round in which these matchings are active, by set; filled on demand.
class ActiveTimes {
 public:
  ActiveTimes(const Scene& scene, const std::vector<std::vector<Edge>>& matchings)
      : scene_(scene), matchings_(matchings) {}

  double seconds(const std::vector<bool>& active) const {
    std::vector<Message> messages;
    for (std::size_t j = 0; j < active.size(); ++j) {
      if (!active[j]) continue;
      for (const auto& [a, b] : matchings_[j]) {
        messages.push_back({a, b});
        messages.push_back({b, a});
      }
    }
    return messages.empty() ? scene_.step_s() : scene_.pattern_time_s(messages);
  }

 private:
  const Scene& scene_;
  const std::vector<std::vector<Edge>>& matchings_;
};

/// E[T] and E[T^2] over the sets of active matchings.
std::pair<double, double> time_moments(const Scene& scene, const Matcha& plan) {
  const ActiveTimes times(scene, plan.matchings);
  const std::size_t count = plan.p.size();
  std::pair<double, double> moments{0, 0};
  const auto add = [&](const std::vector<bool>& active, double probability) {
    if (probability <= 0) return;
    const double seconds = times.seconds(active);
    moments.first += probability * seconds;
    moments.second += probability * seconds * seconds;
  };
  std::vector<bool> active(count);
  if (count <= kExactMatchings) {
    for (std::size_t set = 0; set < (std::size_t{1} << count); ++set) {
      double probability = 1;
      for (std::size_t j = 0; j < count; ++j) {
        active[j] = (set >> j & 1) != 0;
        probability *= active[j] ? plan.p[j] : 1 - plan.p[j];
      }
      add(active, probability);
    }
    return moments;
  }
  Random random(scene.seed());
  for (std::size_t i = 0; i < kSamples; ++i) {
    for (std::size_t j = 0; j < count; ++j) active[j] = random.chance(plan.p[j]);
    add(active, 1.0 / static_cast<double>(kSamples));
  }
  return moments;
}

/// E[W S W'] = (I - alpha Lbar) S (I - alpha Lbar) + alpha^2 sum p_j (1 - p_j) L_j S L_j; L_j is sparse.
RandomRounds random_rounds(const Scene& scene, const Matcha& plan, std::span<const Matrix> laplacians) {
  const auto n = static_cast<Eigen::Index>(scene.islands());
  Matrix mean_w = Matrix::Identity(n, n);
  for (std::size_t j = 0; j < laplacians.size(); ++j) mean_w -= plan.alpha * plan.p[j] * laplacians[j];
  const auto apply = [mean_w, plan](const Matrix& s) {
    Matrix result = mean_w * s * mean_w;
    for (std::size_t j = 0; j < plan.p.size(); ++j) {
      const double factor = plan.alpha * plan.alpha * plan.p[j] * (1 - plan.p[j]);
      if (factor <= 0) continue;
      // L_j S L_j: a pair's row and column become differences, all else is 0.
      Matrix rows = Matrix::Zero(s.rows(), s.cols());
      for (const auto& [a, b] : plan.matchings[j]) {
        rows.row(a) = s.row(a) - s.row(b);
        rows.row(b) = -rows.row(a);
      }
      for (const auto& [a, b] : plan.matchings[j]) {
        const Eigen::VectorXd difference = factor * (rows.col(a) - rows.col(b));
        result.col(a) += difference;
        result.col(b) -= difference;
      }
    }
    return result;
  };
  const auto [mean_s, mean_square_s2] = time_moments(scene, plan);
  return {apply, mean_s, mean_square_s2};
}

}  // namespace

Matcha optimize_matcha(std::vector<std::vector<Edge>> matchings, std::size_t islands, double budget) {
  const std::vector<Matrix> laplacians = laplacians_of(matchings, islands);
  const Connectivity connectivity =
      maximize_connectivity(laplacians, budget * static_cast<double>(laplacians.size()));
  Matcha result;
  result.matchings = std::move(matchings);
  result.p = connectivity.p;
  result.lambda2 = connectivity.lambda2;
  choose_alpha(result, laplacians, islands);
  return result;
}

Baseline matcha(const Scene& scene) {
  const auto matchings = matchings_of(physical_edges(scene), scene.islands());
  const std::vector<Matrix> laplacians = laplacians_of(matchings, scene.islands());
  Baseline best;
  best.disagreement_s = std::numeric_limits<double>::infinity();
  for (int tenth = 1; tenth <= kBudgets; ++tenth) {
    const double budget = static_cast<double>(tenth) / kBudgets;
    const Matcha plan = optimize_matcha(matchings, scene.islands(), budget);
    const RandomRounds rounds = random_rounds(scene, plan, laplacians);
    const Mixing score = score_random(rounds, scene.islands());
    if (!best.name.empty() && score.disagreement_s >= best.disagreement_s) continue;
    best.name = "MATCHA";
    best.source = kSource;
    best.choices = fmt::format("{} matchings of the core, budget {}, alpha {:.3f}", matchings.size(), budget,
                               plan.alpha);
    best.round_s = {rounds.mean_s};
    best.cycle_s = rounds.mean_s;
    best.disagreement_s = score.disagreement_s;
    best.r_per_s = score.r_per_s;
  }
  return best;
}

}  // namespace tombolo::schedule::baselines
