#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tombolo::testbed {

struct RoundReport {
  std::uint32_t round = 0;
  std::vector<std::vector<std::string>> cliques;  ///< Islands; those that rest are left out.
  double model_s = 0;                             ///< The round model with the bare update.
  double predicted_s = 0;                         ///< The same with the bytes on the wire.
  double measured_s = 0;       ///< The longest, over cliques, from the first member's first send to the last
                               ///< result; without barriers, from when the last member is there.
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

/// One direction of a link, as asked for and as measured before the rounds; 0: not measured.
struct LinkReport {
  std::string name;  ///< "LON-NYC": from, to.
  double target_rtt_ms = 0;
  double measured_rtt_ms = 0;
  double target_bps = 0;
  double measured_bps = 0;
};

/// Where an edge worker's time went over the rounds.
struct WorkerReport {
  std::string site;
  std::uint32_t worker = 0;
  double busy_s = 0;
  double idle_s = 0;     ///< It looked and found nothing.
  double asleep_s = 0;   ///< Of its own will.
  double stalled_s = 0;  ///< It wanted to run and had no core.
};

/// Of a run without barriers: a period of the schedule, from all its results to those of the next.
struct CycleReport {
  double model_s = 0;      ///< The event model with the bare update.
  double predicted_s = 0;  ///< The same with the bytes on the wire.
  double measured_s = 0;   ///< The mean over all periods but the first; 0 if there was one only.

  double ratio() const { return measured_s / predicted_s; }
};

struct RunReport {
  std::string backend = "inproc";
  bool exact = false;
  std::vector<RoundReport> rounds;
  std::optional<CycleReport> cycle;  ///< Only of a run without barriers.
  std::vector<IslandReport> islands;
  std::map<std::string, std::uint64_t>
      drops;  ///< By reason, over all edges, islands and wires; zeros left out.
  std::uint64_t repairs = 0;
  std::uint64_t copies = 0;
  std::uint64_t payload_bytes_saved = 0;
  std::uint64_t seed = 0;

  // Of runs on the machine's time, by processes.
  std::vector<LinkReport> links;
  std::vector<WorkerReport> workers;
  std::optional<double> cpu_idle;  ///< Share of the machine's processor time that was left over the rounds.
  bool cpu_bound = false;
  std::string cpu_reason;  ///< Why it is or is not.
  std::string emulation;   ///< "builtin" or "netem".
  std::string folder;      ///< Of the run's files; empty: none.
};

/// Tells a person how far the run is: rounds done, of how many.
using Progress = std::function<void(std::uint32_t done, std::uint32_t rounds)>;

}  // namespace tombolo::testbed
