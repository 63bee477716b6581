#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/port/dpdk/frame_drop.h"
#include "protocol/address.h"
#include "protocol/port.h"

namespace tombolo::dataplane {

class GroupTable;

/// An Ethernet address as a number: 02:00:00:00:00:01 is 0x020000000001.
using Mac = std::uint64_t;
inline constexpr Mac kBroadcastMac = 0xffffffffffff;
inline constexpr std::uint32_t kEthernetBytes = 14;
inline constexpr std::uint32_t kIpv4Bytes = 20;
inline constexpr std::uint32_t kUdpBytes = 8;
inline constexpr std::uint32_t kIcmpEchoBytes = 8;

/// Whether the address is a group's (or everybody's).
constexpr bool is_group_mac(Mac mac) { return (mac >> 40 & 1) != 0; }
constexpr bool is_multicast(std::uint32_t ipv4) { return ipv4 >> 28 == 0xe; }
/// The Ethernet address of an IPv4 group (RFC 1112): its low 23 bits behind 01:00:5e.
constexpr Mac group_mac(std::uint32_t group) { return Mac{0x01005e000000} | (group & 0x7fffff); }

/// What a port takes in.
struct FrameFilter {
  Mac mac = 0;
  Address address;
  std::uint16_t lane_count = 1;
  const GroupTable* groups = nullptr;  ///< Whose packets may come to which IPv4 groups; nullptr: nobody's.
};

/// What a frame is, and where things lie in it.
struct ParsedFrame {
  enum class Kind : std::uint8_t { kDropped, kData, kArp, kEcho };
  Kind kind = Kind::kDropped;
  FrameDrop drop = FrameDrop::kNone;  ///< For kDropped.
  Address from;                       ///< For kData: the sender's base address.
  std::uint16_t lane = 0;             ///< For kData.
  std::uint32_t payload_bytes = 0;    ///< For kData: UDP payload, which begins behind kFramingBytes.
                                      ///< For kEcho: the ICMP message, behind Ethernet and IPv4.
};

/// Validates a frame, whole: every length against the bytes that are there, the IPv4 header's checksum, who
/// it is for, and for ICMP the message's checksum. The UDP checksum is not looked at: header and payload of
/// our packets carry their own.
ParsedFrame parse_frame(std::span<const std::byte> frame, const FrameFilter& filter);

/// What stands before a packet on the wire.
struct Framing {
  Mac to_mac = 0;
  Mac from_mac = 0;
  std::uint32_t from_ipv4 = 0;
  std::uint32_t to_ipv4 = 0;
  std::uint16_t from_port = 0;
  std::uint16_t to_port = 0;
};
/// Writes the kFramingBytes of Ethernet, IPv4 (DF, TTL 64) and UDP (no checksum) before `packet_bytes` bytes.
void write_framing(std::byte* out, const Framing& framing, std::uint32_t packet_bytes);

/// Ones' complement sum of 16-bit words (RFC 1071), complemented: 0 over bytes that contain a right checksum.
std::uint16_t internet_checksum(std::span<const std::byte> bytes);

/// Writes Ethernet and IPv4 before `ip_payload_bytes` of the protocol.
void write_ethernet(std::byte* out, Mac to, Mac from, std::uint16_t ether_type);
void write_ipv4(std::byte* out, std::uint32_t from, std::uint32_t to, std::uint8_t protocol,
                std::uint32_t ip_payload_bytes);

inline constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr std::uint16_t kEtherTypeArp = 0x0806;
inline constexpr std::uint8_t kProtocolIcmp = 1;
inline constexpr std::uint8_t kProtocolUdp = 17;

}  // namespace tombolo::dataplane
