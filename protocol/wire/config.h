#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/number_format.h"
#include "protocol/port.h"

namespace tombolo::wire {

inline constexpr std::size_t kMaxMembers = 64;
inline constexpr std::size_t kMaxSendTrees = kMaxMembers - 1;
/// A chunk of the narrowest format must fit a packet: 248 blocks of Microscaling.
inline constexpr std::uint32_t kMaxChunkElements = 7936;
static_assert(encoded_bytes(NumberFormat::kMxInt8, kMaxChunkElements) <= kMaxPayloadBytes);
static_assert(encoded_bytes(NumberFormat::kMxInt8, kMaxChunkElements + kChunkElementStep) > kMaxPayloadBytes);
/// Entries that an edge sends for one JOIN; the island asks again from where it then is.
inline constexpr std::uint32_t kConfigsPerAnswer = 16;
inline constexpr std::uint16_t kMinConfigBytes = 44;
inline constexpr std::uint16_t kMaxConfigBytes =
    kMinConfigBytes + 2 * (kMaxMembers + kMaxMembers + kMaxSendTrees) + 4 * kMaxMembers;

/// The body of CONFIG: one schedule entry of the epoch in the header, as one island sees it. An island that
/// has all `entries` of an epoch knows everything that its rounds need.
struct Config {
  std::uint32_t entry = 0;           ///< Below `entries`.
  std::uint32_t entries = 0;         ///< The schedule's period, at least 1.
  std::uint32_t first_round = 0;     ///< The epoch's activating round.
  std::uint32_t chunk_elements = 0;  ///< A multiple of 32, at most kMaxChunkElements.
  std::uint16_t lane_count = 0;      ///< At least 1.
  bool edge_aggregation = false;     ///< Whether results come folded; otherwise the island folds.
  NonFinitePolicy non_finite = NonFinitePolicy::kPropagate;
  bool has_weights = false;       ///< Whether `weight` holds the members' weights; false if it rests.
  std::uint8_t self = 0;          ///< The island's index among the members; 0 if it rests.
  std::uint64_t deadline_ns = 0;  ///< A round's longest life, not 0.
  std::uint64_t stream_rate_bps =
      0;  ///< Wire bit rate, framing included, of each of its streams; not 0 in a clique.
  std::uint32_t window_chunks = 0;   ///< Slots of a fold point for one round; not 0 in a clique.
  std::uint8_t members = 0;          ///< 0: rests in this entry; otherwise 2 to kMaxMembers.
  std::uint8_t send_tree_count = 0;  ///< At most kMaxSendTrees; 0 if it rests.
  std::uint16_t max_payload_bytes = kMaxPayloadBytes;  ///< Of a contribution, a partial or a result.
  std::array<std::uint16_t, kMaxMembers> rank{};       ///< By member, ascending: the fold order.
  std::array<std::uint16_t, kMaxMembers>
      receive_tree{};  ///< By member: the tree it is received on, or kNoTree.
  std::array<std::uint16_t, kMaxSendTrees>
      send_tree{};                          ///< Trees on which each chunk is sent; none is kNoTree.
  std::array<float, kMaxMembers> weight{};  ///< By member: finite, above 0, not subnormal.
};

/// Writes the body into `out`, which has room (kMaxConfigBytes always has); returns the bytes used. A config
/// that parse would refuse is the caller's broken invariant (a CHECK).
std::size_t encode(const Config& config, std::span<std::byte> out);

/// Reads a whole body. False, leaving `config` unspecified, if a single byte of it is not as described above.
[[nodiscard]] bool parse(std::span<const std::byte> payload, Config& config);

}  // namespace tombolo::wire
