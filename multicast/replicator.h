#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/counter.h"
#include "protocol/buffer.h"
#include "protocol/wire/header.h"

namespace tombolo::multicast {

/// Written by the worker that owns the replicator, read by anybody.
struct ReplicatorCounters {
  Counter packets;              ///< Packets that came to be replicated and had at least one child link.
  Counter copies;               ///< Copies handed on.
  Counter payload_bytes_saved;  ///< Bytes that sharing the payload did not copy: payload x (copies - 1).
};

/// One copy: a header of its own, the shared payload, one more reference to its buffer. Where it goes
/// (address, lane) and what is per link (session, sequence, timestamp, seal) is left to the link.
struct Copy {
  wire::Header header;
  const std::byte* payload = nullptr;
  std::uint32_t payload_bytes = 0;
  BufferRef keep;  ///< Empty where the payload is the caller's own.
};

/// Makes one packet many: no payload byte is copied, whatever the fan-out.
class Replicator {
 public:
  /// Calls emit(link, Copy&&) once per bit of `child_links`, lowest link first; returns how many copies.
  /// `keep` is the caller's reference to the payload's buffer and stays the caller's.
  template <typename Emit>
  std::size_t replicate(const wire::Header& header, const std::byte* payload, std::uint32_t payload_bytes,
                        const BufferRef& keep, std::uint64_t child_links, Emit&& emit) {
    const auto copies = static_cast<std::size_t>(std::popcount(child_links));
    for (std::uint64_t rest = child_links; rest != 0; rest &= rest - 1)
      emit(static_cast<std::uint8_t>(std::countr_zero(rest)),
           Copy{header, payload, payload_bytes, keep.share()});
    count(copies, payload_bytes);
    return copies;
  }

  const ReplicatorCounters& counters() const { return counters_; }

 private:
  void count(std::size_t copies, std::uint32_t payload_bytes);

  ReplicatorCounters counters_;
};

}  // namespace tombolo::multicast
