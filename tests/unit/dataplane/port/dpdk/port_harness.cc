#include "tests/unit/dataplane/port/dpdk/port_harness.h"

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <cstring>
#include <map>

#include "base/check.h"

namespace tombolo::dataplane {
namespace {

rte_ring* make_ring(const std::string& name) {
  rte_ring* const ring = rte_ring_create(name.c_str(), Cable::kRingFrames + 1, SOCKET_ID_ANY, 0);
  CHECK(ring != nullptr);
  return ring;
}

std::string make_device(const std::string& name, std::vector<rte_ring*>& rx, std::vector<rte_ring*>& tx) {
  const int port = rte_eth_from_rings(name.c_str(), rx.data(), static_cast<unsigned>(rx.size()), tx.data(),
                                      static_cast<unsigned>(tx.size()), 0);
  CHECK(port >= 0);
  char device[RTE_ETH_NAME_MAX_LEN];
  CHECK(rte_eth_dev_get_name_by_port(static_cast<std::uint16_t>(port), device) == 0);
  return device;
}

}  // namespace

Cable::Cable(std::uint32_t queues) {
  const std::string suffix = std::to_string(queues);
  for (std::uint32_t i = 0; i < queues; ++i) {
    to_a_.push_back(make_ring("to_a_" + suffix + "_" + std::to_string(i)));
    to_b_.push_back(make_ring("to_b_" + suffix + "_" + std::to_string(i)));
  }
  names_[0] = make_device("cable_a" + suffix, to_a_, to_b_);
  names_[1] = make_device("cable_b" + suffix, to_b_, to_a_);
}

Cable& Cable::get(std::uint32_t queues) {
  static std::map<std::uint32_t, std::unique_ptr<Cable>> cables;
  auto& cable = cables[queues];
  if (cable == nullptr) cable.reset(new Cable(queues));
  return *cable;
}

bool Cable::to_a(rte_mbuf* frame, std::uint32_t queue) { return rte_ring_enqueue(to_a_[queue], frame) == 0; }

rte_mbuf* Cable::from_a(std::uint32_t queue) {
  void* frame = nullptr;
  return rte_ring_dequeue(to_b_[queue], &frame) == 0 ? static_cast<rte_mbuf*>(frame) : nullptr;
}

unsigned Cable::waiting_from_a(std::uint32_t queue) const { return rte_ring_count(to_b_[queue]); }

void Cable::drain() {
  for (const auto* rings : {&to_a_, &to_b_})
    for (rte_ring* const ring : *rings)
      for (void* frame = nullptr; rte_ring_dequeue(ring, &frame) == 0;)
        rte_pktmbuf_free(static_cast<rte_mbuf*>(frame));
}

Bytes take_bytes(rte_mbuf* frame) {
  Bytes bytes;
  for (const rte_mbuf* piece = frame; piece != nullptr; piece = piece->next) {
    const auto* const start = rte_pktmbuf_mtod(piece, const std::byte*);
    bytes.insert(bytes.end(), start, start + piece->data_len);
  }
  EXPECT_EQ(bytes.size(), frame->pkt_len);
  rte_pktmbuf_free(frame);
  return bytes;
}

PortTest::PortTest()
    : pool_(std::move(MbufPool::create({kBuffers, kJumboFrameBytes, 1024})).value()), cable_(Cable::get()) {}

PortTest::~PortTest() {
  Cable::get(1).drain();
  Cable::get(2).drain();
}

void PortTest::TearDown() {
  Cable::get(1).drain();
  Cable::get(2).drain();
  EXPECT_EQ(pool_->in_use(), 0U);
  EXPECT_EQ(pool_->headers_in_use(), 0U);
}

DpdkPortConfig PortTest::config_a(std::uint32_t queues) const {
  DpdkPortConfig config;
  config.name = "wan0";
  config.device = Cable::get(queues).device_a();
  config.mac = kMacA;
  config.address = kEdgeA;
  config.lane_count = kLanes;
  config.queues = queues;
  config.mtu = 9000;
  config.neighbours = {{kEdgeB, kMacB}};
  return config;
}

DpdkPortConfig PortTest::config_b(std::uint32_t queues) const {
  DpdkPortConfig config = config_a(queues);
  config.device = Cable::get(queues).device_b();
  config.mac = kMacB;
  config.address = kEdgeB;
  config.neighbours = {{kEdgeA, kMacA}};
  return config;
}

std::unique_ptr<DpdkPort> PortTest::open(const DpdkPortConfig& config) {
  auto port = DpdkPort::create(config, *pool_);
  if (!port.ok()) {
    ADD_FAILURE() << port.error().message;
    return nullptr;
  }
  return std::move(port).value();
}

rte_mbuf* PortTest::make_frame(std::span<const std::byte> bytes) {
  const std::size_t whole = bytes.size();
  return make_frame(bytes, {&whole, 1});
}

rte_mbuf* PortTest::make_frame(std::span<const std::byte> bytes, std::span<const std::size_t> pieces) {
  rte_mbuf* first = nullptr;
  rte_mbuf* last = nullptr;
  std::size_t at = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t size = i + 1 < pieces.size() ? pieces[i] : bytes.size() - at;
    rte_mbuf* const piece = rte_pktmbuf_alloc(pool_->mempool());
    CHECK(piece != nullptr && size <= rte_pktmbuf_tailroom(piece));
    if (size > 0) std::memcpy(rte_pktmbuf_mtod(piece, void*), &bytes[at], size);
    piece->data_len = static_cast<std::uint16_t>(size);
    piece->pkt_len = piece->data_len;
    at += size;
    if (first == nullptr) {
      first = piece;
    } else {
      last->next = piece;
      first->pkt_len += piece->data_len;
      ++first->nb_segs;
    }
    last = piece;
  }
  return first;
}

void PortTest::send_to_a(std::span<const std::byte> bytes) { ASSERT_TRUE(cable_.to_a(make_frame(bytes))); }

std::vector<Bytes> PortTest::sent_by_a() {
  std::vector<Bytes> frames;
  while (rte_mbuf* const frame = cable_.from_a()) frames.push_back(take_bytes(frame));
  return frames;
}

Bytes PortTest::data_frame(std::uint16_t lane, std::uint32_t packet_bytes) {
  Bytes frame(kFramingBytes + packet_bytes);
  Framing framing;
  framing.to_mac = kMacA;
  framing.from_mac = kMacB;
  framing.from_ipv4 = kEdgeB.ipv4;
  framing.to_ipv4 = kEdgeA.ipv4;
  framing.from_port = static_cast<std::uint16_t>(kEdgeB.base_port + lane);
  framing.to_port = static_cast<std::uint16_t>(kEdgeA.base_port + lane);
  write_framing(frame.data(), framing, packet_bytes);
  for (std::size_t i = 0; i < packet_bytes; ++i) frame[kFramingBytes + i] = pattern(i);
  return frame;
}

std::vector<RxPacket> PortTest::receive(Port& port, Nanoseconds now_ns, std::uint32_t queue) {
  std::vector<RxPacket> packets(kBurst);
  packets.resize(port.receive(queue, packets, now_ns));
  return packets;
}

TxPacket PortTest::packet_to_b(std::uint32_t number, std::uint32_t payload_bytes, std::uint16_t lane) {
  TxPacket packet;
  packet.to = kEdgeB;
  packet.lane = lane;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) packet.header[i] = pattern(i);
  std::memcpy(packet.header.data(), &number, sizeof number);
  if (payload_bytes == 0) return packet;
  packet.keep = BufferRef::adopt(pool_->allocate());
  CHECK(packet.keep);
  std::byte* const payload = packet.keep.data() + kHeaderBytes;
  for (std::size_t i = 0; i < payload_bytes; ++i) payload[i] = pattern(i + number);
  packet.payload = payload;
  packet.payload_bytes = payload_bytes;
  return packet;
}

}  // namespace tombolo::dataplane
