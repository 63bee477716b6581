#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "base/counter.h"
#include "base/random.h"
#include "base/result.h"

namespace tombolo::dataplane {

/// One direction of a wire. The default is a perfect one: immediate, endless and silent.
struct LinkConfig {
  Nanoseconds delay_ns = 0;       ///< From the last bit sent to the last bit received.
  std::uint64_t rate_bps = 0;     ///< Bits per second, framing included; 0: infinite.
  std::uint64_t queue_bytes = 0;  ///< Most bytes, framing included, that wait or are half sent; 0: no limit.
  double loss = 0;                ///< Probability that a packet is lost behind the queue.
  Nanoseconds jitter_ns = 0;      ///< Added to the delay: uniform in [0, jitter_ns], a draw per packet.
  double reorder = 0;             ///< Probability that a packet is held back while later ones pass it...
  Nanoseconds reorder_hold_ns = kMillisecond;  ///< ...for a time uniform in [1, reorder_hold_ns].
  double duplicate = 0;  ///< Probability that a packet arrives twice; the copy costs no rate.
  double corrupt = 0;    ///< Probability, per arrival, that one of the packet's bits is flipped.
};

/// Errors: kInvalidInput, naming the field: a probability outside [0, 1], a time above an hour, a queue above
/// 2 GB, a rate above 10^15 bit/s.
Status check_link(const LinkConfig& config);

/// One copy of a packet at the far end.
struct Arrival {
  static constexpr std::uint64_t kIntact = ~std::uint64_t{0};
  Nanoseconds at_ns = 0;
  std::uint64_t damage = kIntact;  ///< If not kIntact: flip bit `damage mod (the packet's bits)`.
};

enum class LinkFate : std::uint8_t { kArrives, kQueueFull, kLost };

/// What becomes of a packet that was offered to a link.
struct Offer {
  LinkFate fate = LinkFate::kArrives;
  std::uint32_t copies = 0;
  std::array<Arrival, 2> copy{};

  std::span<const Arrival> arrivals() const { return {copy.data(), copies}; }
};

/// Written by whoever offers; bytes include framing.
struct LinkCounters {
  Counter tx_packets;  ///< Accepted by the queue, later losses included.
  Counter tx_bytes;
  Counter queue_drops;
  Counter losses;
  Counter duplicates;
  Counter held_back;
  Counter corruptions;
};

/// A wire's arithmetic: packets wait in one first-in-first-out queue, leave one after the other at the rate,
/// and arrive after the delay. No bytes and no clock: the same offers and seed give the same fates.
/// Transmission times are kept exactly, as a fraction of a nanosecond, so that a long stream has the exact
/// rate.
class LinkModel {
 public:
  /// `config` must pass check_link().
  LinkModel(const LinkConfig& config, std::uint64_t seed);

  /// Offers a packet of `wire_bytes` (framing included) at `now_ns`. A time before that of the last offer
  /// counts as that one: workers read the clock at slightly different moments.
  Offer offer(std::uint32_t wire_bytes, Nanoseconds now_ns);

  const LinkConfig& config() const { return config_; }
  const LinkCounters& counters() const { return counters_; }

 private:
  bool fits(std::uint64_t work) const;
  Nanoseconds transmit(std::uint64_t work);
  Arrival arrival(Nanoseconds sent_ns);

  const LinkConfig config_;
  Random random_;
  Nanoseconds now_ns_ = 0;
  /// The transmitter is free at busy_until_ns_ + busy_fraction_ / rate_bps; the fraction is below one.
  Nanoseconds busy_until_ns_ = 0;
  std::uint64_t busy_fraction_ = 0;
  LinkCounters counters_;
};

}  // namespace tombolo::dataplane
