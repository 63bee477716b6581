#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/counter.h"
#include "base/result.h"
#include "dataplane/port/link_model.h"

struct rte_mbuf;

namespace tombolo::dataplane {

/// Errors: kInvalidInput from check_link(); kNotSupported for jitter, reordering, duplicates or corruption,
/// which an emulated link of a port does not have.
Status check_held_link(const LinkConfig& config);

/// The most frames that are on the link at a time: what its queue and its delay hold of the smallest packets,
/// between 256 and 131,072; 16,384 for a link without a rate or with an endless queue.
std::uint32_t held_frames(const LinkConfig& config);

/// One direction of an emulated link: frames are held by reference, not copied, until their arrival. Order is
/// kept. Each queue has one user, for offering and for taking; the link model is shared, behind a lock if
/// there is more than one queue (the lock stands for the cable).
class HeldLink {
 public:
  /// `config` must pass check_held_link().
  HeldLink(const LinkConfig& config, std::uint64_t seed, std::uint32_t queues);
  /// Frees what is held.
  ~HeldLink();
  HeldLink(const HeldLink&) = delete;
  HeldLink& operator=(const HeldLink&) = delete;

  /// Takes the frame: it arrives later, or is freed because the link's queue was full, it was lost (see
  /// link_counters()), or there was no room to hold it. False only in the last case.
  bool offer(std::uint32_t queue, rte_mbuf* frame, Nanoseconds now_ns);
  /// Moves what has arrived on `queue` to `out`; returns how many.
  std::size_t take(std::uint32_t queue, std::span<rte_mbuf*> out, Nanoseconds now_ns);
  /// When the first frame arrives; kNever if there is none. Of the queue's own user.
  Nanoseconds next_arrival_ns(std::uint32_t queue) const;

  const LinkConfig& config() const { return model_.config(); }
  const LinkCounters& link_counters() const { return model_.counters(); }

 private:
  struct Held {
    Nanoseconds at_ns = 0;
    rte_mbuf* frame = nullptr;
  };
  /// A ring; arrivals are in order because the model's are.
  struct alignas(64) Queue {
    std::vector<Held> ring;  ///< A power of two long.
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };

  Offer offer_to_model(std::uint32_t wire_bytes, Nanoseconds now_ns);

  std::mutex mutex_;  // lint: stands for the cable; taken only when several workers share the port
  LinkModel model_;
  std::vector<Queue> queues_;
};

}  // namespace tombolo::dataplane
