#include "dataplane/port/dpdk/held_link.h"

#include <rte_mbuf.h>

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/units.h"
#include "protocol/port.h"

namespace tombolo::dataplane {
namespace {

constexpr std::uint64_t kLeastHeld = 256;
constexpr std::uint64_t kMostHeld = 1U << 17;
constexpr std::uint32_t kHeldWithoutBound = 1U << 14;

}  // namespace

Status check_held_link(const LinkConfig& config) {
  if (Status status = check_link(config); !status.ok()) return status;
  if (config.jitter_ns > 0 || config.reorder > 0 || config.duplicate > 0 || config.corrupt > 0)
    return Error{ErrorCode::kNotSupported,
                 "an emulated link of a port has delay, rate, queue and loss; jitter, reorder, duplicate and "
                 "corrupt exist in the in-process testbed only"};
  return ok_status();
}

std::uint32_t held_frames(const LinkConfig& config) {
  if (config.rate_bps == 0 || config.queue_bytes == 0) return kHeldWithoutBound;
  const double seconds = static_cast<double>(config.delay_ns) / kSecond;
  const auto in_flight =
      static_cast<std::uint64_t>(seconds * static_cast<double>(config.rate_bps) / kBitsPerByte);
  const std::uint64_t frames = (config.queue_bytes + in_flight) / (kFramingBytes + kHeaderBytes) + kBurst;
  return static_cast<std::uint32_t>(std::clamp(frames, kLeastHeld, kMostHeld));
}

// lint: set-up, runs before the first packet
HeldLink::HeldLink(const LinkConfig& config, std::uint64_t seed, std::uint32_t queues)
    : model_(config, seed), queues_(queues) {
  CHECK(check_held_link(config).ok());
  for (Queue& queue : queues_) queue.ring.resize(std::bit_ceil(held_frames(config)));
}

HeldLink::~HeldLink() {
  for (Queue& queue : queues_)
    for (; queue.first != queue.end; ++queue.first)
      rte_pktmbuf_free(queue.ring[queue.first & (queue.ring.size() - 1)].frame);
}

Offer HeldLink::offer_to_model(std::uint32_t wire_bytes, Nanoseconds now_ns) {
  if (queues_.size() == 1) return model_.offer(wire_bytes, now_ns);
  const std::lock_guard lock(mutex_);  // lint: stands for the cable; taken only when workers share the port
  return model_.offer(wire_bytes, now_ns);
}

bool HeldLink::offer(std::uint32_t index, rte_mbuf* frame, Nanoseconds now_ns) {
  Queue& queue = queues_[index];
  if (queue.end - queue.first == queue.ring.size()) {
    rte_pktmbuf_free(frame);
    return false;
  }
  const Offer offer = offer_to_model(rte_pktmbuf_pkt_len(frame), now_ns);
  if (offer.copies == 0) {
    rte_pktmbuf_free(frame);
    return true;
  }
  queue.ring[queue.end++ & (queue.ring.size() - 1)] = {offer.copy[0].at_ns, frame};
  return true;
}

std::size_t HeldLink::take(std::uint32_t index, std::span<rte_mbuf*> out, Nanoseconds now_ns) {
  Queue& queue = queues_[index];
  std::size_t count = 0;
  while (count < out.size() && queue.first != queue.end) {
    const Held& held = queue.ring[queue.first & (queue.ring.size() - 1)];
    if (held.at_ns > now_ns) break;
    out[count++] = held.frame;
    ++queue.first;
  }
  return count;
}

Nanoseconds HeldLink::next_arrival_ns(std::uint32_t index) const {
  const Queue& queue = queues_[index];
  return queue.first == queue.end ? kNever : queue.ring[queue.first & (queue.ring.size() - 1)].at_ns;
}

}  // namespace tombolo::dataplane
