#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "schedule/event/exchange.h"
#include "schedule/event/steady_state.h"

namespace tombolo::schedule {

/// One exchange of a cycle, with its times in the first cycle of the steady state (which may begin before 0).
struct TimedExchange {
  std::uint32_t round = 0;   ///< Of the schedule.
  std::uint32_t clique = 0;  ///< Of the round.
  std::uint32_t fragment = 0;
  double start_s = 0;
  double sending_s = 0;  ///< How long each of its streams lasts.
  double latency_s = 0;
  CliqueMode mode{};  ///< As the round says, else as chosen.

  double end_s() const { return start_s + sending_s + latency_s; }
};

/// When everything happens, cycle after cycle.
struct Timetable {
  double cycle_s = 0;
  std::uint32_t fragments = 1;
  std::vector<TimedExchange> exchanges;  ///< By round, then fragment, then clique.
};

/// The schedule of labels: each round once for every fragment.
Schedule with_fragments(const Schedule& schedule, std::uint32_t fragments);

/// The times of a schedule without barriers. Rounds are labels: round r is run for each fragment in turn, and
/// every island goes through its own exchanges in that order.
/// - An exchange starts as soon as, for each of its members, the member's exchange before it of the same
///   fragment has ended, and those before it of other fragments have sent so much that the two together never
///   exceed a capacity. So an island's fragments follow one another bit by bit, and wait for no latency.
/// - An exchange keeps one rate, as the compiler gives it one: at first the most that the network carries of
///   it alone. Where exchanges with no member in common meet on a resource in the steady state and exceed it,
///   the quickest are slowed to its fair share, until the sum of updates x rate is at most the capacity of
///   every resource at every time. The same is done from the rates that the cliques of a round have with
///   barriers, and the timetable of less D is taken. So a schedule of rounds in which nobody rests is never
///   worse than it is with barriers.
class EventModel {
 public:
  /// Both must outlive the model.
  EventModel(const Network& network, const Routes& routes, Capabilities capabilities)
      : rounds_(network, routes, std::move(capabilities)) {}

  /// `update_bytes` of the whole update, above 0; each exchange carries one of `fragments` equal parts.
  /// A clique whose mode is open takes the one that is quickest alone.
  /// Errors: kInvalidInput for a size that is not above 0, 0 or more than kMaxFragments fragments, a
  /// round in which all rest, or a schedule that never joins all islands; those of make_exchange.
  Result<Timetable> timetable(const Schedule& schedule, double update_bytes, std::uint32_t fragments) const;

  const RoundModel& rounds() const { return rounds_; }
  const Network& network() const { return rounds_.network(); }
  const Routes& routes() const { return rounds_.routes(); }

 private:
  Result<Exchange> quickest(const Clique& clique, std::optional<CliqueMode> mode,
                            std::span<const double> update_s) const;

  RoundModel rounds_;
};

}  // namespace tombolo::schedule
