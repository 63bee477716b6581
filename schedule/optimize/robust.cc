#include "schedule/optimize/robust.h"

#include <Eigen/Dense>
#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/optimize/cycle.h"
#include "schedule/optimize/partition.h"
#include "schedule/optimize/search.h"
#include "schedule/optimize/time_form.h"
#include "schedule/optimize/uncertainty.h"

namespace tombolo::schedule {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Times by draw that are kept: some 100 MB.
constexpr std::size_t kMaxTimes = 10'000'000;
/// A cycle that has not converged by then mixes so slowly that no search wants it.
constexpr int kMaxPasses = 1000;
/// D on the network as planned, to this share, is enough to leave a cycle out.
constexpr double kRough = 1e-3;

/// What a cycle costs: the mean of D over the worst tenth of the draws.
class WorstDecile {
 public:
  WorstDecile(const Problem& problem, const UncertaintyOptions& options, std::span<const Schedule> starts)
      : problem_(problem), scenarios_(problem, options), meter_(problem.islands()), form_(problem.islands()) {
    for (const Schedule& start : starts)
      for (const Round& round : start.rounds)
        if (!round.trees.empty()) given_.emplace(to_partition(round, problem.islands()), round);
  }

  /// Of this partition: with the trees that a start has for it, if any.
  Round round(const Partition& sets) const {
    const auto given = given_.find(sets);
    return given == given_.end() ? to_round(sets) : given->second;
  }

  /// What is worse than the cutoff on the network as planned already is so where it turns out worst.
  double measure(std::span<const RoundHandle> cycle, double cutoff_s, double precision) {
    const double planned_s = meter_.disagreement_s(cycle, cutoff_s, kRough);
    if (planned_s > cutoff_s) return planned_s;
    if (!set_seconds(cycle)) return kInfinity;
    form_.begin(cycle);
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      const bool settled = form_.refine() <= precision;
      Eigen::ArrayXd disagreements_s = form_.disagreements_s(seconds_);
      const double worst_s =
          mean_of_worst_tenth({disagreements_s.data(), static_cast<std::size_t>(disagreements_s.size())});
      if (settled || worst_s > cutoff_s) return worst_s;
    }
    return kInfinity;
  }

 private:
  /// [draw][round]; false if a round is impossible.
  bool set_seconds(std::span<const RoundHandle> cycle) {
    seconds_.resize(static_cast<Eigen::Index>(scenarios_.draws()), static_cast<Eigen::Index>(cycle.size()));
    for (std::size_t r = 0; r < cycle.size(); ++r) {
      const std::vector<double>* const drawn_s = times(cycle[r]);
      if (drawn_s == nullptr) return false;
      seconds_.col(static_cast<Eigen::Index>(r)) =
          Eigen::Map<const Eigen::VectorXd>(drawn_s->data(), static_cast<Eigen::Index>(drawn_s->size()));
    }
    return true;
  }

  /// By draw: what the round takes; until the next call. Null if it is impossible.
  const std::vector<double>* times(const RoundHandle& handle) {
    if (const auto known = times_.find(handle); known != times_.end()) return &known->second;
    auto planned = plan_round(problem_, round(handle->sets));
    if (!planned) return nullptr;
    if ((times_.size() + 1) * scenarios_.draws() > kMaxTimes) times_.clear();
    return &times_.emplace(handle, scenarios_.seconds(*std::move(planned))).first->second;
  }

  const Problem& problem_;
  Scenarios scenarios_;
  std::map<Partition, Round> given_;  ///< The rounds that have trees of their own.
  CycleMeter meter_;
  TimeForm form_;
  Eigen::MatrixXd seconds_;
  std::unordered_map<RoundHandle, std::vector<double>> times_;
};

}  // namespace

Result<RobustSearched> search_robust(const Problem& problem, std::span<const Schedule> starts,
                                     const RobustOptions& options) {
  if (problem.islands() > kMaxSetIslands)
    return Error{ErrorCode::kNotSupported,
                 "the search is for at most " + std::to_string(kMaxSetIslands) + " islands"};
  const auto before = choose_robust(problem, starts, options.uncertainty);
  if (!before) return before.error();
  WorstDecile worst(problem, options.uncertainty, starts);
  SearchOptions search;
  search.max_rounds = options.max_rounds;
  search.seed = options.seed;
  search.max_cycles = options.max_cycles;
  search.stop = options.stop;
  search.round_seconds = [&](const Round& round) -> std::optional<double> {
    const auto time =
        problem.model().time(worst.round(to_partition(round, problem.islands())), problem.update_bytes());
    return time ? std::optional(time->seconds) : std::nullopt;
  };
  search.cost = [&](std::span<const RoundHandle> cycle, double cutoff_s, double precision) {
    return worst.measure(cycle, cutoff_s, precision);
  };
  auto found = search_cycles(problem, starts, search);
  if (!found) return std::move(found).error();
  RobustSearched result{.schedule = std::move(found->schedule),
                        .worst_decile_s = found->disagreement_s,
                        .start_worst_decile_s = before->spreads[before->index].worst_decile_s,
                        .cycles = found->cycles,
                        .stopped = found->stopped};
  for (Round& round : result.schedule.rounds) round = worst.round(to_partition(round, problem.islands()));
  if (result.worst_decile_s < result.start_worst_decile_s) return result;
  // Starts may have modes of their own, or more rounds than are looked for.
  result.schedule = starts[before->index];
  result.worst_decile_s = result.start_worst_decile_s;
  return result;
}

}  // namespace tombolo::schedule
