#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>

#include "schedule/baselines/scene.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule::baselines {

/// A scene that owns its network. Stays where it was made: a Scene refers to it.
class TestScene {
 public:
  TestScene(Network network, Capabilities capabilities, double update_bytes, double step_s = 1)
      : network_(std::make_unique<Network>(std::move(network))),
        routes_(std::make_unique<Routes>(*network_)) {
    auto scene = Scene::make(Setting{*network_, *routes_, capabilities, update_bytes, step_s, 1});
    EXPECT_TRUE(scene.ok()) << scene.error().message;
    scene_ = std::make_unique<Scene>(std::move(*scene));
  }
  const Scene& scene() const { return *scene_; }

 private:
  std::unique_ptr<Network> network_;
  std::unique_ptr<Routes> routes_;
  std::unique_ptr<Scene> scene_;
};

/// The profile `p` of a topology text.
inline Network parsed_network(const std::string& text) {
  const auto topology = parse_topology(text, "test");
  EXPECT_TRUE(topology.ok()) << topology.error().message;
  return *resolve(*topology, "p");
}

/// All islands at one site: every pair alike, `gbps` in and out, no latency.
inline Network equal_network(std::size_t islands, double gbps) {
  std::string text = "sites: [{id: A}]\nlinks: []\nislands:\n";
  for (std::size_t i = 0; i < islands; ++i) text += fmt::format("  - {{id: I{}, site: A}}\n", i);
  return parsed_network(text +
                        fmt::format("profiles: {{p: {{egress_gbps: {0}, ingress_gbps: {0}}}}}\n", gbps));
}

inline Matrix mean_matrix(std::size_t n) {
  return Matrix::Constant(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n),
                          1.0 / static_cast<double>(n));
}

}  // namespace tombolo::schedule::baselines
