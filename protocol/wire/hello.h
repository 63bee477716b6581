#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/wire/feedback.h"

namespace tombolo::wire {

inline constexpr std::uint16_t kHelloBytes = 20;

/// The body of HELLO: who speaks, where its stream stands, and an echo for the round-trip time.
struct Hello {
  std::uint32_t peer_session = 0;    ///< The receiver's session as the sender knows it; 0: not known yet.
  std::uint32_t next_sequence = 0;   ///< The number that this lane's next new packet will get.
  std::uint32_t first_sequence = 0;  ///< Oldest that can still be repaired; serially not after next_sequence.
  std::uint32_t echo_timestamp_us = 0;    ///< Timestamp of the newest packet that came from the receiver.
  std::uint32_t echo_delay_us = kNoEcho;  ///< That packet's age when this left, or kNoEcho.

  friend bool operator==(const Hello&, const Hello&) = default;
};

/// Writes the body into `out`, which has room for kHelloBytes; returns kHelloBytes. A hello that parse would
/// refuse is the caller's broken invariant (a CHECK). Hot path.
std::size_t encode(const Hello& hello, std::span<std::byte> out);

/// Reads a whole body. False, leaving `hello` unspecified, if it is not as described above. Hot path.
[[nodiscard]] bool parse(std::span<const std::byte> payload, Hello& hello);

}  // namespace tombolo::wire
