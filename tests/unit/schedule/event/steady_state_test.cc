#include "schedule/event/steady_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace tombolo::schedule {
namespace {

/// Every event waits for one before it in its cycle or the last one's, and all are on a ring.
std::vector<Precedence> random_graph(Random& random, std::uint32_t events) {
  std::vector<Precedence> graph;
  for (std::uint32_t to = 0; to < events; ++to)
    graph.push_back({to == 0 ? events - 1 : to - 1, to, random.unit(), to == 0 ? 1u : 0u});
  for (std::uint64_t more = random.below(3 * events); more > 0; --more) {
    const auto from = static_cast<std::uint32_t>(random.below(events));
    const auto to = static_cast<std::uint32_t>(random.below(events));
    const auto periods = static_cast<std::uint32_t>(from < to ? random.below(2) : 1 + random.below(2));
    graph.push_back({from, to, 3 * random.unit(), periods});
  }
  return graph;
}

/// The largest ratio of any simple loop, by trying them all.
class Loops {
 public:
  explicit Loops(const std::vector<Precedence>& graph, std::uint32_t events) : graph_(graph), on_(events) {}

  double largest() {
    for (first_ = 0; first_ < on_.size(); ++first_) visit(first_, 0, 0);
    return largest_;
  }

 private:
  void visit(std::uint32_t event, double seconds, std::uint32_t periods) {
    on_[event] = true;
    for (const Precedence& next : graph_) {
      if (next.from != event) continue;
      if (next.to == first_)
        largest_ = std::max(largest_, (seconds + next.seconds) / (periods + next.periods));
      else if (next.to > first_ && !on_[next.to])
        visit(next.to, seconds + next.seconds, periods + next.periods);
    }
    on_[event] = false;
  }

  const std::vector<Precedence>& graph_;
  std::vector<bool> on_;
  std::uint32_t first_ = 0;
  double largest_ = 0;
};

TEST(SteadyState, TwoLoopsByHand) {
  // 0 waits 2 s for itself; 1 waits 3 s in two cycles for itself: 2 s a cycle. Together 0 -> 1 -> 0 takes 5.
  const std::vector<Precedence> graph{{0, 0, 2, 1}, {1, 1, 3, 2}, {0, 1, 1.5, 0}, {1, 0, 3.5, 1}};
  const auto steady = steady_state(2, graph);
  ASSERT_TRUE(steady.ok());
  EXPECT_DOUBLE_EQ(steady->cycle_s, 5);
  EXPECT_DOUBLE_EQ(steady->start_s[1] - steady->start_s[0], 1.5);
}

TEST(SteadyState, IsTheLargestRatioOfAnyLoop) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto events = static_cast<std::uint32_t>(2 + random.below(6));
    const auto graph = random_graph(random, events);
    const auto steady = steady_state(events, graph);
    ASSERT_TRUE(steady.ok());
    EXPECT_NEAR(steady->cycle_s, Loops(graph, events).largest(), 1e-9);
    // Everything starts as soon as it may, and no earlier.
    std::vector<double> earliest(events, -1e300);
    for (const Precedence& p : graph)
      earliest[p.to] =
          std::max(earliest[p.to], steady->start_s[p.from] + p.seconds - steady->cycle_s * p.periods);
    for (std::uint32_t i = 0; i < events; ++i) EXPECT_NEAR(earliest[i], steady->start_s[i], 1e-9);
  }
}

TEST(SteadyState, IsWhereALongRunEndsUp) {
  const std::uint64_t seed = 5;
  SCOPED_TRACE(seed);
  Random random(seed);
  constexpr std::uint32_t kEvents = 12;
  constexpr int kCycles = 4000;
  const auto graph = random_graph(random, kEvents);
  const auto steady = steady_state(kEvents, graph);
  ASSERT_TRUE(steady.ok());
  std::vector<std::vector<double>> starts(kCycles, std::vector<double>(kEvents, 0));
  for (int cycle = 0; cycle < kCycles; ++cycle)
    for (std::uint32_t event = 0; event < kEvents; ++event)  // Within a cycle precedences go forward.
      for (const Precedence& p : graph)
        if (p.to == event && cycle >= static_cast<int>(p.periods))
          starts[cycle][event] =
              std::max(starts[cycle][event], starts[cycle - static_cast<int>(p.periods)][p.from] + p.seconds);
  EXPECT_NEAR((starts[kCycles - 1][3] - starts[kCycles / 2 - 1][3]) / (kCycles / 2), steady->cycle_s,
              1e-2 * steady->cycle_s);
}

TEST(SteadyState, RefusesWhatNeverEnds) {
  EXPECT_FALSE(steady_state(0, {}).ok());
  EXPECT_FALSE(steady_state(2, std::vector<Precedence>{{0, 0, 1, 1}}).ok());  // 1 waits for nothing.
  EXPECT_FALSE(steady_state(1, std::vector<Precedence>{{0, 0, 1, 0}}).ok());  // For itself.
  EXPECT_FALSE(steady_state(1, std::vector<Precedence>{{0, 3, 1, 1}}).ok());  // Unknown.
  EXPECT_FALSE(steady_state(1, std::vector<Precedence>{{0, 0, std::nan(""), 1}}).ok());
  EXPECT_FALSE(steady_state(2, std::vector<Precedence>{{0, 0, 1, 1}, {1, 1, 2, 1}}).ok());  // Two worlds.
}

}  // namespace
}  // namespace tombolo::schedule
