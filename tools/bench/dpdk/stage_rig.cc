#include "tools/bench/dpdk/stage_rig.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/wire/packet.h"

namespace tombolo::bench {

using aggregation::Admitted;

Result<std::unique_ptr<StageRig>> StageRig::create(const Clique& clique, Stage stage,
                                                   dataplane::MbufPool& pool, RingDevice& wan,
                                                   RingDevice& lan) {
  std::unique_ptr<StageRig> rig(new StageRig(clique, stage, pool, wan, lan));
  if (Status opened = rig->open(); !opened) return std::move(opened).error();
  return rig;
}

StageRig::StageRig(const Clique& clique, Stage stage, dataplane::MbufPool& pool, RingDevice& wan,
                   RingDevice& lan)
    : clique_(clique),
      stage_(stage),
      pool_(pool),
      devices_{&wan, &lan},
      members_(clique, pool, wan, lan),
      entries_{member_entry(clique)} {}

StageRig::~StageRig() {
  for (RingDevice* const device : devices_) device->drain();
}

Status StageRig::open() {
  for (const bool is_lan : {false, true}) {
    auto port =
        dataplane::DpdkPort::create(port_config(clique_, is_lan, devices_[is_lan ? 1 : 0]->name()), pool_);
    if (!port) return std::move(port).error();
    ports_.push_back(std::move(port).value());
  }
  const auto set = fold::choose_instruction_set(clique_.isa);
  if (!set) return Error(set.error());
  fold_ = fold::select(kind_of(clique_), *set);
  aggregation::FoldPointConfig config;
  config.entries = entries_;
  config.first_round = kRound;
  config.geometry = {0, 1, static_cast<std::uint32_t>(clique_.elements()), clique_.payload_bytes()};
  config.held_bytes = clique_.held_bytes;
  auto point = aggregation::FoldPoint::create(config);
  if (!point) return std::move(point).error();
  point_.emplace(std::move(point).value());
  point_->advance();
  return ok_status();
}

void StageRig::turn(Nanoseconds now_ns) {
  std::array<RxPacket, kBurst> burst;
  for (const auto& port : ports_)
    while (const std::size_t count = port->receive(0, burst, now_ns))
      for (std::size_t i = 0; i < count; ++i) {
        if (stage_ != Stage::kReceive) take(burst[i], now_ns);
        burst[i].buffer.reset();
      }
}

void StageRig::take(RxPacket& packet, Nanoseconds now_ns) {
  const std::span<const std::byte> bytes(packet.buffer.data(), packet.bytes);
  if (wire::validate(bytes) != DropReason::kNone) ++refused_;
  if (stage_ == Stage::kCheck) return;
  const wire::Header header = wire::read_header(bytes);
  const aggregation::Facts facts{header.specific, static_cast<wire::Format>(header.format),
                                 static_cast<wire::Operation>(header.operation)};
  aggregation::Input input{packet.buffer.data() + kHeaderBytes, packet.buffer.share()};
  const auto admitted =
      point_->admit(header.round, header.rank, header.chunk, facts, input, header.payload_bytes, now_ns);
  if (!admitted.admission.taken()) ++refused_;
  if (admitted.admission.state == Admitted::kCompleted) finish(*admitted.round, admitted.index);
}

void StageRig::finish(aggregation::OpenRound& round, std::uint32_t index) {
  aggregation::RoundWindow& window = round.window;
  if (stage_ == Stage::kFold) {
    // As in the edge, a result is a buffer of its own; here the last one makes room for the next.
    result_.reset();
    result_ = BufferRef::adopt(pool_.allocate());
    const std::span<const std::byte* const> inputs = window.inputs(index);
    fold::Call call;
    call.inputs = inputs.data();
    call.input_count = inputs.size();
    call.elements = window.elements(index);
    call.divisor = clique_.k;
    call.out = result_.data() + kHeaderBytes;
    fold_(call);
    result_chunk_ = index;
    has_result_ = true;
  }
  window.release(index);
}

Status StageRig::take_out() const {
  if (refused_ != 0) return Error{ErrorCode::kFailed, fmt::format("{} packets were refused", refused_)};
  if (!has_result_) return ok_status();
  const std::span<const std::byte> expected = members_.expected(result_chunk_);
  if (std::equal(expected.begin(), expected.end(), result_.data() + kHeaderBytes)) return ok_status();
  return Error{ErrorCode::kFailed, fmt::format("chunk {}: not the bits of the reference", result_chunk_)};
}

}  // namespace tombolo::bench
