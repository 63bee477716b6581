#pragma once

#include "schedule/baselines/edge_coloring.h"
#include "schedule/baselines/score.h"

namespace tombolo::schedule::baselines {

/// MATCHA's parameters for one communication budget.
struct Matcha {
  std::vector<std::vector<Edge>> matchings;
  std::vector<double> p;   ///< Matching j is active in a round with probability p_j, independently.
  double alpha = 0;        ///< W = I - alpha sum of active L_j.
  double lambda2 = 0;      ///< Of sum p_j L_j.
  double contraction = 0;  ///< ||E[W^2] - J||.
};

/// The paper's optimizer: p maximises lambda_2 of the expected Laplacian with sum p_j <= budget x the number
/// of matchings; alpha minimises ||E[W^2] - J||, E[W^2] = I - 2 alpha Lbar + alpha^2 (Lbar^2 + 2 Ltilde),
/// with Lbar = sum p_j L_j and Ltilde = sum p_j (1 - p_j) L_j. `budget` is in (0, 1].
Matcha optimize_matcha(std::vector<std::vector<Edge>> matchings, std::size_t islands, double budget);

/// MATCHA on the core's graph, the best of ten budgets. Wang, Sahu, Yang, Joshi, Kar: MATCHA: Speeding Up
/// Decentralized SGD via Matching Decomposition Sampling, arXiv 1905.09435. Ours: the active matchings of a
/// round are sent at once (the paper sends one after the other); a round without any takes a local step. All
/// 2^m sets of active matchings are weighed up to m = 10, else 1000 drawn ones.
Baseline matcha(const Scene& scene);

}  // namespace tombolo::schedule::baselines
