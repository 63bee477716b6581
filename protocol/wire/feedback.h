#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tombolo::wire {

/// `count` consecutive sequence numbers from `first` on, across the wrap if need be.
struct SequenceRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  friend bool operator==(const SequenceRange&, const SequenceRange&) = default;
};

inline constexpr std::size_t kMaxFeedbackRanges = 64;
inline constexpr std::uint16_t kMinFeedbackBytes = 20;
inline constexpr std::uint16_t kMaxFeedbackBytes = kMinFeedbackBytes + 8 * kMaxFeedbackRanges;
/// `echo_delay_us` when there is no timestamp to echo.
inline constexpr std::uint32_t kNoEcho = 0xffffffff;

/// The body of FEEDBACK: what a link's receiver has and lacks of one lane's stream.
struct Feedback {
  std::uint32_t peer_session = 0;  ///< The session whose packets this is about.
  std::uint32_t cumulative = 0;    ///< Every sequence before it arrived.
  std::uint32_t highest = 0;       ///< One past the highest that arrived; serially not before `cumulative`.
  std::uint32_t echo_timestamp_us = 0;    ///< Timestamp of the newest first transmission that arrived.
  std::uint32_t echo_delay_us = kNoEcho;  ///< That packet's age when this left, or kNoEcho.
  std::uint32_t range_count = 0;
  /// Missing, serially ascending, disjoint, not empty, inside [cumulative, highest). The first `range_count`
  /// count.
  std::array<SequenceRange, kMaxFeedbackRanges> ranges{};
};

/// Writes the body into `out`, which has room (kMaxFeedbackBytes always has); returns the bytes used. A
/// feedback that parse would refuse is the caller's broken invariant (a CHECK). Hot path.
std::size_t encode(const Feedback& feedback, std::span<std::byte> out);

/// Reads a whole body. False, leaving `feedback` unspecified, if a single byte of it is not as described
/// above. Hot path.
[[nodiscard]] bool parse(std::span<const std::byte> payload, Feedback& feedback);

}  // namespace tombolo::wire
