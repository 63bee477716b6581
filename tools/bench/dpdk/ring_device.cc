#include "tools/bench/dpdk/ring_device.h"

#include <fmt/format.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <map>
#include <memory>

#include "protocol/port.h"

namespace tombolo::bench {
namespace {

rte_ring* make_ring(const std::string& name) {
  return rte_ring_create(name.c_str(), RingDevice::kFrames + 1, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

}  // namespace

Result<RingDevice*> RingDevice::get(unsigned number) {
  static std::map<unsigned, std::unique_ptr<RingDevice>> devices;
  auto& place = devices[number];
  if (place != nullptr) return place.get();
  const Error refused{ErrorCode::kUnavailable, fmt::format("DPDK makes no ring device number {}", number)};
  std::unique_ptr<RingDevice> device(new RingDevice);
  device->in_ = make_ring(fmt::format("bench_in_{}", number));
  device->out_ = make_ring(fmt::format("bench_out_{}", number));
  if (device->in_ == nullptr || device->out_ == nullptr) return refused;
  const int port =
      rte_eth_from_rings(fmt::format("bench_{}", number).c_str(), &device->in_, 1, &device->out_, 1, 0);
  std::array<char, RTE_ETH_NAME_MAX_LEN> name{};
  if (port < 0 || rte_eth_dev_get_name_by_port(static_cast<std::uint16_t>(port), name.data()) != 0)
    return refused;
  device->name_ = name.data();
  place = std::move(device);
  return place.get();
}

bool RingDevice::put(std::span<rte_mbuf* const> frames) {
  auto* const* const table = reinterpret_cast<void* const*>(frames.data());
  return rte_ring_enqueue_bulk(in_, table, static_cast<unsigned>(frames.size()), nullptr) == frames.size();
}

std::size_t RingDevice::take(std::span<rte_mbuf*> frames) {
  auto** const table = reinterpret_cast<void**>(frames.data());
  return rte_ring_dequeue_burst(out_, table, static_cast<unsigned>(frames.size()), nullptr);
}

std::size_t RingDevice::swallow() {
  std::array<rte_mbuf*, kBurst> frames;
  std::size_t all = 0;
  while (const std::size_t count = take(frames)) {
    rte_pktmbuf_free_bulk(frames.data(), static_cast<unsigned>(count));
    all += count;
  }
  return all;
}

unsigned RingDevice::waiting() const { return rte_ring_count(in_); }

void RingDevice::drain() {
  for (rte_ring* const ring : {in_, out_})
    for (void* frame = nullptr; rte_ring_dequeue(ring, &frame) == 0;)
      rte_pktmbuf_free(static_cast<rte_mbuf*>(frame));
}

}  // namespace tombolo::bench
