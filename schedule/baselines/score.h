#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "schedule/baselines/scene.h"
#include "schedule/mixing.h"

namespace tombolo::schedule::baselines {

/// One row of the comparison.
struct Baseline {
  std::string name;       ///< One of the names of the README, the same for every network.
  std::string source;     ///< The paper: authors, title, arXiv number.
  std::string choices;    ///< What was chosen for this network: sizes, budgets, sites. May be empty.
  std::string undefined;  ///< Why this baseline has no value here; empty if it has one.
  std::vector<double>
      round_s;                ///< The rounds of a cycle; for random rounds their mean; loops if asynchronous.
  double disagreement_s = 0;  ///< D; infinite if the islands are never joined.
  double r_per_s = 0;         ///< R, or NaN where there are no rounds that could contract (asynchronous).
  double cycle_s = 0;         ///< For random rounds the mean round; the longest loop if asynchronous.
  /// Whether it is a cycle of rounds of cliques, without rests, each of which exchanges directly: what edges
  /// run.
  bool direct_cliques = false;

  bool defined() const { return undefined.empty(); }
};

/// A row without a value.
Baseline undefined_baseline(std::string name, std::string source, std::string why);

/// One round of a cycle: x <- W x, taking `seconds`.
struct TimedMatrix {
  Matrix w;
  double seconds = 0;
};

/// measure_mixing of the rounds in turn: any W with rows of sum 1. R is 0 where it would be below.
Mixing score_cycle(std::span<const TimedMatrix> cycle);

/// One exact round, or any sequence that ends in exact consensus `seconds` after its updates were sent.
Mixing score_exact_round(double seconds, std::size_t islands);

/// Rounds drawn independently: S = E[A S A'] + E[T] (I - J). `apply` is S -> E[W S W'] for symmetric S of row
/// sum 0; it must be self-adjoint, as it is for symmetric W. `expected_w` is E[W].
struct RandomRounds {
  std::function<Matrix(const Matrix&)> apply;
  double mean_s = 0;          ///< E[T].
  double mean_square_s2 = 0;  ///< E[T^2].
};
Mixing score_random(const RandomRounds& rounds, std::size_t islands);

/// Fills a row from the rounds of a cycle.
Baseline baseline_of_cycle(std::string name, std::string source, std::string choices,
                           std::span<const TimedMatrix> cycle);
/// Fills a row from one exact round.
Baseline baseline_of_exact_round(std::string name, std::string source, std::string choices, double seconds,
                                 std::size_t islands);

/// W of a graph by Metropolis weights: 1 / (1 + the larger of two degrees) on an edge.
/// Xiao, Boyd, Kim: Distributed average consensus with least-mean-square deviation, 2007.
using Edge = std::pair<Rank, Rank>;
Matrix metropolis(std::span<const Edge> edges, std::size_t islands);
Matrix laplacian(std::span<const Edge> edges, std::size_t islands);

}  // namespace tombolo::schedule::baselines
