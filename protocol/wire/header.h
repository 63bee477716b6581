#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/number_format.h"
#include "protocol/port.h"

namespace tombolo::wire {

/// An unsigned integer that is little-endian in memory whatever the machine is; unaligned.
template <typename T>
class LittleEndian {
 public:
  LittleEndian() = default;
  constexpr LittleEndian(T value) { *this = value; }  // NOLINT: implicit on purpose
  constexpr LittleEndian& operator=(T value) {
    if constexpr (std::endian::native == std::endian::little) {
      bytes_ = std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(value);
      return *this;
    }
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes_[i] = static_cast<std::uint8_t>(value >> (8 * i));
    return *this;
  }
  constexpr operator T() const {  // NOLINT: implicit on purpose
    // One load: the compiler does not always put the bytes together by itself, and every packet's fields are
    // read.
    if constexpr (std::endian::native == std::endian::little) return std::bit_cast<T>(bytes_);
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | (T{bytes_[i]} << (8 * i)));
    return value;
  }

 private:
  std::array<std::uint8_t, sizeof(T)> bytes_{};
};

using Le16 = LittleEndian<std::uint16_t>;
using Le32 = LittleEndian<std::uint32_t>;
using Le64 = LittleEndian<std::uint64_t>;

inline constexpr std::uint16_t kMagic = 0x4254;  // "TB"
inline constexpr std::uint8_t kVersion = 1;

enum class Type : std::uint8_t {
  kContribution = 1,  ///< An island's chunk, on its way down a tree.
  kPartial = 2,       ///< A subtree's folded chunk (tree mode).
  kResult = 3,        ///< A finished chunk, from an edge to its island.
  kParity = 4,        ///< Repair symbol over several packets of a link.
  kFeedback = 5,      ///< A link's receiver to its sender: what arrived, what is missing.
  kGrant = 6,         ///< A fold point to a source, up the tree: chunks below `chunk` have a slot.
  kRoundEnd = 7,      ///< A round is over for the sender: complete, or failed and why.
  kHello = 8,         ///< Session, liveness, position in the stream, newest committed epoch.
  kJoin = 9,          ///< An island asks its edge for its configuration.
  kConfig = 10,       ///< One schedule entry as one island sees it.
};

/// Number formats of a payload.
using Format = NumberFormat;

enum class Operation : std::uint8_t { kNone = 0, kSum = 1, kMean = 2, kWeighted = 3, kMin = 4, kMax = 5 };

/// Why a round is over for the sender of ROUND_END (in the header's `chunk` field).
enum class RoundOutcome : std::uint8_t {
  kComplete = 0,    ///< Every chunk of every member is in.
  kDeadline = 1,    ///< Time ran out; `specific` has a bit per member that is missing.
  kAbandoned = 2,   ///< The island gave the round up (cancel, or its own deadline).
  kSuperseded = 3,  ///< A new epoch took the round over.
  kLost = 4,        ///< What it needs is out of service; `specific` has a bit per member that is lost.
};

/// Whether the bits beside the outcome say who stood in the way.
constexpr bool names_missing(RoundOutcome outcome) {
  return outcome == RoundOutcome::kDeadline || outcome == RoundOutcome::kLost;
}

/// This packet repairs a loss; its timestamp says nothing about the first transmission.
inline constexpr std::uint16_t kFlagRepair = 1;
inline constexpr std::uint16_t kKnownFlags = kFlagRepair;

inline constexpr std::uint16_t kNoTree = 0xffff;
inline constexpr std::uint16_t kNoRank = 0xffff;

/// The header of every packet, as it lies on the wire. See PROTOCOL.md for each field by packet type.
struct Header {
  Le16 magic = kMagic;
  std::uint8_t version = kVersion;
  std::uint8_t type = 0;
  Le16 flags;
  Le16 key_id;
  Le16 job;
  Le16 rank = kNoRank;
  Le16 tree = kNoTree;
  Le16 lane;
  Le32 epoch;
  Le32 round;
  Le32 session;
  Le32 link_sequence;
  Le32 timestamp_us;
  Le32 chunk;
  Le64 specific;  ///< Contributor bitmap, or what the type says.
  std::uint8_t format = 0;
  std::uint8_t operation = 0;
  Le16 payload_bytes;
  std::uint8_t result_format = 0;  ///< That the result is to have; 0: as `format`.
  std::uint8_t update_format = 0;  ///< PARTIAL: of the contributions that are in it; else 0.
  std::array<std::uint8_t, 2> reserved{};
  Le32 payload_crc;  ///< CRC32C of the payload; made once, where the payload is made.
  Le32 header_crc;   ///< CRC32C of the 60 bytes before it; redone for each copy.

  Type packet_type() const { return static_cast<Type>(type); }
};
static_assert(sizeof(Header) == kHeaderBytes && alignof(Header) == 1);
static_assert(offsetof(Header, epoch) == 16 && offsetof(Header, specific) == 40);
static_assert(offsetof(Header, result_format) == 52 && offsetof(Header, update_format) == 53 &&
              offsetof(Header, payload_crc) == 56 && offsetof(Header, header_crc) == 60);
static_assert(std::is_trivially_copyable_v<Header>);

/// Types that carry a link sequence number and are repaired by the previous hop.
constexpr bool is_sequenced(Type type) {
  return type == Type::kContribution || type == Type::kPartial || type == Type::kResult ||
         type == Type::kGrant || type == Type::kRoundEnd;
}

}  // namespace tombolo::wire
