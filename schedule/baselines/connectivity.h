#pragma once

#include <span>
#include <vector>

#include "schedule/baselines/scene.h"

namespace tombolo::schedule::baselines {

/// Probabilities (or weights) of Laplacians that make their sum well connected.
struct Connectivity {
  std::vector<double> p;
  double lambda2 = 0;  ///< Of sum p_j L_j.
  double bound = 0;    ///< No other p has more than this.
};

/// Maximises lambda_2(sum p_j L_j) with 0 <= p_j <= 1 and sum p_j <= budget, a concave problem: MATCHA's.
/// Kelley's cutting planes: each eigenvector v of the present answer gives the plane lambda_2 <= sum p_j
/// v'L_j v, the linear programme over the planes gives the bound. Ends when bound and value differ by 1e-6 of
/// the bound.
Connectivity maximize_connectivity(std::span<const Matrix> laplacians, double budget);

}  // namespace tombolo::schedule::baselines
