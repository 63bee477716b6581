#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "dataplane/edge/edge.h"
#include "dataplane/port/inproc_port.h"
#include "protocol/memory_pool.h"
#include "protocol/wire/feedback.h"
#include "protocol/wire/header.h"
#include "protocol/wire/hello.h"

namespace tombolo::dataplane {

using Bytes = std::vector<std::byte>;

/// The edge's neighbours, by link: west (the site of rank 0), its own island (rank 1), east (the site of rank
/// 2).
enum Side : std::uint8_t { kWest = 0, kIsland = 1, kEast = 2 };
inline constexpr std::size_t kSides = 3;
inline constexpr std::array<Side, kSides> kAllSides{kWest, kIsland, kEast};
/// The clique, in fold order; a rank's side has its number.
inline constexpr std::array<std::uint16_t, 3> kRanks{0, 1, 2};

inline constexpr std::uint16_t kJob = 7;
inline constexpr std::uint32_t kEdgeSession = 1000;
inline constexpr std::uint32_t kNeighbourSession = 50;
inline constexpr std::uint32_t kFirstRound = 10;
inline constexpr Nanoseconds kDeadline = kSecond;

/// A tree has its source's rank as its number. In an epoch of two entries, ranks 1 and 2 meet alone in the
/// second one, on trees 11 and 12.
inline constexpr std::uint16_t kPairTrees = 10;

/// What a test's epoch differs in.
struct EpochOptions {
  std::uint32_t epoch = 1;
  bool pair_entry = false;
  bool edge_aggregation = true;
  std::uint32_t chunk_elements = 32;
  std::uint32_t slots_per_lane = 8;
  NonFinitePolicy non_finite = NonFinitePolicy::kPropagate;
  std::vector<float> weights{};  ///< Of the ranks 0, 1 and 2, or none.
};

struct EdgeOptions {
  std::uint16_t lane_count = 2;
  std::uint16_t jobs = 1;  ///< kJob and those behind it, all with the same links.
  std::uint32_t workers = 1;
  std::uint32_t receive_queues = 1;
  std::uint32_t window_packets = 256;
  std::uint32_t edge_buffers = 4096;
  std::uint32_t receive_buffers = 1 << 14;
  Nanoseconds hello_interval_ns = 10 * kSecond;
};

/// The epoch of the line west - edge - east, clique {0, 1, 2}: made by hand.
EpochTable make_table(const EpochOptions& options, std::uint16_t lane_count);

/// What a neighbour got from the edge.
struct Received {
  wire::Header header;
  Bytes payload;
};

/// A whole update, as the ranks contribute it; each value follows from rank, round and position.
struct Update {
  std::uint64_t elements = 20 * 32 - 25;  ///< 20 chunks, the last one of 7 elements.
  std::uint32_t chunk_elements = 32;

  std::uint32_t chunks() const {
    return static_cast<std::uint32_t>((elements + chunk_elements - 1) / chunk_elements);
  }
  std::vector<float> input(std::uint16_t rank, std::uint32_t round, std::uint32_t chunk) const;
  /// The mean over the ranks: a left fold in their order, one division.
  Bytes mean(std::span<const std::uint16_t> ranks, std::uint32_t round, std::uint32_t chunk) const;
};
Bytes to_bytes(std::span<const float> values);

/// A datagram with length and CRCs made good.
Bytes sealed(wire::Header header, const Bytes& payload);

/// An edge between two sites, with an island, on wires without delay in time that stands still unless moved.
/// Its neighbours are puppets that speak the wire by hand, for the job `job`. What the edge sends is checked
/// in passing: valid, with its session, numbered without a gap in each job.
class SmallEdge {
 public:
  explicit SmallEdge(const EdgeOptions& options = {});
  ~SmallEdge();

  Edge& edge() { return *edge_; }
  Lane& lane(std::uint16_t lane);
  MemoryPool& edge_pool() { return *edge_pool_; }
  MemoryPool& rx_pool() { return *rx_pool_; }
  InprocPort& port(Side side) { return *ports_[side].first; }
  static Address address(std::size_t side) { return {0x0a000000 + static_cast<std::uint32_t>(side), 4700}; }

  /// Greets from every side in every lane until all links are up.
  void bring_up();
  /// HELLO from one side in every lane; `session` 0: the one it has.
  void greet(Side side, std::uint32_t session = 0, std::uint32_t epoch = 0, std::uint32_t round = 0);
  /// Installs the epoch and lets the edge take it up.
  void install(const EpochOptions& options, std::uint32_t first_round = kFirstRound);
  Status try_install(const EpochOptions& options, std::uint32_t first_round);
  /// The same with a table that is made elsewhere.
  void install_table(EpochTable table, std::uint32_t first_round = kFirstRound);

  /// A header as that side sends it.
  wire::Header header(Side side, wire::Type type) const;
  wire::Header grant(Side side, std::uint16_t tree, std::uint32_t round, std::uint32_t up_to) const;
  wire::Header round_end(Side side, std::uint16_t tree, std::uint32_t round, wire::RoundOutcome outcome,
                         std::uint64_t missing = 0) const;
  wire::Header contribution(std::uint16_t rank, std::uint32_t round, std::uint32_t chunk) const;
  Bytes payload(std::uint16_t rank, std::uint32_t round, std::uint32_t chunk) const;
  static Side side_of(std::uint16_t rank) { return static_cast<Side>(rank); }

  /// Numbers the packet if its type is sequenced, puts it on the wire, returns its bytes. No turn yet.
  Bytes put(Side side, wire::Header header, const Bytes& payload = {});
  /// Any bytes from any sender on a side's wire. No turn yet.
  void put_raw(Side side, const Address& from, std::uint16_t lane, const Bytes& bytes);
  /// The same, and the edge deals with it.
  Bytes send(Side side, const wire::Header& header, const Bytes& payload = {});
  void contribute(std::uint16_t rank, std::uint32_t round, std::uint32_t chunk);
  /// Every chunk of the round from every rank, in an order that `random` gives, never more than a window
  /// ahead of the slowest; turns in between.
  void contribute_all(std::uint32_t round, Random& random);
  /// Both sites grant everything for the trees that pass to them.
  void grant_all(std::uint32_t round);
  /// The side acknowledges all that it got, in every lane; and the same without a turn.
  void acknowledge(Side side);
  void put_acknowledgement(Side side);
  void acknowledge_everywhere();
  /// Both sites say that they are done with the round, on all trees that pass to them.
  void end_elsewhere(std::uint32_t round, wire::RoundOutcome outcome = wire::RoundOutcome::kComplete);

  /// Turns all workers until nothing is left to do, and collects what left.
  void turn();
  /// Collects what left, without a turn (the workers run elsewhere).
  std::size_t collect();
  Nanoseconds now_ns() const { return now_ns_; }
  void advance(Nanoseconds by_ns) { now_ns_ += by_ns; }
  void set_now(Nanoseconds now_ns) { now_ns_ = now_ns; }

  /// Takes what a side got of one type since the last call.
  std::vector<Received> take(Side side, wire::Type type);
  /// How many packets of a type a side has waiting.
  std::size_t waiting(Side side, wire::Type type) const;
  void forget_received();

  std::uint64_t drops(DropReason reason) const;
  std::uint64_t all_drops() const;
  /// Every counter but packets_in, for "nothing else changes".
  std::vector<std::uint64_t> counters() const;

  Update update;
  std::uint16_t job = kJob;                               ///< That the puppets' packets name ...
  std::uint32_t epoch = 1;                                ///< ... and the epoch.
  std::array<std::uint32_t, kSides> session{50, 50, 50};  ///< Of the puppets.
  std::map<std::pair<std::uint8_t, std::uint16_t>, std::uint32_t>
      next_sequence;  ///< By side and lane, of `job`.

 private:
  void take_in(std::uint8_t side, RxPacket& packet);

  EdgeOptions options_;
  std::unique_ptr<MemoryPool> edge_pool_;
  std::unique_ptr<MemoryPool> rx_pool_;
  std::unique_ptr<MemoryPool> puppet_pool_;
  InprocNetwork network_{1};
  std::vector<std::pair<InprocPort*, InprocPort*>> ports_;  ///< By side: the edge's end, the puppet's end.
  std::unique_ptr<Edge> edge_;
  Nanoseconds now_ns_ = kSecond;
  std::array<std::vector<Received>, kSides> received_;
  std::map<std::tuple<std::uint16_t, std::uint8_t, std::uint16_t>, std::uint32_t>
      expected_;  ///< By job, too.
};

}  // namespace tombolo::dataplane
