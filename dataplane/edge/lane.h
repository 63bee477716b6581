#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aggregation/fold/kernel.h"
#include "dataplane/edge/lane_counters.h"
#include "dataplane/edge/lane_epoch.h"
#include "dataplane/edge/round_board.h"
#include "dataplane/worker/transmitter.h"
#include "multicast/replicator.h"
#include "protocol/drop_reason.h"
#include "protocol/link/peer.h"
#include "protocol/port.h"

namespace tombolo::dataplane {

/// A neighbour of the edge: another edge, or an island.
struct EdgeLink {
  Address address;
  std::uint8_t port = 0;  ///< Index of the port that leads there.
  bool is_island = false;
  Nanoseconds rtt_ns = kMillisecond;    ///< Until it is measured.
  std::uint32_t window_packets = 1024;  ///< Per lane; a power of two. What 3 x rate x RTT needs.
};

struct LaneConfig {
  std::uint16_t job = 0;
  std::uint16_t lane = 0;
  std::uint32_t session = 0;
  Nanoseconds hello_interval_ns = 200 * kMillisecond;
};

/// What a peer told of a newer epoch: it was committed, and from which round on.
struct PeerCommit {
  std::uint32_t epoch = 0;
  std::uint32_t first_round = 0;
};

/// The edge's pipeline for one lane: everything about the chunks whose number is the lane modulo the lane
/// count. One worker owns it, so there is no lock and no atomic in here.
///
/// A packet runs to completion: validate, who sent it, is it new on its link, what is it; a contribution is
/// checked against its tree and its grant, held or folded, and copied to the branch's links; the finished
/// chunk leaves at once. A packet is either kept (then it is marked as arrived), or dropped for a counted
/// reason. What was dropped for want of room, or names an epoch that is not here yet, is not marked, and so
/// the previous hop sends it again.
class Lane {
 public:
  Lane(const LaneConfig& config, std::span<const EdgeLink> links, BufferPool& pool,
       std::span<const std::unique_ptr<Transmitter>> transmitters);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// One datagram that arrived for this lane.
  void receive(RxPacket& packet, Nanoseconds now_ns);

  /// Whatever is due: grants, ends of rounds, HELLOs, feedback. Returns the next moment at which something
  /// may be.
  Nanoseconds turn(Nanoseconds now_ns);

  /// A committed epoch takes the place of the older of the two live ones, which is returned (control frees
  /// it).
  std::unique_ptr<LaneEpoch> install(std::unique_ptr<LaneEpoch> epoch, Nanoseconds now_ns);

  /// The newest epoch that a peer edge has committed and this lane has not; epoch 0: none. For any thread.
  PeerCommit peer_commit() const {
    const std::uint64_t both = counters_.peer_commit.get();
    return {static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> 32)};
  }

  const LaneCounters& counters() const { return counters_; }
  /// Of one link, in the order of the configuration.
  const PeerCounters& peer_counters(std::size_t link) const { return peer_counters_[link]; }
  /// The rounds that are open here.
  const RoundBoard& rounds() const { return board_; }
  const multicast::ReplicatorCounters& replication() const { return replicator_.counters(); }
  const link::Peer& peer(std::size_t link) const { return links_[link].peer; }
  std::uint16_t lane() const { return config_.lane; }

 private:
  struct Link {
    EdgeLink config;
    link::Peer peer;
  };
  using Repairs = std::array<std::uint32_t, 64>;

  // lane_receive.cc: from the wire to one packet's meaning.
  DropReason handle(RxPacket& packet, Nanoseconds now_ns);
  DropReason handle_sequenced(const wire::Header& header, RxPacket& packet, std::uint8_t link,
                              Nanoseconds now_ns);
  DropReason on_hello(const wire::Header& header, std::span<const std::byte> payload, std::uint8_t link,
                      Nanoseconds now_ns);
  DropReason on_feedback(std::span<const std::byte> payload, std::uint8_t link, Nanoseconds now_ns);
  DropReason on_join(const wire::Header& header, std::uint8_t link, Nanoseconds now_ns);
  bool comes_again(DropReason reason, const wire::Header& header) const;
  int find_link(const Address& from) const;
  LaneEpoch* find_epoch(std::uint32_t epoch);

  // lane_contribution.cc: fold and forward.
  DropReason on_contribution(const wire::Header& header, RxPacket& packet, std::uint8_t link,
                             Nanoseconds now_ns);
  DropReason check_contribution(const wire::Header& header, LaneEpoch& epoch, const multicast::Branch& branch,
                                std::uint8_t link) const;
  DropReason reserve(const multicast::Branch& branch, const LaneEpoch& epoch);
  DropReason fold_locally(const wire::Header& header, RxPacket& packet, LaneEpoch& epoch,
                          const multicast::Branch& branch, Nanoseconds now_ns);
  bool take_spare();
  void finish_chunk(LaneEpoch& epoch, std::size_t island, aggregation::OpenRound& round, std::uint32_t index,
                    Nanoseconds now_ns);
  void forward(const wire::Header& header, RxPacket& packet, const multicast::Branch& branch,
               Nanoseconds now_ns);

  // lane_tree.cc: cliques that fold on trees.
  static wire::Format partial_format(wire::Format update, bool is_narrow);
  static DropReason check_traffic(const wire::Header& header, const LaneEpoch& epoch,
                                  const multicast::Branch& branch);
  bool has_room_for_data(std::uint64_t links) const;
  static std::uint64_t island_links(const LaneEpoch& epoch, std::uint64_t islands);
  static std::uint64_t links_out_of(const LaneEpoch& epoch, const multicast::Branch& branch);
  void finish_site_chunk(LaneEpoch& epoch, std::size_t point, aggregation::OpenRound& round,
                         std::uint32_t index, Nanoseconds now_ns);
  void send_down(const wire::Header& header, const std::byte* payload, const BufferRef& keep,
                 LaneEpoch& epoch, const multicast::Branch& branch, Nanoseconds now_ns);
  DropReason on_result(const wire::Header& header, RxPacket& packet, std::uint8_t link, Nanoseconds now_ns);
  void end_results(LaneEpoch& epoch, const multicast::Branch& branch, std::uint16_t tree, std::uint32_t round,
                   const link::GrantTable::End& end);

  // lane_tree_round.cc: their grants and ends of rounds.
  void grant_site_slots(LaneEpoch& epoch, std::size_t point, aggregation::OpenRound& round);
  void note_folded(LaneEpoch& epoch, std::size_t point, aggregation::OpenRound& round);
  static std::uint64_t late_at_site(const LaneEpoch& epoch, std::size_t point,
                                    const aggregation::OpenRound& round);
  void end_site_round(LaneEpoch& epoch, std::size_t point, aggregation::OpenRound& round,
                      const link::GrantTable::End& end, bool tells_on, Nanoseconds now_ns);
  void on_site_tree_ended(LaneEpoch& epoch, std::size_t point, std::uint32_t number,
                          link::GrantTable::End end, Nanoseconds now_ns);
  DropReason on_source_end(const wire::Header& header, LaneEpoch& epoch, const multicast::Branch& branch,
                           Nanoseconds now_ns);
  DropReason pass_source_end(LaneEpoch& epoch, const multicast::Branch& branch, const SourceEnd& end,
                             Nanoseconds now_ns);
  void on_input_failed(LaneEpoch& epoch, std::size_t point, const multicast::Branch& branch,
                       const SourceEnd& end, Nanoseconds now_ns);
  void on_input_abandoned(LaneEpoch& epoch, std::size_t point, const multicast::Branch& branch,
                          const SourceEnd& end, Nanoseconds now_ns);
  DropReason abandon_on_trees(LaneEpoch& epoch, const LocalIsland& local, std::uint32_t first,
                              std::uint32_t last, bool& concerned);
  bool tell_downward(LaneEpoch& epoch, Nanoseconds now_ns);

  // lane_round.cc: grants, round ends, deadlines.
  DropReason on_grant(const wire::Header& header, std::uint8_t link);
  DropReason on_round_end(const wire::Header& header, std::uint8_t link, Nanoseconds now_ns);
  DropReason abandon_rounds(const wire::Header& header, LaneEpoch& epoch, std::uint8_t link,
                            Nanoseconds now_ns);
  bool advance_rounds(LaneEpoch& epoch, Nanoseconds now_ns);
  void note_opened(std::uint32_t round);
  void grant_slots(LaneEpoch& epoch, std::size_t island, aggregation::OpenRound& round);
  void end_round(LaneEpoch& epoch, std::size_t island, aggregation::OpenRound& round,
                 wire::RoundOutcome outcome, Nanoseconds now_ns);
  bool tell_upward(LaneEpoch& epoch, Nanoseconds now_ns);
  std::uint64_t late_members(const LaneEpoch& epoch, const multicast::Branch& branch,
                             std::uint32_t round) const;

  // lane_send.cc: what leaves.
  wire::Header make_header(wire::Type type, const LaneEpoch* epoch) const;
  void send_sequenced(std::uint8_t link, wire::Header& header, const std::byte* payload,
                      std::uint32_t payload_bytes, BufferRef keep, Nanoseconds now_ns);
  void send_header(std::uint8_t link, wire::Header& header, Nanoseconds now_ns);
  bool send_body(std::uint8_t link, wire::Header& header, std::span<const std::byte> body,
                 Nanoseconds now_ns);
  void send_hello(std::uint8_t link, Nanoseconds now_ns);
  void send_feedback(std::uint8_t link, Nanoseconds now_ns);
  void send_config(std::uint8_t link, const LaneEpoch& epoch, std::size_t island, std::uint32_t entry,
                   Nanoseconds now_ns);
  void repair(std::uint8_t link, std::span<const std::uint32_t> sequences, Nanoseconds now_ns);
  void transmit(std::uint8_t link, wire::Header& header, const std::byte* payload,
                std::uint32_t payload_bytes, const BufferRef& keep, Nanoseconds now_ns);
  void tell_grants_again(std::uint8_t link);

  // lane_publish.cc: what others may read.
  void publish();
  void publish_link(std::size_t link);
  void publish_rounds();
  template <typename RankOf>
  void note_values(const aggregation::FoldedChunk& folded, std::span<const fold::NonFinite> found,
                   std::uint16_t saturated_rank, RankOf rank_of);
  void note_contributed(std::uint16_t rank, const aggregation::RoundWindow& window, Nanoseconds now_ns);

  LaneConfig config_;
  BufferPool& pool_;
  std::span<const std::unique_ptr<Transmitter>> transmitters_;
  std::vector<Link> links_;
  std::array<std::unique_ptr<LaneEpoch>, 2> epochs_;  ///< Newest first.
  multicast::Replicator replicator_;
  BufferRef
      spare_;  ///< Taken before a contribution is admitted, so that a finished chunk always has a buffer.
  LaneCounters counters_;
  std::vector<PeerCounters> peer_counters_;  ///< By link.
  RoundBoard board_;
  std::uint64_t touched_links_ = 0;  ///< A bit per link on which something happened since publish().
  bool changed_ = false;             ///< Whether anything happened that may concern rounds.
  bool again_ = false;               ///< Whether the next turn has something to do at once.
};

/// A chunk had values that are not finite, or a result that did not fit its format. `rank_of` an input.
template <typename RankOf>
void Lane::note_values(const aggregation::FoldedChunk& folded, std::span<const fold::NonFinite> found,
                       std::uint16_t saturated_rank, RankOf rank_of) {
  if (saturated_rank < kLagRanks) counters_.values[saturated_rank].saturated.add(folded.saturated);
  for (std::uint64_t rest = folded.non_finite; rest != 0; rest &= rest - 1) {
    const auto input = static_cast<std::size_t>(std::countr_zero(rest));
    const std::uint16_t rank = rank_of(input);
    if (rank >= kLagRanks) continue;
    ValueCounters& values = counters_.values[rank];
    values.nan.add(found[input].nan);
    values.infinity.add(found[input].infinity);
    if ((folded.contributors >> input & 1) == 0) values.rejected_chunks.add();
  }
}

}  // namespace tombolo::dataplane
