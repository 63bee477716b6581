// Random networks, schedules, capabilities and faults: every part ends exact or with a named error, and none
// hangs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/random.h"
#include "tests/sim/scenario.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::sim {
namespace {

/// Small capacities: a quarter of the seeds on perfect wires, the others with one or more faults.
testbed::WireFaults random_faults(Random& random) {
  testbed::WireFaults faults;
  if (random.chance(0.25)) return faults;
  if (random.chance(0.5)) faults.loss = 0.03 * random.unit();
  if (random.chance(0.4)) faults.jitter_ns = random.below(5 * kMillisecond);
  if (random.chance(0.4)) faults.reorder = 0.05 * random.unit();
  if (random.chance(0.4)) faults.duplicate = 0.05 * random.unit();
  if (random.chance(0.4)) faults.corrupt = 0.02 * random.unit();
  return faults;
}

std::string text_of(const testbed::WireFaults& faults) {
  return fmt::format("loss {} jitter {} ns reorder {} duplicate {} corrupt {}", faults.loss, faults.jitter_ns,
                     faults.reorder, faults.duplicate, faults.corrupt);
}

void run_seed(std::uint64_t seed) {
  Random random(seed);
  const std::string text = schedule::random_topology_text(random);
  const auto topology = schedule::parse_topology(text, "random");
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  const schedule::Network network = *schedule::resolve(*topology, "p", 0.002);
  const auto schedule = schedule::random_schedule(random, network.islands.size());
  const auto next_schedule = schedule::random_schedule(random, network.islands.size());
  ScenarioOptions options;
  options.update_bytes = (1 + random.below(20'000)) * sizeof(float);
  options.chunk_elements = 32 * (1 + static_cast<std::uint32_t>(random.below(64)));
  options.multicast = random.chance(0.5);
  options.edge_aggregation = random.chance(0.5);
  options.operation = random.chance(0.5) ? wire::Operation::kSum : wire::Operation::kMean;
  options.deadline_ns = 60 * kSecond;
  options.network.seed = seed;
  // Queues divide workers, workers divide lanes.
  options.network.receive_queues = 1 + static_cast<std::uint32_t>(random.below(2));
  options.network.workers =
      options.network.receive_queues * (1 + static_cast<std::uint32_t>(random.below(2)));
  options.network.lane_count = static_cast<std::uint16_t>(options.network.workers * (1 + random.below(3)));
  options.network.site_faults = random_faults(random);
  options.network.access_faults = random_faults(random);
  SCOPED_TRACE(fmt::format(
      "seed {}: {} bytes, chunks of {}, multicast {}, aggregation {}, {} lanes, {} workers, {} queues; "
      "sites: {}; access: {}\n{}",
      seed, options.update_bytes, options.chunk_elements, options.multicast, options.edge_aggregation,
      options.network.lane_count, options.network.workers, options.network.receive_queues,
      text_of(options.network.site_faults), text_of(options.network.access_faults), text));
  const auto scenario = Scenario::create(network, options, {schedule, next_schedule});
  ASSERT_NE(scenario, nullptr);
  const auto first = scenario->install(schedule);
  ASSERT_TRUE(first);
  constexpr std::uint32_t kRounds = 8;
  for (schedule::Rank rank = 0; rank < network.islands.size(); ++rank)
    scenario->play(rank, *first, *first + kRounds - 1, scenario->now_ns() + random.below(kSecond));
  scenario->run_for(random.below(kSecond));
  // Half of them change the schedule on the way.
  const bool changes = random.chance(0.5);
  if (changes) {
    ASSERT_TRUE(scenario->propose(next_schedule));
  }
  ASSERT_TRUE(scenario->finish(kRounds * 62 * kSecond)) << "somebody hangs: " << scenario->unfinished();
  if (!changes) {
    EXPECT_EQ(scenario->judge(), "");
    return;
  }
  // Short rounds may outrun the margin of a change: such a round fails by name; nothing is ever wrong.
  for (schedule::Rank rank = 0; rank < network.islands.size(); ++rank)
    for (std::uint32_t round = *first; round < *first + kRounds; ++round) {
      const Part* const part = scenario->part(rank, round);
      ASSERT_NE(part, nullptr);
      if (part->outcome.stage == island::Stage::kFailed) {
        EXPECT_NE(part->outcome.error.message, "");
      } else {
        EXPECT_EQ(scenario->judge_part(*part), "");
      }
    }
}

TEST(RandomNetworks, AreExactOrSayWhyNot) {
  if (const char* const one = std::getenv("TOMBOLO_SEED"); one != nullptr) {
    run_seed(std::strtoull(one, nullptr, 10));
    return;
  }
  for (std::uint64_t seed = 1; seed <= TOMBOLO_RANDOM_NETWORKS; ++seed) {
    run_seed(seed);
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "; TOMBOLO_SEED=" << seed << " runs it alone";
  }
}

}  // namespace
}  // namespace tombolo::sim
