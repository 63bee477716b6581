#include <cstring>
#include <utility>

#include "base/serial.h"
#include "island/endpoint.h"
#include "protocol/wire/config.h"
#include "protocol/wire/feedback.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/packet.h"

namespace tombolo::island {
namespace {

/// Bursts taken in one turn, so that sending gets its turn too.
constexpr int kBurstsPerTurn = 4;

}  // namespace

void Endpoint::receive(Nanoseconds now_ns) {
  for (int burst = 0; burst < kBurstsPerTurn; ++burst) {
    const std::size_t count = port_.receive(0, received_, now_ns);
    for (std::size_t i = 0; i < count; ++i) {
      counters_.packets_in.add();
      const DropReason reason = handle(received_[i], now_ns);
      if (reason != DropReason::kNone) counters_.drops.add(reason);
      received_[i].buffer.reset();
    }
    if (count < received_.size()) return;
  }
}

DropReason Endpoint::handle(RxPacket& packet, Nanoseconds now_ns) {
  const std::span<const std::byte> bytes(packet.buffer.data(), packet.bytes);
  if (const DropReason reason = wire::validate(bytes); reason != DropReason::kNone) return reason;
  const wire::Header header = wire::read_header(bytes);
  if (packet.from != config_.edge) return DropReason::kUnknownSender;
  if (header.job != config_.job) return DropReason::kUnknownJob;
  if (header.lane >= peers_.size() || header.lane != packet.lane) return DropReason::kWrongLane;
  const std::span<const std::byte> payload = wire::payload_of(bytes);
  if (header.packet_type() == wire::Type::kHello) return on_hello(header, payload, now_ns);
  if (const DropReason reason = peers_[header.lane].admit(header, now_ns); reason != DropReason::kNone)
    return reason;
  if (wire::is_sequenced(header.packet_type())) return handle_sequenced(header, packet, now_ns);
  switch (header.packet_type()) {
    case wire::Type::kFeedback:
      return on_feedback(header, payload, now_ns);
    case wire::Type::kConfig:
      return on_config(header, payload, now_ns);
    default:
      return DropReason::kUnsupportedType;
  }
}

DropReason Endpoint::handle_sequenced(const wire::Header& header, RxPacket& packet, Nanoseconds now_ns) {
  link::Receiver& receiver = peers_[header.lane].receiver();
  if (const DropReason reason = receiver.check(header.link_sequence); reason != DropReason::kNone)
    return reason;
  const std::span<const std::byte> payload(packet.buffer.data() + kHeaderBytes, header.payload_bytes);
  DropReason reason = DropReason::kUnsupportedType;
  switch (header.packet_type()) {
    case wire::Type::kResult:
      reason = on_result(header, payload, now_ns);
      break;
    case wire::Type::kContribution:
      reason = on_contribution(header, packet, now_ns);
      break;
    case wire::Type::kGrant:
      reason = on_grant(header, now_ns);
      break;
    case wire::Type::kRoundEnd:
      reason = on_round_end(header, now_ns);
      break;
    default:
      break;
  }
  if (!comes_again(reason, header)) receiver.mark(header.link_sequence);
  return reason;
}

DropReason Endpoint::on_hello(const wire::Header& header, std::span<const std::byte> payload,
                              Nanoseconds now_ns) {
  wire::Hello hello;
  if (!wire::parse(payload, hello)) return DropReason::kBadField;
  const auto outcome = peers_[header.lane].on_hello(header, hello, now_ns);
  if (outcome.refused != DropReason::kNone) return outcome.refused;
  if (edge_session_ != header.session) {
    // The lanes of one edge share a session; the first that hears of a new one speaks for all.
    const bool restarted = edge_session_ != 0;
    edge_session_ = header.session;
    if (restarted) on_edge_restart(now_ns);
  }
  if (outcome.became_up) on_edge_up(header.lane, now_ns);
  if (header.epoch != 0 && (announced_epoch_ == 0 || serial_before(announced_epoch_, header.epoch))) {
    announced_epoch_ = header.epoch;
    join_ns_ = now_ns;
  }
  return DropReason::kNone;
}

DropReason Endpoint::on_feedback(const wire::Header& header, std::span<const std::byte> payload,
                                 Nanoseconds now_ns) {
  wire::Feedback feedback;
  if (!wire::parse(payload, feedback)) return DropReason::kBadField;
  std::array<std::uint32_t, 64> repairs;
  const std::size_t count = peers_[header.lane].on_feedback(feedback, now_ns, repairs);
  repair(header.lane, std::span(repairs.data(), count), now_ns);
  return DropReason::kNone;
}

/// Collects the entries of one epoch; a whole one takes the place of the older of the two that are kept.
DropReason Endpoint::on_config(const wire::Header& header, std::span<const std::byte> payload,
                               Nanoseconds now_ns) {
  wire::Config config;
  if (!wire::parse(payload, config)) return DropReason::kBadField;
  if (header.rank != config_.rank) return DropReason::kWrongRank;
  if (config.lane_count != peers_.size()) return DropReason::kMismatch;
  if (header.epoch == 0 || (views_[0] && !serial_before(views_[0]->epoch(), header.epoch)))
    return DropReason::kUnknownEpoch;
  if (config.entries > EpochView::kMaxEntries) return DropReason::kMismatch;
  if (!joining_ || serial_before(joining_->epoch(), header.epoch))
    joining_ = std::make_unique<EpochView>(header.epoch, config);
  if (joining_->epoch() != header.epoch) return DropReason::kUnknownEpoch;
  if (!joining_->add(config)) return DropReason::kMismatch;
  if (!joining_->complete()) {
    if (joining_->next_missing() >= asked_entry_ + wire::kConfigsPerAnswer) join_ns_ = now_ns;
    return DropReason::kNone;
  }
  if (joining_->fold_bytes() > config_.max_fold_bytes || !joining_->start(config_.instruction_set)) {
    joining_.reset();
    return DropReason::kMismatch;
  }
  if (views_[1]) forget_view(*views_[1], now_ns);
  views_[1] = std::move(views_[0]);
  views_[0] = std::move(joining_);
  return DropReason::kNone;
}

DropReason Endpoint::on_result(const wire::Header& header, std::span<const std::byte> payload,
                               Nanoseconds now_ns) {
  if (header.rank != config_.rank) return DropReason::kWrongRank;
  Operation* const operation = find_round(header.epoch, header.round);
  if (operation == nullptr) return DropReason::kRoundClosed;
  const std::uint64_t chunk = header.chunk;
  if (chunk >= operation->chunks() || chunk % peers_.size() != header.lane) return DropReason::kMismatch;
  const wire::Format format = operation->request.output_format();
  const bool fits = static_cast<wire::Format>(header.format) == format &&
                    static_cast<wire::Operation>(header.operation) == operation->request.operation &&
                    payload.size() == encoded_bytes(format, operation->elements(chunk));
  if (!fits) return DropReason::kMismatch;
  if (!operation->mark_result(chunk)) return DropReason::kDuplicateContribution;
  operation->keep_result(chunk, payload.data());
  operation->outcome.payload_bytes_received += payload.size();
  take_result(*operation, chunk, header.specific, now_ns);
  return DropReason::kNone;
}

DropReason Endpoint::on_grant(const wire::Header& header, Nanoseconds now_ns) {
  EpochView* const view = find_view(header.epoch);
  if (view == nullptr) return DropReason::kUnknownEpoch;
  if (!view->sends_on(header.round, header.tree)) return DropReason::kUnknownTree;
  view->grants(header.lane).grant(header.tree, header.round, 0, header.chunk);
  take_releases(header.lane, *view, now_ns);
  if (Operation* const operation = find_round(header.epoch, header.round); operation != nullptr)
    operation->late = header.specific;
  return DropReason::kNone;
}

DropReason Endpoint::on_round_end(const wire::Header& header, Nanoseconds now_ns) {
  EpochView* const view = find_view(header.epoch);
  if (view == nullptr) return DropReason::kUnknownEpoch;
  const auto outcome = static_cast<wire::RoundOutcome>(static_cast<std::uint32_t>(header.chunk));
  if (header.tree != wire::kNoTree) {
    if (!view->sends_on(header.round, header.tree)) return DropReason::kUnknownTree;
    view->grants(header.lane).end(header.tree, header.round, 0, {outcome, header.specific});
    take_releases(header.lane, *view, now_ns);
    return DropReason::kNone;
  }
  const link::GrantTable::End end{outcome, header.specific};
  Operation* const operation = find_round(header.epoch, header.round);
  if (operation == nullptr)
    return view->note_end(header.round, end) ? DropReason::kNone : DropReason::kRoundClosed;
  if (operation->outcome.ready()) return DropReason::kRoundClosed;
  fail_by_edge(*operation, end, now_ns);
  return DropReason::kNone;
}

/// The edge's fold point gave the round up.
void Endpoint::fail_by_edge(Operation& operation, const link::GrantTable::End& end, Nanoseconds now_ns) {
  const bool gave_up = end.outcome == wire::RoundOutcome::kAbandoned;  // Said of others on a tree only.
  if (gave_up || wire::names_missing(end.outcome)) operation.missing |= end.missing;
  if (gave_up) {
    fail(operation, ErrorCode::kFailed, "a member gave the round up", now_ns);
  } else if (end.outcome == wire::RoundOutcome::kSuperseded) {
    fail(operation, ErrorCode::kFailed, "a new epoch took the round over", now_ns);
  } else if (end.outcome == wire::RoundOutcome::kLost) {
    fail(operation, ErrorCode::kFailed, "a member is out of reach", now_ns);
  } else {
    fail(operation, ErrorCode::kDeadline, "the deadline passed at the edge", now_ns);
  }
}

/// Without edge aggregation the other members' chunks come here.
DropReason Endpoint::on_contribution(const wire::Header& header, RxPacket& packet, Nanoseconds now_ns) {
  EpochView* const view = find_view(header.epoch);
  if (view == nullptr) return DropReason::kUnknownEpoch;
  if (view->points().empty()) return DropReason::kUnsupportedType;
  if (header.round < view->first_round() || header.rank == config_.rank) return DropReason::kWrongRank;
  aggregation::FoldPoint& point = view->points()[header.lane];
  const auto member = point.member_index(header.round, header.rank);
  if (!member) return DropReason::kWrongRank;
  if (view->entry_of(header.round).receive_tree[*member] != header.tree) return DropReason::kUnknownTree;
  const aggregation::Facts facts = aggregation::facts_of(header);
  aggregation::Input input{packet.buffer.data() + kHeaderBytes, packet.buffer.share()};
  const auto admitted =
      point.admit(header.round, header.rank, header.chunk, facts, input, header.payload_bytes, now_ns);
  if (!admitted.admission.taken()) return admitted.admission.reason;
  Operation* const operation = find_round(header.epoch, header.round);
  if (operation != nullptr) operation->outcome.payload_bytes_received += header.payload_bytes;
  if (admitted.admission.state != aggregation::Admitted::kCompleted) return DropReason::kNone;
  if (operation == nullptr) {
    admitted.round->window.release(admitted.index);
    return DropReason::kRoundClosed;
  }
  fold_chunk(point, *admitted.round, *operation, admitted.index, now_ns);
  return DropReason::kNone;
}

bool Endpoint::comes_again(DropReason reason, const wire::Header& header) const {
  if (reason == DropReason::kUnknownEpoch)
    return !views_[0] || serial_before(views_[0]->epoch(), header.epoch);
  return reason == DropReason::kNoBuffer || reason == DropReason::kLinkWindowFull;
}

EpochView* Endpoint::find_view(std::uint32_t epoch) const {
  for (const auto& view : views_)
    if (view && view->epoch() == epoch) return view.get();
  return nullptr;
}

}  // namespace tombolo::island
