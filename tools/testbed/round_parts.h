#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "island/endpoint.h"
#include "tools/testbed/driver.h"
#include "tools/testbed/experiment.h"

namespace tombolo::testbed {

/// One island's part in a round under way.
struct Part {
  schedule::Rank rank = 0;
  std::uint32_t round = 0;
  std::vector<std::byte> input;
  std::vector<std::byte> output;
  island::Handle handle = 0;
  island::Outcome outcome;
};

/// What runs, and from which round on.
struct InstalledPlan {
  schedule::EpochPlan plan;
  std::uint32_t first_round = 0;
};

/// Starts parts of rounds, follows them, and compares what came of them with what had to.
class RoundParts {
 public:
  /// All outlive it.
  RoundParts(const RunConfig& config, const InstalledPlan& installed, InprocTestbed& testbed, Driver& driver)
      : config_(config), installed_(installed), testbed_(testbed), driver_(driver) {}

  /// With its input; it is not started.
  Part make(schedule::Rank rank, std::uint32_t round) const;
  /// What goes wrong is in the part's outcome and the report.
  void start(Part& part, RoundReport& report);
  void look(Part& part);
  /// Whether the island has forgotten the part; only what is finished is forgotten.
  bool drop(Part& part);

  /// What every member of a clique, or an island that rests, must have, to the bit.
  Expected expected(std::uint32_t round, const schedule::Clique& members) const;
  /// Adds what is wrong with a part to the report.
  void judge(const Part& part, const Expected& expected, RoundReport& report) const;

 private:
  std::uint64_t count() const { return config_.update_elements(); }
  std::string name(schedule::Rank rank) const { return testbed_.network().islands[rank].id; }

  const RunConfig& config_;
  const InstalledPlan& installed_;
  InprocTestbed& testbed_;
  Driver& driver_;
};

}  // namespace tombolo::testbed
