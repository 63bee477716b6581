#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/counter.h"

namespace tombolo {

/// Why a packet was not used. One reason, one counter. kNone means that it was.
enum class DropReason : std::uint8_t {
  kNone,
  // What protocol/wire finds in the bytes, in the order of its checks.
  kTruncated,
  kBadMagic,
  kBadVersion,
  kBadHeaderCrc,
  kBadType,
  kBadFlags,
  kReservedNotZero,
  kBadLength,
  kBadField,
  kBadPayloadCrc,
  // Who sent it.
  kUnknownSender,
  kUnknownSession,
  kOldSession,
  kWrongLane,
  // What it is about.
  kUnknownJob,
  kUnknownEpoch,
  kUnknownTree,
  kWrongLink,
  kWrongRank,
  kRoundNotOpen,
  kRoundClosed,
  kBeyondGrant,
  kMismatch,
  kUnsupportedType,
  // Already seen.
  kDuplicateSequence,
  kSequenceTooFar,
  kDuplicateContribution,
  // No room.
  kNoBuffer,
  kLinkWindowFull,
  kPeerDown,
  kPortFull,
  kHandOverFull,
  kCount
};

inline constexpr std::size_t kDropReasons = static_cast<std::size_t>(DropReason::kCount);

/// The reason's name as it appears in tables, JSON and metrics: "bad_header_crc".
std::string_view name(DropReason reason);

/// One counter per reason; written by one worker, read by anybody.
class DropCounters {
 public:
  void add(DropReason reason, std::uint64_t n = 1) { counts_[static_cast<std::size_t>(reason)].add(n); }
  std::uint64_t get(DropReason reason) const { return counts_[static_cast<std::size_t>(reason)].get(); }

 private:
  std::array<Counter, kDropReasons> counts_;
};

}  // namespace tombolo
