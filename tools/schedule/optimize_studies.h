#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/baselines/score.h"
#include "schedule/optimize/optimize.h"
#include "schedule/optimize/problem.h"

namespace tombolo::tools {

/// The least D found with at most so many rounds.
struct RoundsPoint {
  std::size_t max_rounds = 0;
  double disagreement_s = 0;
  bool certified = false;  ///< No cycle of at most so many rounds has less.
};

/// What would be best if the network were another.
struct Variant {
  schedule::Schedule schedule;
  double disagreement_s = 0;
  bool certified = false;  ///< As the best of at most two rounds.
  std::string failure;     ///< Why there is nothing; else empty.
};

/// Variants by capability (rows) and size of the update (columns).
struct VariantGrid {
  std::string title;
  std::vector<std::string> rows{};
  std::vector<std::string> columns{};
  std::vector<std::vector<Variant>> cells{};  ///< [row][column].
};

/// What the page shows besides the schedule itself.
struct Studies {
  std::vector<RoundsPoint> by_rounds;
  std::vector<schedule::baselines::Baseline> baselines;
  std::vector<VariantGrid> grids;
  std::vector<std::string> left_out;  ///< Sentences: what a network of this size does not get, and why.
};

struct StudyOptions {
  std::uint64_t seed = 1;
  std::size_t max_rounds = 8;
  std::uint64_t max_cycles = 60'000;           ///< That one search among longer cycles measures.
  std::uint64_t variant_cycles = 15'000;       ///< That one variant's search measures.
  std::vector<unsigned> local_steps{50, 500};  ///< Of DiLoCo, in steps of a second.
  std::function<void(std::string_view)> progress = {};
};

/// Up to 16 islands everything is studied, up to 9 with certificates; larger networks get less, as `left_out`
/// says. The same problem, schedule and options give the same studies.
/// Errors: those of the optimizer and of the baselines for this problem.
Result<Studies> make_studies(const schedule::Problem& problem, const schedule::Optimized& best,
                             const StudyOptions& options);

}  // namespace tombolo::tools
