#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "dataplane/edge/edge.h"
#include "dataplane/worker/runner.h"
#include "protocol/drop_reason.h"
#include "protocol/memory_pool.h"

namespace tombolo::control {

/// A counted outcome by its name, such as {"arp_other", 12}.
struct NamedCount {
  std::string name;
  std::uint64_t count = 0;
};

/// One port, all its queues; bytes with framing.
struct PortSample {
  std::string name;
  std::uint64_t rx_packets = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_bytes = 0;
  std::vector<NamedCount> drops;  ///< By reason, as the port names them.
};

struct PoolSample {
  std::string name;
  std::uint64_t buffers = 0;
  std::uint64_t in_use = 0;
  std::uint64_t high_water = 0;
  std::uint64_t empties = 0;  ///< Requests that found nothing.
};
PoolSample sample_pool(std::string name, const MemoryPool& pool);

/// Where one worker's time went.
struct WorkerTimeSample {
  Nanoseconds busy_ns = 0;
  Nanoseconds idle_ns = 0;
  Nanoseconds asleep_ns = 0;
  Nanoseconds stalled_ns = 0;  ///< Wanted to run and had no core.
};
WorkerTimeSample sample_times(const dataplane::Runner& runner);

struct WorkerSample {
  WorkerTimeSample times;
  std::uint64_t turns = 0;
  std::uint64_t idle_turns = 0;
  std::uint64_t handed_over = 0;  ///< Packets given to another worker.
};

/// A neighbour: another edge, or an island.
struct PeerSample {
  std::string name;
  std::string address;
  std::string group;  ///< The IPv4 group that packets for it go to; empty: they go to its address.
  bool is_island = false;
  std::uint32_t session = 0;   ///< Of the neighbour; 0: never heard.
  std::uint32_t lanes_up = 0;  ///< Lanes in which it is up; it is up when that is all of them.
  std::uint32_t lanes = 0;
  Nanoseconds rtt_ns = 0;  ///< The least of the lanes' smoothed times.
  std::uint64_t rx_packets = 0;
  std::uint64_t rx_bytes = 0;  ///< Header and payload, without framing.
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t outstanding = 0;  ///< Packets kept until they are acknowledged.
  std::uint64_t repairs_sent = 0;
  std::uint64_t repairs_asked = 0;
  std::uint64_t gaps = 0;      ///< Packets that were missing when a later one came.
  std::uint64_t given_up = 0;  ///< Packets that will never come.
  std::uint64_t downs = 0;     ///< Times that it fell silent, counted in each lane.

  bool up() const { return lanes > 0 && lanes_up == lanes; }
};

struct LaneSample {
  std::uint32_t lane = 0;
  std::uint32_t worker = 0;
  std::uint64_t rx_packets = 0;
  std::uint64_t contributions = 0;
  std::uint64_t results = 0;
  std::uint64_t copies = 0;
};

/// One contributor's delay behind the fastest of its cliques, summed over rounds and lanes.
struct LagSample {
  std::string name;
  std::uint64_t rounds = 0;
  Nanoseconds behind_ns = 0;
};

/// Values of one rank that were not finite, or did not fit, summed over lanes.
struct ValueSample {
  std::string name;
  std::uint64_t nan = 0;
  std::uint64_t infinity = 0;
  std::uint64_t rejected_chunks = 0;
  std::uint64_t saturated = 0;
};

struct DurationSample {
  std::array<std::uint64_t, dataplane::DurationCounters::kClasses> counts{};  ///< By class, not cumulative.
  Nanoseconds sum_ns = 0;
};

struct AggregationSample {
  std::uint64_t rounds_open = 0;  ///< Counted in each lane, as all of these.
  std::array<std::uint64_t, dataplane::kRoundOutcomes> rounds_ended{};  ///< By wire::RoundOutcome.
  DurationSample durations;                                             ///< Of complete rounds.
  std::vector<LagSample> lags;  ///< Of contributors that have finished a round here, by rank.
  std::uint64_t slots = 0;
  /// The largest window of a fold point in the newest epoch, and as planned: more if the job's quota does not
  /// hold that. Filled in by the program.
  std::uint32_t window_chunks = 0;
  std::uint32_t planned_window_chunks = 0;
  std::uint64_t held_contributions = 0;
  std::uint64_t arena_bytes = 0;  ///< Reserved.
  std::uint64_t arena_used_bytes = 0;
  std::uint64_t arena_high_water_bytes = 0;  ///< Of each lane by itself, added up.
  std::vector<ValueSample> values;           ///< Of ranks with anything to tell, by rank.
  std::uint64_t grants_unfinished = 0;
  std::uint64_t grants_pending = 0;
};

/// A round that is open here, over all lanes.
struct OpenRoundSample {
  std::uint32_t epoch = 0;
  std::uint32_t round = 0;
  std::string island;             ///< Whose fold point it is.
  std::vector<std::string> late;  ///< Members that any lane waits for, in rank order.
  std::uint32_t members = 0;
  std::uint32_t lanes_open = 0;
  std::uint64_t chunks_done = 0;
  std::uint64_t chunks_total = 0;           ///< Of the lanes that know it.
  std::optional<Nanoseconds> age_ns;        ///< Since the first contribution; nothing before it.
  std::optional<Nanoseconds> time_left_ns;  ///< Until the deadline; nothing before the first contribution.
};

struct EpochSample {
  std::uint32_t newest = 0;  ///< 0: none is installed.
  std::uint32_t first_round = 0;
  std::uint32_t older = 0;           ///< 0: the newest has the edge to itself.
  std::uint32_t lanes_taken_up = 0;  ///< Lanes that run the newest.
  std::optional<std::uint32_t> highest_opened_round;
};

/// What a program knows and the dataplane does not; filled in by the program.
struct AgentSample {
  bool connected = false;  ///< Whether the stream to the controller stands.
  std::uint64_t term = 0;
  std::uint32_t staged_epoch = 0;  ///< 0: none.
};

/// Packets that were not used, by reason.
using DropSample = std::array<std::uint64_t, kDropReasons>;

/// One job at an edge.
struct JobSample {
  std::uint16_t job = 0;
  EpochSample epochs;
  std::optional<AgentSample> agent;
  std::vector<PeerSample> peers;  ///< In the order of the job's links.
  std::vector<LaneSample> lanes;
  DropSample drops{};
  std::uint64_t packets_replicated = 0;
  std::uint64_t copies = 0;
  std::uint64_t payload_bytes_saved = 0;
  AggregationSample aggregation;
  std::vector<OpenRoundSample> rounds;  ///< By round and island.
};

/// An edge at one moment: what metrics, `tombolo status` and tests look at.
struct EdgeSample {
  std::string site;
  std::uint32_t session = 0;
  std::uint32_t lane_count = 0;
  Nanoseconds uptime_ns = 0;
  std::vector<PortSample> ports;
  std::vector<WorkerSample> workers;
  std::vector<PoolSample> pools;
  DropSample drops{};  ///< Of packets that no lane saw: they belong to no job.
  std::vector<JobSample> jobs;

  /// Of all jobs, and of none.
  DropSample all_drops() const;
};

/// What people call a job's neighbours and all of its islands. A name that is missing is made of the number.
struct JobNames {
  std::vector<std::string> links;    ///< In the order of the job's links: "LON", or an island's.
  std::vector<std::string> islands;  ///< By rank.
};

/// What of a sample comes from outside the edge, read by the same thread.
struct EdgeSurroundings {
  std::vector<PortSample> ports;
  std::vector<PoolSample> pools;
  std::vector<WorkerTimeSample> times;  ///< By worker; may be empty.
};

/// Reads an edge's counters while its workers run. For the one control thread, which also installs epochs;
/// other threads get the sample through a `Latest`. Counts that belong together may differ by what happened
/// while they were read. `names` by job, in the order of the edge's.
EdgeSample take_sample(const dataplane::Edge& edge, std::span<const JobNames> names,
                       EdgeSurroundings surroundings, Nanoseconds now_ns);

}  // namespace tombolo::control
