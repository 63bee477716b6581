#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "protocol/wire/header.h"
#include "schedule/compile.h"
#include "schedule/epoch_plan.h"
#include "schedule/round_model.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"
#include "tools/testbed/report.h"

namespace tombolo::testbed {

/// Loss on both directions of a link between two sites.
struct LinkLoss {
  schedule::SiteId a = 0;
  schedule::SiteId b = 0;
  double probability = 0;
};

/// What is to be run, whatever the backend.
struct RunConfig {
  schedule::Network network;  ///< Already scaled.
  schedule::Schedule schedule;
  std::uint32_t rounds = 0;        ///< 0: one period.
  std::uint64_t update_bytes = 0;  ///< Already scaled; a multiple of 4.
  std::uint32_t chunk_elements = 320;
  std::uint16_t lane_count = 4;
  std::uint32_t workers = 1;
  std::uint32_t receive_queues = 0;
  bool multicast = true;
  bool edge_aggregation = true;
  wire::Operation operation = wire::Operation::kMean;
  Nanoseconds deadline_ns = 0;  ///< 0: ten times the longest round of the model, at least 10 s.
  bool real_time = false;
  std::uint64_t seed = 1;
  std::vector<LinkLoss> losses;
};

inline constexpr std::uint16_t kTestbedJob = 1;

/// Errors: kInvalidInput for an update that is no number of elements, for more memory than a testbed should
/// take, or a loss on a link that does not exist.
Status check_config(const RunConfig& config);

/// What the network can do in this run.
schedule::Capabilities capabilities(const RunConfig& config);

/// What its plans are compiled with. Errors: those of the round model.
Result<schedule::CompileOptions> compile_options(const RunConfig& config, std::uint32_t epoch);

/// The plan that the run installs; also for sizing and for tests.
Result<schedule::EpochPlan> make_plan(const RunConfig& config, std::uint32_t epoch);

/// The deadline of a round in the plan.
Result<Nanoseconds> deadline_of(const RunConfig& config);

/// Rounds to run: as asked, or one period.
std::uint32_t round_count(const RunConfig& config);

/// A round's report with its number, its cliques and what the model says it takes.
Result<RoundReport> start_round_report(const RunConfig& config, std::uint32_t round,
                                       const schedule::Round& cliques);

/// The loss asked for between two sites; 0 if none.
double loss_between(const std::vector<LinkLoss>& losses, schedule::SiteId a, schedule::SiteId b);

}  // namespace tombolo::testbed
