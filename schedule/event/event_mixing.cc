#include "schedule/event/event_mixing.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "schedule/fixed_point.h"

namespace tombolo::schedule {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Relative to the cycle. An end comes this much earlier, so that what starts at the same moment sees it,
/// whatever rounding did to the two.
constexpr double kEndFirst = 1e-9;
/// A cycle whose 2^60-th power still shows does not contract.
constexpr int kMostDoublings = 60;
constexpr double kVanished = 1e-18;

/// A start or an end of an exchange within the cycle.
struct Event {
  double at_s = 0;
  bool is_end = false;
  const Clique* members = nullptr;
};

/// One fragment's events. The state is (y, h): y what islands hold less the mean of all, h what y was for a
/// member at the start of its exchange. Sums of y stay 0, for an end moves nothing between cliques.
class FragmentMixing {
 public:
  FragmentMixing(std::vector<Event> events, double cycle_s, std::size_t islands)
      : events_(std::move(events)), cycle_s_(cycle_s), n_(static_cast<Index>(islands)) {
    std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.at_s < b.at_s; });
  }

  double disagreement() {
    MatrixXd cycle = without_mean();
    MatrixXd covariance = MatrixXd::Zero(2 * n_, 2 * n_);
    for (const Event& event : events_) apply(event, cycle);
    pass_cycle(covariance);
    for (int step = 0; cycle.norm() > kVanished; ++step) {
      if (step == kMostDoublings || !std::isfinite(covariance.norm()))
        return std::numeric_limits<double>::infinity();
      covariance += cycle * covariance * cycle.transpose();
      cycle = cycle * cycle;
    }
    return pass_cycle(covariance) / (static_cast<double>(n_) * cycle_s_);
  }

  /// The square of what a cycle leaves, at most, of values that their snapshots agree with.
  double left() const {
    MatrixXd state(2 * n_, n_);
    state << identity_without_mean(n_), identity_without_mean(n_);
    for (const Event& event : events_) apply(event, state);
    return squared_norm(state.topRows(n_));
  }

 private:
  /// I less the direction (1, 1) that no event changes: what a constant added to everything would do.
  MatrixXd without_mean() const {
    MatrixXd result = MatrixXd::Identity(2 * n_, 2 * n_);
    result.leftCols(n_).array() -= 1.0 / static_cast<double>(n_);
    return result;
  }

  /// Left-multiplies by what the event does.
  void apply(const Event& event, MatrixXd& matrix) const {
    if (!event.is_end) {
      for (const Rank rank : *event.members) matrix.row(n_ + rank) = matrix.row(rank);
      return;
    }
    Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(matrix.cols());
    for (const Rank rank : *event.members) mean += matrix.row(n_ + rank);
    mean /= static_cast<double>(event.members->size());
    for (const Rank rank : *event.members) matrix.row(rank) += mean - matrix.row(n_ + rank);
  }

  /// Takes the covariance through a cycle; returns the integral of the trace of y's over it.
  double pass_cycle(MatrixXd& covariance) const {
    double integral = 0;
    double now_s = 0;
    const auto drift = [&](double until_s) {
      const double seconds = until_s - now_s;
      const double grown = seconds * static_cast<double>(n_ - 1);
      integral += seconds * (covariance.topLeftCorner(n_, n_).trace() + grown / 2);
      covariance.topLeftCorner(n_, n_).diagonal().array() += seconds;
      covariance.topLeftCorner(n_, n_).array() -= seconds / static_cast<double>(n_);
      now_s = until_s;
    };
    for (const Event& event : events_) {
      drift(event.at_s);
      apply(event, covariance);
      covariance.transposeInPlace();
      apply(event, covariance);
      covariance.transposeInPlace();
    }
    drift(cycle_s_);
    return integral;
  }

  std::vector<Event> events_;
  double cycle_s_;
  Index n_;
};

Status check(const Schedule& schedule, const Timetable& timetable, std::size_t islands) {
  if (!(timetable.cycle_s > 0) || !std::isfinite(timetable.cycle_s) || timetable.exchanges.empty())
    return invalid_input("event mixing: needs exchanges and a cycle that lasts");
  std::vector<double> busy_s(islands * timetable.fragments, 0);
  for (const TimedExchange& timed : timetable.exchanges) {
    if (timed.round >= schedule.rounds.size() ||
        timed.clique >= schedule.rounds[timed.round].cliques.size() || timed.fragment >= timetable.fragments)
      return invalid_input("event mixing: an exchange that the schedule does not have");
    for (const Rank rank : schedule.rounds[timed.round].cliques[timed.clique]) {
      if (rank >= islands) return invalid_input("event mixing: an island that does not exist");
      busy_s[rank * timetable.fragments + timed.fragment] += timed.end_s() - timed.start_s;
    }
  }
  for (const double seconds : busy_s)
    if (!(seconds <= timetable.cycle_s * (1 + kEndFirst)))
      return invalid_input("event mixing: an island has two exchanges of one fragment at a time");
  return ok_status();
}

/// Of a timetable that was checked.
FragmentMixing make_mixing(const Schedule& schedule, const Timetable& timetable, std::size_t islands,
                           std::uint32_t fragment) {
  const double cycle_s = timetable.cycle_s;
  const auto within = [&](double time_s) { return time_s - std::floor(time_s / cycle_s) * cycle_s; };
  std::vector<Event> events;
  for (const TimedExchange& timed : timetable.exchanges) {
    if (timed.fragment != fragment) continue;
    const Clique* const members = &schedule.rounds[timed.round].cliques[timed.clique];
    events.push_back({within(timed.start_s), false, members});
    events.push_back({within(timed.end_s() - cycle_s * kEndFirst), true, members});
  }
  return {std::move(events), cycle_s, islands};
}

}  // namespace

Result<double> event_disagreement(const Schedule& schedule, const Timetable& timetable, std::size_t islands) {
  if (auto sound = check(schedule, timetable, islands); !sound) return std::move(sound).error();
  double sum = 0;
  for (std::uint32_t fragment = 0; fragment < timetable.fragments; ++fragment)
    sum += make_mixing(schedule, timetable, islands, fragment).disagreement();
  return sum / timetable.fragments;
}

Result<double> fragment_disagreement(const Schedule& schedule, const Timetable& timetable,
                                     std::size_t islands, std::uint32_t fragment) {
  if (auto sound = check(schedule, timetable, islands); !sound) return std::move(sound).error();
  if (fragment >= timetable.fragments) return invalid_input("event mixing: no such fragment");
  return make_mixing(schedule, timetable, islands, fragment).disagreement();
}

Result<double> event_contraction(const Schedule& schedule, const Timetable& timetable, std::size_t islands) {
  if (auto sound = check(schedule, timetable, islands); !sound) return std::move(sound).error();
  double most = 0;
  for (std::uint32_t fragment = 0; fragment < timetable.fragments; ++fragment)
    most = std::max(most, make_mixing(schedule, timetable, islands, fragment).left());
  return (1 - most) / timetable.cycle_s;
}

}  // namespace tombolo::schedule
