#include "schedule/optimize/robust.h"

#include <Eigen/Dense>
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "schedule/optimize/cycle.h"
#include "schedule/optimize/partition.h"
#include "schedule/optimize/search.h"
#include "schedule/optimize/time_form.h"
#include "schedule/optimize/uncertainty.h"

namespace tombolo::schedule {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// With more islands a cycle takes long to measure, and there is time for one length only.
constexpr std::size_t kMostIslandsOfAnyLength = 12;
/// And for what is near the start only: annealing accepts hardly anything worse.
constexpr double kCool = 0.001;
/// Times by draw that are kept: some 100 MB.
constexpr std::size_t kMaxTimes = 10'000'000;
/// A cycle that has not converged by then mixes so slowly that no search wants it.
constexpr int kMaxPasses = 1000;
/// D on the network as planned, to this share, is enough to leave a cycle out.
constexpr double kRough = 1e-3;

/// Some draws, with what rounds take in them: each timed once.
class TimedDraws {
 public:
  explicit TimedDraws(Scenarios scenarios) : scenarios_(std::move(scenarios)) {}

  const Scenarios& scenarios() const { return scenarios_; }

  /// By draw: D of the cycle whose form this is. `plan(round)` plans a round that is new.
  template <typename Plan>
  Eigen::ArrayXd disagreements_s(const TimeForm& form, std::span<const RoundHandle> cycle, const Plan& plan) {
    seconds_.resize(static_cast<Eigen::Index>(scenarios_.draws()), static_cast<Eigen::Index>(cycle.size()));
    for (std::size_t r = 0; r < cycle.size(); ++r) {
      auto known = times_.find(cycle[r]);
      if (known == times_.end()) {
        if ((times_.size() + 1) * scenarios_.draws() > kMaxTimes) times_.clear();
        known = times_.emplace(cycle[r], scenarios_.seconds(plan(*cycle[r]))).first;
      }
      seconds_.col(static_cast<Eigen::Index>(r)) =
          Eigen::Map<const Eigen::VectorXd>(known->second.data(), seconds_.rows());
    }
    return form.disagreements_s(seconds_);
  }

 private:
  Scenarios scenarios_;
  Eigen::MatrixXd seconds_;  ///< [draw][round].
  std::unordered_map<RoundHandle, std::vector<double>> times_;
};

/// What a cycle costs: the mean of D over the worst tenth of the draws.
class WorstDecile {
 public:
  WorstDecile(const Problem& problem, const UncertaintyOptions& options, std::span<const Schedule> starts)
      : problem_(problem),
        meter_(problem.islands()),
        form_(problem.islands()),
        all_(Scenarios(problem, options)) {
    for (const Schedule& start : starts)
      for (const Round& round : start.rounds)
        if (!round.trees.empty()) given_.emplace(to_partition(round, problem.islands()), round);
  }

  /// Of this partition: with the trees that a start has for it, if any.
  Round round(const Partition& sets) const {
    const auto given = given_.find(sets);
    return given == given_.end() ? to_round(sets) : given->second;
  }

  /// What is worse than the cutoff on the network as planned already is so where it turns out worst; and the
  /// mean over any tenth of the draws is at most that over the worst.
  double measure(std::span<const RoundHandle> cycle, double cutoff_s, double precision) {
    const double planned_s = meter_.disagreement_s(cycle, cutoff_s, kRough);
    if (planned_s > cutoff_s) return planned_s;
    const auto plan = [&](const TimedPartition& partition) {
      auto planned = plan_round(problem_, round(partition.sets));
      CHECK(planned.ok());  // It was timed on the network as planned.
      return *std::move(planned);
    };
    form_.begin(cycle);
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      const bool settled = form_.refine() <= precision;
      if (hard_)
        if (const double hard_s = hard_->disagreements_s(form_, cycle, plan).mean(); hard_s > cutoff_s)
          return hard_s;
      if (!settled) continue;
      Eigen::ArrayXd disagreements_s = all_.disagreements_s(form_, cycle, plan);
      if (!hard_) hard_.emplace(all_.scenarios().only(worst_tenth(disagreements_s)));
      return mean_of_worst_tenth({disagreements_s.data(), static_cast<std::size_t>(disagreements_s.size())});
    }
    return kInfinity;
  }

 private:
  static std::vector<std::size_t> worst_tenth(const Eigen::ArrayXd& disagreements_s) {
    std::vector<std::size_t> draws(static_cast<std::size_t>(disagreements_s.size()));
    std::iota(draws.begin(), draws.end(), std::size_t{0});
    std::stable_sort(draws.begin(), draws.end(), [&](std::size_t a, std::size_t b) {
      return disagreements_s(static_cast<Eigen::Index>(a)) > disagreements_s(static_cast<Eigen::Index>(b));
    });
    draws.resize(std::max<std::size_t>(1, draws.size() / 10));
    return draws;
  }

  const Problem& problem_;
  std::map<Partition, Round> given_;  ///< The rounds that have trees of their own.
  CycleMeter meter_;
  TimeForm form_;
  TimedDraws all_;
  std::optional<TimedDraws> hard_;  ///< Where the first cycle measured was worst: hard for others, too.
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
  if (problem.islands() > kMostIslandsOfAnyLength) {
    search.one_length = true;
    search.start_heat = kCool;
  }
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
