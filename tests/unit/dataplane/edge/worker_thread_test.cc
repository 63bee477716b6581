#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "protocol/wire/packet.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::Type;

constexpr std::uint16_t kLanes = 4;
constexpr std::uint32_t kRounds = 8;
constexpr std::uint32_t kSecondEpochRound = kFirstRound + 4;

/// Two workers on threads of their own in real time; the puppets and control run in the test's thread. The
/// thread sanitizer looks at what they share: ports, pools, hand-over, installation, counters.
class WorkerThreadTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  WorkerThreadTest() : edge_({.lane_count = kLanes, .workers = 2, .receive_queues = GetParam()}) {
    edge_.set_now(clock_.now_ns());
    for (std::size_t i = 0; i < 2; ++i)
      threads_.emplace_back([this, &worker = edge_.edge().worker(i)] {
        while (!stop_.load()) {
          if (worker.turn(clock_.now_ns()).received == 0) std::this_thread::yield();
        }
      });
  }
  ~WorkerThreadTest() override { stop(); }
  void stop() {
    stop_.store(true);
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

  template <typename Done>
  bool wait(Done done) {
    const Nanoseconds end_ns = clock_.now_ns() + 20 * kSecond;
    while (!done()) {
      if (clock_.now_ns() > end_ns) return false;
      edge_.set_now(clock_.now_ns());
      if (edge_.collect() == 0) std::this_thread::yield();
    }
    return true;
  }

  /// The three ranks' way through one lane's rounds: each sends what it was granted, in order.
  struct Course {
    std::uint32_t round = kFirstRound;
    std::uint32_t chunk = 0;
    std::array<std::uint32_t, kRounds> granted{};
  };
  using Courses = std::array<std::array<Course, kLanes>, kSides>;

  void take_grants(Courses& courses) {
    for (const Side side : kAllSides)
      for (const Received& grant : edge_.take(side, Type::kGrant)) {
        std::uint32_t& granted =
            courses[side][grant.header.lane].granted.at(grant.header.round - kFirstRound);
        granted = std::max<std::uint32_t>(granted, grant.header.chunk);
      }
  }
  static std::uint32_t epoch_of(std::uint32_t round) { return round < kSecondEpochRound ? 1 : 2; }
  /// Sends what may be sent; true if anything was.
  bool go_on(Courses& courses) {
    bool moved = false;
    for (const std::uint16_t rank : kRanks)
      for (std::uint16_t lane = 0; lane < kLanes; ++lane) {
        Course& course = courses[rank][lane];
        if (course.round == kFirstRound + kRounds) continue;
        const std::uint32_t chunk = course.chunk * kLanes + lane;
        if (chunk >= course.granted[course.round - kFirstRound]) continue;
        edge_.epoch = epoch_of(course.round);
        edge_.contribute(rank, course.round, chunk);
        moved = true;
        if (++course.chunk < edge_.update.chunks() / kLanes) continue;
        course.chunk = 0;
        ++course.round;
      }
    return moved;
  }
  /// What the sites say of their own fold points, for one round: everything, and then that it is over.
  void speak_for_the_sites(std::uint32_t round, bool over) {
    edge_.epoch = epoch_of(round);
    for (std::uint16_t lane = 0; lane < kLanes; ++lane)
      for (const auto& [side, tree] : {std::pair{kWest, 1}, {kWest, 2}, {kEast, 0}, {kEast, 1}}) {
        const auto number = static_cast<std::uint16_t>(tree);
        wire::Header said = over ? edge_.round_end(side, number, round, wire::RoundOutcome::kComplete)
                                 : edge_.grant(side, number, round, wire::kAllChunks);
        said.lane = lane;
        edge_.put(side, said);
      }
  }
  /// As SmallEdge::acknowledge, but without a turn.
  void acknowledge() {
    for (const Side side : kAllSides) edge_.put_acknowledgement(side);
  }

  MonotonicClock clock_;
  std::atomic<bool> stop_{false};
  SmallEdge edge_;
  std::vector<std::thread> threads_;
};

TEST_P(WorkerThreadTest, RoundsAreExactAcrossAnEpochChange) {
  ASSERT_EQ(edge_.update.chunks() % kLanes, 0U);
  for (const Side side : kAllSides) edge_.greet(side);
  ASSERT_TRUE(wait([&] { return edge_.edge().all_links_up(); }));
  ASSERT_TRUE(edge_.try_install({.epoch = 1}, kFirstRound).ok());
  ASSERT_TRUE(wait([&] { return edge_.edge().job().can_install(); }));
  ASSERT_TRUE(edge_.try_install({.epoch = 2}, kSecondEpochRound).ok());
  ASSERT_TRUE(wait([&] { return edge_.edge().job().highest_opened_round() >= kSecondEpochRound; }));
  // A tree keeps its newest rounds only, so the sites speak of two at a time.
  Courses courses;
  std::uint32_t granted = kFirstRound;
  std::vector<Received> results;
  const std::size_t in_all = kRounds * edge_.update.chunks();
  const bool finished = wait([&] {
    const std::uint32_t folded = static_cast<std::uint32_t>(results.size()) / edge_.update.chunks();
    while (granted < std::min(kFirstRound + folded + 2, kFirstRound + kRounds))
      speak_for_the_sites(granted++, false);
    take_grants(courses);
    if (!go_on(courses)) acknowledge();
    for (Received& result : edge_.take(kIsland, Type::kResult)) results.push_back(std::move(result));
    EXPECT_EQ(edge_.edge().job().peer_commit().epoch, 0U);
    return results.size() == in_all || edge_.all_drops() > 0;
  });
  EXPECT_TRUE(finished);
  for (std::size_t i = 0; i < kDropReasons; ++i)
    EXPECT_EQ(edge_.drops(static_cast<DropReason>(i)), 0U) << name(static_cast<DropReason>(i));
  EXPECT_EQ(results.size(), in_all);
  for (const Received& result : results) {
    EXPECT_EQ(result.header.epoch, epoch_of(result.header.round));
    EXPECT_EQ(result.payload, edge_.update.mean(kRanks, result.header.round, result.header.chunk));
  }
  for (std::uint32_t round = kFirstRound; round < kFirstRound + kRounds; ++round)
    speak_for_the_sites(round, true);
  EXPECT_TRUE(wait([&] { return edge_.edge().totals().rounds_complete == kRounds * kLanes; }));
  EXPECT_EQ(edge_.edge().totals().handed_over > 0, GetParam() == 1);
  stop();
}

INSTANTIATE_TEST_SUITE_P(Queues, WorkerThreadTest, testing::Values(1U, 2U));

}  // namespace
}  // namespace tombolo::dataplane
