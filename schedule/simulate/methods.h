#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "schedule/round_model.h"
#include "schedule/simulate/simulate.h"
#include "schedule/simulate/timeline.h"

namespace tombolo::schedule {

/// All islands in one place.
struct Colocated {};

/// A way to train on islands, with what D says about it.
struct Method {
  std::string name;
  std::string note;           ///< What was chosen for it: times, sizes.
  double disagreement_s = 0;  ///< D; infinite if islands are never joined.
  double cycle_s = 0;         ///< Time of all rounds once, or of one outer step; 0 if colocated.
  /// A timeline stands for rounds without barriers; it must be as long as the run.
  std::variant<Colocated, WeightedRounds, OuterOptions, Timeline> how;

  /// Whether islands follow rounds and train all the time: the setting that D is defined for.
  bool keeps_to_rounds() const { return !std::holds_alternative<OuterOptions>(how); }
};

Method colocated_method();

/// The schedule with the times of the model. Errors: those of RoundModel::time and measure_mixing.
Result<Method> scheduled_method(std::string name, const Schedule& schedule, const RoundModel& model,
                                double update_bytes, std::size_t islands);

/// Every round averages all islands exactly in `seconds`: a full clique, or a ring.
Method exact_method(std::string name, double seconds, std::size_t islands);

/// What outer optimizers share.
struct OuterSetting {
  std::uint64_t local_steps = 50;  ///< H.
  double step_s = 0.1;
  std::size_t islands = 0;
};

/// McMahan, Moore, Ramage, Hampson, Aguera y Arcas: Communication-Efficient Learning of Deep Networks from
/// Decentralized Data, arXiv 1602.05629. H local steps, then all islands stand still until the mean is there.
/// Ours: every island takes part in every round.
Method fed_avg_method(const OuterSetting& setting, double exchange_s);

/// Douillard et al.: DiLoCo: Distributed Low-Communication Training of Language Models, arXiv 2311.08105. The
/// same with an outer optimizer: Nesterov momentum 0.9, learning rate 0.7 (section 3). Ours: SGD as the inner
/// optimizer, like all others here.
Method diloco_method(const OuterSetting& setting, double exchange_s);

/// Douillard et al.: Streaming DiLoCo with overlapping communication, arXiv 2501.18512. The model in
/// fragments, each exchanged once every H local steps while training goes on; on arrival an island takes half
/// of the new parameters and keeps half of its own (alpha = 0.5). `exchange_s` is for one fragment. Ours:
/// fragments are runs of parameters, outer learning rate and momentum are DiLoCo's, nothing is quantized.
Method streaming_diloco_method(const OuterSetting& setting, std::uint32_t fragments, double exchange_s);

/// D of islands that rest for `rest_s` and then average all exactly in `exchange_s`, drifting all the time.
double rest_then_full_disagreement_s(double rest_s, double exchange_s, std::size_t islands);

/// Trains by the method. `random` draws rounds where they are drawn.
/// Errors: those of simulate_colocated, simulate_timeline, simulate_outer, and make_timeline.
Result<Curve> simulate_method(Islands& islands, const Method& method, const Course& course, Random& random);

/// steady_drift_s of the method; nothing for outer optimizers and timelines, 0 for colocated training. The
/// rounds are those of `duration_s`, or ten cycles if that is longer.
std::optional<double> method_steady_drift_s(const Method& method, std::size_t islands, double duration_s,
                                            Random& random);

}  // namespace tombolo::schedule
