#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/port/dpdk/frame.h"

namespace tombolo::dataplane {

/// An ARP message is padded to the least that Ethernet carries.
inline constexpr std::uint32_t kArpFrameBytes = 60;

struct ArpMessage {
  enum Operation : std::uint16_t { kRequest = 1, kReply = 2 };
  std::uint16_t operation = kRequest;
  Mac sender_mac = 0;
  std::uint32_t sender_ipv4 = 0;
  Mac target_mac = 0;
  std::uint32_t target_ipv4 = 0;
};

/// Nothing unless the frame is a well-formed request or reply for IPv4 over Ethernet, sent from the address
/// that it speaks of.
std::optional<ArpMessage> parse_arp(std::span<const std::byte> frame);
/// Writes kArpFrameBytes; a request goes to everybody, a reply to its target.
void write_arp(std::byte* out, const ArpMessage& message);

/// An ICMP echo message's own fields, of a frame that parse_frame() found to be kEcho.
struct EchoFields {
  bool is_request = false;
  std::uint32_t from_ipv4 = 0;
  std::uint16_t identifier = 0;
  std::uint16_t sequence = 0;
};
EchoFields read_echo(std::span<const std::byte> frame);
/// Turns a valid request into its answer, in place: addresses swapped, type changed, checksums right.
void turn_into_echo_reply(std::span<std::byte> frame, Mac our_mac);

struct EchoRequest {
  Mac to_mac = 0;
  Mac from_mac = 0;
  std::uint32_t from_ipv4 = 0;
  std::uint32_t to_ipv4 = 0;
  std::uint16_t identifier = 0;
  std::uint16_t sequence = 0;
};
/// The smallest frame of an echo request.
inline constexpr std::uint32_t kMinEchoFrameBytes = kEthernetBytes + kIpv4Bytes + kIcmpEchoBytes;
/// Fills the whole of `frame`, which is at least kMinEchoFrameBytes long.
void write_echo_request(std::span<std::byte> frame, const EchoRequest& request);

}  // namespace tombolo::dataplane
