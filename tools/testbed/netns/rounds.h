#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/testbed/netns/cpu.h"
#include "tools/testbed/netns/deployment.h"
#include "tools/testbed/netns/island_event.h"
#include "tools/testbed/report.h"

namespace tombolo::testbed {

/// Processor time that was spent over the timed parts of some rounds.
struct SpentTime {
  CpuTime before;  ///< The sum over the rounds, as if they had followed one another from here ...
  CpuTime after;   ///< ... to here.
  std::vector<WorkerReport> workers;
};

/// The rounds of one deployment: starts them at the islands, waits, judges and times.
class NetnsRounds {
 public:
  NetnsRounds(Deployment& deployment, std::uint32_t first_round);

  /// Runs the round `first_round + offset` with every island. Errors: kFailed when the run cannot go on.
  Result<RoundReport> run(std::uint32_t offset);

  const SpentTime& spent() const { return spent_; }
  /// What happened so far was a trial: times and bytes count from here on.
  void begin();

  /// Adds what the islands and the edges counted over the whole run.
  Status collect(RunReport& report);

 private:
  /// What an island said of the round under way.
  struct Part {
    IslandEvent before;  ///< `status`, when it started.
    IslandEvent ready;   ///< `ready`, or `failed`.
    IslandEvent after;   ///< `status`, when all were ready.
    IslandEvent checked;
    bool released = false;
  };
  enum class Until { kStatus, kReady, kReleased, kChecked };

  Status wait(Until until, std::uint32_t round, Nanoseconds limit_ns);
  Status ask_status(bool after);
  std::string check_command(std::uint32_t round) const;
  void judge(const schedule::Round& cliques, RoundReport& report) const;
  void judge_part(schedule::Rank rank, const schedule::Clique& members, RoundReport& report) const;
  Result<std::vector<WorkerReport>> worker_times() const;
  Status add_edge(const std::string& site, const std::string& status_text, RunReport& report) const;

  Deployment& deployment_;
  const RunConfig& config_;
  const std::uint32_t first_round_;
  const Nanoseconds deadline_ns_;
  /// What the controller makes of the schedule, too: for how cliques fold. Empty if it cannot be made.
  std::optional<schedule::EpochPlan> plan_;
  std::vector<Part> parts_;
  std::vector<IslandEvent> base_;  ///< Of each island when begin() was called; empty at first.
  bool statuses_are_after_ = false;
  SpentTime spent_;
};

/// Where the workers' time went, from an edge's status; any text may be given. Errors: kInvalidInput.
Result<std::vector<WorkerReport>> parse_worker_times(const std::string& site, const std::string& status_text);

}  // namespace tombolo::testbed
