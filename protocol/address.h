#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace tombolo {

/// Where a node (an edge or an island) is reached: an IPv4 address and the UDP port of its lane 0.
/// Lane l of a node is at `base_port + l`, for sending and for receiving.
struct Address {
  std::uint32_t ipv4 = 0;  ///< Host byte order: 10.0.0.1 is 0x0a000001.
  std::uint16_t base_port = 0;

  friend auto operator<=>(const Address&, const Address&) = default;
};

/// "10.0.0.1:4700".
std::string to_string(const Address& address);

}  // namespace tombolo
