#include "tools/schedule/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "schedule/baselines/baselines.h"
#include "schedule/bounds.h"
#include "schedule/optimize/optimize.h"
#include "tools/schedule/event_solution.h"

namespace tombolo::tools {
namespace {

using schedule::baselines::Baseline;
using Tell = std::function<void(std::string_view)>;

bool all_direct(const schedule::Schedule& schedule) {
  for (const schedule::Round& round : schedule.rounds)
    for (const auto& mode : round.modes)
      if (mode && mode->mode != schedule::Mode::kDirect) return false;
  return true;
}

CompareRow barrier_row(const schedule::Optimized& best) {
  CompareRow row{{}, all_direct(best.schedule) ? Runs::kEdges : Runs::kNowhere, true};
  row.score.name = "optimum with barriers";
  row.score.source = "tombolo schedule optimize";
  row.score.choices = fmt::format("{} rounds, bound {:.4f} s", best.times.size(), best.bound_s);
  if (best.stopped) row.score.choices += ", stopped by the time limit";
  if (!best.certified.empty()) row.score.choices += ", certified: " + best.certified;
  for (const schedule::RoundTime& time : best.times) row.score.round_s.push_back(time.seconds);
  row.score.disagreement_s = best.mixing.disagreement_s;
  row.score.r_per_s = best.mixing.r_per_s;
  row.score.cycle_s = best.cycle_s;
  return row;
}

/// The rounds of a schedule without barriers are as long as their longest exchange.
CompareRow event_row(const EventScore& best) {
  const std::uint32_t fragments = best.timetable.fragments;
  const bool runs = all_direct(best.schedule) && fragments <= kUsualFragments;
  CompareRow row{{}, runs ? Runs::kOneProcess : Runs::kNowhere, true};
  row.score.name = fmt::format("no barrier (event), {} fragment{}", fragments, fragments == 1 ? "" : "s");
  row.score.source = "tombolo schedule optimize --form event";
  row.score.choices = fmt::format("{} rounds, bound {:.4f} s", best.schedule.rounds.size(), best.bound_s);
  row.score.round_s.assign(best.schedule.rounds.size(), 0);
  for (const schedule::TimedExchange& timed : best.timetable.exchanges)
    row.score.round_s[timed.round] =
        std::max(row.score.round_s[timed.round], timed.sending_s + timed.latency_s);
  row.score.disagreement_s = best.disagreement_s;
  row.score.r_per_s = best.r_per_s;
  row.score.cycle_s = best.timetable.cycle_s;
  return row;
}

/// The forms that were asked for, the one to compare with first.
Result<std::vector<CompareRow>> our_rows(const NetworkInput& input, const CompareWishes& wishes,
                                         const Clock& clock, const Tell& tell) {
  const schedule::Problem problem(input.network, input.capabilities, static_cast<double>(input.update_bytes));
  schedule::OptimizeOptions search;
  search.seed = wishes.seed;
  search.time_limit_s = wishes.time_limit_s;
  search.progress = tell;
  const auto barrier = schedule::optimize(problem, search, clock);
  if (!barrier) return barrier.error();
  std::vector<CompareRow> rows{barrier_row(*barrier)};
  if (wishes.form == "barrier") return rows;
  const EventWishes event{
      .fragments = wishes.fragments, .seed = wishes.seed, .time_limit_s = wishes.time_limit_s};
  const auto found = find_event(input, {&barrier->schedule, 1}, event, clock, tell);
  if (!found) {
    if (wishes.form == "event" || found.error().code != ErrorCode::kNotSupported) return found.error();
    rows.push_back({schedule::baselines::undefined_baseline("no barrier (event)", "", found.error().message),
                    Runs::kNowhere, true});
    return rows;
  }
  rows.push_back(event_row(*found));
  if (wishes.form == "event" || found->disagreement_s < barrier->mixing.disagreement_s)
    std::swap(rows[0], rows[1]);
  return rows;
}

}  // namespace

std::string runs_text(Runs runs) {
  switch (runs) {
    case Runs::kEdges:
      return "edges";
    case Runs::kOneProcess:
      return "one process";
    case Runs::kNowhere:
      break;
  }
  return "no";
}

double Comparison::ratio_of(const CompareRow& row) const {
  if (!row.score.defined()) return std::numeric_limits<double>::quiet_NaN();
  return row.score.disagreement_s / rows.front().score.disagreement_s;
}

std::optional<Standing> standing_of(const Comparison& comparison, Runs least) {
  Standing standing;
  const auto keep_better = [](const CompareRow*& best, const CompareRow& row) {
    if (best == nullptr || row.score.disagreement_s < best->score.disagreement_s) best = &row;
  };
  for (const CompareRow& row : comparison.rows) {
    if (!row.score.defined()) continue;
    if (!row.ours)
      keep_better(standing.rival, row);
    else if (row.runs >= least)
      keep_better(standing.row, row);
  }
  if (standing.row == nullptr) return std::nullopt;
  if (standing.rival != nullptr)
    standing.factor = standing.rival->score.disagreement_s / standing.row->score.disagreement_s;
  return standing;
}

Result<Comparison> compare(NetworkInput input, const CompareWishes& wishes, const Clock& clock,
                           const Tell& tell) {
  Comparison result{std::move(input), {}};
  auto ours = our_rows(result.input, wishes, clock, tell);
  if (!ours) return Error(ours.error()).within("the optimum");
  result.rows = std::move(*ours);
  const schedule::Routes routes(result.input.network);
  auto others = schedule::baselines::all_baselines(
      {result.input.network, routes, result.input.capabilities,
       static_cast<double>(result.input.update_bytes), wishes.step_s, wishes.seed},
      wishes.local_steps, tell);
  if (!others) return std::move(others).error();
  for (Baseline& row : *others) {
    const Runs runs = row.direct_cliques ? Runs::kEdges : Runs::kNowhere;
    result.rows.push_back({std::move(row), runs, false});
  }
  return result;
}

}  // namespace tombolo::tools
