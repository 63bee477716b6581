#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/wire/header.h"
#include "schedule/round_model.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"
#include "tools/testbed/driver.h"

namespace tombolo::testbed {

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

struct RoundReport {
  std::uint32_t round = 0;
  std::vector<std::vector<std::string>> cliques;  ///< Islands; those that rest are left out.
  double model_s = 0;                             ///< The round model with the bare update.
  double predicted_s = 0;                         ///< The same with the bytes on the wire.
  double measured_s =
      0;  ///< The longest, over cliques, from the first member's first send to the last result.
  std::uint64_t tx_bytes = 0;  ///< On the access link of the island that sent most, framing included.
  std::uint64_t rx_bytes = 0;  ///< The same for the one that received most.
  bool exact = false;          ///< Every island's result has the right bits and the right contributors.
  std::vector<std::string> errors;

  double ratio() const { return measured_s / predicted_s; }
};

/// Bytes on an island's own access link over the whole run, framing, repair and control included.
struct IslandReport {
  std::string site;
  std::uint64_t tx_bytes = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t update_bytes = 0;  ///< Of all rounds in which it did not rest.
};

struct RunReport {
  bool exact = false;
  std::vector<RoundReport> rounds;
  std::vector<IslandReport> islands;
  std::map<std::string, std::uint64_t>
      drops;  ///< By reason, over all edges, islands and wires; zeros left out.
  std::uint64_t repairs = 0;
  std::uint64_t copies = 0;
  std::uint64_t payload_bytes_saved = 0;
  std::uint64_t seed = 0;
};

/// Tells a person how far the run is: rounds done, of how many.
using Progress = std::function<void(std::uint32_t done, std::uint32_t rounds)>;

/// Builds the network, installs the schedule, runs the rounds one after the other (all islands start a round
/// together) and checks every result. Errors: kInvalidInput and kUnavailable before anything starts; what
/// goes wrong in a round is in its report.
Result<RunReport> run(const RunConfig& config, const Progress& progress);

/// The plan that `run` installs; also for sizing and for tests.
Result<schedule::EpochPlan> make_plan(const RunConfig& config, std::uint32_t epoch);

}  // namespace tombolo::testbed
