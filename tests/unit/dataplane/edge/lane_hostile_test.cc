#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/random.h"
#include "protocol/wire/packet.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::Type;

/// Sends what nobody should, and keeps the account: how many datagrams, and which reason each must give.
class Attacker {
 public:
  Attacker(SmallEdge& edge, std::uint64_t seed) : edge_(edge), random_(seed) {}

  /// One datagram of the kind that chance gives.
  void strike() {
    const auto side = static_cast<Side>(random_.below(kSides));
    switch (random_.below(6)) {
      case 0:
        return damaged(side);
      case 1:
        return truncated(side);
      case 2:
        return noise(side);
      case 3:
        return foreign(side);
      case 4:
        return former(side);
      default:
        return replayed(side);
    }
  }
  /// A packet that was sent, for replay.
  void overhear(Side side, std::uint16_t lane, const Bytes& packet) {
    heard_.push_back({side, lane, packet});
  }

  std::uint64_t sent() const { return sent_; }
  std::uint64_t expected(std::size_t reason) const { return expected_[reason]; }

 private:
  struct Heard {
    Side side;
    std::uint16_t lane;
    Bytes packet;
  };

  Bytes valid(Side side) {
    const auto rank = static_cast<std::uint16_t>(side);
    wire::Header header =
        edge_.contribution(rank, kFirstRound, static_cast<std::uint32_t>(random_.below(8)) * 2);
    header.link_sequence = edge_.next_sequence[{side, 0}];
    return sealed(header, edge_.payload(rank, kFirstRound, header.chunk));
  }
  void put(Side side, const Address& from, std::uint16_t lane, const Bytes& packet, DropReason reason) {
    edge_.put_raw(side, from, lane, packet);
    ++sent_;
    ++expected_[static_cast<std::size_t>(reason)];
  }
  void put_bad(Side side, const Bytes& packet) {
    const DropReason reason = wire::validate(packet);
    ASSERT_NE(reason, DropReason::kNone);
    put(side, SmallEdge::address(side), 0, packet, reason);
  }
  void damaged(Side side) {
    Bytes packet = valid(side);
    const auto bits = 1 + random_.below(8);
    for (std::uint64_t i = 0; i < bits; ++i)
      packet[random_.below(packet.size())] ^= static_cast<std::byte>(1U << random_.below(8));
    if (packet != valid(side) && wire::validate(packet) != DropReason::kNone) put_bad(side, packet);
  }
  void truncated(Side side) {
    Bytes packet = valid(side);
    packet.resize(random_.below(packet.size()));
    put_bad(side, packet);
  }
  void noise(Side side) {
    Bytes packet(random_.below(400));
    for (std::byte& byte : packet) byte = static_cast<std::byte>(random_.bits());
    put_bad(side, packet);
  }
  void foreign(Side side) {
    const Address stranger{static_cast<std::uint32_t>(0x0b000000 + random_.below(1000)), 4700};
    put(side, stranger, 0, valid(side), DropReason::kUnknownSender);
  }
  void former(Side side) {
    wire::Header header = wire::read_header(valid(side));
    const bool older = random_.chance(0.5);
    const auto by = static_cast<std::uint32_t>(1 + random_.below(40));
    header.session = older ? header.session - by : header.session + by;
    put(side, SmallEdge::address(side), 0,
        sealed(header, edge_.payload(header.rank, kFirstRound, header.chunk)),
        older ? DropReason::kOldSession : DropReason::kUnknownSession);
  }
  void replayed(Side) {
    if (heard_.empty()) return;
    const Heard& heard = heard_[random_.below(heard_.size())];
    put(heard.side, SmallEdge::address(heard.side), heard.lane, heard.packet, DropReason::kDuplicateSequence);
  }

  SmallEdge& edge_;
  Random random_;
  std::vector<Heard> heard_;
  std::uint64_t sent_ = 0;
  std::array<std::uint64_t, kDropReasons> expected_{};
};

TEST(LaneHostileTest, ThousandsOfBadPacketsAreCountedAndTheRoundIsExact) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    SmallEdge edge;
    edge.bring_up();
    edge.install({});
    edge.grant_all(kFirstRound);
    edge.forget_received();
    Attacker attacker(edge, seed);
    std::uint64_t good = 0;
    for (std::uint32_t chunk = 0; chunk < edge.update.chunks(); ++chunk)
      for (const std::uint16_t rank : kRanks) {
        for (int i = 0; i < 50; ++i) attacker.strike();
        const wire::Header header = edge.contribution(rank, kFirstRound, chunk);
        const Side side = SmallEdge::side_of(rank);
        const Bytes packet = edge.put(side, header, edge.payload(rank, kFirstRound, chunk));
        edge.turn();
        attacker.overhear(side, header.lane, packet);
        ++good;
      }
    EXPECT_GT(attacker.sent(), 2000U);
    EXPECT_EQ(edge.edge().totals().contributions, good);
    EXPECT_EQ(edge.all_drops(), attacker.sent()) << "each counted once";
    for (std::size_t reason = 0; reason < kDropReasons; ++reason)
      EXPECT_EQ(edge.edge().totals().drops[reason], attacker.expected(reason))
          << name(static_cast<DropReason>(reason));
    const auto results = edge.take(kIsland, Type::kResult);
    ASSERT_EQ(results.size(), edge.update.chunks());
    for (const Received& result : results)
      EXPECT_EQ(result.payload, edge.update.mean(kRanks, kFirstRound, result.header.chunk));
    edge.end_elsewhere(kFirstRound);
    edge.acknowledge_everywhere();
    EXPECT_EQ(edge.rx_pool().in_use(), 0U);
  }
}

/// A neighbour that is known, up, and mad: packets that are sound by their bytes, with any content, often
/// enough near to something sensible.
class Mad {
 public:
  Mad(SmallEdge& edge, std::uint64_t seed) : edge_(edge), random_(seed) {}

  /// Puts a packet on the wire unless its bytes are not sound; returns whether it did.
  bool speak() {
    constexpr std::array<Type, 10> kTypes{
        Type::kContribution, Type::kContribution, Type::kContribution, Type::kPartial, Type::kResult,
        Type::kGrant,        Type::kRoundEnd,     Type::kJoin,         Type::kHello,   Type::kFeedback};
    const auto side = static_cast<Side>(random_.below(kSides));
    wire::Header header = edge_.header(side, kTypes[random_.below(kTypes.size())]);
    header.lane = static_cast<std::uint16_t>(random_.below(2));
    header.epoch = random_.chance(0.8) ? 1 : number(4);
    header.round = random_.chance(0.8) ? kFirstRound : number(16);
    header.tree = static_cast<std::uint16_t>(random_.chance(0.2) ? number(14) : random_.below(3));
    header.rank = static_cast<std::uint16_t>(random_.chance(0.1) ? number(4) : header.tree % kPairTrees);
    header.chunk = number(24);
    header.link_sequence =
        edge_.lane(header.lane).peer(side).receiver().cumulative() + (random_.chance(0.8) ? 0 : number(3));
    const Bytes packet = sealed(header, content(header));
    if (wire::validate(packet) != DropReason::kNone) return false;
    edge_.put_raw(side, SmallEdge::address(side), header.lane, packet);
    return true;
  }
  bool chance(double p) { return random_.chance(p); }

 private:
  /// Mostly below the bound, sometimes any.
  std::uint32_t number(std::uint32_t bound) {
    return static_cast<std::uint32_t>(random_.chance(0.1) ? random_.bits() : random_.below(bound));
  }
  /// The fields and the body that the type has.
  Bytes content(wire::Header& header) {
    switch (header.packet_type()) {
      case Type::kContribution:
      case Type::kPartial:
      case Type::kResult:
        if (random_.chance(0.8))
          header.chunk = header.lane + 2 * static_cast<std::uint32_t>(random_.below(2));
        header.specific = random_.chance(0.8) ? edge_.update.elements : random_.below(1 << 16);
        header.format = 1;
        if (header.packet_type() == Type::kPartial) header.update_format = 1;
        header.operation = static_cast<std::uint8_t>(random_.chance(0.8) ? 2 : 1 + random_.below(5));
        return Bytes(random_.chance(0.8) ? 128 : random_.below(33) * 4);
      case Type::kHello:
        return hello();
      case Type::kFeedback:
        return feedback();
      case Type::kGrant:
        header.specific = random_.bits();
        return {};
      case Type::kRoundEnd:
        // Seldom of the round that the others are about, or it would not live long enough.
        if (random_.chance(0.9)) header.round = number(16);
        header.chunk = static_cast<std::uint32_t>(random_.below(4));
        header.specific = header.chunk == 0 ? 0 : random_.bits();
        if (random_.chance(0.3)) header.tree = wire::kNoTree;
        return {};
      default:
        return {};
    }
  }
  Bytes hello() {
    const std::uint32_t next = number(100);
    const auto kept = static_cast<std::uint32_t>(random_.below(100));
    const std::uint32_t known = random_.chance(0.5) ? kEdgeSession : number(2000);
    Bytes body(wire::kHelloBytes);
    wire::encode(wire::Hello{known, next, next - kept, number(100), number(100)}, body);
    return body;
  }
  Bytes feedback() {
    wire::Feedback feedback;
    feedback.peer_session = random_.chance(0.9) ? kEdgeSession : number(2000);
    feedback.cumulative = number(30);
    feedback.highest = feedback.cumulative + static_cast<std::uint32_t>(random_.below(100));
    if (feedback.highest != feedback.cumulative) {
      feedback.range_count = 1;
      feedback.ranges[0] = {feedback.cumulative, 1};
    }
    Bytes body(wire::kMaxFeedbackBytes);
    body.resize(wire::encode(feedback, body));
    return body;
  }

  SmallEdge& edge_;
  Random random_;
};

TEST(LaneHostileTest, SoundPacketsWithAnyContentBreakNothing) {
  std::uint64_t contributions = 0;
  std::uint64_t folds = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    SmallEdge edge;
    edge.bring_up();
    edge.install({.pair_entry = true});
    Mad mad(edge, seed);
    int sound = 0;
    for (int i = 0; i < 3000; ++i) {
      if (mad.speak()) ++sound;
      if (mad.chance(0.2)) edge.turn();
      if (mad.chance(0.005)) edge.advance(kDeadline / 4);
    }
    edge.turn();
    EXPECT_GT(sound, 1000);
    contributions += edge.edge().totals().contributions;
    folds += edge.edge().totals().folds;
    // Rounds end by their deadlines; what is cached for repair goes with the links.
    edge.advance(2 * kDeadline);
    edge.turn();
    edge.advance(40 * kSecond);
    edge.turn();
    EXPECT_EQ(edge.rx_pool().in_use(), 0U);
  }
  EXPECT_GT(contributions, 50U) << "some of it even makes sense";
  EXPECT_GT(folds, 0U);
}

}  // namespace
}  // namespace tombolo::dataplane
