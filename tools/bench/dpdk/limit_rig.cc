#include "tools/bench/dpdk/limit_rig.h"

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include <utility>

#include "protocol/wire/crc.h"
#include "protocol/wire/packet.h"

namespace tombolo::bench {

Result<std::unique_ptr<LimitRig>> LimitRig::create(const Clique& clique, dataplane::MbufPool& pool,
                                                   RingDevice& wan, RingDevice& lan) {
  std::unique_ptr<LimitRig> rig(new LimitRig(clique, pool, wan, lan));
  for (std::size_t i = 0; i < rig->devices_.size(); ++i) {
    dataplane::DeviceOptions options;
    options.device = rig->rings_[i]->name();
    options.mtu = port_config(clique, i == 1, options.device).mtu;
    options.pool = &pool;
    auto device = dataplane::Device::open(options);
    if (!device) return std::move(device).error();
    rig->devices_[i] = std::move(device).value();
  }
  return rig;
}

LimitRig::LimitRig(const Clique& clique, dataplane::MbufPool& pool, RingDevice& wan, RingDevice& lan)
    : k_(clique.k),
      payload_bytes_(clique.payload_bytes()),
      rings_{&wan, &lan},
      members_(clique, pool, wan, lan) {}

LimitRig::~LimitRig() {
  for (RingDevice* const ring : rings_) ring->drain();
}

void LimitRig::turn() {
  std::array<rte_mbuf*, kBurst> in, out;
  for (dataplane::Device& device : devices_)
    while (const std::uint16_t count = device.receive(0, in.data(), kBurst)) {
      std::uint16_t kept = 0;
      for (std::uint16_t i = 0; i < count; ++i) {
        if (i + 1 < count)
          rte_prefetch0(rte_pktmbuf_mtod_offset(in[i + 1], const void*, kFramingBytes + kHeaderBytes));
        const auto* const packet = rte_pktmbuf_mtod_offset(in[i], const std::byte*, kFramingBytes);
        const std::uint32_t crc = wire::crc32c({packet + kHeaderBytes, payload_bytes_});
        wrong_ += crc == reinterpret_cast<const wire::Header*>(packet)->payload_crc ? 0 : 1;
        if (++received_ % k_ == 0)
          out[kept++] = in[i];
        else
          rte_pktmbuf_free(in[i]);
      }
      sent_ += devices_[1].transmit(0, out.data(), kept);
    }
}

Status LimitRig::take_out() {
  std::array<rte_mbuf*, kBurst> frames;
  for (RingDevice* const ring : rings_)
    while (const std::size_t count = ring->take(frames))
      rte_pktmbuf_free_bulk(frames.data(), static_cast<unsigned>(count));
  if (wrong_ == 0 && sent_ == received_ / k_) return ok_status();
  return Error{ErrorCode::kFailed, "the limit's loop did something else than it should"};
}

}  // namespace tombolo::bench
