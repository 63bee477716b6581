#include "tools/schedule/simulate_baselines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "schedule/baselines/matchings.h"
#include "schedule/baselines/ring.h"
#include "schedule/simulate/timeline.h"
#include "schedule/topology.h"

namespace tombolo::tools {
namespace {

namespace baselines = schedule::baselines;

class SimulateBaselines : public testing::Test {
 protected:
  SimulateBaselines()
      : network_(*schedule::resolve(
            *schedule::load_topology(std::string(TOMBOLO_CONFIGS) + "/topologies/nine-city.yaml"),
            "access-limited")),
        routes_(network_),
        scene_(*baselines::Scene::make({network_, routes_, {}, 1e9, 0.1, 1})) {}

  schedule::Network network_;
  schedule::Routes routes_;
  baselines::Scene scene_;
};

TEST_F(SimulateBaselines, RingHasItsReferenceD) {
  EXPECT_NEAR(ring_method(scene_).disagreement_s, 2.8663, 5e-5);  // SCHEDULING's table.
}

TEST_F(SimulateBaselines, MatchaIsTheComparisonsAndDrawsWhatItSays) {
  const schedule::Method method = matcha_method(scene_);
  // The comparison gets D by another formula, from the Laplacians.
  const baselines::Baseline compared = baselines::matcha(scene_);
  EXPECT_NEAR(method.disagreement_s, compared.disagreement_s, 1e-6 * compared.disagreement_s);
  EXPECT_NEAR(method.cycle_s, compared.cycle_s, 1e-9);
  const auto& rounds = std::get<schedule::WeightedRounds>(method.how);
  EXPECT_NEAR(std::accumulate(rounds.probability.begin(), rounds.probability.end(), 0.0), 1, 1e-9);
  for (const auto& weights : rounds.weights) {
    EXPECT_LT((weights - weights.transpose()).norm(), 1e-12);
    EXPECT_LT((weights.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  }
  Random random(1);
  EXPECT_TRUE(schedule::make_timeline(rounds, 9, 60, random).ok());
}

}  // namespace
}  // namespace tombolo::tools
