// An edge in a clique that folds on a tree: one crafted packet each.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/drop_reason.h"
#include "protocol/wire/packet.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using multicast::Traffic;
using wire::RoundOutcome;
using wire::Type;

// Trees: the contributions of ranks 0 and 1 have their numbers.
constexpr std::uint16_t kOwnPartials = 3;   // From here to the east.
constexpr std::uint16_t kResults = 4;       // From the root to all.
constexpr std::uint16_t kEastPartials = 5;  // From the east to here.
constexpr std::uint64_t kWestBit = 1U << kWest;
constexpr std::uint64_t kEastBit = 1U << kEast;
constexpr std::size_t kSitePoint = 1;  // Behind that of the island.

multicast::BranchSpec branch(std::uint16_t tree, std::uint16_t rank, Traffic traffic) {
  multicast::BranchSpec spec;
  spec.tree = tree;
  spec.branch.rank = rank;
  spec.branch.traffic = traffic;
  return spec;
}

/// A stream from a link that is folded here.
multicast::BranchSpec input(std::uint16_t tree, std::uint16_t rank, Traffic traffic, Side from,
                            std::uint8_t place) {
  multicast::BranchSpec spec = branch(tree, rank, traffic);
  spec.branch.parent_link = from;
  spec.branch.deliver = 1U << kSitePoint;
  spec.branch.input = place;
  return spec;
}

/// The clique {0, 1, 2} of west, this site and east. Either the east is the root: this site folds ranks 0
/// and 1. Or this site is: it folds those and what the east has folded.
EpochTable tree_table(bool is_root, std::uint16_t lane_count) {
  EpochOptions options;
  EpochTable table = make_table(options, lane_count);
  table.islands[0].members[0].on_tree = true;
  table.islands[0].members[0].receive_trees.fill(wire::kNoTree);
  SitePoint site;
  site.lowest_member = 0;
  aggregation::MemberEntry inputs;
  inputs.members = is_root ? 3 : 2;
  inputs.window_chunks = options.slots_per_lane * lane_count;
  inputs.ranks = {0, 1, 2};
  inputs.receive_trees = {0, 1, kEastPartials};
  site.inputs.push_back(inputs);
  SiteEntry at;
  at.tree = is_root ? kResults : kOwnPartials;
  at.is_root = is_root;
  at.partials = is_root ? 4 : 0;
  at.below = is_root ? std::vector<std::uint64_t>{1, 2, 4} : std::vector<std::uint64_t>{1, 2};
  at.members = {0, 1, 2};
  site.entries.push_back(at);
  table.sites.push_back(site);

  std::vector<multicast::BranchSpec> specs{input(0, 0, Traffic::kContributions, kWest, 0),
                                           input(1, 1, Traffic::kContributions, kIsland, 1)};
  multicast::BranchSpec out =
      branch(at.tree, wire::kNoRank, is_root ? Traffic::kResults : Traffic::kPartials);
  out.branch.parent_point = kSitePoint;
  out.branch.child_links = is_root ? kWestBit | kEastBit : kEastBit;
  out.branch.deliver = is_root ? 1 : 0;
  specs.push_back(out);
  if (is_root) {
    specs.push_back(input(kEastPartials, wire::kNoRank, Traffic::kPartials, kEast, 2));
  } else {
    multicast::BranchSpec results = branch(kResults, wire::kNoRank, Traffic::kResults);
    results.branch.parent_link = kEast;
    results.branch.child_links = kWestBit;
    results.branch.deliver = 1;
    specs.push_back(results);
  }
  table.forwarding = *multicast::ForwardingTable::build(specs, kSides, table.points());
  return table;
}

class LaneTreeTest : public testing::Test {
 protected:
  void start(bool is_root) {
    edge_.bring_up();
    edge_.install_table(tree_table(is_root, 2));
    edge_.turn();
  }

  /// The east grants, or ends, the tree that starts here, in every lane.
  void east_grants(std::uint16_t tree, std::uint32_t up_to, std::uint32_t round = kFirstRound) {
    for (std::uint16_t lane = 0; lane < 2; ++lane) {
      wire::Header header = edge_.grant(kEast, tree, round, up_to);
      header.rank = wire::kNoRank;
      header.lane = lane;
      edge_.put(kEast, header);
    }
    edge_.turn();
  }
  void ends(Side side, std::uint16_t tree, RoundOutcome outcome, std::uint64_t specific = 0) {
    for (std::uint16_t lane = 0; lane < 2; ++lane) {
      wire::Header header = edge_.round_end(side, tree, kFirstRound, outcome, specific);
      header.rank = wire::kNoRank;
      header.lane = lane;
      edge_.put(side, header);
    }
    edge_.turn();
  }

  /// The sum of the updates of ranks 0 and 1, folded in that order, as fp32.
  Bytes partial(std::uint32_t chunk) const {
    std::vector<float> sum = edge_.update.input(0, kFirstRound, chunk);
    const std::vector<float> other = edge_.update.input(1, kFirstRound, chunk);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + other[i];
    return to_bytes(sum);
  }
  wire::Header east_partial(std::uint32_t chunk) const {
    wire::Header header = edge_.contribution(2, kFirstRound, chunk);
    header.type = static_cast<std::uint8_t>(Type::kPartial);
    header.tree = kEastPartials;
    header.rank = wire::kNoRank;
    header.update_format = header.format;
    return header;
  }
  wire::Header result(std::uint32_t chunk) const {
    wire::Header header = edge_.contribution(2, kFirstRound, chunk);
    header.type = static_cast<std::uint8_t>(Type::kResult);
    header.tree = kResults;
    header.rank = wire::kNoRank;
    header.specific = 7;
    return header;
  }
  void contribute_below() {
    for (std::uint32_t chunk = 0; chunk < edge_.update.chunks(); ++chunk) {
      edge_.contribute(0, kFirstRound, chunk);
      edge_.contribute(1, kFirstRound, chunk);
      edge_.turn();
    }
  }

  SmallEdge edge_;
};

TEST_F(LaneTreeTest, FoldsWhatComesFromBelowAndPassesItOn) {
  start(false);
  east_grants(kOwnPartials, wire::kAllChunks);
  edge_.contribute(1, kFirstRound, 3);
  edge_.turn();
  EXPECT_EQ(edge_.waiting(kEast, Type::kPartial), 0U);
  edge_.contribute(0, kFirstRound, 3);
  edge_.turn();
  const auto partials = edge_.take(kEast, Type::kPartial);
  ASSERT_EQ(partials.size(), 1U);
  const wire::Header& header = partials[0].header;
  EXPECT_EQ(partials[0].payload, partial(3)) << "not divided: the root does that";
  EXPECT_EQ(header.tree, kOwnPartials);
  EXPECT_EQ(header.rank, wire::kNoRank);
  EXPECT_EQ(header.round, kFirstRound);
  EXPECT_EQ(header.chunk, 3U);
  EXPECT_EQ(header.specific, edge_.update.elements);
  EXPECT_EQ(header.format, static_cast<std::uint8_t>(wire::Format::kFp32));
  EXPECT_EQ(header.update_format, static_cast<std::uint8_t>(wire::Format::kFp32));
  EXPECT_EQ(header.operation, static_cast<std::uint8_t>(wire::Operation::kMean));
  EXPECT_EQ(edge_.waiting(kIsland, Type::kResult), 0U);
  EXPECT_EQ(edge_.waiting(kWest, Type::kPartial), 0U);
}

TEST_F(LaneTreeTest, GrantsNoMoreThanTheSiteAboveHasSlotsFor) {
  start(false);
  EXPECT_EQ(edge_.waiting(kWest, Type::kGrant), 0U) << "there are slots here, but none above";
  east_grants(kOwnPartials, 10);
  for (const Side side : {kWest, kIsland}) {
    const auto grants = edge_.take(side, Type::kGrant);
    ASSERT_EQ(grants.size(), 2U);
    for (const Received& grant : grants) {
      EXPECT_EQ(grant.header.chunk, 10U);
      EXPECT_EQ(grant.header.tree, side);
      EXPECT_EQ(grant.header.rank, side);
    }
  }
  const std::uint64_t before = edge_.drops(DropReason::kBeyondGrant);
  edge_.contribute(0, kFirstRound, 10);
  edge_.turn();
  EXPECT_EQ(edge_.drops(DropReason::kBeyondGrant), before + 1);
  // Above everything is granted: here there are 8 slots in each lane.
  east_grants(kOwnPartials, wire::kAllChunks);
  for (const Received& grant : edge_.take(kWest, Type::kGrant))
    EXPECT_EQ(grant.header.chunk, 16U + grant.header.lane);
}

TEST_F(LaneTreeTest, AResultGoesToTheIslandAndOnDownTheTree) {
  start(false);
  const Bytes payload = edge_.payload(2, kFirstRound, 2);
  edge_.send(kEast, result(2), payload);
  const auto own = edge_.take(kIsland, Type::kResult);
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own[0].payload, payload);
  EXPECT_EQ(own[0].header.rank, 1) << "as if its own edge had folded it";
  EXPECT_EQ(own[0].header.tree, wire::kNoTree);
  EXPECT_EQ(own[0].header.specific, 7U);
  const auto on = edge_.take(kWest, Type::kResult);
  ASSERT_EQ(on.size(), 1U);
  EXPECT_EQ(on[0].payload, payload);
  EXPECT_EQ(on[0].header.rank, wire::kNoRank);
  EXPECT_EQ(on[0].header.tree, kResults);
}

TEST_F(LaneTreeTest, TheRootFoldsContributionsAndPartialsAndSendsResults) {
  start(true);
  edge_.contribute(0, kFirstRound, 0);
  edge_.contribute(1, kFirstRound, 0);
  edge_.send(kEast, east_partial(0), edge_.payload(2, kFirstRound, 0));
  const Bytes mean = edge_.update.mean(kRanks, kFirstRound, 0);
  for (const Side side : kAllSides) {
    const auto results = edge_.take(side, Type::kResult);
    ASSERT_EQ(results.size(), 1U) << static_cast<int>(side);
    EXPECT_EQ(results[0].payload, mean);
    EXPECT_EQ(results[0].header.specific, 7U);
    EXPECT_EQ(results[0].header.rank, side == kIsland ? 1 : wire::kNoRank);
    EXPECT_EQ(results[0].header.tree, side == kIsland ? wire::kNoTree : kResults);
  }
}

TEST_F(LaneTreeTest, TheRootIsDoneWhenAllBelowHaveAllResults) {
  start(true);
  for (std::uint32_t chunk = 0; chunk < edge_.update.chunks(); ++chunk) {
    edge_.contribute(0, kFirstRound, chunk);
    edge_.contribute(1, kFirstRound, chunk);
    edge_.send(kEast, east_partial(chunk), edge_.payload(2, kFirstRound, chunk));
  }
  for (const Side side : {kWest, kEast}) {
    std::uint64_t chunks = 0;
    for (const Received& end : edge_.take(side, Type::kRoundEnd)) {
      EXPECT_EQ(end.header.tree, kResults);
      EXPECT_EQ(end.header.chunk, static_cast<std::uint32_t>(RoundOutcome::kComplete));
      chunks += end.header.specific;
    }
    EXPECT_EQ(chunks, edge_.update.chunks()) << "how many results to wait for, over the lanes";
  }
  EXPECT_EQ(edge_.waiting(kIsland, Type::kRoundEnd), 0U) << "others have not said that they have them";
  ends(kWest, kResults, RoundOutcome::kComplete);
  EXPECT_EQ(edge_.waiting(kIsland, Type::kRoundEnd), 0U);
  ends(kEast, kResults, RoundOutcome::kComplete);
  for (const auto& [side, tree] : {std::pair{kWest, 0}, {kIsland, 1}, {kEast, int{kEastPartials}}}) {
    const auto told = edge_.take(side, Type::kRoundEnd);
    ASSERT_EQ(told.size(), 2U);
    for (const Received& end : told) {
      EXPECT_EQ(end.header.tree, tree);
      EXPECT_EQ(end.header.chunk, static_cast<std::uint32_t>(RoundOutcome::kComplete));
    }
  }
  EXPECT_EQ(edge_.edge().totals().rounds_complete, 2U);
}

TEST_F(LaneTreeTest, WhatTheSiteAboveSaysOfARoundIsSaidBelow) {
  start(false);
  east_grants(kOwnPartials, wire::kAllChunks);
  contribute_below();
  EXPECT_EQ(edge_.waiting(kWest, Type::kRoundEnd), 0U);
  ends(kEast, kOwnPartials, RoundOutcome::kComplete);
  for (const Side side : {kWest, kIsland})
    for (const Received& end : edge_.take(side, Type::kRoundEnd)) {
      EXPECT_EQ(end.header.tree, side);
      EXPECT_EQ(end.header.chunk, static_cast<std::uint32_t>(RoundOutcome::kComplete));
    }
  EXPECT_EQ(edge_.edge().totals().rounds_complete, 2U);
}

TEST_F(LaneTreeTest, AFailureAboveIsSaidBelowWithItsNames) {
  start(false);
  east_grants(kOwnPartials, wire::kAllChunks);
  edge_.contribute(0, kFirstRound, 0);
  edge_.turn();
  ends(kEast, kOwnPartials, RoundOutcome::kDeadline, 4);
  const auto told = edge_.take(kIsland, Type::kRoundEnd);
  ASSERT_EQ(told.size(), 2U);
  for (const Received& end : told) {
    EXPECT_EQ(end.header.tree, 1);
    EXPECT_EQ(end.header.chunk, static_cast<std::uint32_t>(RoundOutcome::kDeadline));
    EXPECT_EQ(end.header.specific, 4U);
  }
  EXPECT_EQ(edge_.waiting(kEast, Type::kRoundEnd), 0U) << "it knows";
}

TEST_F(LaneTreeTest, ADeadlineNamesWhoIsMissingToBothSides) {
  start(false);
  east_grants(kOwnPartials, wire::kAllChunks);
  edge_.contribute(1, kFirstRound, 0);
  edge_.turn();
  edge_.advance(kDeadline + kMillisecond);
  edge_.turn();
  for (const auto& [side, tree] : {std::pair{kEast, kOwnPartials}, {kIsland, std::uint16_t{1}}}) {
    const auto told = edge_.take(side, Type::kRoundEnd);
    ASSERT_EQ(told.size(), 1U) << "in the lane in which the round had begun";
    EXPECT_EQ(told[0].header.tree, tree);
    EXPECT_EQ(told[0].header.chunk, static_cast<std::uint32_t>(RoundOutcome::kDeadline));
    EXPECT_EQ(told[0].header.specific, 1U);
  }
}

TEST_F(LaneTreeTest, WhoWaitsForOthersDoesNotBlameThoseBelow) {
  start(false);
  east_grants(kOwnPartials, 2);  // A chunk in each lane.
  for (std::uint32_t chunk = 0; chunk < 2; ++chunk) {
    edge_.contribute(0, kFirstRound, chunk);
    edge_.contribute(1, kFirstRound, chunk);
  }
  edge_.turn();
  edge_.advance(kDeadline + kMillisecond);
  edge_.turn();
  EXPECT_EQ(edge_.waiting(kEast, Type::kRoundEnd), 0U);
  edge_.advance(kDeadline / 4);
  edge_.turn();
  EXPECT_EQ(edge_.take(kEast, Type::kRoundEnd).size(), 2U) << "but not for ever";
}

TEST_F(LaneTreeTest, AnInputThatFailsEndsTheRoundHere) {
  start(true);
  edge_.contribute(0, kFirstRound, 0);
  edge_.turn();
  ends(kEast, kEastPartials, RoundOutcome::kDeadline, 4);
  for (const Side side : {kWest, kIsland}) {
    std::size_t own_tree = 0;
    for (const Received& end : edge_.take(side, Type::kRoundEnd)) {
      EXPECT_EQ(end.header.chunk, static_cast<std::uint32_t>(RoundOutcome::kDeadline));
      EXPECT_EQ(end.header.specific, 4U);
      own_tree += end.header.tree == side ? 1 : 0;
    }
    EXPECT_EQ(own_tree, 2U);
  }
}

TEST_F(LaneTreeTest, AnIslandThatGivesUpIsNamedAbove) {
  start(false);
  wire::Header gives_up =
      edge_.round_end(kIsland, wire::kNoTree, kFirstRound + 5, RoundOutcome::kAbandoned, 5);
  edge_.send(kIsland, gives_up);
  const auto told = edge_.take(kEast, Type::kRoundEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].header.tree, kOwnPartials);
  EXPECT_EQ(told[0].header.rank, 1) << "who it is";
  EXPECT_EQ(told[0].header.round, kFirstRound + 5);
  EXPECT_EQ(told[0].header.chunk, static_cast<std::uint32_t>(RoundOutcome::kAbandoned));
  EXPECT_EQ(told[0].header.specific, 5U);
  // The two open rounds end; the next to open is behind those that were given up.
  east_grants(kOwnPartials, wire::kAllChunks, kFirstRound + 6);
  const auto grants = edge_.take(kWest, Type::kGrant);
  ASSERT_FALSE(grants.empty());
  for (const Received& grant : grants) EXPECT_EQ(grant.header.round, kFirstRound + 6);
}

class LaneTreeRefusals : public LaneTreeTest {
 public:
  wire::Header a_result() const { return result(0); }
  wire::Header a_partial() const { return east_partial(0); }
  wire::Header a_contribution(std::uint16_t rank) const { return edge_.contribution(rank, kFirstRound, 0); }
};

TEST_F(LaneTreeRefusals, OneReasonEachAndNothingElseChanges) {
  struct Case {
    const char* what;
    DropReason reason;
    Side side;
    wire::Header header;
  };
  start(true);
  const auto with = [](wire::Header header, const std::function<void(wire::Header&)>& change) {
    change(header);
    return header;
  };
  const std::vector<Case> cases{
      {"a partial where contributions come", DropReason::kUnknownTree, kWest,
       with(a_partial(), [](auto& h) { h.tree = 0; })},
      {"a contribution where partials come", DropReason::kUnknownTree, kEast,
       with(a_contribution(2), [](auto& h) { h.tree = kEastPartials; })},
      {"a contribution on the tree of results", DropReason::kWrongLink, kEast,
       with(a_contribution(2), [](auto& h) { h.tree = kResults; })},
      {"a result that this edge makes itself", DropReason::kWrongLink, kEast, a_result()},
      {"a result where contributions come", DropReason::kUnknownTree, kWest,
       with(a_result(), [](auto& h) { h.tree = 0; })},
      {"a partial from the wrong side", DropReason::kWrongLink, kWest, a_partial()},
      {"a partial of a rank", DropReason::kWrongRank, kEast, with(a_partial(), [](auto& h) { h.rank = 2; })},
      {"a partial in another format", DropReason::kMismatch, kEast,
       with(a_partial(), [](auto& h) { h.format = static_cast<std::uint8_t>(wire::Format::kInt32); })},
      {"a partial of a round before the epoch", DropReason::kRoundClosed, kEast,
       with(a_partial(), [](auto& h) { h.round = kFirstRound - 1; })},
      {"a partial of a round that is not open", DropReason::kRoundNotOpen, kEast,
       with(a_partial(), [](auto& h) { h.round = kFirstRound + 2; })},
      {"a partial beyond its grant", DropReason::kBeyondGrant, kEast,
       with(a_partial(), [](auto& h) { h.chunk = 16; })},
      {"a partial of another lane", DropReason::kWrongLane, kEast,
       with(a_partial(), [](auto& h) { h.chunk = 1; })},
      {"an end from the island of its own tree", DropReason::kWrongLink, kIsland,
       edge_.round_end(kIsland, 1, kFirstRound, RoundOutcome::kDeadline)},
      {"an end of partials before the epoch", DropReason::kRoundClosed, kEast,
       with(edge_.round_end(kEast, kEastPartials, kFirstRound - 1, RoundOutcome::kDeadline),
            [](auto& h) { h.rank = wire::kNoRank; })},
  };
  for (const Case& c : cases) {
    const std::uint64_t before = edge_.drops(c.reason);
    const std::uint64_t all = edge_.all_drops();
    edge_.send(c.side, c.header,
               c.header.packet_type() == Type::kRoundEnd ? Bytes{} : edge_.payload(2, kFirstRound, 0));
    EXPECT_EQ(edge_.drops(c.reason), before + 1) << c.what;
    EXPECT_EQ(edge_.all_drops(), all + 1) << c.what;
    EXPECT_EQ(edge_.edge().totals().folds, 0U) << c.what;
  }
  // Taken once only.
  edge_.send(kEast, a_partial(), edge_.payload(2, kFirstRound, 0));
  edge_.send(kEast, a_partial(), edge_.payload(2, kFirstRound, 0));
  EXPECT_EQ(edge_.drops(DropReason::kDuplicateContribution), 1U);
}

TEST_F(LaneTreeRefusals, OfResultsOnTheirWay) {
  start(false);
  struct Case {
    const char* what;
    DropReason reason;
    Side side;
    std::function<void(wire::Header&)> change;
  };
  for (const Case& c : std::vector<Case>{
           {"from below", DropReason::kWrongLink, kWest, [](wire::Header&) {}},
           {"for an island", DropReason::kWrongRank, kEast, [](wire::Header& h) { h.rank = 1; }},
           {"before the epoch", DropReason::kRoundClosed, kEast, [](wire::Header& h) { h.round = 1; }},
           {"of another lane", DropReason::kWrongLane, kEast, [](wire::Header& h) { h.chunk = 1; }},
           {"of no tree here", DropReason::kUnknownTree, kEast, [](wire::Header& h) { h.tree = 99; }},
           {"of an epoch to come", DropReason::kUnknownEpoch, kEast, [](wire::Header& h) { h.epoch = 2; }},
       }) {
    wire::Header header = a_result();
    c.change(header);
    const std::uint64_t before = edge_.drops(c.reason);
    edge_.send(c.side, header, edge_.payload(2, kFirstRound, 0));
    EXPECT_EQ(edge_.drops(c.reason), before + 1) << c.what;
    EXPECT_EQ(edge_.waiting(kIsland, Type::kResult), 0U) << c.what;
  }
}

}  // namespace
}  // namespace tombolo::dataplane
