#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "dataplane/port/dpdk/mbuf_pool.h"
#include "tools/bench/dpdk/clique.h"
#include "tools/bench/dpdk/ring_device.h"

namespace tombolo::bench {

/// Plays the clique's members towards an edge's ports: makes their packets, in the order of arrival. What it
/// does is never part of what is timed. A packet is written just before it is received, as a network card
/// writes it: it is in the cache.
class Members {
 public:
  /// Different chunks; then they come again.
  static constexpr std::size_t kPayloads = 4;

  /// The pool and the devices outlive it.
  Members(const Clique& clique, dataplane::MbufPool& pool, RingDevice& wan, RingDevice& lan);

  /// Puts the contributions of one step: step_chunks() of each member, chunk by chunk, each member
  /// skew_chunks behind the one before. Errors: kUnavailable when the pool or a ring has no room: the edge
  /// holds more than it may.
  Status put_step();
  /// Puts the next packet only, in the same order; `completes` says whether it is its chunk's last.
  struct Put {
    std::uint32_t chunk = 0;
    bool completes = false;
  };
  Result<Put> put_next();
  /// Puts any other packet of a member; session and seal are set here.
  Status put(std::uint32_t member, wire::Header header, std::span<const std::byte> body);

  /// The bits of a chunk's result, by the reference.
  std::span<const std::byte> expected(std::uint32_t chunk) const { return results_[chunk % kPayloads]; }
  /// Packets put by put_step() and put_next(), and how many of them completed a chunk.
  std::uint64_t contributions() const { return contributions_; }
  std::uint64_t completed() const { return completed_; }
  /// Whether every member has begun: from now on each step completes as many chunks as it begins.
  bool is_steady() const { return time_ >= std::uint64_t{clique_.k - 1} * clique_.skew_chunks; }
  const Clique& clique() const { return clique_; }

 private:
  struct Payload {
    std::vector<std::byte> bytes;
    std::uint32_t crc = 0;
  };

  Status put_contribution(std::uint32_t member, std::uint32_t chunk);

  const Clique clique_;
  dataplane::MbufPool& pool_;
  std::array<RingDevice*, 2> devices_;  ///< WAN, LAN.
  std::array<Payload, kPayloads> payloads_;
  std::array<std::vector<std::byte>, kPayloads> results_;
  std::vector<std::uint32_t> sequences_;  ///< By member: the next packet's number on its link.
  std::uint64_t time_ = 0;                ///< Chunks that member 0 has begun.
  std::uint32_t turn_ = 0;                ///< The member whose packet comes next.
  std::uint64_t contributions_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace tombolo::bench
