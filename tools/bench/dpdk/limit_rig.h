#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "dataplane/port/dpdk/device.h"
#include "tools/bench/dpdk/members.h"

namespace tombolo::bench {

/// What an edge on these devices cannot be faster than: a bare loop over DPDK's bursts that receives, reads
/// every byte of each payload once (CRC32C), and sends one packet in k. It knows nothing of headers, links,
/// slots or numbers.
class LimitRig {
 public:
  /// Errors: those of opening the devices.
  static Result<std::unique_ptr<LimitRig>> create(const Clique& clique, dataplane::MbufPool& pool,
                                                  RingDevice& wan, RingDevice& lan);
  ~LimitRig();

  Members& members() { return members_; }
  /// Receives all that was put. The timed part.
  void turn();
  /// Frees what was sent. Errors: kFailed when it was not one packet in k, or a checksum was wrong.
  Status take_out();

 private:
  LimitRig(const Clique& clique, dataplane::MbufPool& pool, RingDevice& wan, RingDevice& lan);

  const std::uint32_t k_;
  const std::uint32_t payload_bytes_;
  std::array<RingDevice*, 2> rings_;  ///< WAN, LAN.
  std::array<dataplane::Device, 2> devices_;
  Members members_;
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t wrong_ = 0;  ///< Packets whose CRC was not that of their header.
};

}  // namespace tombolo::bench
