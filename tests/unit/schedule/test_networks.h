#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

inline std::string config_path(const std::string& name) { return std::string(TOMBOLO_CONFIGS) + "/" + name; }

/// A shipped topology under one of its profiles.
inline Network shipped_network(const std::string& file, const std::string& profile, double scale = 1) {
  const auto topology = load_topology(config_path("topologies/" + file));
  EXPECT_TRUE(topology.ok()) << topology.error().message;
  const auto network = resolve(*topology, profile, scale);
  EXPECT_TRUE(network.ok()) << network.error().message;
  return *network;
}

/// A connected topology of 2 to 8 sites with coarse latencies, so that routes tie often, 2 to 10 islands, of
/// which some share a site, and capacities between 1 and 20 Gbit/s.
inline std::string random_topology_text(Random& random) {
  const std::size_t sites = 2 + random.below(7);
  std::string text = "sites:\n";
  for (std::size_t i = 0; i < sites; ++i) text += fmt::format("  - {{id: S{}}}\n", i);
  text += "links:\n";
  const auto add_link = [&](std::size_t a, std::size_t b) {
    text +=
        fmt::format("  - {{a: S{}, b: S{}, one_way_ms: {{ab: {}, ba: {}}}, gbps: {{ab: {}, ba: {}}}}}\n", a,
                    b, 1 + random.below(3), 1 + random.below(3), 1 + random.below(20), 1 + random.below(20));
  };
  for (std::size_t b = 1; b < sites; ++b) {
    const std::size_t near = random.below(b);
    for (std::size_t a = 0; a < b; ++a)
      if (a == near || random.chance(0.3)) add_link(a, b);
  }
  text += "islands:\n";
  const std::size_t islands = 2 + random.below(9);
  for (std::size_t i = 0; i < islands; ++i)
    text += fmt::format("  - {{id: I{}, site: S{}}}\n", i, random.below(sites));
  text += "profiles:\n  p:\n    access_gbps_by_site: {";
  for (std::size_t i = 0; i < sites; ++i)
    text += fmt::format("{}S{}: {}", i == 0 ? "" : ", ", i, 1 + random.below(20));
  return text + "}\n";
}

inline Network random_network(Random& random) {
  const std::string text = random_topology_text(random);
  const auto topology = parse_topology(text, "random");
  EXPECT_TRUE(topology.ok()) << topology.error().message << "\n" << text;
  return *resolve(*topology, "p");
}

/// A ring P-Q-R-S with an island at each site, named like it: 1 ms a link, but 2 ms between R and S; core 1
/// Gbit/s, access 10 Gbit/s. In the round {P,R} {Q,S} all shortest routes pass between P and Q.
inline const char* const kRingOfFour =
    "sites: [{id: P}, {id: Q}, {id: R}, {id: S}]\n"
    "links:\n"
    "  - {a: P, b: Q, rtt_ms: 2}\n"
    "  - {a: Q, b: R, rtt_ms: 2}\n"
    "  - {a: R, b: S, rtt_ms: 4}\n"
    "  - {a: S, b: P, rtt_ms: 2}\n"
    "profiles: {p: {core_gbps: 1, egress_gbps: 10, ingress_gbps: 10}}\n";
inline Network ring_of_four(const std::string& more = "") {
  const auto topology = parse_topology(kRingOfFour + more, "ring");
  EXPECT_TRUE(topology.ok()) << topology.error().message;
  return *resolve(*topology, "p");
}

/// P and R send on to the next site of the ring, Q and S to the one before: then no link carries two updates.
inline Round crossed_round() {
  return {.cliques = {{0, 2}, {1, 3}},
          .trees = {{{{0, 1}, {1, 2}}, {{2, 3}, {3, 0}}}, {{{1, 0}, {0, 3}}, {{3, 2}, {2, 1}}}}};
}

/// Disjoint cliques over a shuffled part of the ranks; at least one clique.
inline Round random_round(Random& random, std::size_t islands) {
  std::vector<Rank> ranks(islands);
  for (std::size_t i = 0; i < islands; ++i) ranks[i] = static_cast<Rank>(i);
  for (std::size_t i = islands; i > 1; --i) std::swap(ranks[i - 1], ranks[random.below(i)]);
  Round round;
  for (std::size_t next = 0; islands - next >= 2;) {
    const std::size_t size = 2 + random.below(islands - next - 1);
    Clique clique(ranks.begin() + static_cast<std::ptrdiff_t>(next),
                  ranks.begin() + static_cast<std::ptrdiff_t>(next + size));
    std::sort(clique.begin(), clique.end());
    round.cliques.push_back(std::move(clique));
    next += size + random.below(2);
    if (next > islands) break;
  }
  return round;
}

inline Schedule random_schedule(Random& random, std::size_t islands) {
  Schedule schedule{"random", {}};
  for (std::size_t rounds = 1 + random.below(4); rounds > 0; --rounds)
    schedule.rounds.push_back(random_round(random, islands));
  return schedule;
}

}  // namespace tombolo::schedule
