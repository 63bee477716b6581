#include "control/rpc/event_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace tombolo::control {
namespace {

using std::chrono::hours;

TEST(EventQueue, KeepsOrderAndRefusesWhatDoesNotFit) {
  EventQueue<int> queue(2);
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  EXPECT_FALSE(queue.push(3));
  EXPECT_TRUE(queue.push(4, true));
  EXPECT_EQ(queue.take(hours(1)), (std::vector<int>{1, 2, 4}));
  EXPECT_TRUE(queue.push(5));
  EXPECT_EQ(queue.take(hours(1)), std::vector<int>{5});
  EXPECT_TRUE(queue.take(std::chrono::nanoseconds(0)).empty());
}

TEST(EventQueue, AWakeEndsTheWaitAlsoWhenItComesBefore) {
  EventQueue<int> queue(2);
  queue.wake();
  EXPECT_TRUE(queue.take(hours(1)).empty());
  std::thread waker([&queue] { queue.wake(); });
  EXPECT_TRUE(queue.take(hours(1)).empty());
  waker.join();
}

TEST(EventQueue, NothingIsLostBetweenThreads) {
  constexpr int kEach = 2000;
  EventQueue<int> queue(1U << 20);
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w)
    writers.emplace_back([&queue, w] {
      for (int i = 0; i < kEach; ++i) EXPECT_TRUE(queue.push(w * kEach + i));
    });
  std::vector<int> next(4, 0);
  for (int received = 0; received < 4 * kEach;)
    for (const int event : queue.take(hours(1))) {
      EXPECT_EQ(event % kEach, next[static_cast<std::size_t>(event / kEach)]++);
      ++received;
    }
  for (std::thread& writer : writers) writer.join();
}

}  // namespace
}  // namespace tombolo::control
