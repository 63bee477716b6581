#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tools/testbed/netns/layout.h"

namespace tombolo::testbed {

/// Three sites on a line, the link B-C slower and different by direction; islands at A and C only.
inline constexpr const char* kLineTopology = R"(name: line
sites: [{id: A}, {id: B}, {id: C}]
links:
  - {a: A, b: B, rtt_ms: 10}
  - {a: C, b: B, one_way_ms: {ab: 5, ba: 7}, gbps: {ab: 2, ba: 1}}
islands: [{id: X, site: A}, {id: Y, site: C}]
profiles: {p: {core_gbps: 10, egress_gbps: 4, ingress_gbps: 6}}
)";

/// A layout of it at scale 0.01; `folder` holds what the programs would read.
inline Layout line_layout(const std::string& folder, bool jumbo = true) {
  Layout layout;
  const auto topology = schedule::parse_topology(kLineTopology, "line.yaml");
  EXPECT_TRUE(topology.ok()) << topology.error().message;
  layout.config.network = *schedule::resolve(*topology, "p", 0.01);
  layout.config.schedule = *schedule::full_schedule(layout.config.network.islands);
  layout.config.update_bytes = 1'000'000;
  layout.config.chunk_elements = jumbo ? 2048 : 320;
  layout.profile = "p";
  layout.bytes = "100M";
  layout.scale = 0.01;
  layout.jumbo = jumbo;
  layout.run_id = "77";
  layout.folder = folder;
  layout.socket_folder = "/run/tombolo/77";
  const Status complete = complete_layout(layout);
  EXPECT_TRUE(complete.ok());
  return layout;
}

}  // namespace tombolo::testbed
