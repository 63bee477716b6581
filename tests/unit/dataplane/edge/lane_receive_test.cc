#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "protocol/wire/config.h"
#include "protocol/wire/packet.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::Type;

constexpr std::uint32_t kWindow = 256;

/// One packet for one reason: made from a contribution of rank 0 that would be used.
struct Case {
  std::string name;
  DropReason reason;
  bool marked;  ///< The previous hop need not send it again.
  /// Puts the packet on the wire; `header` and `payload` are the good one's.
  std::function<void(SmallEdge&, wire::Header header, Bytes payload)> put;
};

void put_from_west(SmallEdge& edge, const wire::Header& header, const Bytes& payload = {}) {
  edge.put(kWest, header, payload);
}

/// Changes one byte of the good packet, numbered as if it were sent; `reseal` makes the header CRC good
/// again.
auto with_byte(std::size_t offset, std::uint8_t value, bool reseal) {
  return [=](SmallEdge& edge, wire::Header header, const Bytes& payload) {
    header.link_sequence = edge.next_sequence[{kWest, 0}];
    Bytes packet = sealed(header, payload);
    packet[offset] = static_cast<std::byte>(value);
    if (reseal) {
      wire::Header changed = wire::read_header(packet);
      wire::seal(changed);
      std::copy_n(std::as_bytes(std::span(&changed, 1)).begin(), sizeof changed, packet.begin());
    }
    edge.put_raw(kWest, SmallEdge::address(kWest), 0, packet);
  };
}

/// Changes a field of the good header.
template <typename Change>
auto changed(Change change) {
  return [change](SmallEdge& edge, wire::Header header, Bytes payload) {
    change(header, payload);
    put_from_west(edge, header, payload);
  };
}

std::vector<Case> byte_cases() {
  return {
      {"shorter than a header", DropReason::kTruncated, false,
       [](SmallEdge& edge, const wire::Header& header, const Bytes&) {
         Bytes packet = sealed(header, {});
         packet.pop_back();
         edge.put_raw(kWest, SmallEdge::address(kWest), 0, packet);
       }},
      {"no byte at all", DropReason::kTruncated, false,
       [](SmallEdge& edge, const wire::Header&, const Bytes&) {
         edge.put_raw(kWest, SmallEdge::address(kWest), 0, {});
       }},
      {"another magic", DropReason::kBadMagic, false, with_byte(0, 0, true)},
      {"another version", DropReason::kBadVersion, false, with_byte(2, 2, true)},
      {"a damaged header", DropReason::kBadHeaderCrc, false, with_byte(21, 0xff, false)},
      {"an unknown type", DropReason::kBadType, false, with_byte(3, 11, true)},
      {"an unknown flag", DropReason::kBadFlags, false, with_byte(4, 2, true)},
      {"a reserved byte", DropReason::kReservedNotZero, false, with_byte(54, 1, true)},
      {"another length", DropReason::kBadLength, false, with_byte(50, 1, true)},
      {"an unknown format", DropReason::kBadField, false, with_byte(48, 8, true)},
      {"a damaged payload", DropReason::kBadPayloadCrc, false, with_byte(100, 0xff, false)},
  };
}

std::vector<Case> sender_cases() {
  return {
      {"a stranger", DropReason::kUnknownSender, false,
       [](SmallEdge& edge, const wire::Header& header, const Bytes& payload) {
         edge.put_raw(kWest, {0x0a000063, 4700}, 0, sealed(header, payload));
       }},
      {"the neighbour's address, another port", DropReason::kUnknownSender, false,
       [](SmallEdge& edge, const wire::Header& header, const Bytes& payload) {
         edge.put_raw(kWest, {SmallEdge::address(kWest).ipv4, 4701}, 0, sealed(header, payload));
       }},
      {"another job", DropReason::kUnknownJob, false,
       changed([](wire::Header& header, Bytes&) { header.job = kJob + 1; })},
      {"a lane that is not the port's", DropReason::kWrongLane, false,
       [](SmallEdge& edge, const wire::Header& header, const Bytes& payload) {
         edge.put_raw(kWest, SmallEdge::address(kWest), 1, sealed(header, payload));
       }},
      {"a lane that the edge does not have", DropReason::kWrongLane, false,
       [](SmallEdge& edge, const wire::Header& header, const Bytes& payload) {
         edge.put_raw(kWest, SmallEdge::address(kWest), 2, sealed(header, payload));
       }},
      {"a former session", DropReason::kOldSession, false,
       changed([](wire::Header& header, Bytes&) { header.session = kNeighbourSession - 1; })},
      {"a session that nobody has announced", DropReason::kUnknownSession, false,
       changed([](wire::Header& header, Bytes&) { header.session = kNeighbourSession + 1; })},
      {"a former session's HELLO", DropReason::kOldSession, false,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         wire::Header hello = edge.header(kWest, Type::kHello);
         hello.session = kNeighbourSession - 1;
         Bytes body(wire::kHelloBytes);
         wire::encode(wire::Hello{kEdgeSession, 0, 0, 0, wire::kNoEcho}, body);
         edge.put(kWest, hello, body);
       }},
  };
}

std::vector<Case> contribution_cases() {
  return {
      {"an epoch that is not here yet", DropReason::kUnknownEpoch, false,
       changed([](wire::Header& header, Bytes&) { header.epoch = 3; })},
      {"an epoch that is gone", DropReason::kUnknownEpoch, true,
       changed([](wire::Header& header, Bytes&) { header.epoch = 1; })},
      {"an unknown tree", DropReason::kUnknownTree, true,
       changed([](wire::Header& header, Bytes&) { header.tree = 9; })},
      {"a tree far beyond the table", DropReason::kUnknownTree, true,
       changed([](wire::Header& header, Bytes&) { header.tree = 0xfffe; })},
      {"another entry's tree", DropReason::kUnknownTree, true,
       changed([](wire::Header& header, Bytes&) { header.round = kFirstRound + 1; })},
      {"a tree that comes over another link", DropReason::kWrongLink, true,
       changed([](wire::Header& header, Bytes&) { header.tree = header.rank = 2; })},
      {"another source", DropReason::kWrongRank, true,
       changed([](wire::Header& header, Bytes&) { header.rank = 2; })},
      {"another lane's chunk", DropReason::kWrongLane, true,
       changed([](wire::Header& header, Bytes&) { header.chunk = 3; })},
      {"a later round", DropReason::kRoundNotOpen, true,
       changed([](wire::Header& header, Bytes&) { header.round = kFirstRound + 4; })},
      {"a round before the epoch", DropReason::kRoundClosed, true,
       changed([](wire::Header& header, Bytes&) { header.round = kFirstRound - 2; })},
      {"the first chunk beyond the grant", DropReason::kBeyondGrant, true,
       changed([](wire::Header& header, Bytes&) { header.chunk = 16; })},
      {"another size of the update", DropReason::kMismatch, true,
       changed([](wire::Header& header, Bytes&) { header.specific = 616; })},
      {"another format", DropReason::kMismatch, true, changed([](wire::Header& header, Bytes& payload) {
         header.format = static_cast<std::uint8_t>(wire::Format::kBf16);
         payload.resize(64);
       })},
      {"another operation", DropReason::kMismatch, true, changed([](wire::Header& header, Bytes&) {
         header.operation = static_cast<std::uint8_t>(wire::Operation::kSum);
       })},
      {"a short chunk", DropReason::kMismatch, true,
       changed([](wire::Header&, Bytes& payload) { payload.resize(0); })},
      {"a chunk that was here, under another number", DropReason::kDuplicateContribution, true,
       changed([](wire::Header& header, Bytes&) { header.chunk = 0; })},
  };
}

/// Grants, ends of rounds, and types that an edge does not take.
std::vector<Case> other_cases() {
  return {
      {"a grant for a tree that does not go there", DropReason::kWrongLink, true,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         put_from_west(edge, edge.grant(kWest, 0, kFirstRound, 100));
       }},
      {"a grant for another source", DropReason::kWrongRank, true,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         wire::Header grant = edge.grant(kWest, 1, kFirstRound, 100);
         grant.rank = 0;
         put_from_west(edge, grant);
       }},
      {"a grant for a round before the epoch", DropReason::kRoundClosed, true,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         put_from_west(edge, edge.grant(kWest, 1, kFirstRound - 2, 100));
       }},
      {"a grant for another entry's round", DropReason::kUnknownTree, true,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         put_from_west(edge, edge.grant(kWest, 1, kFirstRound + 1, 100));
       }},
      {"an end for another source", DropReason::kWrongRank, true,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         wire::Header end = edge.round_end(kWest, 1, kFirstRound, wire::RoundOutcome::kDeadline);
         end.rank = 2;
         put_from_west(edge, end);
       }},
      {"an end for a tree that does not go there", DropReason::kWrongLink, true,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         put_from_west(edge, edge.round_end(kWest, 0, kFirstRound, wire::RoundOutcome::kDeadline));
       }},
      {"a site that speaks like an island", DropReason::kWrongLink, true,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         put_from_west(edge,
                       edge.round_end(kWest, wire::kNoTree, kFirstRound, wire::RoundOutcome::kAbandoned));
       }},
      {"a JOIN from a site", DropReason::kWrongRank, false,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         wire::Header join = edge.header(kWest, Type::kJoin);
         join.rank = 0;
         put_from_west(edge, join);
       }},
      {"a partial", DropReason::kUnknownTree, true, changed([](wire::Header& header, Bytes&) {
         header.type = static_cast<std::uint8_t>(Type::kPartial);
         header.update_format = header.format;
       })},
      {"a result", DropReason::kUnknownTree, true,
       changed([](wire::Header& header, Bytes&) { header.type = static_cast<std::uint8_t>(Type::kResult); })},
      {"a parity", DropReason::kUnsupportedType, false,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         wire::Header parity = edge.header(kWest, Type::kParity);
         parity.epoch = 2;
         parity.specific = 1;
         put_from_west(edge, parity, Bytes(wire::kParityIdentityBytes));
       }},
      {"a config", DropReason::kUnsupportedType, false,
       [](SmallEdge& edge, wire::Header, const Bytes&) {
         wire::Config rest;
         rest.entries = rest.lane_count = 1;
         rest.chunk_elements = 32;
         rest.deadline_ns = 1;
         Bytes body(wire::kMaxConfigBytes);
         body.resize(wire::encode(rest, body));
         wire::Header config = edge.header(kWest, Type::kConfig);
         config.epoch = 2;
         config.rank = 0;
         put_from_west(edge, config, body);
       }},
  };
}

std::vector<Case> sequence_cases() {
  return {
      {"a number that was here", DropReason::kDuplicateSequence, false,
       [](SmallEdge& edge, wire::Header header, const Bytes& payload) {
         header.link_sequence = edge.next_sequence[{kWest, 0}] - 1;
         edge.put_raw(kWest, SmallEdge::address(kWest), 0, sealed(header, payload));
       }},
      {"a number beyond the window", DropReason::kSequenceTooFar, false,
       [](SmallEdge& edge, wire::Header header, const Bytes& payload) {
         header.link_sequence = edge.next_sequence[{kWest, 0}] + kWindow;
         edge.put_raw(kWest, SmallEdge::address(kWest), 0, sealed(header, payload));
       }},
  };
}

class DropTest : public testing::TestWithParam<Case> {};

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string text = info.param.name;
  for (char& letter : text)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return text;
}

TEST_P(DropTest, ExactlyItsCounterMovesAndNothingElseChanges) {
  SmallEdge edge({.window_packets = kWindow});
  edge.bring_up();
  // Epoch 1 is gone, epoch 2 runs.
  edge.epoch = 2;
  edge.install({.epoch = 2, .pair_entry = true});
  edge.grant_all(kFirstRound);
  edge.contribute(0, kFirstRound, 0);
  edge.turn();
  edge.acknowledge_everywhere();
  edge.forget_received();

  std::vector<std::uint64_t> expected = edge.counters();
  ++expected[static_cast<std::size_t>(GetParam().reason)];
  const std::uint64_t slots = edge.rx_pool().in_use();
  const std::uint64_t buffers = edge.edge_pool().in_use();
  const auto& receiver = edge.lane(0).peer(kWest).receiver();
  const std::uint32_t cumulative = receiver.cumulative();

  GetParam().put(edge, edge.contribution(0, kFirstRound, 2), edge.payload(0, kFirstRound, 2));
  edge.turn();

  EXPECT_EQ(edge.counters(), expected) << name(GetParam().reason);
  EXPECT_EQ(edge.rx_pool().in_use(), slots);
  EXPECT_EQ(edge.edge_pool().in_use(), buffers);
  EXPECT_EQ(receiver.cumulative(), cumulative + (GetParam().marked ? 1 : 0));
  for (const Side side : kAllSides)
    for (const Type type : {Type::kContribution, Type::kResult, Type::kGrant, Type::kRoundEnd, Type::kConfig})
      EXPECT_EQ(edge.waiting(side, type), 0U) << "type " << static_cast<int>(type);

  // The good packet, under its own number, is used all the same.
  const std::uint64_t used = edge.edge().totals().contributions;
  if (GetParam().reason == DropReason::kUnknownEpoch && !GetParam().marked) --edge.next_sequence[{kWest, 0}];
  edge.contribute(0, kFirstRound, 2);
  edge.turn();
  EXPECT_EQ(edge.edge().totals().contributions, used + 1);
}

INSTANTIATE_TEST_SUITE_P(Bytes, DropTest, testing::ValuesIn(byte_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Sender, DropTest, testing::ValuesIn(sender_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Contribution, DropTest, testing::ValuesIn(contribution_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Other, DropTest, testing::ValuesIn(other_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Sequence, DropTest, testing::ValuesIn(sequence_cases()), test_name);

TEST(LaneReceiveTest, WhatComesOfAnEndedRoundIsClosed) {
  SmallEdge edge;
  edge.bring_up();
  edge.install({});
  edge.update.elements = 64;
  edge.grant_all(kFirstRound);
  for (const std::uint16_t rank : kRanks)
    for (const std::uint32_t chunk : {0U, 1U}) edge.contribute(rank, kFirstRound, chunk);
  edge.turn();
  edge.end_elsewhere(kFirstRound);
  ASSERT_EQ(edge.all_drops(), 0U);
  edge.forget_received();
  edge.contribute(0, kFirstRound, 0);
  edge.turn();
  EXPECT_EQ(edge.drops(DropReason::kRoundClosed), 1U);
  EXPECT_EQ(edge.waiting(kEast, Type::kContribution), 0U) << "nobody below waits for it";
  edge.send(kIsland, edge.round_end(kIsland, wire::kNoTree, kFirstRound, wire::RoundOutcome::kAbandoned));
  EXPECT_EQ(edge.drops(DropReason::kRoundClosed), 2U);
  EXPECT_EQ(edge.all_drops(), 2U);
}

TEST(LaneReceiveTest, BeforeAnyEpochEverythingComesAgain) {
  SmallEdge edge;
  edge.bring_up();
  const Bytes early =
      edge.send(kIsland, edge.contribution(1, kFirstRound, 0), edge.payload(1, kFirstRound, 0));
  const Bytes grant = edge.send(kWest, edge.grant(kWest, 1, kFirstRound, 8));
  const Bytes other = edge.send(kEast, edge.grant(kEast, 1, kFirstRound, 8));
  EXPECT_EQ(edge.drops(DropReason::kUnknownEpoch), 3U);
  edge.install({});
  edge.put_raw(kWest, SmallEdge::address(kWest), 0, grant);
  edge.put_raw(kEast, SmallEdge::address(kEast), 0, other);
  edge.turn();
  edge.put_raw(kIsland, SmallEdge::address(kIsland), 0, early);
  edge.turn();
  EXPECT_EQ(edge.edge().totals().contributions, 1U);
  EXPECT_EQ(edge.all_drops(), 3U);
  for (const Side side : kAllSides) EXPECT_FALSE(edge.lane(0).peer(side).receiver().has_gap());
}

TEST(LaneReceiveTest, APacketBeforeTheFirstHelloChangesNothing) {
  SmallEdge edge;
  edge.turn();
  edge.install({});
  edge.contribute(0, kFirstRound, 0);
  edge.turn();
  EXPECT_EQ(edge.drops(DropReason::kUnknownSession), 1U);
  EXPECT_EQ(edge.all_drops(), 1U);
}

TEST(LaneReceiveTest, AnIslandJoinsAndIsToldEachEntry) {
  SmallEdge edge;
  edge.bring_up();
  wire::Header join = edge.header(kIsland, Type::kJoin);
  join.rank = 1;
  edge.send(kIsland, join);
  EXPECT_EQ(edge.drops(DropReason::kUnknownEpoch), 1U) << "asked too early";
  edge.install({.epoch = 4, .pair_entry = true});
  edge.send(kIsland, join);
  const auto configs = edge.take(kIsland, Type::kConfig);
  ASSERT_EQ(configs.size(), 2U);
  const EpochTable table = make_table({.epoch = 4, .pair_entry = true}, 2);
  for (std::uint32_t entry = 0; entry < 2; ++entry) {
    EXPECT_EQ(configs[entry].header.epoch, 4U);
    EXPECT_EQ(configs[entry].header.rank, 1);
    wire::Config config;
    ASSERT_TRUE(wire::parse(configs[entry].payload, config));
    EXPECT_EQ(config.entry, entry);
    EXPECT_EQ(config.entries, 2U);
    EXPECT_EQ(config.first_round, kFirstRound);
    EXPECT_EQ(config.chunk_elements, 32U);
    EXPECT_EQ(config.lane_count, 2);
    EXPECT_TRUE(config.edge_aggregation);
    EXPECT_EQ(config.deadline_ns, kDeadline);
    const aggregation::MemberEntry& members = table.islands[0].members[entry];
    EXPECT_EQ(config.self, members.self);
    EXPECT_EQ(config.members, members.members);
    EXPECT_EQ(config.window_chunks, members.window_chunks);
    EXPECT_EQ(config.stream_rate_bps, table.islands[0].sends[entry].stream_rate_bps);
    EXPECT_EQ(config.send_tree_count, 1);
    EXPECT_EQ(config.send_tree[0], table.islands[0].sends[entry].send_trees[0]);
    for (std::size_t i = 0; i < members.members; ++i) {
      EXPECT_EQ(config.rank[i], members.ranks[i]);
      EXPECT_EQ(config.receive_tree[i], members.receive_trees[i]);
    }
  }
  join.chunk = 1;
  edge.send(kIsland, join);
  EXPECT_EQ(edge.take(kIsland, Type::kConfig).size(), 1U) << "from the entry that it wants";
  join.chunk = 2;
  edge.send(kIsland, join);
  join.chunk = 0;
  join.epoch = 4;
  edge.send(kIsland, join);
  EXPECT_EQ(edge.waiting(kIsland, Type::kConfig), 0U) << "it has everything";
  join.rank = 2;
  edge.send(kIsland, join);
  EXPECT_EQ(edge.drops(DropReason::kWrongRank), 1U) << "another island's part is not for it";
  EXPECT_EQ(edge.waiting(kIsland, Type::kConfig), 0U);
}

TEST(LaneReceiveTest, ASitesHelloTellsOfAnEpochThatThisEdgeLacks) {
  SmallEdge edge;
  edge.bring_up();
  EXPECT_EQ(edge.edge().job().peer_commit().epoch, 0U);
  edge.greet(kIsland, 0, 6, 40);
  edge.turn();
  EXPECT_EQ(edge.edge().job().peer_commit().epoch, 0U) << "an island commits nothing";
  edge.greet(kEast, 0, 6, 40);
  edge.turn();
  EXPECT_EQ(edge.edge().job().peer_commit().epoch, 6U);
  EXPECT_EQ(edge.edge().job().peer_commit().first_round, 40U);
  edge.install({.epoch = 6}, 40);
  EXPECT_EQ(edge.edge().job().peer_commit().epoch, 0U) << "no news any more";
  EXPECT_GE(edge.waiting(kWest, Type::kHello), 1U) << "and passes it on at once";
  for (const Received& hello : edge.take(kWest, Type::kHello)) {
    if (hello.header.epoch == 0) continue;
    EXPECT_EQ(hello.header.epoch, 6U);
    EXPECT_EQ(hello.header.round, 40U);
  }
}

TEST(LaneReceiveTest, ANeighboursNewSessionIsToldItsGrantsAgain) {
  SmallEdge edge;
  edge.bring_up();
  edge.install({});
  edge.grant_all(kFirstRound);
  edge.acknowledge_everywhere();
  const auto first = edge.take(kIsland, Type::kGrant);
  ASSERT_FALSE(first.empty());
  edge.forget_received();
  // The island restarts: its sequence numbers are new, and what it sent before is of its former life.
  const Bytes former = sealed(edge.contribution(1, kFirstRound, 0), edge.payload(1, kFirstRound, 0));
  edge.greet(kIsland, kNeighbourSession + 1);
  edge.turn();
  const auto again = edge.take(kIsland, Type::kGrant);
  ASSERT_EQ(again.size(), 2U) << "one for each lane";
  for (const Received& grant : again) {
    EXPECT_EQ(grant.header.round, kFirstRound);
    EXPECT_EQ(grant.header.chunk, 16U + grant.header.lane);
  }
  edge.put_raw(kIsland, SmallEdge::address(kIsland), 0, former);
  edge.turn();
  EXPECT_EQ(edge.drops(DropReason::kOldSession), 1U);
  EXPECT_EQ(edge.edge().totals().contributions, 0U);
}

}  // namespace
}  // namespace tombolo::dataplane
