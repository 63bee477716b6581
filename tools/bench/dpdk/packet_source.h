#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "dataplane/port/dpdk/frame.h"
#include "dataplane/port/dpdk/mbuf_pool.h"
#include "protocol/wire/header.h"
#include "tools/bench/dpdk/ring_device.h"

namespace tombolo::bench {

/// Makes the packets that are replicated: contributions of one neighbour, all with the same payload.
class PacketSource {
 public:
  /// Packets that one step brings.
  static constexpr std::size_t kStepPackets = 1024;

  PacketSource(std::size_t payload_bytes, const dataplane::Framing& framing, dataplane::MbufPool& pool,
               RingDevice& device);

  /// Puts kStepPackets packets. Errors: kUnavailable when there is no buffer or no room: somebody kept some.
  Status put_step();

  std::span<const std::byte> payload() const { return payload_; }

 private:
  Status put();

  dataplane::Framing framing_;
  dataplane::MbufPool& pool_;
  RingDevice& device_;
  std::vector<std::byte> payload_;
  wire::Header header_;
};

}  // namespace tombolo::bench
