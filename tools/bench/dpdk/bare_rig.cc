#include <fmt/format.h>
#include <rte_ethdev.h>
#include <rte_fbk_hash.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>

#include <atomic>
#include <bit>
#include <utility>

#include "dataplane/port/dpdk/big_endian.h"
#include "tools/bench/dpdk/replicate_rigs.h"

namespace tombolo::bench {
namespace {

/// The example's own numbers: buffers per pool, what a core keeps of them, room for headers, when it clones,
/// how far ahead it prefetches.
constexpr unsigned kPoolBuffers = 8192;
constexpr unsigned kPoolCache = 32;
constexpr std::uint16_t kHeaderRoom = 2 * RTE_PKTMBUF_HEADROOM;
constexpr std::size_t kMostCloneCopies = 2;
constexpr std::uint16_t kMostCloneSegments = 2;
constexpr std::uint16_t kAhead = 3;
/// Ours, so that the limit has what our port has.
constexpr unsigned kLimitCache = 256;

/// The group whose packets go to the first `copies` devices.
constexpr std::uint32_t group_of(std::size_t copies) {
  return RTE_IPV4(224, 0, 0, 100) + static_cast<std::uint32_t>(copies);
}

rte_mempool* make_pool(const char* what, unsigned cache, std::uint16_t room) {
  static std::atomic<unsigned> number{0};
  return rte_pktmbuf_pool_create(fmt::format("bench_{}_{}", what, number++).c_str(), kPoolBuffers, cache, 0,
                                 room, SOCKET_ID_ANY);
}

}  // namespace

dataplane::Framing group_framing(std::size_t copies) {
  dataplane::Framing framing = unicast_framing();
  framing.to_ipv4 = group_of(copies);
  framing.to_mac = dataplane::group_mac(framing.to_ipv4);
  return framing;
}

Result<OutDevices> open_devices(const Fanout& fanout, dataplane::MbufPool& pool,
                                std::span<RingDevice* const> rings) {
  OutDevices devices;
  for (const RingDevice* const ring : rings) {
    dataplane::DeviceOptions options;
    options.device = ring->name();
    options.mtu = fanout.mtu;
    options.pool = &pool;
    auto device = dataplane::Device::open(options);
    if (!device) return std::move(device).error();
    devices.push_back(std::move(device).value());
  }
  return devices;
}

Result<std::unique_ptr<BareRig>> BareRig::create(Technique technique, const Fanout& fanout,
                                                 dataplane::MbufPool& pool, RingDevice& in, OutDevices& out) {
  std::unique_ptr<BareRig> rig(new BareRig(technique, fanout, out));
  auto devices = open_devices(fanout, pool, std::array{&in});
  if (!devices) return std::move(devices).error();
  rig->in_ = std::move(devices->front());
  if (Status made = rig->create_pools(); !made) return std::move(made).error();
  return rig;
}

Status BareRig::create_pools() {
  headers_ = make_pool("headers", technique_ == Technique::kAttach ? kLimitCache : kPoolCache, kHeaderRoom);
  clones_ = make_pool("clones", kPoolCache, 0);
  rte_fbk_hash_params params{};
  const std::string name = fmt::format("bench_groups_{}", static_cast<const void*>(this));
  params.name = name.c_str();
  params.entries = 1024;
  params.entries_per_bucket = 4;
  params.socket_id = static_cast<int>(rte_socket_id());
  groups_ = rte_fbk_hash_create(&params);
  if (headers_ == nullptr || clones_ == nullptr || groups_ == nullptr)
    return Error{ErrorCode::kUnavailable, "no memory for the loops' pools"};
  for (std::size_t copies = 1; copies <= kMaxCopies; ++copies)
    rte_fbk_hash_add_key(groups_, group_of(copies), static_cast<std::uint16_t>((1U << copies) - 1));
  return ok_status();
}

BareRig::~BareRig() {
  if (groups_ != nullptr) rte_fbk_hash_free(groups_);
  rte_mempool_free(clones_);
  rte_mempool_free(headers_);
}

bool BareRig::turn() {
  std::array<rte_mbuf*, kBurst> burst;
  const std::uint16_t count = in_.receive(0, burst.data(), kBurst);
  for (std::uint16_t i = 0; i < std::min(kAhead, count); ++i)
    rte_prefetch0(rte_pktmbuf_mtod(burst[i], const void*));
  for (std::uint16_t i = 0; i < count; ++i) {
    if (i + kAhead < count) rte_prefetch0(rte_pktmbuf_mtod(burst[i + kAhead], const void*));
    if (technique_ == Technique::kAttach)
      attach(burst[i]);
    else
      forward(burst[i]);
  }
  for (std::size_t copy = 0; copy < fanout_.copies; ++copy) flush(copy);
  return count > 0;
}

void BareRig::attach(rte_mbuf* packet) {
  rte_pktmbuf_adj(packet, kFramingBytes + kHeaderBytes);
  rte_mbuf_refcnt_update(packet, static_cast<std::int16_t>(fanout_.copies - 1));
  for (std::size_t copy = 0; copy < fanout_.copies; ++copy) {
    rte_mbuf* const header = rte_pktmbuf_alloc(headers_);
    if (header == nullptr) {
      ++refused_;
      rte_pktmbuf_free(packet);
      continue;
    }
    header->data_len = kFramingBytes + kHeaderBytes;
    header->pkt_len = header->data_len + packet->pkt_len;
    header->nb_segs = 2;
    header->next = packet;
    queue(header, copy);
  }
}

/// What the example does with a packet: takes the Ethernet header off, looks its group up, makes a frame per
/// device, and puts an Ethernet header before each. With clones, the packet itself is the last frame.
void BareRig::forward(rte_mbuf* packet) {
  const auto* const ip =
      reinterpret_cast<const rte_ipv4_hdr*>(rte_pktmbuf_adj(packet, sizeof(rte_ether_hdr)));
  const std::uint32_t group = rte_be_to_cpu_32(ip->dst_addr);
  const std::int32_t found = RTE_IS_IPV4_MCAST(group) ? rte_fbk_hash_lookup(groups_, group) : -1;
  if (found <= 0) {
    ++refused_;
    rte_pktmbuf_free(packet);
    return;
  }
  const auto devices = static_cast<std::uint32_t>(found);
  const auto copies = static_cast<std::size_t>(std::popcount(devices));
  const bool clones = technique_ == Technique::kClone ||
                      (copies <= kMostCloneCopies && packet->nb_segs <= kMostCloneSegments);
  const std::uint64_t to = dataplane::group_mac(group);
  if (!clones) rte_mbuf_refcnt_update(packet, static_cast<std::int16_t>(copies));
  std::size_t copy = 0;
  for (std::uint32_t rest = devices; rest != (clones ? 1U : 0U); rest >>= 1, ++copy) {
    if ((rest & 1) == 0) continue;
    rte_mbuf* const frame = outgoing(packet, clones);
    if (frame != nullptr) {
      send(frame, to, copy);
    } else {
      ++refused_;
      if (!clones) rte_pktmbuf_free(packet);
    }
  }
  if (clones)
    send(packet, to, copy);
  else
    rte_pktmbuf_free(packet);
}

rte_mbuf* BareRig::outgoing(rte_mbuf* packet, bool clones) {
  rte_mbuf* const header = rte_pktmbuf_alloc(headers_);
  if (header == nullptr) return nullptr;
  if (clones && (packet = rte_pktmbuf_clone(packet, clones_)) == nullptr) {
    rte_pktmbuf_free(header);
    return nullptr;
  }
  header->next = packet;
  header->pkt_len = header->data_len + packet->pkt_len;
  header->nb_segs = static_cast<std::uint16_t>(packet->nb_segs + 1);
  return header;
}

void BareRig::send(rte_mbuf* frame, std::uint64_t to, std::size_t copy) {
  auto* const ethernet = reinterpret_cast<std::byte*>(rte_pktmbuf_prepend(frame, sizeof(rte_ether_hdr)));
  dataplane::write_ethernet(ethernet, to, unicast_framing().to_mac, dataplane::kEtherTypeIpv4);
  queue(frame, copy);
}

void BareRig::queue(rte_mbuf* frame, std::size_t copy) {
  Waiting& waiting = waiting_[copy];
  waiting.frames[waiting.count++] = frame;
  if (waiting.count == waiting.frames.size()) flush(copy);
}

void BareRig::flush(std::size_t copy) {
  Waiting& waiting = waiting_[copy];
  if (waiting.count == 0) return;
  const std::uint16_t sent = out_[copy].transmit(0, waiting.frames.data(), waiting.count);
  for (std::uint16_t i = sent; i < waiting.count; ++i, ++refused_) rte_pktmbuf_free(waiting.frames[i]);
  waiting.count = 0;
}

}  // namespace tombolo::bench
