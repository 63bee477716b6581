#include "tools/bench/dpdk/edge_rig.h"

#include <fmt/format.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "dataplane/port/dpdk/big_endian.h"
#include "protocol/wire/feedback.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/packet.h"

namespace tombolo::bench {
namespace {

/// Packets outstanding on a link: what an access link of tens of microseconds needs.
constexpr std::uint32_t kLinkWindow = 256;
/// A real receiver tells what has arrived once so many packets have.
constexpr std::uint32_t kAcknowledgeAfter = link::Receiver::kPacketsPerFeedback;

Error failed(const std::string& message) { return Error{ErrorCode::kFailed, message}; }

dataplane::EdgeConfig edge_config(const Clique& clique, const dataplane::MbufPool& pool) {
  dataplane::EdgeConfig config;
  config.site = "BENCH";
  config.jobs[0].job = kJob;
  config.session = kEdgeSession;
  config.lane_count = 1;
  config.hello_interval_ns = 3600 * kSecond;
  config.jobs[0].pool_buffers = pool.buffers();
  for (std::uint32_t member = 0; member < clique.k; ++member) {
    dataplane::EdgeLink link;
    link.address = peer_address(member);
    link.port = member == 0 ? 1 : 0;
    link.is_island = member == 0;
    link.window_packets = kLinkWindow;
    config.jobs[0].links.push_back(link);
  }
  return config;
}

/// The member whose link a frame was sent on, by the address that it goes to.
std::uint32_t receiver_of(const std::byte* frame) {
  const std::uint32_t to = dataplane::get32(frame + dataplane::kEthernetBytes + 16);
  return to == peer_address(0).ipv4 ? 0 : to - (peer_address(1).ipv4 - 1);
}

}  // namespace

dataplane::MbufPoolOptions pool_options(const Clique& clique) {
  dataplane::MbufPoolOptions options;
  options.frame_bytes = clique.payload_bytes() <= wire::kStandardPayloadBytes ? dataplane::kStandardFrameBytes
                                                                              : dataplane::kJumboFrameBytes;
  // What waits in its packets, results that are not acknowledged, and what lies in caches, rings and hands.
  options.buffers = static_cast<std::uint32_t>(clique.held_packets() * 9 / 8 + 4096);
  options.headers = 8192;
  return options;
}

Result<std::unique_ptr<EdgeRig>> EdgeRig::create(const Clique& clique, dataplane::MbufPool& pool,
                                                 RingDevice& wan, RingDevice& lan) {
  std::unique_ptr<EdgeRig> rig(new EdgeRig(clique, pool, wan, lan));
  if (Status opened = rig->open(wan.name(), lan.name(), pool); !opened) return std::move(opened).error();
  if (Status up = rig->bring_up(); !up) return std::move(up).error();
  return rig;
}

EdgeRig::EdgeRig(const Clique& clique, dataplane::MbufPool& pool, RingDevice& wan, RingDevice& lan)
    : clique_(clique),
      devices_{&wan, &lan},
      members_(clique, pool, wan, lan),
      heard_(clique.k),
      packet_(kMaxPacketBytes + kFramingBytes) {}

EdgeRig::~EdgeRig() {
  edge_.reset();
  for (RingDevice* const device : devices_) device->drain();
}

Status EdgeRig::open(const std::string& wan, const std::string& lan, dataplane::MbufPool& pool) {
  for (const bool is_lan : {false, true}) {
    auto port = dataplane::DpdkPort::create(port_config(clique_, is_lan, is_lan ? lan : wan), pool);
    if (!port) return std::move(port).error();
    ports_.push_back(std::move(port).value());
  }
  dataplane::EdgeConfig config = edge_config(clique_, pool);
  const auto set = fold::choose_instruction_set(clique_.isa);
  if (!set) return Error(set.error());
  config.instruction_set = *set;
  config.held_bytes = clique_.held_bytes;
  const std::array<Port*, 2> ports{ports_[0].get(), ports_[1].get()};
  auto edge = dataplane::Edge::create(config, ports, pool);
  if (!edge) return std::move(edge).error();
  edge_ = std::move(edge).value();
  return ok_status();
}

Status EdgeRig::bring_up() {
  const MonotonicClock clock;
  turn(clock.now_ns());
  if (Status taken = take_out(); !taken) return taken;
  for (std::uint32_t member = 0; member < clique_.k; ++member)
    if (Status greeted = greet(member); !greeted) return greeted;
  turn(clock.now_ns());
  if (!edge_->all_links_up()) return failed("the edge's links do not come up");
  if (Status installed = edge_->job().install(epoch_table(clique_), kRound); !installed) return installed;
  turn(clock.now_ns());
  turn(clock.now_ns());  // The first one opens the round, the second one has told everybody.
  return take_out();
}

void EdgeRig::turn(Nanoseconds now_ns) {
  do turn_once(now_ns);
  while (waiting() > 0);
}

Status EdgeRig::warm_up(const Clock& clock) {
  for (std::uint32_t step = 0; step < clique_.warm_up_steps(); ++step) {
    if (Status put = members_.put_step(); !put) return put;
    turn(clock.now_ns());
    if (Status taken = take_out(); !taken) return taken;
  }
  return ok_status();
}

Status EdgeRig::take_out(const std::function<void(std::uint32_t)>& result) {
  std::array<rte_mbuf*, kBurst> frames;
  for (RingDevice* const device : devices_)
    while (const std::size_t count = device->take(frames)) {
      Status taken = ok_status();
      for (std::size_t i = 0; i < count; ++i) {
        std::size_t bytes = 0;
        for (const rte_mbuf* piece = frames[i]; piece != nullptr; piece = piece->next) {
          std::memcpy(packet_.data() + bytes, rte_pktmbuf_mtod(piece, const std::byte*), piece->data_len);
          bytes += piece->data_len;
        }
        rte_pktmbuf_free(frames[i]);
        const std::span packet = std::span<const std::byte>(packet_).first(bytes).subspan(kFramingBytes);
        if (taken) taken = take(packet, receiver_of(packet_.data()), result);
      }
      if (!taken) return taken;
    }
  for (std::uint32_t member = 0; member < clique_.k; ++member)
    if (heard_[member].next_sequence - heard_[member].acknowledged >= kAcknowledgeAfter)
      if (Status told = acknowledge(member); !told) return told;
  return check_drops();
}

Status EdgeRig::take(std::span<const std::byte> packet, std::uint32_t member,
                     const std::function<void(std::uint32_t)>& result) {
  if (const DropReason reason = wire::validate(packet); reason != DropReason::kNone)
    return failed(fmt::format("the edge sent a packet that is {}", name(reason)));
  const wire::Header header = wire::read_header(packet);
  if (wire::is_sequenced(header.packet_type())) {
    if (header.link_sequence != heard_[member].next_sequence++)
      return failed("the edge left out a sequence number");
  }
  if (header.packet_type() == wire::Type::kRoundEnd) return failed("the edge ended the round");
  if (header.packet_type() != wire::Type::kResult) return ok_status();
  const std::uint32_t chunk = header.chunk;
  if (chunk != next_result_++)
    return failed(fmt::format("a result of chunk {} in place of {}", chunk, next_result_ - 1));
  const std::span<const std::byte> payload = wire::payload_of(packet), expected = members_.expected(chunk);
  if (!std::equal(payload.begin(), payload.end(), expected.begin(), expected.end()))
    return failed(fmt::format("chunk {}: not the bits of the reference", chunk));
  ++results_;
  if (result) result(chunk);
  return ok_status();
}

Status EdgeRig::greet(std::uint32_t member) {
  const wire::Hello hello{kEdgeSession, 0, 0, 0, wire::kNoEcho};
  std::array<std::byte, wire::kHelloBytes> body;
  wire::encode(hello, body);
  wire::Header header;
  header.type = static_cast<std::uint8_t>(wire::Type::kHello);
  header.job = kJob;
  header.lane = 0;
  wire::set_payload(header, body);
  return members_.put(member, header, body);
}

Status EdgeRig::acknowledge(std::uint32_t member) {
  wire::Feedback feedback;
  feedback.peer_session = kEdgeSession;
  feedback.cumulative = feedback.highest = heard_[member].acknowledged = heard_[member].next_sequence;
  std::array<std::byte, wire::kMaxFeedbackBytes> buffer;
  const std::span body = std::span(buffer).first(wire::encode(feedback, buffer));
  wire::Header header;
  header.type = static_cast<std::uint8_t>(wire::Type::kFeedback);
  header.job = kJob;
  header.lane = 0;
  wire::set_payload(header, body);
  return members_.put(member, header, body);
}

/// In this network nothing is lost, late or strange, so that a drop means that something else was measured.
Status EdgeRig::check_drops() const {
  const dataplane::EdgeTotals totals = edge_->totals();
  for (std::size_t reason = 0; reason < totals.drops.size(); ++reason)
    if (totals.drops[reason] != 0)
      return failed(fmt::format("the edge dropped {} packets as {}", totals.drops[reason],
                                name(static_cast<DropReason>(reason))));
  return ok_status();
}

Result<WarmEdge> WarmEdge::create(const Clique& clique, RingDevice& wan, RingDevice& lan) {
  WarmEdge edge{clique, nullptr, nullptr};
  auto pool = dataplane::MbufPool::create(pool_options(clique));
  if (!pool) return std::move(pool).error();
  edge.pool = std::move(pool).value();
  auto rig = EdgeRig::create(clique, *edge.pool, wan, lan);
  if (!rig) return std::move(rig).error();
  edge.rig = std::move(rig).value();
  if (Status warm = edge.rig->warm_up(MonotonicClock()); !warm) return std::move(warm).error();
  return edge;
}

}  // namespace tombolo::bench
