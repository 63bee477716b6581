#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/counter.h"

namespace tombolo::dataplane {

/// Why a frame did not become a packet, or a packet no frame. One reason, one counter. kNone: it did.
enum class FrameDrop : std::uint8_t {
  kNone,
  // Arrived, in the order of the checks.
  kTruncated,     ///< Ends before a length in it says so.
  kVlan,          ///< Carries an 802.1Q or 802.1ad tag.
  kIpv6,          ///<
  kNotIpv4,       ///< Another EtherType.
  kArpOther,      ///< ARP that is malformed, not for us, or from nobody whom we asked.
  kBadIpHeader,   ///< Version, header length, total length or checksum.
  kIpOptions,     ///<
  kFragment,      ///<
  kOtherAddress,  ///< Neither this port's address nor a group that it listens to.
  kOtherSource,   ///< To a group that it listens to, but from another host than the one whose group it is.
  kBadSource,     ///< From this port's own address, from none or from many, or from a port below the lane.
  kIcmpOther,     ///< ICMP that is neither an echo request nor an echo reply that was waited for.
  kNotUdp,        ///< Another protocol.
  kBadUdp,        ///< The UDP length is not that of the IPv4 packet.
  kOtherPort,     ///< Outside [base port, base port + lanes).
  kRxTooLarge,    ///< In pieces, and larger than a buffer when put together.
  kNoBuffer,      ///< The pool was empty when a frame had to be copied, on either way.
  kControlLimit,  ///< ARP or ICMP beyond what is answered per call, or that the way to queue 0 had no room
                  ///< for.
  // To be sent.
  kUnknownNeighbour,  ///< To an address that is not configured on this port.
  kUnresolved,        ///< The next hop's MAC address is not known yet.
  kTxTooLarge,        ///< Larger than the MTU allows; never fragmented.
  kNoHeaderBuffer,    ///< All header buffers are on their way.
  kTxFull,            ///< The device had no room.
  kHeldFull,          ///< The emulated link's memory for frames on their way was full, in either direction.
  kCount
};

inline constexpr std::size_t kFrameDrops = static_cast<std::size_t>(FrameDrop::kCount);

/// The reason's name as it appears in tables, JSON and metrics: "other_address".
std::string_view name(FrameDrop reason);

/// One counter per reason; written by one worker, read by anybody.
class FrameDropCounters {
 public:
  void add(FrameDrop reason, std::uint64_t n = 1) { counts_[static_cast<std::size_t>(reason)].add(n); }
  std::uint64_t get(FrameDrop reason) const { return counts_[static_cast<std::size_t>(reason)].get(); }

 private:
  std::array<Counter, kFrameDrops> counts_;
};

}  // namespace tombolo::dataplane
