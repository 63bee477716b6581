#include "tools/bench/dpdk/edge_rig.h"

#include <gtest/gtest.h>

#include <set>

#include "tools/bench/dpdk/limit_rig.h"
#include "tools/bench/dpdk/stage_rig.h"

namespace tombolo::bench {
namespace {

class Rig : public testing::Test {
 protected:
  void SetUp() override {
    clique_.k = 3;
    clique_.chunk_bytes = 1280;
    auto pool = dataplane::MbufPool::create(pool_options(clique_));
    ASSERT_TRUE(pool) << pool.error().message;
    pool_ = std::move(pool).value();
    wan_ = *RingDevice::get(0);
    lan_ = *RingDevice::get(1);
  }
  void TearDown() override { EXPECT_EQ(pool_->in_use(), 0U) << "every buffer comes back"; }

  std::unique_ptr<EdgeRig> open() {
    auto rig = EdgeRig::create(clique_, *pool_, *wan_, *lan_);
    if (rig) return std::move(rig).value();
    ADD_FAILURE() << rig.error().message;
    return nullptr;
  }

  const MonotonicClock clock_;
  Clique clique_;
  std::unique_ptr<dataplane::MbufPool> pool_;
  RingDevice* wan_ = nullptr;
  RingDevice* lan_ = nullptr;
};

TEST_F(Rig, EveryChunkComesOutOnceWithTheBitsOfTheReference) {
  const auto rig = open();
  ASSERT_NE(rig, nullptr);
  std::set<std::uint32_t> chunks;
  for (int step = 0; step < 10; ++step) {
    ASSERT_TRUE(rig->members().put_step());
    rig->turn(clock_.now_ns());
    const Status taken =
        rig->take_out([&](std::uint32_t chunk) { EXPECT_TRUE(chunks.insert(chunk).second); });
    ASSERT_TRUE(taken) << taken.error().message;
  }
  EXPECT_EQ(chunks.size(), 10U * clique_.step_chunks());
  EXPECT_EQ(rig->results(), chunks.size());
  EXPECT_EQ(rig->members().completed(), chunks.size());
  EXPECT_EQ(rig->members().contributions(), 3 * chunks.size());
}

TEST_F(Rig, WithASkewTheLastMemberDecidesWhenAChunkIsDone) {
  clique_.skew_chunks = 20;
  const auto rig = open();
  ASSERT_NE(rig, nullptr);
  for (std::uint32_t chunk = 0; chunk < 40;) {
    const auto put = rig->members().put_next();
    ASSERT_TRUE(put) << put.error().message;
    EXPECT_FALSE(put->completes);
    chunk = std::max(chunk, put->chunk);
  }
  rig->turn(clock_.now_ns());
  ASSERT_TRUE(rig->take_out());
  EXPECT_EQ(rig->results(), 0U);
  const Status warm = rig->warm_up(clock_);
  ASSERT_TRUE(warm) << warm.error().message;
  EXPECT_TRUE(rig->members().is_steady());
  EXPECT_EQ(rig->results(), rig->members().completed());
}

/// The canary: what an edge drops, or what is not the reference, must not pass for a measurement.
TEST_F(Rig, APacketThatTheEdgeDropsIsFound) {
  const auto rig = open();
  ASSERT_NE(rig, nullptr);
  wire::Header stray;
  stray.type = static_cast<std::uint8_t>(wire::Type::kJoin);
  stray.job = kJob + 1;
  stray.rank = 1;
  stray.lane = 0;
  ASSERT_TRUE(rig->members().put(1, stray, {}));
  rig->turn(clock_.now_ns());
  const Status taken = rig->take_out();
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("unknown_job"), std::string::npos) << taken.error().message;
}

TEST_F(Rig, AnInstructionSetThatIsNotThereIsRefused) {
  clique_.isa = "abacus";
  const auto rig = EdgeRig::create(clique_, *pool_, *wan_, *lan_);
  ASSERT_FALSE(rig);
  EXPECT_NE(rig.error().message.find("abacus"), std::string::npos);
}

TEST_F(Rig, EveryStageTakesAllPackets) {
  for (const Stage stage : {Stage::kReceive, Stage::kCheck, Stage::kSlot, Stage::kFold}) {
    auto rig = StageRig::create(clique_, stage, *pool_, *wan_, *lan_);
    ASSERT_TRUE(rig) << rig.error().message;
    for (int step = 0; step < 10; ++step) {
      ASSERT_TRUE((*rig)->members().put_step());
      (*rig)->turn(clock_.now_ns());
      const Status taken = (*rig)->take_out();
      ASSERT_TRUE(taken) << taken.error().message;
    }
    EXPECT_EQ(wan_->waiting() + lan_->waiting(), 0U);
  }
}

TEST_F(Rig, TheLimitSendsOnePacketInK) {
  auto rig = LimitRig::create(clique_, *pool_, *wan_, *lan_);
  ASSERT_TRUE(rig) << rig.error().message;
  for (int step = 0; step < 10; ++step) {
    ASSERT_TRUE((*rig)->members().put_step());
    (*rig)->turn();
    const Status taken = (*rig)->take_out();
    ASSERT_TRUE(taken) << taken.error().message;
  }
}

}  // namespace
}  // namespace tombolo::bench
