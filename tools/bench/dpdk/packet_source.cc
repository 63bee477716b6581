#include "tools/bench/dpdk/packet_source.h"

#include <rte_mbuf.h>

#include <cstring>

#include "protocol/wire/packet.h"
#include "tools/bench/dpdk/clique.h"
#include "tools/bench/payloads.h"

namespace tombolo::bench {

PacketSource::PacketSource(std::size_t payload_bytes, const dataplane::Framing& framing,
                           dataplane::MbufPool& pool, RingDevice& device)
    : framing_(framing),
      pool_(pool),
      device_(device),
      payload_(make_payload(wire::Format::kFp32, payload_bytes / sizeof(float), 1)) {
  header_.type = static_cast<std::uint8_t>(wire::Type::kContribution);
  header_.job = kJob;
  header_.epoch = kEpoch;
  header_.round = kRound;
  header_.session = kPeerSession;
  header_.rank = 1;
  header_.tree = 1;
  header_.lane = 0;
  header_.specific = std::uint64_t{1} << 40;
  header_.format = static_cast<std::uint8_t>(wire::Format::kFp32);
  header_.operation = static_cast<std::uint8_t>(wire::Operation::kSum);
  wire::set_payload(header_, payload_);
}

Status PacketSource::put_step() {
  for (std::size_t i = 0; i < kStepPackets; ++i)
    if (Status done = put(); !done) return done;
  return ok_status();
}

Status PacketSource::put() {
  Buffer* const buffer = pool_.allocate();
  if (buffer == nullptr)
    return Error{ErrorCode::kUnavailable, "no packet buffer left: some did not come back"};
  header_.link_sequence = header_.link_sequence + 1;
  header_.chunk = header_.chunk + 1;
  wire::seal(header_, std::span<std::byte, kHeaderBytes>(buffer->data, kHeaderBytes));
  std::memcpy(buffer->data + kHeaderBytes, payload_.data(), payload_.size());
  const auto packet_bytes = static_cast<std::uint32_t>(kHeaderBytes + payload_.size());
  dataplane::write_framing(buffer->data - kFramingBytes, framing_, packet_bytes);
  rte_mbuf* const frame = dataplane::MbufPool::mbuf_of(buffer);
  frame->data_len = static_cast<std::uint16_t>(kFramingBytes + packet_bytes);
  frame->pkt_len = frame->data_len;
  if (device_.put({&frame, 1})) return ok_status();
  rte_pktmbuf_free(frame);
  return Error{ErrorCode::kUnavailable, "no room in a ring: some packets were not received"};
}

}  // namespace tombolo::bench
