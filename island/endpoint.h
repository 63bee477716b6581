#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aggregation/fold/kernel.h"
#include "base/counter.h"
#include "island/epoch_view.h"
#include "island/operation.h"
#include "protocol/drop_reason.h"
#include "protocol/link/pacer.h"
#include "protocol/link/peer.h"
#include "protocol/port.h"

namespace tombolo::island {

struct EndpointConfig {
  std::uint16_t job = 0;
  std::uint16_t rank = 0;
  std::uint32_t session = 0;  ///< Grows with each restart; never 0.
  Address edge;
  std::uint16_t lane_count = 4;         ///< The edge's; a configuration with another count is refused.
  std::uint32_t window_packets = 1024;  ///< Outstanding towards the edge, per lane; a power of two.
  Nanoseconds hello_interval_ns = 200 * kMillisecond;
  Nanoseconds initial_rtt_ns = kMillisecond;  ///< To the edge, until it is measured.
  fold::InstructionSet instruction_set = fold::InstructionSet::kBaseline;
  /// Most that one epoch's fold windows may reserve here when the island folds itself; a configuration that
  /// asks for more is refused.
  std::uint64_t max_fold_bytes = std::uint64_t{4} << 30;
};

/// Names an operation until it is dropped.
using Handle = std::uint64_t;

struct EndpointCounters {
  DropCounters drops;
  Counter packets_in;
  Counter repairs_sent;
  Counter results;  ///< Chunks received, or folded here.
};

/// An island's end of the protocol: joins its edge, learns the schedule, sends each update once (or once per
/// destination without multicast) as grants and pace allow, and collects the results, or folds them itself
/// when its edge does not.
///
/// One thread at a time. `turn` is the only step and never blocks; it knows no sockets and no clock. Calls
/// may be made between turns.
class Endpoint {
 public:
  /// Operations that may be under way at once: those of two open rounds, and two more that wait.
  static constexpr std::size_t kMaxOperations = 4;

  /// The port and the pool outlive the endpoint. Errors: kInvalidInput, naming the field.
  static Result<std::unique_ptr<Endpoint>> create(const EndpointConfig& config, Port& port, BufferPool& pool);

  /// Starts this island's part in a round. Rounds must be started in growing order.
  /// Errors: kInvalidInput (a request that makes no sense, named), kUnavailable (kMaxOperations under way, or
  /// no memory for the copy that an update in place needs).
  Result<Handle> allreduce_async(const Allreduce& request, Nanoseconds now_ns);

  /// What became of it so far; nullptr when the handle is unknown.
  const Outcome* poll(Handle handle) const;

  /// Ends the operation with an error; others fail by their deadline, or go on if they had everything. One
  /// that is ready keeps its result and counts as released, `failed_elsewhere`. False when it was finished.
  bool cancel(Handle handle, Nanoseconds now_ns);

  /// Forgets a finished operation. Its buffers are not used after this; false while it is under way.
  bool drop(Handle handle);

  /// Receives, sends and times out. Returns when it wants to run next if nothing arrives.
  Nanoseconds turn(Nanoseconds now_ns);

  /// Newest epoch whose configuration is whole; 0: none yet.
  std::uint32_t epoch() const { return views_[0] ? views_[0]->epoch() : 0; }
  /// The first round of that epoch; 0 before there is one.
  std::uint32_t first_round() const { return views_[0] ? views_[0]->first_round() : 0; }
  bool connected() const;
  /// Whether all receivers of this island's trees have slots for the round, so that an operation starts to
  /// send at once.
  bool can_start(std::uint32_t round) const;
  const EndpointCounters& counters() const { return counters_; }

 private:
  /// A round whose end the sources have not all been told yet.
  struct OwedEnd {
    std::uint32_t epoch = 0;
    std::uint32_t round = 0;
    std::uint16_t lane = 0;
    wire::RoundOutcome outcome = wire::RoundOutcome::kComplete;
    std::uint64_t missing = 0;
    std::size_t next_member = 0;
  };

  Endpoint(const EndpointConfig& config, Port& port, BufferPool& pool);

  // endpoint_receive.cc
  void receive(Nanoseconds now_ns);
  DropReason handle(RxPacket& packet, Nanoseconds now_ns);
  DropReason handle_sequenced(const wire::Header& header, RxPacket& packet, Nanoseconds now_ns);
  DropReason on_hello(const wire::Header& header, std::span<const std::byte> payload, Nanoseconds now_ns);
  DropReason on_feedback(const wire::Header& header, std::span<const std::byte> payload, Nanoseconds now_ns);
  DropReason on_config(const wire::Header& header, std::span<const std::byte> payload, Nanoseconds now_ns);
  DropReason on_result(const wire::Header& header, std::span<const std::byte> payload, Nanoseconds now_ns);
  DropReason on_grant(const wire::Header& header, Nanoseconds now_ns);
  DropReason on_round_end(const wire::Header& header, Nanoseconds now_ns);
  void fail_by_edge(Operation& operation, const link::GrantTable::End& end, Nanoseconds now_ns);
  DropReason on_contribution(const wire::Header& header, RxPacket& packet, Nanoseconds now_ns);
  bool comes_again(DropReason reason, const wire::Header& header) const;
  EpochView* find_view(std::uint32_t epoch) const;

  // endpoint_edge.cc: the edge is lost, and back.
  void lose_edge(const std::string& what, Nanoseconds now_ns);
  void on_edge_up(std::uint16_t lane, Nanoseconds now_ns);
  void on_edge_restart(Nanoseconds now_ns);
  void on_edge_silent(Nanoseconds now_ns);

  // endpoint_operations.cc
  Operation* find(Handle handle) const;
  Operation* find_round(std::uint32_t epoch, std::uint32_t round) const;
  void bind_operations(Nanoseconds now_ns);
  EpochView* view_for(std::uint32_t round) const;
  void forget_view(const EpochView& view, Nanoseconds now_ns);
  void rest(Operation& operation, Nanoseconds now_ns);
  void convert(Operation& operation) const;
  void skip_to(EpochView& view, std::uint32_t round, Nanoseconds now_ns);
  void give_up(EpochView& view, std::uint32_t first, std::uint32_t last, Nanoseconds now_ns);
  void send_give_up(const EpochView& view, std::uint16_t lane, std::uint32_t first, std::uint32_t last,
                    Nanoseconds now_ns);
  void take_releases(std::uint16_t lane, EpochView& view, Nanoseconds now_ns);
  void release(Operation& operation, std::uint16_t tree, std::uint16_t lane, const link::GrantTable::End& end,
               Nanoseconds now_ns);
  void take_result(Operation& operation, std::uint64_t chunk, std::uint64_t contributors, Nanoseconds now_ns);
  void finish(Operation& operation, Nanoseconds now_ns);
  void fail(Operation& operation, ErrorCode code, const std::string& what, Nanoseconds now_ns);
  void note_missing(Operation& operation) const;
  void release_memory(const Operation& operation, Nanoseconds now_ns);
  void start_deadlines(Nanoseconds now_ns);
  void expire_operations(Nanoseconds now_ns);
  void abandon(const Operation& operation, Nanoseconds now_ns);

  // endpoint_fold.cc: without edge aggregation.
  void advance_folds(Nanoseconds now_ns);
  void contribute_own(aggregation::FoldPoint& point, aggregation::OpenRound& round, Nanoseconds now_ns);
  void fold_chunk(aggregation::FoldPoint& point, aggregation::OpenRound& round, Operation& operation,
                  std::uint32_t index, Nanoseconds now_ns);
  void grant_slots(EpochView& view, std::uint16_t lane, aggregation::OpenRound& round, Nanoseconds now_ns);
  void end_fold(EpochView& view, std::uint16_t lane, aggregation::OpenRound& round,
                wire::RoundOutcome outcome, Nanoseconds now_ns);
  void pay_ends(Nanoseconds now_ns);
  bool pay_end(OwedEnd& owed, Nanoseconds now_ns);

  // endpoint_send.cc
  Nanoseconds send_contributions(Nanoseconds now_ns);
  bool send_next(Operation& operation, Nanoseconds now_ns);
  void send_chunk(Operation& operation, std::size_t position, std::uint64_t chunk, Nanoseconds now_ns);
  Nanoseconds speak(Nanoseconds now_ns);
  void send_hello(std::uint16_t lane, Nanoseconds now_ns);
  void send_feedback(std::uint16_t lane, Nanoseconds now_ns);
  void send_join(Nanoseconds now_ns);
  void repair(std::uint16_t lane, std::span<const std::uint32_t> sequences, Nanoseconds now_ns);
  wire::Header make_header(wire::Type type, std::uint32_t epoch) const;
  bool send_sequenced(std::uint16_t lane, wire::Header& header, const std::byte* payload,
                      std::uint32_t payload_bytes, Nanoseconds now_ns);
  void send_body(std::uint16_t lane, wire::Header& header, std::span<const std::byte> body,
                 Nanoseconds now_ns);
  void transmit(std::uint16_t lane, wire::Header& header, const std::byte* payload,
                std::uint32_t payload_bytes, BufferRef keep, Nanoseconds now_ns);
  void flush(Nanoseconds now_ns);

  EndpointConfig config_;
  Port& port_;
  BufferPool& pool_;
  std::vector<link::Peer> peers_;                       ///< The edge, once per lane.
  std::uint32_t edge_session_ = 0;                      ///< The newest that any lane heard of; 0: none.
  std::array<std::unique_ptr<EpochView>, 2> views_;     ///< Whole ones, newest first.
  std::unique_ptr<EpochView> joining_;                  ///< The one whose entries are coming in.
  std::uint32_t announced_epoch_ = 0;                   ///< Newest epoch that the edge spoke of.
  std::uint32_t asked_entry_ = 0;                       ///< The first entry that the last JOIN asked for.
  Nanoseconds join_ns_ = 0;                             ///< When to ask again.
  std::vector<std::unique_ptr<Operation>> operations_;  ///< By round, ascending.
  std::uint64_t next_handle_ = 1;
  std::optional<std::uint32_t> last_round_;  ///< The newest that was ever started.
  std::vector<OwedEnd> owed_ends_;           ///< Oldest first; its capacity is fixed.
  link::Pacer pacer_;
  std::array<RxPacket, kBurst> received_;
  std::array<TxPacket, kBurst> burst_;
  std::size_t burst_count_ = 0;
  EndpointCounters counters_;
};

}  // namespace tombolo::island
