#include "dataplane/port/link_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/units.h"

namespace tombolo::dataplane {
namespace {

/// Work is measured in bits x 10^9, so that work / rate_bps is a time in nanoseconds.
constexpr std::uint64_t kWorkPerByte = kBitsPerByte * kSecond;
/// A full queue's work, and one packet more, fits 64 bits.
constexpr std::uint64_t kMaxQueueBytes = 2'000'000'000;
constexpr std::uint64_t kMaxRateBps = 1'000'000'000'000'000;
constexpr Nanoseconds kMaxTimeNs = 3600 * kSecond;

Status check_probability(const char* field, double value) {
  if (!(value >= 0 && value <= 1))
    return invalid_input(fmt::format("{} {}: must be a probability from 0 to 1", field, value));
  return ok_status();
}

Status check_at_most(const char* field, std::uint64_t value, std::uint64_t most) {
  if (value > most) return invalid_input(fmt::format("{} {}: must be at most {}", field, value, most));
  return ok_status();
}

}  // namespace

Status check_link(const LinkConfig& config) {
  for (const Status& status :
       {check_at_most("delay_ns", config.delay_ns, kMaxTimeNs),
        check_at_most("jitter_ns", config.jitter_ns, kMaxTimeNs),
        check_at_most("reorder_hold_ns", config.reorder_hold_ns, kMaxTimeNs),
        check_at_most("rate_bps", config.rate_bps, kMaxRateBps),
        check_at_most("queue_bytes", config.queue_bytes, kMaxQueueBytes),
        check_probability("loss", config.loss), check_probability("reorder", config.reorder),
        check_probability("duplicate", config.duplicate), check_probability("corrupt", config.corrupt)})
    if (!status.ok()) return status;
  if (config.reorder > 0 && config.reorder_hold_ns == 0)
    return invalid_input("reorder_hold_ns 0: must be positive when reorder is");
  return ok_status();
}

LinkModel::LinkModel(const LinkConfig& config, std::uint64_t seed) : config_(config), random_(seed) {
  CHECK(check_link(config).ok());
}

Offer LinkModel::offer(std::uint32_t wire_bytes, Nanoseconds now_ns) {
  now_ns_ = std::max(now_ns_, now_ns);
  if (busy_until_ns_ < now_ns_) {
    busy_until_ns_ = now_ns_;
    busy_fraction_ = 0;
  }
  Offer offer;
  const std::uint64_t work = wire_bytes * kWorkPerByte;
  if (!fits(work)) {
    counters_.queue_drops.add();
    offer.fate = LinkFate::kQueueFull;
    return offer;
  }
  counters_.tx_packets.add();
  counters_.tx_bytes.add(wire_bytes);
  const Nanoseconds sent_ns = transmit(work);
  // A lost packet has taken its time on the wire like any other.
  if (random_.chance(config_.loss)) {
    counters_.losses.add();
    offer.fate = LinkFate::kLost;
    return offer;
  }
  offer.copy[offer.copies++] = arrival(sent_ns);
  if (random_.chance(config_.duplicate)) {
    counters_.duplicates.add();
    offer.copy[offer.copies++] = arrival(sent_ns);
  }
  return offer;
}

bool LinkModel::fits(std::uint64_t work) const {
  if (config_.rate_bps == 0 || config_.queue_bytes == 0) return true;
  const std::uint64_t waiting = (busy_until_ns_ - now_ns_) * config_.rate_bps + busy_fraction_;
  return waiting + work <= config_.queue_bytes * kWorkPerByte;
}

/// When the last bit is out, rounded up to a whole nanosecond.
Nanoseconds LinkModel::transmit(std::uint64_t work) {
  if (config_.rate_bps == 0) return now_ns_;
  const std::uint64_t total = busy_fraction_ + work;
  busy_until_ns_ += total / config_.rate_bps;
  busy_fraction_ = total % config_.rate_bps;
  return busy_until_ns_ + (busy_fraction_ > 0 ? 1 : 0);
}

Arrival LinkModel::arrival(Nanoseconds sent_ns) {
  Arrival result{sent_ns + config_.delay_ns, Arrival::kIntact};
  if (config_.jitter_ns > 0) result.at_ns += random_.below(config_.jitter_ns + 1);
  if (random_.chance(config_.reorder)) {
    counters_.held_back.add();
    result.at_ns += 1 + random_.below(config_.reorder_hold_ns);
  }
  if (random_.chance(config_.corrupt)) {
    counters_.corruptions.add();
    result.damage = random_.bits() >> 1;  // Never kIntact.
  }
  return result;
}

}  // namespace tombolo::dataplane
