#include "tools/bench/dpdk/members.h"

#include <rte_mbuf.h>

#include <cstring>

#include "aggregation/fold/format.h"
#include "dataplane/port/dpdk/frame.h"
#include "protocol/wire/crc.h"
#include "protocol/wire/packet.h"
#include "tools/bench/payloads.h"

namespace tombolo::bench {
namespace {

dataplane::Framing framing_of(std::uint32_t member) {
  const bool lan = member == 0;
  dataplane::Framing framing;
  framing.to_mac = port_mac(lan);
  framing.from_mac = peer_mac(member);
  framing.from_ipv4 = peer_address(member).ipv4;
  framing.to_ipv4 = port_address(lan).ipv4;
  framing.from_port = peer_address(member).base_port;
  framing.to_port = port_address(lan).base_port;
  return framing;
}

/// A result by the reference, of the payloads that the members have at chunk `chunk`.
std::vector<std::byte> fold_of(const Clique& clique, std::span<const std::vector<std::byte>> payloads,
                               std::size_t chunk) {
  std::vector<const std::byte*> inputs;
  for (std::size_t member = 0; member < clique.k; ++member)
    inputs.push_back(payloads[(member + chunk) % payloads.size()].data());
  const fold::Kind kind = kind_of(clique);
  std::vector<std::byte> out(fold::payload_bytes(fold::output_format(kind), clique.elements()));
  fold::Call call;
  call.inputs = inputs.data();
  call.input_count = inputs.size();
  call.elements = clique.elements();
  call.divisor = clique.k;
  call.out = out.data();
  fold::select(kind, fold::InstructionSet::kScalar)(call);
  return out;
}

}  // namespace

Members::Members(const Clique& clique, dataplane::MbufPool& pool, RingDevice& wan, RingDevice& lan)
    : clique_(clique), pool_(pool), devices_{&wan, &lan}, sequences_(clique.k, 0) {
  std::vector<std::vector<std::byte>> payloads;
  for (std::size_t i = 0; i < kPayloads; ++i)
    payloads.push_back(make_payload(clique.format, clique.elements(), i + 1));
  for (std::size_t i = 0; i < kPayloads; ++i) {
    results_[i] = fold_of(clique, payloads, i);
    payloads_[i].crc = wire::crc32c(payloads[i]);
    payloads_[i].bytes = payloads[i];
  }
}

Status Members::put_step() {
  const std::uint64_t until = time_ + clique_.step_chunks();
  while (time_ < until)
    if (auto put = put_next(); !put) return std::move(put).error();
  return ok_status();
}

Result<Members::Put> Members::put_next() {
  // Those that have not begun yet have no packet at this time.
  while (time_ < std::uint64_t{turn_} * clique_.skew_chunks) {
    turn_ = 0;
    ++time_;
  }
  const std::uint32_t member = turn_;
  const auto chunk = static_cast<std::uint32_t>(time_ - std::uint64_t{member} * clique_.skew_chunks);
  if (Status put = put_contribution(member, chunk); !put) return std::move(put).error();
  const bool completes = member + 1 == clique_.k;
  ++contributions_;
  completed_ += completes ? 1 : 0;
  turn_ = completes ? 0 : member + 1;
  time_ += completes ? 1 : 0;
  return Put{chunk, completes};
}

Status Members::put_contribution(std::uint32_t member, std::uint32_t chunk) {
  const Payload& payload = payloads_[(member + chunk) % kPayloads];
  wire::Header header;
  header.type = static_cast<std::uint8_t>(wire::Type::kContribution);
  header.job = kJob;
  header.epoch = kEpoch;
  header.round = kRound;
  header.tree = static_cast<std::uint16_t>(member);
  header.rank = static_cast<std::uint16_t>(member);
  header.lane = 0;
  header.chunk = chunk;
  header.link_sequence = sequences_[member]++;
  header.specific = clique_.update_elements();
  header.format = static_cast<std::uint8_t>(clique_.format);
  header.operation = static_cast<std::uint8_t>(clique_.operation);
  header.payload_bytes = static_cast<std::uint16_t>(payload.bytes.size());
  header.payload_crc = payload.crc;
  return put(member, header, payload.bytes);
}

Status Members::put(std::uint32_t member, wire::Header header, std::span<const std::byte> body) {
  Buffer* const buffer = pool_.allocate();
  if (buffer == nullptr)
    return Error{ErrorCode::kUnavailable, "no packet buffer left: the edge holds too many"};
  header.session = kPeerSession;
  wire::seal(header, std::span<std::byte, kHeaderBytes>(buffer->data, kHeaderBytes));
  if (!body.empty()) std::memcpy(buffer->data + kHeaderBytes, body.data(), body.size());
  const auto packet_bytes = static_cast<std::uint32_t>(kHeaderBytes + body.size());
  dataplane::write_framing(buffer->data - kFramingBytes, framing_of(member), packet_bytes);
  rte_mbuf* const frame = dataplane::MbufPool::mbuf_of(buffer);
  frame->data_len = static_cast<std::uint16_t>(kFramingBytes + packet_bytes);
  frame->pkt_len = frame->data_len;
  if (devices_[member == 0 ? 1 : 0]->put({&frame, 1})) return ok_status();
  rte_pktmbuf_free(frame);
  return Error{ErrorCode::kUnavailable, "no room in a ring: the edge does not receive"};
}

}  // namespace tombolo::bench
