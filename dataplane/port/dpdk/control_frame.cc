#include "dataplane/port/dpdk/control_frame.h"

#include <algorithm>

#include "base/check.h"
#include "dataplane/port/dpdk/big_endian.h"

namespace tombolo::dataplane {
namespace {

constexpr std::size_t kArpBytes = 28;
// Hardware type Ethernet, protocol IPv4, and the lengths of their addresses (RFC 826).
constexpr std::uint32_t kArpKinds = 0x00010800;
constexpr std::uint16_t kArpLengths = 0x0604;
constexpr std::size_t kIcmpOffset = kEthernetBytes + kIpv4Bytes;

}  // namespace

std::optional<ArpMessage> parse_arp(std::span<const std::byte> frame) {
  if (frame.size() < kEthernetBytes + kArpBytes) return std::nullopt;
  const std::byte* const arp = &frame[kEthernetBytes];
  if (get32(arp) != kArpKinds || get16(arp + 4) != kArpLengths) return std::nullopt;
  ArpMessage message;
  message.operation = get16(arp + 6);
  if (message.operation != ArpMessage::kRequest && message.operation != ArpMessage::kReply)
    return std::nullopt;
  message.sender_mac = get48(arp + 8);
  message.sender_ipv4 = get32(arp + 14);
  message.target_mac = get48(arp + 18);
  message.target_ipv4 = get32(arp + 24);
  if (message.sender_mac == 0 || is_group_mac(message.sender_mac)) return std::nullopt;
  if (message.sender_mac != get48(&frame[6])) return std::nullopt;
  return message;
}

void write_arp(std::byte* out, const ArpMessage& message) {
  const Mac to = message.operation == ArpMessage::kRequest ? kBroadcastMac : message.target_mac;
  std::fill_n(out, kArpFrameBytes, std::byte{0});
  write_ethernet(out, to, message.sender_mac, kEtherTypeArp);
  std::byte* const arp = out + kEthernetBytes;
  put32(arp, kArpKinds);
  put16(arp + 4, kArpLengths);
  put16(arp + 6, message.operation);
  put48(arp + 8, message.sender_mac);
  put32(arp + 14, message.sender_ipv4);
  put48(arp + 18, message.target_mac);
  put32(arp + 24, message.target_ipv4);
}

EchoFields read_echo(std::span<const std::byte> frame) {
  CHECK(frame.size() >= kMinEchoFrameBytes);
  EchoFields fields;
  fields.is_request = frame[kIcmpOffset] == std::byte{8};
  fields.from_ipv4 = get32(&frame[kEthernetBytes + 12]);
  fields.identifier = get16(&frame[kIcmpOffset + 4]);
  fields.sequence = get16(&frame[kIcmpOffset + 6]);
  return fields;
}

void turn_into_echo_reply(std::span<std::byte> frame, Mac our_mac) {
  CHECK(frame.size() >= kMinEchoFrameBytes);
  std::byte* const ip = &frame[kEthernetBytes];
  const std::uint32_t from = get32(ip + 12);
  const std::uint32_t to = get32(ip + 16);
  const std::uint32_t message_bytes = get16(ip + 2) - kIpv4Bytes;
  write_ethernet(frame.data(), get48(&frame[6]), our_mac, kEtherTypeIpv4);
  write_ipv4(ip, to, from, kProtocolIcmp, message_bytes);
  // The type is the only word that changes: 8 becomes 0, so the sum falls by 0x0800 (RFC 1624).
  std::byte* const icmp = &frame[kIcmpOffset];
  icmp[0] = std::byte{0};
  std::uint32_t sum = std::uint32_t{get16(icmp + 2)} + 0x0800;
  sum = (sum & 0xffff) + (sum >> 16);
  put16(icmp + 2, sum);
}

void write_echo_request(std::span<std::byte> frame, const EchoRequest& request) {
  CHECK(frame.size() >= kMinEchoFrameBytes);
  const auto message_bytes = static_cast<std::uint32_t>(frame.size() - kIcmpOffset);
  write_ethernet(frame.data(), request.to_mac, request.from_mac, kEtherTypeIpv4);
  write_ipv4(&frame[kEthernetBytes], request.from_ipv4, request.to_ipv4, kProtocolIcmp, message_bytes);
  const std::span icmp = frame.subspan(kIcmpOffset);
  std::fill(icmp.begin(), icmp.end(), std::byte{0});
  icmp[0] = std::byte{8};
  put16(&icmp[4], request.identifier);
  put16(&icmp[6], request.sequence);
  put16(&icmp[2], internet_checksum(icmp));
}

}  // namespace tombolo::dataplane
