#include "protocol/link/sender.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "base/serial.h"

namespace tombolo::link {
namespace {

/// However short the link, a repair is not repeated sooner: the receiver's answer takes a scheduling turn.
constexpr Nanoseconds kLeastRepairInterval = kMillisecond;
constexpr Nanoseconds kLongestProbeInterval = 200 * kMillisecond;

}  // namespace

Sender::Sender(std::uint32_t window, std::uint32_t first_sequence)
    : window_(window), first_(first_sequence), next_(first_sequence), ring_(window) {
  CHECK(std::has_single_bit(window) && window > kControlReserve);
}

void Sender::keep(wire::Header& header, const std::byte* payload, std::uint32_t payload_bytes, BufferRef keep,
                  Nanoseconds now_ns) {
  CHECK(has_room_for_control());
  Entry& kept = entry(next_);
  kept.header = header;  // Before the number is set: what is written in pieces is slow to copy at once.
  kept.header.link_sequence = header.link_sequence = next_;
  ++next_;
  kept.payload = payload;
  kept.payload_bytes = payload_bytes;
  kept.keep = std::move(keep);
  kept.sent_ns = now_ns;
  kept.repaired = false;
  probe_backoff_ns_ = probe_interval_ns_;
  probe_ns_ = now_ns + probe_backoff_ns_;
}

std::size_t Sender::on_feedback(const wire::Feedback& feedback, Nanoseconds rtt_ns, Nanoseconds now_ns,
                                std::span<std::uint32_t> repairs) {
  // Each pair is compared: two distances of almost half the number space add up to a way round it.
  if (serial_before(next_, feedback.highest) || serial_before(next_, feedback.cumulative) ||
      serial_before(feedback.highest, feedback.cumulative))
    return 0;
  acknowledge_before(feedback.cumulative);
  // A path may be a little faster than its average when it reports a loss. What was reported just before a
  // repair arrived is here a full round trip after the repair left, and must not cause a second one.
  const Nanoseconds first_ns = std::max(rtt_ns - rtt_ns / 8, kLeastRepairInterval);
  const Nanoseconds again_ns = std::max(rtt_ns + rtt_ns / 8, kLeastRepairInterval);
  std::size_t count = 0;
  for (std::size_t i = 0; i < feedback.range_count; ++i) {
    const wire::SequenceRange& range = feedback.ranges[i];
    const std::uint32_t end = range.first + range.count;
    std::uint32_t sequence = serial_before(range.first, first_) ? first_ : range.first;
    for (; serial_before(sequence, end) && count < repairs.size(); ++sequence) {
      Entry* const missing = find(sequence);
      if (missing == nullptr) break;
      if (missing->sent_ns + (missing->repaired ? again_ns : first_ns) > now_ns) continue;
      missing->sent_ns = now_ns;
      missing->repaired = true;
      repairs[count++] = sequence;
    }
  }
  repaired_ += count;
  return count;
}

Sender::Entry* Sender::find(std::uint32_t sequence) {
  if (serial_before(sequence, first_) || !serial_before(sequence, next_)) return nullptr;
  return &entry(sequence);
}

void Sender::forget(std::uint32_t epoch, std::uint32_t round) {
  for (std::uint32_t sequence = first_; sequence != next_; ++sequence) {
    Entry& kept = entry(sequence);
    if (kept.header.packet_type() != wire::Type::kContribution || kept.header.epoch != epoch ||
        kept.header.round != round)
      continue;
    kept.keep.reset();
    kept.payload = nullptr;
    kept.payload_bytes = 0;
    kept.header.type = static_cast<std::uint8_t>(wire::Type::kRoundEnd);
    kept.header.tree = wire::kNoTree;
    kept.header.chunk = static_cast<std::uint32_t>(wire::RoundOutcome::kAbandoned);
    kept.header.specific = 0;
    kept.header.format = 0;
    kept.header.operation = 0;
    kept.header.payload_bytes = 0;
    kept.header.payload_crc = 0;
  }
}

void Sender::reset() { acknowledge_before(next_); }

void Sender::on_probe(Nanoseconds now_ns) {
  probe_backoff_ns_ = std::min(probe_backoff_ns_ * 2, std::max(kLongestProbeInterval, probe_interval_ns_));
  probe_ns_ = now_ns + probe_backoff_ns_;
}

void Sender::acknowledge_before(std::uint32_t sequence) {
  for (; serial_before(first_, sequence); ++first_) entry(first_).keep.reset();
}

}  // namespace tombolo::link
