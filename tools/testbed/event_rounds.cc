#include "tools/testbed/event_rounds.h"

#include <algorithm>
#include <utility>

#include "schedule/compile.h"

namespace tombolo::testbed {

using schedule::Clique;
using schedule::Rank;

EventRounds::EventRounds(const RunConfig& config, const InstalledPlan& installed, InprocTestbed& testbed,
                         Driver& driver)
    : config_(config),
      driver_(driver),
      parts_(config, installed, testbed, driver),
      islands_(testbed.islands().size()) {}

bool EventRounds::run(std::vector<RoundReport>& reports, Nanoseconds limit_ns, const Progress& progress) {
  if (reports.empty()) return true;
  const std::size_t period = config_.schedule.rounds.size();
  first_round_ = reports.front().round;
  period_ready_ns_.assign((reports.size() + period - 1) / period, 0);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto& meetings = meetings_.emplace_back();
    for (const Clique& clique : round_of(i).cliques) meetings.push_back({.missing = clique.size()});
  }
  const bool in_time = driver_.run_until(
      [&] {
        const std::size_t before = done_;
        const bool over = advance(reports);
        if (progress && done_ > before)
          progress(static_cast<std::uint32_t>(done_), static_cast<std::uint32_t>(reports.size()));
        return over;
      },
      limit_ns);
  // What has no outcome by now is reported as such.
  for (Island& island : islands_)
    for (Part& part : island.parts)
      if (!part.output.empty()) take_result(part, reports[part.round - first_round_]);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (const Meeting& meeting : meetings_[i])
      if (meeting.missing > 0) reports[i].errors.push_back("not everybody came to the round in time");
    reports[i].exact = reports[i].errors.empty();
  }
  return in_time;
}

double EventRounds::measured_cycle_s() const {
  // The last period may be cut short.
  const std::size_t whole = meetings_.size() / config_.schedule.rounds.size();
  if (whole < 2) return 0;
  return static_cast<double>(period_ready_ns_[whole - 1] - period_ready_ns_[0]) * 1e-9 /
         static_cast<double>(whole - 1);
}

/// Takes what is there, starts what may start. True when there is nothing more to do.
bool EventRounds::advance(std::vector<RoundReport>& reports) {
  bool over = true;
  for (Rank rank = 0; rank < islands_.size(); ++rank) {
    Island& island = islands_[rank];
    follow(island, reports);
    while (may_start(rank)) start_next(rank, reports);
    over = over && island.parts.empty() && island.next == reports.size();
  }
  return over;
}

void EventRounds::follow(Island& island, std::vector<RoundReport>& reports) {
  for (Part& part : island.parts) {
    parts_.look(part);
    if ((part.outcome.ready() || part.outcome.finished()) && !part.output.empty())
      take_result(part, reports[part.round - first_round_]);
  }
  while (!island.parts.empty() && parts_.drop(island.parts.front())) island.parts.pop_front();
}

/// A part has its result, or will not have one.
void EventRounds::take_result(Part& part, RoundReport& report) {
  const std::size_t index = part.round - first_round_;
  const std::size_t at = clique_of(part.rank, index);
  const Clique& clique = round_of(index).cliques[at];
  Meeting& meeting = meetings_[index][at];
  if (meeting.expected.result.empty()) meeting.expected = parts_.expected(part.round, clique);
  parts_.judge(part, meeting.expected, report);
  part.output = {};
  meeting.last_begun_ns = std::max(meeting.last_begun_ns, part.outcome.first_send_ns);
  meeting.last_ready_ns = std::max(meeting.last_ready_ns, part.outcome.ready_ns);
  const double wire = wire_bytes(config_) / static_cast<double>(config_.update_bytes);
  const auto on_wire = [&](std::uint64_t payload_bytes) {
    return static_cast<std::uint64_t>(static_cast<double>(payload_bytes) * wire);
  };
  report.tx_bytes = std::max(report.tx_bytes, on_wire(part.outcome.payload_bytes_sent));
  report.rx_bytes = std::max(report.rx_bytes, on_wire(part.outcome.payload_bytes_received));
  if (--meeting.missing > 0) return;
  meeting.expected = {};
  if (meeting.last_ready_ns > meeting.last_begun_ns)
    report.measured_s = std::max(report.measured_s,
                                 static_cast<double>(meeting.last_ready_ns - meeting.last_begun_ns) * 1e-9);
  Nanoseconds& period_ready_ns = period_ready_ns_[index / config_.schedule.rounds.size()];
  period_ready_ns = std::max(period_ready_ns, meeting.last_ready_ns);
  if (std::all_of(meetings_[index].begin(), meetings_[index].end(),
                  [](const Meeting& other) { return other.missing == 0; }))
    ++done_;
}

/// Passes over the rounds in which the island rests.
bool EventRounds::may_start(Rank rank) {
  Island& island = islands_[rank];
  while (island.next < meetings_.size() && clique_of(rank, island.next) == kRests) ++island.next;
  if (island.next == meetings_.size() || island.parts.size() >= island::Endpoint::kMaxOperations)
    return false;
  if (island.parts.size() < config_.fragments) return true;
  // The fragment's last part, and so every one before it.
  return island.parts[island.parts.size() - config_.fragments].output.empty();
}

void EventRounds::start_next(Rank rank, std::vector<RoundReport>& reports) {
  Island& island = islands_[rank];
  RoundReport& report = reports[island.next++];
  island.parts.push_back(parts_.make(rank, report.round));
  parts_.start(island.parts.back(), report);
}

const schedule::Round& EventRounds::round_of(std::size_t report) const {
  return config_.schedule.rounds[report % config_.schedule.rounds.size()];
}

std::size_t EventRounds::clique_of(Rank rank, std::size_t report) const {
  const std::vector<Clique>& cliques = round_of(report).cliques;
  for (std::size_t i = 0; i < cliques.size(); ++i)
    if (std::binary_search(cliques[i].begin(), cliques[i].end(), rank)) return i;
  return kRests;
}

}  // namespace tombolo::testbed
