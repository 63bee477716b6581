#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/fold/kernel.h"
#include "aggregation/fold_point.h"
#include "dataplane/edge/epoch_table.h"
#include "dataplane/port/dpdk/dpdk_port.h"
#include "protocol/wire/header.h"

namespace tombolo::bench {

/// One case of the edge's benchmarks: the members of a clique, of which the edge's own island is member 0 and
/// sits behind the edge's LAN port; the others' chunks come from neighbouring edges behind its WAN port. One
/// lane, one round that never ends.
struct Clique {
  std::uint32_t k = 8;
  wire::Format format = wire::Format::kFp32;
  wire::Operation operation = wire::Operation::kSum;
  std::uint32_t chunk_bytes = 8192;  ///< A payload has at most so many.
  std::uint32_t skew_chunks = 0;     ///< So many chunks is each member behind the one before it.
  std::string isa;                   ///< Empty: the best.
  /// Contributions wait in their packets up to that distance (FoldPointConfig); kHoldAll: for ever.
  std::uint32_t held_bytes = aggregation::kHeldBytes;

  std::size_t elements() const;
  std::uint32_t payload_bytes() const;
  /// Chunks of all members that one step brings: about a burst for the WAN port.
  std::uint32_t step_chunks() const;
  /// Chunks in flight at most, with what grants need to keep ahead.
  std::uint32_t window_chunks() const;
  /// Steps after which every slot has been in use, so that its memory is there.
  std::uint32_t warm_up_steps() const;
  /// Bytes of payload that arrive between a chunk's first contribution and its last.
  std::uint64_t distance_bytes() const;
  /// Contributions that wait in slots at a time.
  std::uint64_t waiting_packets() const;
  /// Those of them that wait in their packets.
  std::uint64_t held_packets() const;
  std::uint64_t update_elements() const;
};

/// The skew at which about `distance` bytes come between a chunk's first contribution and its last; at
/// least 1.
std::uint32_t skew_for(const Clique& clique, std::uint64_t distance);

inline constexpr std::uint16_t kJob = 1;
inline constexpr std::uint32_t kEpoch = 1;
inline constexpr std::uint32_t kRound = 1;
inline constexpr std::uint32_t kEdgeSession = 1000;
inline constexpr std::uint32_t kPeerSession = 50;

/// The edge's addresses, one per port, and its peers': link m leads to member m.
Address port_address(bool lan);
Address peer_address(std::uint32_t member);
dataplane::Mac port_mac(bool lan);
dataplane::Mac peer_mac(std::uint32_t member);

dataplane::DpdkPortConfig port_config(const Clique& clique, bool lan, const std::string& device);
aggregation::MemberEntry member_entry(const Clique& clique);
std::shared_ptr<const dataplane::EpochTable> epoch_table(const Clique& clique);
fold::Kind kind_of(const Clique& clique);
/// The instruction set's name, also where the clique leaves the choice open; that of the reference if there
/// is none.
std::string isa_of(const Clique& clique);

}  // namespace tombolo::bench
