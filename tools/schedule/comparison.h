#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "schedule/baselines/score.h"
#include "tools/schedule/network_options.h"

namespace tombolo::tools {

/// Who can run a row as it is scored: nobody here; islands and edges of `testbed run` in one process; or
/// edges, to which the controller installs it.
enum class Runs { kNowhere, kOneProcess, kEdges };
std::string runs_text(Runs runs);  ///< "no", "one process", "edges".

struct CompareRow {
  schedule::baselines::Baseline score;
  Runs runs = Runs::kNowhere;
  bool ours = false;
};

struct CompareWishes {
  double step_s = 1;
  std::vector<unsigned> local_steps;
  std::uint64_t seed = 1;
  std::optional<double> time_limit_s{};  ///< Of each of the optimizer's searches.
  std::string form = "best";             ///< As --form: which of ours is compared.
  std::uint32_t fragments = 1;           ///< At most, of the form event.
};

/// What others are compared with stands first: ours, of the form that was asked for.
struct Comparison {
  NetworkInput input;
  std::vector<CompareRow> rows;

  /// How many times the first row's D a row's is; NaN if it has none.
  double ratio_of(const CompareRow& row) const;
};

/// How one of ours stands against all rows that are not.
struct Standing {
  const CompareRow* row = nullptr;    ///< The best of ours that so many can run.
  const CompareRow* rival = nullptr;  ///< The best of the others, runnable or not; null if none has a value.
  double factor = 0;                  ///< The rival's D over the row's: above 1 if the row is better.
};

/// Of the best of ours that is run by `least` or more. Nothing if there is none.
std::optional<Standing> standing_of(const Comparison& comparison, Runs least);

/// Ours and every baseline of one network. `tell` hears how far it is.
/// Errors: those of the baselines and of the optimizer.
Result<Comparison> compare(NetworkInput input, const CompareWishes& wishes, const Clock& clock,
                           const std::function<void(std::string_view)>& tell);

}  // namespace tombolo::tools
