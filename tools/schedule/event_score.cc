#include "tools/schedule/event_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/units.h"
#include "schedule/barrier_bound.h"
#include "schedule/bounds.h"
#include "schedule/event/event_bound.h"
#include "schedule/event/event_mixing.h"
#include "schedule/routes.h"
#include "tools/schedule/schedule_score.h"

namespace tombolo::tools {
namespace {

using schedule::TimedExchange;

constexpr std::size_t kMostBusiest = 4;
constexpr double kBitsPerGbit = 1e9;
constexpr double kEqual = 1e-9;  // A relative difference that is rounding.

/// The exchanges of fragment 0, by round, then clique: as timetables order them.
std::vector<TimedExchange> first_fragment(const schedule::Timetable& timetable) {
  std::vector<TimedExchange> exchanges;
  for (const TimedExchange& timed : timetable.exchanges)
    if (timed.fragment == 0) exchanges.push_back(timed);
  return exchanges;
}

/// Those of one round among them.
std::span<const TimedExchange> of_round(std::span<const TimedExchange> exchanges, std::size_t round) {
  const auto first = std::find_if(exchanges.begin(), exchanges.end(),
                                  [&](const TimedExchange& timed) { return timed.round == round; });
  const auto last =
      std::find_if(first, exchanges.end(), [&](const TimedExchange& timed) { return timed.round != round; });
  return {first, last};
}

/// From its first start to its last end.
double round_seconds(std::span<const TimedExchange> exchanges) {
  double first_s = exchanges.front().start_s;
  double last_s = exchanges.front().end_s();
  for (const TimedExchange& timed : exchanges) {
    first_s = std::min(first_s, timed.start_s);
    last_s = std::max(last_s, timed.end_s());
  }
  return last_s - first_s;
}

/// The cycle begins with the earliest start.
void begin_at_zero(schedule::Timetable& timetable) {
  double first_s = timetable.exchanges.front().start_s;
  for (const TimedExchange& timed : timetable.exchanges) first_s = std::min(first_s, timed.start_s);
  for (TimedExchange& timed : timetable.exchanges) timed.start_s -= first_s;
}

/// Says which modes the timetable has, and what asks most of the network.
void find_loads(const schedule::RoundModel& model, double update_bytes, EventScore& score) {
  const std::vector<double> update_s = model.update_seconds(update_bytes);
  std::vector<double> busy_s(update_s.size(), 0);
  for (schedule::Round& round : score.schedule.rounds) {
    round.modes.assign(round.cliques.size(), std::nullopt);
    score.bottlenecks.emplace_back(round.cliques.size());
  }
  for (const TimedExchange& timed : first_fragment(score.timetable)) {
    schedule::Round& round = score.schedule.rounds[timed.round];
    round.modes[timed.clique] = timed.mode;
    const schedule::CliqueLoad load = model.load(round.cliques[timed.clique], timed.mode);
    double longest_s = 0;
    for (const schedule::ResourceLoad& use : load.loads) {
      const double seconds = use.updates * update_s[use.resource];
      busy_s[use.resource] += seconds;
      if (seconds <= longest_s) continue;
      longest_s = seconds;
      score.bottlenecks[timed.round][timed.clique] = {model.resource_name(use.resource), use.updates};
    }
  }
  for (std::size_t resource = 0; resource < busy_s.size(); ++resource)
    score.busiest.push_back({model.resource_name(resource), busy_s[resource] / score.timetable.cycle_s});
  std::stable_sort(score.busiest.begin(), score.busiest.end(),
                   [](const ResourceShare& a, const ResourceShare& b) { return a.share > b.share; });
  score.busiest.resize(std::min(score.busiest.size(), kMostBusiest));
}

double stream_gbps(const EventScore& score, const NetworkInput& input, const TimedExchange& timed) {
  const double bits = static_cast<double>(input.update_bytes * kBitsPerByte) / score.timetable.fragments;
  return bits / timed.sending_s / kBitsPerGbit;
}

}  // namespace

Result<EventScore> score_event(const NetworkInput& input, schedule::Schedule schedule) {
  const double bytes = static_cast<double>(input.update_bytes);
  const std::size_t islands = input.network.islands.size();
  const schedule::Routes routes(input.network);
  const schedule::EventModel model(input.network, routes, input.capabilities);
  EventScore score;
  auto timetable = model.timetable(schedule, bytes, schedule.fragments);
  if (!timetable) return std::move(timetable).error();
  begin_at_zero(*timetable);
  const auto d = schedule::event_disagreement(schedule, *timetable, islands);
  if (!d) return d.error();
  const auto r = schedule::event_contraction(schedule, *timetable, islands);
  if (!r) return r.error();
  score.schedule = std::move(schedule);
  score.timetable = std::move(*timetable);
  score.disagreement_s = *d;
  score.r_per_s = *r;
  score.bound_s =
      schedule::event_bound_s({input.network, routes, schedule::covering(input.capabilities, score.schedule)},
                              bytes, score.timetable.fragments);
  if (score.disagreement_s <= score.bound_s * (1 + kEqual))
    score.certified =
        fmt::format("all schedules in {} fragments, with barriers or without", score.timetable.fragments);
  find_loads(model.rounds(), bytes, score);
  return score;
}

std::string event_text(const EventScore& score, const schedule::Network& network) {
  std::string text = fmt::format("{:>5}  {:>11}  {:>11}  {:>11}  {:<20}  {:>7}  {}\n", "round", "start",
                                 "sending", "latency", "bottleneck", "updates", "clique");
  for (const TimedExchange& timed : first_fragment(score.timetable)) {
    const ExchangeBottleneck& bottleneck = score.bottlenecks[timed.round][timed.clique];
    text += fmt::format(
        "{:>5}  {:>9.6f} s  {:>9.6f} s  {:>9.6f} s  {:<20}  {:>7.4g}  {}\n", timed.round, timed.start_s,
        timed.sending_s, timed.latency_s, bottleneck.resource, bottleneck.updates,
        clique_text(score.schedule.rounds[timed.round].cliques[timed.clique], timed.mode, network));
  }
  text += fmt::format("\nform            event: no barriers, {} fragment{}{}\n", score.timetable.fragments,
                      score.timetable.fragments == 1 ? "" : "s",
                      score.timetable.fragments == 1 ? "" : "; the times are the first one's");
  text += fmt::format("cycle           {:.6f} s\n", score.timetable.cycle_s);
  std::vector<std::string> shares;
  for (const ResourceShare& use : score.busiest)
    shares.push_back(fmt::format("{} {:.0f} %", use.resource, 100 * use.share));
  text += fmt::format("busiest         {}\n", fmt::join(shares, ", "));
  if (std::isfinite(score.disagreement_s))
    text += fmt::format("disagreement D  {:.6f} s\nlower bound     {:.6f} s (gap {:.1f} %)\n",
                        score.disagreement_s, score.bound_s,
                        100 * schedule::optimality_gap(score.disagreement_s, score.bound_s));
  else
    text += "disagreement D  unbounded: the schedule never joins all islands\n";
  return text + fmt::format("contraction R   {:.6f} per s\n", score.r_per_s);
}

void report_event(const EventScore& score, const schedule::Network& network, nlohmann::ordered_json& report) {
  using Json = nlohmann::ordered_json;
  const double d = score.disagreement_s;
  report["form"] = "event";
  report["fragments"] = score.timetable.fragments;
  report["disagreement_s"] = finite_or_null(d);
  report["bound_s"] = score.bound_s;
  report["gap"] = std::isfinite(d) ? Json(schedule::optimality_gap(d, score.bound_s)) : Json(nullptr);
  report["r_per_s"] = score.r_per_s;
  report["r_iid_per_s"] = nullptr;
  report["r_iid_gap"] = nullptr;
  report["cycle_s"] = score.timetable.cycle_s;
  report["rounds"] = Json::array();
  const std::vector<TimedExchange> exchanges = first_fragment(score.timetable);
  for (std::size_t r = 0; r < score.schedule.rounds.size(); ++r) {
    Json round = report_cliques(score.schedule.rounds[r].cliques, score.schedule.rounds[r].modes, network);
    round["exchanges"] = Json::array();
    const auto own = of_round(exchanges, r);
    std::size_t longest = 0;
    for (std::size_t c = 0; c < own.size(); ++c) {
      round["exchanges"].push_back({{"start_s", own[c].start_s},
                                    {"sending_s", own[c].sending_s},
                                    {"latency_s", own[c].latency_s},
                                    {"end_s", own[c].end_s()}});
      if (own[c].sending_s + own[c].latency_s > own[longest].sending_s + own[longest].latency_s) longest = c;
    }
    round["time_s"] = round_seconds(own);
    const ExchangeBottleneck& bottleneck = score.bottlenecks[r][longest];
    round["bottleneck"] = {{"resource", bottleneck.resource}, {"load", bottleneck.updates}};
    report["rounds"].push_back(std::move(round));
  }
  report["resources"] = Json::array();
  for (const ResourceShare& use : score.busiest)
    report["resources"].push_back({{"resource", use.resource}, {"share", use.share}});
  report["solve_s"] = score.solve_s;
  report["certified"] = score.certified.empty() ? Json(false) : Json(score.certified);
}

schedule::ScheduleNotes event_notes(const EventScore& score, const NetworkInput& input,
                                    const std::string& setting) {
  const schedule::Routes routes(input.network);
  schedule::ScheduleNotes notes;
  notes.head = {setting,
                fmt::format("no barriers: disagreement D {:.6f} s, lower bound {:.6f} s, contraction R "
                            "{:.6f} per s, cycle {:.6f} s",
                            score.disagreement_s, score.bound_s, score.r_per_s, score.timetable.cycle_s)};
  if (!score.certified.empty()) notes.head.push_back("certified: " + score.certified);
  const std::vector<TimedExchange> exchanges = first_fragment(score.timetable);
  for (std::size_t r = 0; r < score.schedule.rounds.size(); ++r) {
    std::vector<std::string> lines{fmt::format("round {}", r)};
    for (const TimedExchange& timed : of_round(exchanges, r)) {
      const schedule::Clique& clique = score.schedule.rounds[r].cliques[timed.clique];
      lines.push_back(fmt::format(
          "{}: {}, from {:.6f} s to {:.6f} s, a stream at {:.4g} Gbit/s, {}",
          clique_text(clique, timed.mode, input.network), schedule::mode_name(timed.mode.mode), timed.start_s,
          timed.end_s(), stream_gbps(score, input, timed), score.bottlenecks[r][timed.clique].resource));
      for (std::string& line : tree_texts(routes, input.network, clique, timed.mode))
        lines.push_back(std::move(line));
    }
    notes.rounds.push_back(std::move(lines));
  }
  return notes;
}

}  // namespace tombolo::tools
