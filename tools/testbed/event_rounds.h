#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "tools/testbed/round_parts.h"

namespace tombolo::testbed {

/// Runs a schedule without barriers on a testbed that is up. A round is a label: an island goes through its
/// own, and begins one as soon as that of the same fragment before it has given its result and the endpoint
/// has room for one more.
class EventRounds {
 public:
  /// All outlive it.
  EventRounds(const RunConfig& config, const InstalledPlan& installed, InprocTestbed& testbed,
              Driver& driver);

  /// Runs as many rounds as there are reports, which have their numbers and predictions, and adds what
  /// happens to them. Ends when all inputs are the callers' again, or `limit_ns` has passed; whether they
  /// are.
  bool run(std::vector<RoundReport>& reports, Nanoseconds limit_ns, const Progress& progress);

  /// The mean time of a period, from all results of the first on; 0 if there was one only.
  double measured_cycle_s() const;

 private:
  /// What an island has to do: its next round among the reports, and what is under way, oldest first.
  struct Island {
    std::size_t next = 0;
    std::deque<Part> parts;
  };
  /// A clique of a round, until all of its members are done.
  struct Meeting {
    std::size_t missing = 0;
    Nanoseconds last_begun_ns = 0;
    Nanoseconds last_ready_ns = 0;
    Expected expected{};
  };

  bool advance(std::vector<RoundReport>& reports);
  void follow(Island& island, std::vector<RoundReport>& reports);
  void take_result(Part& part, RoundReport& report);
  bool may_start(schedule::Rank rank);
  void start_next(schedule::Rank rank, std::vector<RoundReport>& reports);
  const schedule::Round& round_of(std::size_t report) const;
  /// Index of the island's clique in the round; kRests if it has none.
  std::size_t clique_of(schedule::Rank rank, std::size_t report) const;

  static constexpr std::size_t kRests = std::numeric_limits<std::size_t>::max();

  const RunConfig& config_;
  Driver& driver_;
  RoundParts parts_;
  std::vector<Island> islands_;
  std::vector<std::vector<Meeting>> meetings_;  ///< By report and clique.
  std::uint32_t first_round_ = 0;
  std::size_t done_ = 0;                      ///< Rounds with all of their results.
  std::vector<Nanoseconds> period_ready_ns_;  ///< By period: its last result.
};

}  // namespace tombolo::testbed
