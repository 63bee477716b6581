#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "schedule/epoch_plan.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

/// What every packet adds to its payload on the wire: the packet header (64) and Ethernet, IPv4 and UDP (42).
/// This layer does not see the protocol's; a test holds them equal.
inline constexpr std::uint32_t kPacketOverheadBytes = 64 + 42;
/// fp32, the only number format at this stage.
inline constexpr std::uint32_t kElementBytes = 4;
/// Share of a capacity that streams may take: the rest is for feedback, grants and repair.
inline constexpr double kStreamShare = 0.97;
inline constexpr std::size_t kMaxTrees = 65534;

struct CompileOptions {
  std::uint16_t job = 0;
  std::uint32_t epoch = 1;           ///< Not 0.
  std::uint32_t chunk_elements = 0;  ///< A multiple of 32, at most 2048.
  std::uint16_t lane_count = 1;      ///< Not 0.
  std::uint64_t deadline_ns = 0;     ///< Not 0.
  std::uint64_t update_bytes = 0;    ///< Not 0.
  bool multicast = true;
  bool edge_aggregation = true;
  /// Cliques may fold on a tree: those that the schedule says, and of those whose mode it leaves open the
  /// ones for which the round model finds it quicker. Needs multicast and edge aggregation.
  bool tree_aggregation = false;
  PartialFormat partial_format = PartialFormat::kFp32;
  /// By round and clique: for how long it sends, in seconds, with bytes on the wire. Empty: as long as the
  /// round model lets each round last. Given for schedules without barriers, whose timetable knows what else
  /// is on the way.
  std::vector<std::vector<double>> sending_s{};
  /// Out of service, both ascending; the network given has no such link, the schedule no such island.
  std::vector<LostLink> lost_links{};
  std::vector<Rank> lost_ranks{};
};

/// Bytes of an update on the wire: each chunk carries the overhead of a packet.
double update_wire_bytes(std::uint64_t update_bytes, std::uint32_t chunk_elements);

/// Turns a schedule into trees, rates and windows. A source's rate is kStreamShare of what the round model
/// gives its clique with bytes on the wire (or of what `sending_s` says), so no access or core link is filled
/// beyond that share.
/// The same input always gives the same plan. The plan passes check_plan.
/// Errors: kInvalidInput, naming the option, or the number of trees if there are too many; kNotSupported,
/// naming what edges cannot run yet: the mode sharded, trees without multicast, rest rounds, capabilities
/// that differ by site.
Result<EpochPlan> compile(const Network& network, const Schedule& schedule, const CompileOptions& options);

}  // namespace tombolo::schedule
