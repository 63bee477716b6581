#include "dataplane/port/dpdk/frame.h"

#include <array>
#include <cstring>

#include "dataplane/port/dpdk/big_endian.h"
#include "dataplane/port/dpdk/group_table.h"

namespace tombolo::dataplane {
namespace {

constexpr std::uint16_t kEtherTypeIpv6 = 0x86dd;
constexpr std::uint16_t kEtherTypeVlan = 0x8100;
constexpr std::uint16_t kEtherTypeQinq = 0x88a8;
constexpr std::uint16_t kDoNotFragment = 0x4000;
constexpr std::uint16_t kMoreOrOffset = 0x3fff;  // "More fragments" and the offset.
constexpr std::uint16_t kTimeToLive = 64;
constexpr std::uint16_t kVersionAndLength = 0x4500;  // IPv4, five words.

ParsedFrame dropped(FrameDrop reason) {
  ParsedFrame result;
  result.drop = reason;
  return result;
}

/// Of a header that we write. Summed from the values: reading back what was just written would wait for it to
/// leave the store buffer.
std::uint16_t ipv4_checksum(std::uint32_t from, std::uint32_t to, std::uint8_t protocol,
                            std::uint32_t total_bytes) {
  std::uint32_t sum = kVersionAndLength + total_bytes + kDoNotFragment + (kTimeToLive << 8 | protocol);
  sum += (from >> 16) + (from & 0xffff) + (to >> 16) + (to & 0xffff);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~(sum + (sum >> 16)));
}

/// The IPv4 header, checked but for whom it is for.
FrameDrop check_ipv4_header(std::span<const std::byte> packet) {
  if (packet.size() < kIpv4Bytes) return FrameDrop::kTruncated;
  const auto first = std::to_integer<unsigned>(packet[0]);
  const unsigned words = first & 15;
  if (first >> 4 != 4 || words < 5) return FrameDrop::kBadIpHeader;
  if (words > 5) return FrameDrop::kIpOptions;
  if (internet_checksum(packet.first(kIpv4Bytes)) != 0) return FrameDrop::kBadIpHeader;
  const std::uint16_t total = get16(&packet[2]);
  if (total < kIpv4Bytes) return FrameDrop::kBadIpHeader;
  if (total > packet.size()) return FrameDrop::kTruncated;
  if ((get16(&packet[6]) & kMoreOrOffset) != 0) return FrameDrop::kFragment;
  return FrameDrop::kNone;
}

/// Both addresses must be ours: a frame that a switch floods to a port in promiscuous mode is not.
FrameDrop check_destination(Mac mac, std::uint32_t from, std::uint32_t to, const FrameFilter& filter) {
  if (to == filter.address.ipv4) return mac == filter.mac ? FrameDrop::kNone : FrameDrop::kOtherAddress;
  if (filter.groups == nullptr || !is_multicast(to) || mac != group_mac(to)) return FrameDrop::kOtherAddress;
  if (filter.groups->accepts(from, to)) return FrameDrop::kNone;
  return filter.groups->listens_to(to) ? FrameDrop::kOtherSource : FrameDrop::kOtherAddress;
}

bool is_bad_source(std::uint32_t ipv4, const FrameFilter& filter) {
  return ipv4 == 0 || ipv4 == filter.address.ipv4 || ipv4 >> 28 >= 0xe;
}

ParsedFrame parse_udp(std::span<const std::byte> datagram, std::uint32_t from, const FrameFilter& filter) {
  if (datagram.size() < kUdpBytes || get16(&datagram[4]) != datagram.size())
    return dropped(FrameDrop::kBadUdp);
  const std::uint16_t from_port = get16(&datagram[0]);
  const std::uint16_t to_port = get16(&datagram[2]);
  const unsigned lane = to_port - unsigned{filter.address.base_port};
  if (to_port < filter.address.base_port || lane >= filter.lane_count) return dropped(FrameDrop::kOtherPort);
  if (from_port < lane) return dropped(FrameDrop::kBadSource);
  ParsedFrame result;
  result.kind = ParsedFrame::Kind::kData;
  result.from = {from, static_cast<std::uint16_t>(from_port - lane)};
  result.lane = static_cast<std::uint16_t>(lane);
  result.payload_bytes = static_cast<std::uint32_t>(datagram.size()) - kUdpBytes;
  return result;
}

ParsedFrame parse_icmp(std::span<const std::byte> message, bool to_group) {
  // Type 8 asks, type 0 answers; the code is 0 in both.
  if (to_group || message.size() < kIcmpEchoBytes || internet_checksum(message) != 0)
    return dropped(FrameDrop::kIcmpOther);
  const auto type = std::to_integer<unsigned>(message[0]);
  if ((type != 8 && type != 0) || message[1] != std::byte{0}) return dropped(FrameDrop::kIcmpOther);
  ParsedFrame result;
  result.kind = ParsedFrame::Kind::kEcho;
  result.payload_bytes = static_cast<std::uint32_t>(message.size());
  return result;
}

ParsedFrame parse_ipv4(Mac to_mac, std::span<const std::byte> packet, const FrameFilter& filter) {
  if (const FrameDrop drop = check_ipv4_header(packet); drop != FrameDrop::kNone) return dropped(drop);
  const std::uint32_t from = get32(&packet[12]);
  const std::uint32_t to = get32(&packet[16]);
  if (const FrameDrop drop = check_destination(to_mac, from, to, filter); drop != FrameDrop::kNone)
    return dropped(drop);
  if (is_bad_source(from, filter)) return dropped(FrameDrop::kBadSource);
  // What follows the total length is Ethernet's padding.
  const auto rest = packet.subspan(kIpv4Bytes, get16(&packet[2]) - kIpv4Bytes);
  switch (std::to_integer<unsigned>(packet[9])) {
    case kProtocolUdp:
      return parse_udp(rest, from, filter);
    case kProtocolIcmp:
      return parse_icmp(rest, to != filter.address.ipv4);
    default:
      return dropped(FrameDrop::kNotUdp);
  }
}

}  // namespace

ParsedFrame parse_frame(std::span<const std::byte> frame, const FrameFilter& filter) {
  if (frame.size() < kEthernetBytes) return dropped(FrameDrop::kTruncated);
  switch (get16(&frame[12])) {
    case kEtherTypeIpv4:
      return parse_ipv4(get48(frame.data()), frame.subspan(kEthernetBytes), filter);
    case kEtherTypeArp: {
      ParsedFrame result;
      result.kind = ParsedFrame::Kind::kArp;
      return result;
    }
    case kEtherTypeIpv6:
      return dropped(FrameDrop::kIpv6);
    case kEtherTypeVlan:
    case kEtherTypeQinq:
      return dropped(FrameDrop::kVlan);
    default:
      return dropped(FrameDrop::kNotIpv4);
  }
}

void write_framing(std::byte* out, const Framing& framing, std::uint32_t packet_bytes) {
  // The fields of write_ethernet and write_ipv4, put together in registers: every copy has them.
  const std::uint64_t datagram = kUdpBytes + packet_bytes;
  const std::uint64_t total = kIpv4Bytes + datagram;
  const std::uint64_t from = framing.from_ipv4, to = framing.to_ipv4;
  const std::uint64_t checksum =
      ipv4_checksum(framing.from_ipv4, framing.to_ipv4, kProtocolUdp, static_cast<std::uint32_t>(total));
  put64(out, framing.to_mac << 16 | framing.from_mac >> 32);
  put64(out + 8, framing.from_mac << 32 | std::uint64_t{kEtherTypeIpv4} << 16 | kVersionAndLength);
  put64(out + 16, total << 48 | std::uint64_t{kDoNotFragment} << 16 | kTimeToLive << 8 | kProtocolUdp);
  put64(out + 24, checksum << 48 | from << 16 | to >> 16);
  put64(out + 32,
        to << 48 | std::uint64_t{framing.from_port} << 32 | std::uint64_t{framing.to_port} << 16 | datagram);
  put16(out + 40, 0);  // No UDP checksum: the packet has its own.
}

std::uint16_t internet_checksum(std::span<const std::byte> bytes) {
  // The sum does not depend on the order of the bytes but for its own (RFC 1071), so words are added as the
  // machine reads them, and several at a time: every packet in and every copy out comes by here.
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[i], sizeof word);
    sum += word;
  }
  if (i < bytes.size()) {
    std::uint32_t rest = 0;
    std::memcpy(&rest, &bytes[i], bytes.size() - i);
    sum += rest;
  }
  sum = (sum & 0xffffffff) + (sum >> 32);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  const auto checksum = static_cast<std::uint16_t>(~sum);
  std::array<std::byte, sizeof checksum> in_order;
  std::memcpy(in_order.data(), &checksum, sizeof checksum);
  return get16(in_order.data());
}

void write_ethernet(std::byte* out, Mac to, Mac from, std::uint16_t ether_type) {
  put48(out, to);
  put48(out + 6, from);
  put16(out + 12, ether_type);
}

void write_ipv4(std::byte* out, std::uint32_t from, std::uint32_t to, std::uint8_t protocol,
                std::uint32_t ip_payload_bytes) {
  const std::uint32_t total = kIpv4Bytes + ip_payload_bytes;
  put16(out, kVersionAndLength);
  put16(out + 2, total);
  put16(out + 4, 0);  // An identification means nothing in a packet that is never fragmented (RFC 6864).
  put16(out + 6, kDoNotFragment);
  put16(out + 8, kTimeToLive << 8 | protocol);
  put32(out + 12, from);
  put32(out + 16, to);
  put16(out + 10, ipv4_checksum(from, to, protocol, total));
}

}  // namespace tombolo::dataplane
