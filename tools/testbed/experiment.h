#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "protocol/wire/header.h"
#include "schedule/compile.h"
#include "schedule/epoch_plan.h"
#include "schedule/event/event_model.h"
#include "schedule/round_model.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"
#include "tools/testbed/report.h"
#include "tools/testbed/workload.h"

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
  /// Without barriers: no island waits for others than those that it meets. `schedule` then has each round
  /// once for every fragment (schedule::with_fragments), and `update_bytes` is that of a fragment.
  bool event = false;
  std::uint32_t fragments = 1;
  schedule::Schedule schedule;
  std::uint32_t rounds = 0;        ///< 0: one period; without barriers, three.
  std::uint64_t update_bytes = 0;  ///< Already scaled; whole elements of `format`.
  std::uint32_t chunk_elements = 320;
  std::uint16_t lane_count = 4;
  std::uint32_t workers = 1;
  std::uint32_t receive_queues = 0;
  bool multicast = true;
  bool edge_aggregation = true;
  NumberFormat format = NumberFormat::kFp32;
  NumberFormat result_format = NumberFormat::kNone;  ///< kNone: as `format`.
  bool tree_aggregation = false;                     ///< Sites may fold, too (CompileOptions).
  schedule::PartialFormat partial_format = schedule::PartialFormat::kFp32;
  wire::Operation operation = wire::Operation::kMean;
  NonFinitePolicy non_finite = NonFinitePolicy::kPropagate;
  double non_finite_share = 0;  ///< Of the values that are made NaN or infinite, to see what becomes of them.
  Nanoseconds deadline_ns = 0;  ///< 0: ten times the longest round of the model, at least 10 s.
  bool real_time = false;
  std::uint64_t seed = 1;
  std::vector<LinkLoss> losses;

  std::uint64_t update_elements() const { return elements_within(format, update_bytes); }
  NumberFormat output_format() const { return result_format == NumberFormat::kNone ? format : result_format; }
};

inline constexpr std::uint16_t kTestbedJob = 1;

/// Bytes of an update on the wire.
double wire_bytes(const RunConfig& config);

/// What the updates are made of.
Numbers numbers_of(const RunConfig& config);

/// Of partials, where sites fold; otherwise that of updates.
NumberFormat partials(const RunConfig& config);

/// The network as the model must see it for bytes on the wire or, `bare`, without packets' overhead: where
/// results are wider than updates, an island receives more than it sends.
schedule::Network model_network(const RunConfig& config, bool bare);

/// The weights of a clique's members; empty if the schedule has none.
std::vector<float> weights_of(const schedule::Schedule& schedule, const schedule::Clique& members);

/// Errors: kInvalidInput for an update that is no number of elements, for more memory than a testbed should
/// take, or a loss on a link that does not exist.
Status check_config(const RunConfig& config);

/// Lets a run that has schedule and update of one with barriers go without them, in `fragments` fragments.
/// Errors: kInvalidInput for no fragments; kNotSupported for more than an endpoint can have under way.
Status drop_barriers(RunConfig& config, std::uint32_t fragments);

/// What the network can do in this run.
schedule::Capabilities capabilities(const RunConfig& config);

/// What its plans are compiled with. Errors: those of the round model.
Result<schedule::CompileOptions> compile_options(const RunConfig& config, std::uint32_t epoch);

/// The plan that the run installs; also for sizing and for tests.
Result<schedule::EpochPlan> make_plan(const RunConfig& config, std::uint32_t epoch);

/// The deadline of a round in the plan.
Result<Nanoseconds> deadline_of(const RunConfig& config);

/// The timetable of a run without barriers, for updates of `update_bytes`: the model's, or that with bytes on
/// the wire. Errors: those of the event model.
Result<schedule::Timetable> event_times(const RunConfig& config, double update_bytes);

/// Rounds to run: as asked, or one period; without barriers, three.
std::uint32_t round_count(const RunConfig& config);

/// A round's report with its number and its cliques.
RoundReport name_round(const RunConfig& config, std::uint32_t round, const schedule::Round& cliques);

/// The same with what the model says it takes.
Result<RoundReport> start_round_report(const RunConfig& config, std::uint32_t round,
                                       const schedule::Round& cliques);

/// The reports of `rounds` rounds without barriers from `first_round` on, and of their cycle, with what the
/// event model says. Its errors.
Result<std::vector<RoundReport>> start_event_reports(const RunConfig& config, std::uint32_t first_round,
                                                     std::uint32_t rounds);
Result<CycleReport> start_cycle_report(const RunConfig& config);

/// The loss asked for between two sites; 0 if none.
double loss_between(const std::vector<LinkLoss>& losses, schedule::SiteId a, schedule::SiteId b);

}  // namespace tombolo::testbed
