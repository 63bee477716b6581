#pragma once

#include <cstdint>
#include <vector>

#include "base/number_format.h"
#include "base/result.h"
#include "schedule/epoch_plan.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

/// What every packet adds to its payload on the wire: the packet header (64) and Ethernet, IPv4 and UDP (42).
/// This layer does not see the protocol's; a test holds them equal.
inline constexpr std::uint32_t kPacketOverheadBytes = 64 + 42;
/// The largest payload of a packet; a test holds it equal to the protocol's, too.
inline constexpr std::uint32_t kLargestPayloadBytes = 8192;
/// Share of a capacity that streams may take: the rest is for feedback, grants and repair.
inline constexpr double kStreamShare = 0.97;
inline constexpr std::size_t kMaxTrees = 65534;

struct CompileOptions {
  std::uint16_t job = 0;
  std::uint32_t epoch = 1;           ///< Not 0.
  std::uint32_t chunk_elements = 0;  ///< A multiple of 32 that fits a packet in both formats.
  std::uint16_t lane_count = 1;      ///< Not 0.
  std::uint64_t deadline_ns = 0;     ///< Not 0.
  std::uint64_t update_bytes = 0;    ///< In `format`; not 0.
  bool multicast = true;
  bool edge_aggregation = true;
  NumberFormat format = NumberFormat::kFp32;         ///< Of updates.
  NumberFormat result_format = NumberFormat::kFp32;  ///< Of results; another than `format` only as folds can.
  NonFinitePolicy non_finite = NonFinitePolicy::kPropagate;
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
double update_wire_bytes(std::uint64_t update_bytes, std::uint32_t chunk_elements,
                         NumberFormat format = NumberFormat::kFp32);

/// The network as updates see it when results or partials are not in their format. Where edges fold, what an
/// island receives is results, and its ingress carries as many bytes of updates fewer as those are wider (or
/// more as they are narrower). Where cliques may fold on trees, the links between sites carry partials and
/// results: the wider of them counts, if it is wider than an update, for all cliques. With `overhead_bytes` 0
/// payloads alone are compared.
Network network_for(Network network, const CompileOptions& options,
                    std::uint32_t overhead_bytes = kPacketOverheadBytes);

/// Turns a schedule into trees, rates and windows. A source's rate is kStreamShare of what the round model
/// gives its clique with bytes on the wire (or of what `sending_s` says), so no access or core link is filled
/// beyond that share.
/// The same input always gives the same plan. The plan passes check_plan.
/// Errors: kInvalidInput, naming the option, or the number of trees if there are too many; kNotSupported,
/// naming what edges cannot run yet: the mode sharded, trees without multicast, rest rounds, capabilities
/// that differ by site.
Result<EpochPlan> compile(const Network& network, const Schedule& schedule, const CompileOptions& options);

}  // namespace tombolo::schedule
