#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "protocol/port.h"
#include "protocol/wire/feedback.h"
#include "protocol/wire/header.h"

namespace tombolo::link {

/// The sending half of one (link, lane): numbers the sequenced packets and keeps each until the next hop has
/// acknowledged it, so that a loss is repaired from here.
///
/// When the window is full a packet is refused, never an older one forgotten: whoever sent it to us has kept
/// it and repairs it later (the packet is not marked as arrived). Sequence numbers run on for ever and are
/// never reset.
class Sender {
 public:
  /// Room that data leaves for grants and round ends, which must never wait behind it.
  static constexpr std::uint32_t kControlReserve = 32;

  struct Entry {
    wire::Header header;
    const std::byte* payload = nullptr;  ///< Points into `keep`, or into memory whose owner calls forget().
    std::uint32_t payload_bytes = 0;
    BufferRef keep;
    Nanoseconds sent_ns = 0;  ///< When it left last.
    bool repaired = false;    ///< It left more than once.
  };

  /// `window`: packets kept at most; a power of two above kControlReserve. Errors: CHECK.
  /// `first_sequence`: the first packet's number. Peers learn it from HELLO, so any will do.
  explicit Sender(std::uint32_t window, std::uint32_t first_sequence = 0);

  bool has_room_for_data() const { return outstanding() + kControlReserve < window_; }
  bool has_room_for_control() const { return outstanding() < window_; }
  std::uint32_t free_slots() const { return window_ - outstanding(); }

  /// Numbers `header` (sets link_sequence) and keeps the packet. Needs room.
  void keep(wire::Header& header, const std::byte* payload, std::uint32_t payload_bytes, BufferRef keep,
            Nanoseconds now_ns);

  /// What the next hop has: frees what is acknowledged and writes the sequences to repair now into `repairs`;
  /// returns how many. A sequence is repaired at most once per `rtt_ns`; for the first time once nearly that
  /// has passed since it left. Feedback about numbers that were never sent is ignored. Costs at most a look
  /// at each packet that is outstanding, whatever the feedback says.
  std::size_t on_feedback(const wire::Feedback& feedback, Nanoseconds rtt_ns, Nanoseconds now_ns,
                          std::span<std::uint32_t> repairs);

  /// The kept packet of that sequence, for sending again; nullptr when it is no longer kept.
  Entry* find(std::uint32_t sequence);

  /// Forgets the payloads of a contribution's round (its memory goes back to its owner). What is not yet
  /// acknowledged is repaired with ROUND_END (abandoned) under the same number, so that no gap stays for
  /// ever.
  void forget(std::uint32_t epoch, std::uint32_t round);

  /// The peer is new or gone: nothing kept is of use to it.
  void reset();

  /// Tail losses show only when something later arrives, so a quiet sender with packets outstanding announces
  /// its position: when that is due (kNever if nothing is outstanding), and that it was done.
  Nanoseconds next_probe_ns() const { return outstanding() == 0 ? kNever : probe_ns_; }
  void on_probe(Nanoseconds now_ns);
  void set_probe_interval(Nanoseconds interval_ns) { probe_interval_ns_ = interval_ns; }

  std::uint32_t next_sequence() const { return next_; }
  std::uint32_t first_sequence() const { return first_; }
  std::uint32_t outstanding() const { return next_ - first_; }
  std::uint64_t repaired() const { return repaired_; }

 private:
  Entry& entry(std::uint32_t sequence) { return ring_[sequence & (window_ - 1)]; }
  void acknowledge_before(std::uint32_t sequence);

  std::uint32_t window_;
  std::uint32_t first_;  ///< Oldest sequence not acknowledged.
  std::uint32_t next_;   ///< The next packet's sequence.
  std::vector<Entry> ring_;
  Nanoseconds probe_ns_ = 0;
  Nanoseconds probe_interval_ns_ = kMillisecond;
  Nanoseconds probe_backoff_ns_ = kMillisecond;
  std::uint64_t repaired_ = 0;
};

}  // namespace tombolo::link
