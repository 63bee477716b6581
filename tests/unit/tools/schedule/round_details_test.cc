#include "tools/schedule/round_details.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/schedule/test_networks.h"

namespace tombolo::tools {
namespace {

using schedule::Aggregation;
using schedule::Capabilities;

/// Three sites on a line, 10 and 30 ms, 10 Gbit/s everywhere, 1 GB: an update takes 0.8 s on any resource.
struct Line {
  schedule::Topology topology = *schedule::load_topology(schedule::config_path("topologies/three-site.yaml"));
  schedule::Network network = *schedule::resolve(topology, "even");
  schedule::Problem problem;
  explicit Line(const Capabilities& capabilities) : problem(network, capabilities, 1e9) {}

  RoundPictures picture(const schedule::Schedule& schedule) const {
    std::vector<schedule::RoundTime> times;
    for (const schedule::Round& round : schedule.rounds) times.push_back(*problem.model().time(round, 1e9));
    return picture_rounds(topology, problem, schedule, times);
  }
};

const schedule::Schedule kFull{"full", {{{{0, 1, 2}}}}};

TEST(RoundDetails, SharesOfAFullClique) {
  // With multicast B to C carries the updates of A and B: T = 20 ms + 1.6 s, and while it lasts that link and
  // B to A are full, A to B and every access link half full.
  const Line line({true, Aggregation::kEdge});
  const RoundPictures pictures = line.picture(kFull);
  ASSERT_EQ(pictures.details.size(), 1u);
  const report::MapDetail& detail = pictures.details.front();
  EXPECT_EQ(detail.link_notes.at(0), "A \u2192 B: 50 %, 1 update\nB \u2192 A: 100 %, 2 updates");
  EXPECT_EQ(detail.link_notes.at(1), "B \u2192 C: 100 %, 2 updates\nC \u2192 B: 50 %, 1 update");
  EXPECT_EQ(detail.site_notes.at(0), "egress A: 50 %, 1 update\ningress A: 50 %, 1 update");
  ASSERT_EQ(detail.uses.size(), 2u);
  for (const report::MapUse& use : detail.uses) EXPECT_NEAR(use.share, 1, 1e-9);
  EXPECT_NE(detail.note.find("1.620 s"), std::string::npos) << detail.note;
  ASSERT_EQ(detail.trees.size(), 3u);
  for (const report::MapTree& tree : detail.trees) EXPECT_EQ(tree.links, (std::vector<std::size_t>{0, 1}));
  const report::GanttClique& bar = pictures.gantt.rounds.front().cliques.front();
  EXPECT_NEAR(bar.latency_s, 0.020, 1e-12);
  EXPECT_NEAR(bar.alone_s, 1.620, 1e-9);
}

TEST(RoundDetails, ATreeUsesEveryLinkOnceInEachDirection) {
  const Line line({true, Aggregation::kTree});
  const RoundPictures pictures = line.picture(kFull);
  const report::MapDetail& detail = pictures.details.front();
  // 2 x the radius round B, and 0.8 s.
  EXPECT_NE(detail.note.find("0.830 s"), std::string::npos) << detail.note;
  EXPECT_EQ(detail.link_notes.at(0), "A \u2192 B: 100 %, 1 update\nB \u2192 A: 100 %, 1 update");
  EXPECT_EQ(pictures.gantt.rounds.front().cliques.front().note, "tree");
}

TEST(RoundDetails, AQuickCliqueWaitsForASlowOne) {
  // Four islands, two far apart: A and B could be done in 5 ms + 0.8 s, but wait for C and D.
  const auto topology = *schedule::parse_topology(
      "sites: [{id: A}, {id: B}, {id: C}, {id: D}]\n"
      "links: [{a: A, b: B, rtt_ms: 10}, {a: B, b: C, rtt_ms: 10}, {a: C, b: D, rtt_ms: 100}]\n"
      "profiles: {p: {core_gbps: 100, egress_gbps: 10, ingress_gbps: 10}}\n",
      "pairs");
  const auto network = *schedule::resolve(topology, "p");
  const schedule::Problem problem(network, {true, Aggregation::kEdge}, 1e9);
  const schedule::Schedule pairs{"pairs", {{{{0, 1}, {2, 3}}}}};
  const std::vector<schedule::RoundTime> times{*problem.model().time(pairs.rounds[0], 1e9)};
  const RoundPictures pictures = picture_rounds(topology, problem, pairs, times);
  const report::GanttRound& round = pictures.gantt.rounds.front();
  EXPECT_NEAR(round.seconds, 0.850, 1e-9);
  EXPECT_NEAR(round.cliques[0].alone_s, 0.805, 1e-9);
  EXPECT_NEAR(round.cliques[1].alone_s, 0.850, 1e-9);
  EXPECT_EQ(round.cliques[1].lanes, (std::vector<std::size_t>{2, 3}));
  // No link carries another clique's updates.
  std::set<std::size_t> links;
  for (const report::MapUse& use : pictures.details.front().uses) links.insert(use.link);
  EXPECT_EQ(links, (std::set<std::size_t>{0, 2}));
}

}  // namespace
}  // namespace tombolo::tools
