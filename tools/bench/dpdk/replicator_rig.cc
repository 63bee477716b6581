#include <utility>

#include "protocol/wire/packet.h"
#include "tools/bench/dpdk/clique.h"
#include "tools/bench/dpdk/replicate_rigs.h"

namespace tombolo::bench {
namespace {

constexpr Address kHere{0x0a000001, 4700};
constexpr Address kFrom{0x0a00000b, 4700};

dataplane::Mac mac_of(const Address& address) { return dataplane::Mac{0x020000000000} | address.ipv4; }

dataplane::DpdkPortConfig config_of(const Fanout& fanout, const std::string& device,
                                    const Address& neighbour) {
  dataplane::DpdkPortConfig config;
  config.name = device;
  config.device = device;
  config.mac = mac_of(kHere);
  config.address = kHere;
  config.mtu = fanout.mtu;
  config.neighbours.push_back({neighbour, mac_of(neighbour)});
  return config;
}

}  // namespace

dataplane::Framing unicast_framing() {
  return {mac_of(kHere), mac_of(kFrom), kFrom.ipv4, kHere.ipv4, kFrom.base_port, kHere.base_port};
}

Address ReplicatorRig::copy_address(std::size_t copy) {
  return {0x0a000020U + static_cast<std::uint32_t>(copy), 4700};
}

Result<std::unique_ptr<ReplicatorRig>> ReplicatorRig::create(const Fanout& fanout, dataplane::MbufPool& pool,
                                                             RingDevice& in,
                                                             std::span<RingDevice* const> out) {
  std::unique_ptr<ReplicatorRig> rig(new ReplicatorRig(fanout));
  auto port = dataplane::DpdkPort::create(config_of(fanout, in.name(), kFrom), pool);
  if (!port) return std::move(port).error();
  rig->in_ = std::move(port).value();
  for (std::size_t copy = 0; copy < fanout.copies; ++copy) {
    auto sender = dataplane::DpdkPort::create(config_of(fanout, out[copy]->name(), copy_address(copy)), pool);
    if (!sender) return std::move(sender).error();
    rig->out_.push_back(std::move(sender).value());
    rig->transmitters_.push_back(std::make_unique<dataplane::Transmitter>(*rig->out_.back(), 0));
  }
  return rig;
}

bool ReplicatorRig::turn(Nanoseconds now_ns) {
  std::array<RxPacket, kBurst> burst;
  const std::size_t count = in_->receive(0, burst, now_ns);
  for (std::size_t i = 0; i < count; ++i) {
    replicate(burst[i], now_ns);
    burst[i].buffer.reset();
  }
  for (const auto& transmitter : transmitters_) transmitter->flush(now_ns);
  return count > 0;
}

/// What Lane::forward and Lane::transmit do, without a link's memory for repairs.
void ReplicatorRig::replicate(RxPacket& packet, Nanoseconds now_ns) {
  const wire::Header header = wire::read_header({packet.buffer.data(), packet.bytes});
  const std::byte* const payload = packet.buffer.data() + kHeaderBytes;
  replicator_.replicate(header, payload, header.payload_bytes, packet.buffer,
                        (std::uint64_t{1} << fanout_.copies) - 1,
                        [&](std::uint8_t link, multicast::Copy&& copy) {
                          copy.header.session = kEdgeSession;
                          copy.header.link_sequence = sequences_[link]++;
                          copy.header.timestamp_us = static_cast<std::uint32_t>(now_ns / kMicrosecond);
                          TxPacket& out = transmitters_[link]->next(now_ns);
                          out.to = copy_address(link);
                          out.lane = 0;
                          wire::seal(copy.header, out.header);
                          out.payload = copy.payload;
                          out.payload_bytes = copy.payload_bytes;
                          out.keep = std::move(copy.keep);
                        });
}

std::uint64_t ReplicatorRig::refused() const {
  std::uint64_t refused = 0;
  for (const auto& transmitter : transmitters_) refused += transmitter->refused();
  return refused;
}

}  // namespace tombolo::bench
