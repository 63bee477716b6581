#include "tools/schedule/simulate_event.h"

#include <gtest/gtest.h>

#include <variant>

#include "schedule/topology.h"

namespace tombolo::tools {
namespace {

/// Three sites, the full clique of 1 GB at 10 Gbit/s in two fragments: 0.4 s of sending and 20 ms of latency
/// each, one after the other, so that a cycle is 0.8 s and D = (0.42 + 0.8 / 2) 2/3.
TEST(SimulateEvent, EveryCycleHasItsExchanges) {
  const auto topology = schedule::load_topology(std::string(TOMBOLO_CONFIGS) + "/topologies/three-site.yaml");
  ASSERT_TRUE(topology.ok());
  NetworkInput input{*schedule::resolve(*topology, "even"), 1'000'000'000, {}};
  schedule::Schedule full = *schedule::full_schedule(input.network.islands);
  full.form = schedule::Form::kEvent;
  full.fragments = 2;
  const auto method = event_method("full", input, full, 4);
  ASSERT_TRUE(method.ok()) << method.error().message;
  EXPECT_NEAR(method->disagreement_s, (0.82 + 0.8) * 2 / 3, 1e-6);
  EXPECT_NEAR(method->cycle_s, 1.6, 1e-9);
  EXPECT_TRUE(method->keeps_to_rounds());
  const auto* const timeline = std::get_if<schedule::Timeline>(&method->how);
  ASSERT_NE(timeline, nullptr);
  EXPECT_EQ(timeline->fragments, 2u);
  ASSERT_GE(timeline->exchanges.size(), 6u);
  for (std::size_t e = 0; e < 6; ++e) {
    const schedule::Averaging& exchange = timeline->exchanges[e];
    EXPECT_NEAR(static_cast<double>(exchange.sent_ns), 0.8e9 * static_cast<double>(e), 2);
    EXPECT_NEAR(static_cast<double>(exchange.arrives_ns - exchange.sent_ns), 0.82e9, 2);
    EXPECT_EQ(exchange.fragment, e % 2);
    EXPECT_NEAR((timeline->weights[exchange.weights].array() - 1.0 / 3).abs().maxCoeff(), 0, 1e-12);
  }
  EXPECT_FALSE(event_method("full", input, full, 1e7).ok());  // Too many exchanges.
}

}  // namespace
}  // namespace tombolo::tools
