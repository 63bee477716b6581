#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/counter.h"
#include "protocol/drop_reason.h"
#include "protocol/wire/header.h"

namespace tombolo::dataplane {

/// Upper bounds of the classes by which durations are counted; one more class takes what is longer. A round
/// across a continent takes tens of milliseconds at least, one with a large update seconds.
inline constexpr std::array<Nanoseconds, 15> kDurationBounds{
    kMillisecond,      5 * kMillisecond / 2, 5 * kMillisecond,   10 * kMillisecond,  25 * kMillisecond,
    50 * kMillisecond, 100 * kMillisecond,   250 * kMillisecond, 500 * kMillisecond, kSecond,
    5 * kSecond / 2,   5 * kSecond,          10 * kSecond,       25 * kSecond,       60 * kSecond};

/// How long something took, by class, and in sum. One writer.
class DurationCounters {
 public:
  static constexpr std::size_t kClasses = kDurationBounds.size() + 1;

  void add(Nanoseconds duration_ns) {
    std::size_t place = 0;
    while (place < kDurationBounds.size() && duration_ns > kDurationBounds[place]) ++place;
    counts_[place].add();
    sum_ns_.add(duration_ns);
  }
  /// Durations of at most the class's bound and above that of the class before; not cumulative.
  std::uint64_t count(std::size_t place) const { return counts_[place].get(); }
  Nanoseconds sum_ns() const { return sum_ns_.get(); }

 private:
  std::array<Counter, kClasses> counts_;
  Counter sum_ns_;
};

/// How far a contributor was behind the fastest of its cliques when it had contributed all its chunks.
struct LagCounters {
  Counter rounds;
  Counter behind_ns;
};

/// Values of a contributor that were not finite, and what of the results for an island did not fit.
struct ValueCounters {
  Counter nan;
  Counter infinity;
  Counter rejected_chunks;  ///< Chunks that the contributor was left out of.
  Counter saturated;        ///< Values of results for the island of this rank.
};

/// Ranks whose lag and values are counted. Those of islands with a higher rank are not.
inline constexpr std::size_t kLagRanks = 256;

/// Of wire::RoundOutcome.
inline constexpr std::size_t kRoundOutcomes = static_cast<std::size_t>(wire::RoundOutcome::kLost) + 1;

/// Written by the lane's worker, read by anybody.
struct LaneCounters {
  DropCounters drops;
  Counter packets_in;
  Counter contributions;  ///< Used: folded or forwarded.
  Counter folds;          ///< Chunks finished and sent to an island.
  Counter repairs_sent;
  std::array<Counter, kRoundOutcomes> rounds_ended;  ///< Of local fold points, by wire::RoundOutcome.
  DurationCounters round_durations;  ///< Of complete rounds, from the first contribution to the last result.
  std::array<LagCounters, kLagRanks> lags;      ///< By the contributor's rank.
  std::array<ValueCounters, kLagRanks> values;  ///< By rank.
  Counter highest_opened;                       ///< Highest round opened or granted here, plus one; 0: none.
  Counter drained_epoch;                        ///< Newest epoch that is over here.
  Counter newest_epoch;                         ///< Newest committed epoch.
  Counter links_up;                             ///< Peers that are up.
  Counter peer_commit;  ///< Newer epoch that a peer edge committed; its first round in the upper half.

  // As of the end of the last turn in which something happened.
  Counter rounds_open;         ///< Rounds of local fold points.
  Counter slots;               ///< Chunks that they have room for.
  Counter held_contributions;  ///< Payloads in those slots.
  Counter arena_bytes;         ///< Reserved for those that wait long, by live epochs.
  Counter arena_used_bytes;    ///< Cells in use; the others of the payloads hold a packet buffer each.
  Counter arena_high_water_bytes;
  Counter grants_unfinished;  ///< Rounds of trees that were granted and have not ended.
  Counter grants_pending;     ///< News for sources that waits for room on a link.
};

/// One (link, lane). Written by the lane's worker, read by anybody.
struct alignas(64) PeerCounters {
  Counter rx_packets;  ///< Of this neighbour, used or not.
  Counter rx_bytes;    ///< Header and payload, without framing.
  Counter tx_packets;  ///< Handed to the port, repairs and control included.
  Counter tx_bytes;
  Counter repairs_sent;
  Counter downs;  ///< Times that the neighbour fell silent.

  // As of the end of the last turn in which something happened on the link.
  Counter up;              ///< 1 or 0.
  Counter rtt_ns;          ///< Smoothed.
  Counter remote_session;  ///< 0: never heard.
  Counter outstanding;     ///< Packets kept until they are acknowledged.
  Counter gaps;            ///< Packets that had not arrived when a later one did.
  Counter repairs_asked;   ///< Packets asked for in feedback; one that is asked for twice counts twice.
  Counter given_up;        ///< Packets that the neighbour could not repair any more.
};

}  // namespace tombolo::dataplane
