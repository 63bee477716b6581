#include "dataplane/port/arrival_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"

namespace tombolo::dataplane {
namespace {

TEST(ArrivalQueue, AnEmptyQueueHasNothingEver) {
  ArrivalQueue queue;
  EXPECT_EQ(queue.next_arrival_ns(), kNever);
  EXPECT_EQ(queue.pop(kNever), nullptr);
}

TEST(ArrivalQueue, GivesAFrameAtItsTimeAndNotBefore) {
  ArrivalQueue queue;
  Frame frame;
  frame.arrival_ns = 10;
  queue.push(&frame);
  EXPECT_EQ(queue.next_arrival_ns(), 10U);
  EXPECT_EQ(queue.pop(9), nullptr);
  EXPECT_EQ(queue.pop(10), &frame);
  EXPECT_EQ(queue.next_arrival_ns(), kNever);
}

/// Against a stable sort by arrival time, with pops in between, for orders from sorted to wild.
TEST(ArrivalQueue, SortsAsAStableSortDoes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    ArrivalQueue queue;
    queue.reserve_overtakers(4);
    std::vector<Frame> frames(300);
    std::vector<Frame*> waiting;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      frames[i].arrival_ns = i + random.below(1 + 3 * seed);
      queue.push(&frames[i]);
      waiting.push_back(&frames[i]);
      const auto earliest =
          std::min_element(waiting.begin(), waiting.end(),
                           [](const Frame* a, const Frame* b) { return a->arrival_ns < b->arrival_ns; });
      ASSERT_EQ(queue.next_arrival_ns(), (*earliest)->arrival_ns);
      if (random.below(2) == 0) continue;
      ASSERT_EQ(queue.pop(kNever - 1), *earliest);
      waiting.erase(earliest);
    }
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const Frame* a, const Frame* b) { return a->arrival_ns < b->arrival_ns; });
    for (Frame* expected : waiting) ASSERT_EQ(queue.pop(kNever - 1), expected);
    EXPECT_EQ(queue.next_arrival_ns(), kNever);
  }
}

TEST(ArrivalQueue, CountsWhenItsReserveWasTooSmall) {
  ArrivalQueue queue;
  queue.reserve_overtakers(2);
  std::vector<Frame> frames(4);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].arrival_ns = 10 - i;
    queue.push(&frames[i]);
    EXPECT_EQ(queue.growths(), i < 3 ? 0U : 1U);
  }
}

}  // namespace
}  // namespace tombolo::dataplane
