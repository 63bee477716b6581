#include "dataplane/edge/edge.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "protocol/wire/packet.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::Type;

/// Nothing comes, nothing leaves.
class NoPort final : public Port {
 public:
  std::size_t receive(std::uint32_t, std::span<RxPacket>, Nanoseconds) override { return 0; }
  std::size_t transmit(std::uint32_t, std::span<TxPacket>, Nanoseconds) override { return 0; }
};

EdgeConfig sound_config() {
  EdgeConfig config;
  config.site = "AMS";
  config.session = 1;
  config.jobs[0].links.resize(2);
  config.jobs[0].links[0].address = {0x0a000001, 4700};
  config.jobs[0].links[1].address = {0x0a000002, 4700};
  return config;
}

TEST(EdgeTest, ABadConfigurationIsRefusedAndNamed) {
  struct Case {
    std::string message;
    std::function<void(EdgeConfig&)> spoil;
  };
  const std::vector<Case> cases{
      {"edge AMS: session: must not be 0", [](EdgeConfig& c) { c.session = 0; }},
      {"edge AMS: lane_count: 0 is not in 1..256", [](EdgeConfig& c) { c.lane_count = 0; }},
      {"edge AMS: lane_count: 257 is not in 1..256", [](EdgeConfig& c) { c.lane_count = 257; }},
      {"edge AMS: workers: 0 does not divide 4 lanes", [](EdgeConfig& c) { c.workers = 0; }},
      {"edge AMS: workers: 3 does not divide 4 lanes", [](EdgeConfig& c) { c.workers = 3; }},
      {"edge AMS: workers: 8 does not divide 4 lanes", [](EdgeConfig& c) { c.workers = 8; }},
      {"edge AMS: receive_queues: 0 does not divide 1 workers", [](EdgeConfig& c) { c.receive_queues = 0; }},
      {"edge AMS: receive_queues: 4 does not divide 2 workers",
       [](EdgeConfig& c) {
         c.workers = 2;
         c.receive_queues = 4;
       }},
      {"edge AMS: hello_interval_ns: must not be 0", [](EdgeConfig& c) { c.hello_interval_ns = 0; }},
      {"edge AMS: jobs: 0 of them, not 1..16", [](EdgeConfig& c) { c.jobs.clear(); }},
      {"edge AMS: jobs: 17 of them, not 1..16", [](EdgeConfig& c) { c.jobs.resize(17); }},
      {"edge AMS: job 0: given twice", [](EdgeConfig& c) { c.jobs.push_back(c.jobs[0]); }},
      {"edge AMS: job 5: links: 0 of them, not 1..64",
       [](EdgeConfig& c) {
         c.jobs.resize(2);
         c.jobs[1].job = 5;
       }},
      {"edge AMS: job 0: links: 0 of them, not 1..64", [](EdgeConfig& c) { c.jobs[0].links.clear(); }},
      {"edge AMS: job 0: links: 65 of them, not 1..64", [](EdgeConfig& c) { c.jobs[0].links.resize(65); }},
      {"edge AMS: job 0: link to 10.0.0.2:4700: there is no port 1",
       [](EdgeConfig& c) { c.jobs[0].links[1].port = 1; }},
      {"edge AMS: job 0: link to 10.0.0.1:4700: window_packets 100 is not a power of two above 32",
       [](EdgeConfig& c) { c.jobs[0].links[0].window_packets = 100; }},
      {"edge AMS: job 0: link to 10.0.0.1:4700: window_packets 32 is not a power of two above 32",
       [](EdgeConfig& c) { c.jobs[0].links[0].window_packets = 32; }},
      {"edge AMS: job 0: link to 10.0.0.1:4700: given twice",
       [](EdgeConfig& c) { c.jobs[0].links[1].address = c.jobs[0].links[0].address; }},
      {"edge AMS: job 0: link to 10.0.0.2:65533: 4 lanes from that port on do not fit",
       [](EdgeConfig& c) { c.jobs[0].links[1].address.base_port = 65533; }},
  };
  NoPort port;
  const std::vector<Port*> ports{&port};
  auto pool = MemoryPool::create(64, PoolSharing::kShared);
  ASSERT_TRUE(pool.ok());
  ASSERT_TRUE(Edge::create(sound_config(), ports, **pool).ok());
  for (const Case& c : cases) {
    EdgeConfig config = sound_config();
    c.spoil(config);
    const auto edge = Edge::create(config, ports, **pool);
    ASSERT_FALSE(edge.ok()) << c.message;
    EXPECT_EQ(edge.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(edge.error().message, c.message);
  }
}

TEST(EdgeTest, APoolThatCannotServeIsRefused) {
  NoPort port;
  const std::vector<Port*> ports{&port};
  auto small = MemoryPool::create(64, PoolSharing::kShared, 256);
  ASSERT_TRUE(small.ok());
  const auto edge = Edge::create(sound_config(), ports, **small);
  ASSERT_FALSE(edge.ok());
  EXPECT_EQ(edge.error().code, ErrorCode::kInvalidInput);
  // The largest FEEDBACK: 20 bytes and 64 ranges of 8, behind a header of 64.
  EXPECT_EQ(edge.error().message, "edge AMS: buffers of 256 bytes, the protocol needs 746");
  auto pool = MemoryPool::create(1, PoolSharing::kShared);
  ASSERT_TRUE(pool.ok());
  const BufferRef last = BufferRef::adopt((*pool)->allocate());
  const auto empty = Edge::create(sound_config(), ports, **pool);
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, ErrorCode::kUnavailable);
}

TEST(EdgeTest, ATableThatIsNotForThisEdgeIsRefused) {
  struct Case {
    std::string message;
    std::function<void(EpochTable&)> spoil;
  };
  const auto with_branch = [](multicast::Branch branch) {
    return [branch](EpochTable& table) {
      const std::vector<multicast::BranchSpec> specs{{5, branch}};
      table.forwarding = *multicast::ForwardingTable::build(specs, 64, 1);
      table.islands.clear();
    };
  };
  multicast::Branch parent;
  parent.parent_link = 3;
  parent.child_links = 1;
  multicast::Branch child;
  child.child_links = 0b1000;
  const std::vector<Case> cases{
      {"edge MID: epoch 0: 0 is the number of no epoch", [](EpochTable& t) { t.epoch = 0; }},
      {"edge MID: epoch 2: it is for job 8, and comes to job 7", [](EpochTable& t) { t.job = 8; }},
      {"edge MID: epoch 2: it has 4 lanes, the edge 2", [](EpochTable& t) { t.lane_count = 4; }},
      {"edge MID: epoch 2: the island of rank 1 is on link 0, which no island has",
       [](EpochTable& t) { t.islands[0].link = kWest; }},
      {"edge MID: epoch 2: the island of rank 1 is on link 3, which no island has",
       [](EpochTable& t) { t.islands[0].link = 3; }},
      {"edge MID: epoch 2: tree 5 uses a link that the edge does not have", with_branch(parent)},
      {"edge MID: epoch 2: tree 5 uses a link that the edge does not have", with_branch(child)},
      {"edge MID: epoch 2: chunks of 8193 bytes in buffers of 8256",
       [](EpochTable& t) { t.max_payload_bytes = 8193; }},
      {"edge MID: epoch 1: epoch 1 is as new or newer", [](EpochTable& t) { t.epoch = 1; }},
  };
  SmallEdge edge;
  edge.install({});
  for (const Case& c : cases) {
    EpochTable table = make_table({.epoch = 2}, 2);
    c.spoil(table);
    const Status installed =
        edge.edge().job().install(std::make_shared<const EpochTable>(table), kFirstRound);
    ASSERT_FALSE(installed.ok()) << c.message;
    EXPECT_EQ(installed.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(installed.error().message, c.message);
  }
  edge.install({.epoch = 2}, kFirstRound + 5);
}

TEST(EdgeTest, TotalsAreSumsOverTheLanes) {
  SmallEdge edge({.lane_count = 4, .workers = 2, .receive_queues = 2});
  edge.bring_up();
  edge.install({});
  EXPECT_EQ(edge.edge().job().highest_opened_round(), kFirstRound + 1);
  edge.grant_all(kFirstRound);
  const std::uint64_t before = edge.edge().totals().packets_in;
  Random random(1);
  edge.contribute_all(kFirstRound, random);
  const std::uint64_t chunks = edge.update.chunks();
  const EdgeTotals totals = edge.edge().totals();
  EXPECT_EQ(totals.packets_in - before, 3 * chunks);
  EXPECT_EQ(totals.contributions, 3 * chunks);
  EXPECT_EQ(totals.folds, chunks);
  EXPECT_EQ(totals.copies, 4 * chunks) << "west and east: one each; the island: two";
  EXPECT_EQ(totals.payload_bytes_saved, edge.update.elements * 4) << "of the island's copies";
  EXPECT_EQ(totals.rounds_complete, 4U);
  EXPECT_EQ(totals.rounds_failed, 0U);
  EXPECT_EQ(totals.repairs, 0U);
}

TEST(EdgeTest, WhatAPortDoesNotTakeIsCounted) {
  NoPort port;
  const std::vector<Port*> ports{&port};
  auto pool = MemoryPool::create(64, PoolSharing::kShared);
  ASSERT_TRUE(pool.ok());
  const auto edge = Edge::create(sound_config(), ports, **pool);
  ASSERT_TRUE(edge.ok());
  (*edge)->worker(0).turn(kSecond);
  EXPECT_EQ((*edge)->totals().drops[static_cast<std::size_t>(DropReason::kPortFull)], 2U * 4)
      << "a HELLO on each of two links in each of four lanes";
  EXPECT_EQ((*pool)->in_use(), 0U);
}

TEST(EdgeTest, NoRoundIsOpenBeforeAnEpochIs) {
  SmallEdge edge;
  edge.turn();
  EXPECT_FALSE(edge.edge().job().highest_opened_round().has_value());
  EXPECT_FALSE(edge.edge().all_links_up());
  EXPECT_TRUE(edge.edge().job().can_install());
}

TEST(EdgeTest, AnEdgeMayGoWhileEpochsAreOnTheirWay) {
  SmallEdge edge;
  edge.turn();
  ASSERT_TRUE(edge.try_install({}, kFirstRound).ok());
  // Not taken up; what is under way is freed with the edge (the leak checker looks).
}

}  // namespace
}  // namespace tombolo::dataplane
