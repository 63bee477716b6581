#include "schedule/topology.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "schedule/routes.h"
#include "schedule/yaml_value.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

TEST(Topology, NineCityFile) {
  const auto topology = load_topology(config_path("topologies/nine-city.yaml"));
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  EXPECT_EQ(topology->name, "nine-city");
  ASSERT_EQ(topology->sites.size(), 9u);
  EXPECT_EQ(topology->sites[1].id, "BAR");
  EXPECT_EQ(topology->sites[1].city, "Buenos Aires");
  EXPECT_EQ(topology->sites[1].lat_deg, -34.60);
  ASSERT_EQ(topology->links.size(), 11u);
  EXPECT_EQ(topology->links[0].one_way_ns_ab, 2'881'000u);  // 5.762 ms / 2
  ASSERT_EQ(topology->islands.size(), 9u);
  EXPECT_EQ(topology->islands[8].id, "TYO");
  EXPECT_EQ(topology->islands[8].site, 8u);
  EXPECT_EQ(topology->profiles.size(), 4u);
}

TEST(Topology, ResolvesCapacitiesOfEachForm) {
  const Network mixed = shipped_network("nine-city.yaml", "mixed");
  EXPECT_EQ(mixed.links[0].capacity_bps, 100'000'000'000u);  // AMS-LON, by link, both directions
  EXPECT_EQ(mixed.links[1].capacity_bps, 100'000'000'000u);
  EXPECT_EQ(mixed.links[8].capacity_bps, 10'000'000'000u);  // TYO-LAX, core_gbps
  EXPECT_EQ(mixed.egress_bps[5], 40'000'000'000u);          // NYC, by site
  EXPECT_EQ(mixed.ingress_bps[5], 40'000'000'000u);

  const Network shared = shipped_network("shared-site.yaml", "standard", 0.01);
  ASSERT_EQ(shared.islands.size(), 3u);
  EXPECT_EQ(shared.islands[1].site, shared.islands[0].site);
  EXPECT_EQ(shared.links[0].capacity_bps, 400'000'000u);  // the link's own gbps, scaled
  EXPECT_EQ(shared.links[1].capacity_bps, 200'000'000u);
  EXPECT_EQ(shared.links[0].one_way_ns, 8'000'000u);
  EXPECT_EQ(shared.links[1].one_way_ns, 9'000'000u);
  EXPECT_EQ(shared.links[0].rtt_ns, 17'000'000u);
  EXPECT_EQ(shared.links[2].capacity_bps, 250'000'000u);  // Q-R by link
  EXPECT_EQ(shared.egress_bps[0], 50'000'000u);
  EXPECT_EQ(shared.ingress_bps[0], 100'000'000u);
  EXPECT_EQ(shared.egress_bps[2], 80'000'000u);

  const Network three = shipped_network("three-site.yaml", "slow-core");
  EXPECT_EQ(three.links[3].from, 2u);
  EXPECT_EQ(three.links[3].to, 1u);
  EXPECT_EQ(three.links[3].capacity_bps, 1'000'000'000u);
}

TEST(Topology, ResolveRefuses) {
  const auto topology = load_topology(config_path("topologies/three-site.yaml"));
  const auto unknown = resolve(*topology, "nope");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("'nope'"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("even, slow-core"), std::string::npos);
  for (const double scale : {0.0, -1.0, 1e-10, 1e4, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(resolve(*topology, "even", scale).ok()) << scale;
}

/// A good file of which each bad case changes one line.
const std::vector<std::string> kGood{"name: good",                                             // 1
                                     "sites:",                                                 // 2
                                     "  - {id: A, lat: 1, lon: 2}",                            // 3
                                     "  - {id: B}",                                            // 4
                                     "  - {id: C}",                                            // 5
                                     "links:",                                                 // 6
                                     "  - {a: A, b: B, rtt_ms: 1}",                            // 7
                                     "  - {a: B, b: C, one_way_ms: {ab: 1, ba: 2}}",           // 8
                                     "islands:",                                               // 9
                                     "  - {id: x, site: A}",                                   // 10
                                     "  - {id: y, site: B}",                                   // 11
                                     "profiles:",                                              // 12
                                     "  p: {core_gbps: 1, egress_gbps: 1, ingress_gbps: 1}"};  // 13

std::string good_file_with(std::size_t line, const std::string& text) {
  std::string file;
  for (std::size_t i = 0; i < kGood.size(); ++i) file += (i + 1 == line ? text : kGood[i]) + "\n";
  return file;
}

struct BadLine {
  std::size_t line;
  const char* text;
  const char* message;  ///< What follows "bad.yaml:LINE: ".
};

class BadTopology : public testing::TestWithParam<BadLine> {};

TEST_P(BadTopology, IsRefusedAtItsLineAndKey) {
  const BadLine& bad = GetParam();
  ASSERT_TRUE(parse_topology(good_file_with(0, ""), "good.yaml").ok());
  const auto topology = parse_topology(good_file_with(bad.line, bad.text), "bad.yaml");
  ASSERT_FALSE(topology.ok());
  EXPECT_EQ(topology.error().code, ErrorCode::kInvalidInput);
  const std::string expected = fmt::format("bad.yaml:{}: {}", bad.line, bad.message);
  EXPECT_EQ(topology.error().message.substr(0, expected.size()), expected);
  EXPECT_EQ(topology.error().message.find('\n'), std::string::npos);
}

/// What the file denies reaches the network, and only then.
TEST(Topology, Denials) {
  const std::string text =
      "sites: [{id: A, replicates: false}, {id: B, aggregates: false, replicates: true}]\n"
      "links: [{a: A, b: B, rtt_ms: 20, multicast: false}]\n"
      "profiles: {p: {core_gbps: 1, egress_gbps: 1, ingress_gbps: 1}}\n";
  const auto topology = parse_topology(text, "denials");
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  const Network network = *resolve(*topology, "p");
  EXPECT_EQ(network.site_replicates, (std::vector<bool>{false, true}));
  EXPECT_EQ(network.site_aggregates, (std::vector<bool>{true, false}));
  EXPECT_FALSE(network.links[0].multicast);
  EXPECT_FALSE(network.links[1].multicast);
  const Network plain = shipped_network("three-site.yaml", "even");
  EXPECT_TRUE(plain.site_replicates.empty());
  EXPECT_TRUE(plain.site_aggregates.empty());
  EXPECT_TRUE(plain.links[0].multicast);
  EXPECT_TRUE(plain.explicit_trees);
  EXPECT_FALSE(ring_of_four("explicit_trees: false\n").explicit_trees);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadTopology,
    testing::Values(
        BadLine{1, "\"na\\nm\": x", "na?m: unknown key"},  // A message is one line, whatever the file holds.
        BadLine{1, "nam: x", "nam: unknown key"}, BadLine{1, "name: [x]", "name: must be a text"},
        BadLine{1, "name: x: y", "not valid YAML"},
        BadLine{3, "  - {id: A, colour: red}", "sites[0].colour: unknown key"},
        BadLine{3, "  - {id: A, replicates: no}", "sites[0].replicates: must be true or false"},
        BadLine{3, "  - {id: A, aggregates: \"true\"}", "sites[0].aggregates: must be true or false"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: 1, multicast: 1}", "links[0].multicast: must be true or false"},
        BadLine{1, "explicit_trees: 0", "explicit_trees: must be true or false"},
        BadLine{3, "  - {id: A, id: A}", "sites[0].id: the key appears twice"},
        BadLine{3, "  - {lat: 1, lon: 2}", "sites[0]: the key 'id' is missing"},
        BadLine{3, "  - {id: A, lat: 1}", "sites[0]: the key 'lon' is missing"},
        BadLine{3, "  - {id: A, lat: 91, lon: 2}", "sites[0].lat: must be from -90 to 90"},
        BadLine{3, "  - {id: A, lat: 1, lon: -181}", "sites[0].lon: must be from -180 to 180"},
        BadLine{3, "  - {id: A, lat: north, lon: 2}", "sites[0].lat: must be a finite number"},
        BadLine{3, "  - {id: A-B}", "sites[0].id: 'A-B' is not an id"},
        BadLine{3, "  - {id: [A]}", "sites[0].id: must be a text"},
        BadLine{3, "  - A", "sites[0]: must be a mapping"},
        BadLine{4, "  - {id: A}", "sites[1].id: the site 'A' appears twice"},
        BadLine{7, "  - {a: A, b: Z, rtt_ms: 1}", "links[0].b: there is no site 'Z'"},
        BadLine{7, "  - {a: A, b: A, rtt_ms: 1}", "links[0].b: a link from 'A' to itself"},
        BadLine{7, "  - {a: A, rtt_ms: 1}", "links[0]: the key 'b' is missing"},
        BadLine{7, "  - {a: A, b: B, rtt_s: 1}", "links[0].rtt_s: unknown key"},
        BadLine{7, "  - {a: A, b: B}", "links[0]: must have rtt_ms or one_way_ms"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: 1, one_way_ms: {ab: 1, ba: 1}}",
                "links[0]: must have rtt_ms or"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: 0}", "links[0].rtt_ms: must be above 0"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: -3}", "links[0].rtt_ms: must be above 0"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: .nan}", "links[0].rtt_ms: must be a finite number"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: nan}", "links[0].rtt_ms: must be a finite number"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: inf}", "links[0].rtt_ms: must be a finite number"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: 5 ms}",
                "links[0].rtt_ms: must be a finite number without a unit"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: \"1\"}", "links[0].rtt_ms: must be a number"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: 1e-9}", "links[0].rtt_ms: is below a nanosecond"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: 1e9}", "links[0].rtt_ms: must be above 0 and at most"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: 1, gbps: 10}", "links[0].gbps: must be a mapping"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: 1, gbps: {ab: 0, ba: 1}}", "links[0].gbps.ab: must be above 0"},
        BadLine{7, "  - {a: A, b: B, rtt_ms: 1, gbps: {ab: 1}}", "links[0].gbps: the key 'ba' is missing"},
        BadLine{8, "  - {a: A, b: B, rtt_ms: 2}", "links[1]: the link A-B is already links[0]"},
        BadLine{8, "  - {a: B, b: A, rtt_ms: 2}", "links[1]: the link B-A is already links[0]"},
        BadLine{8, "  - {a: B, b: C, one_way_ms: {ab: 1, ba: 0}}", "links[1].one_way_ms.ba: must be above 0"},
        BadLine{10, "  - {id: x, site: Z}", "islands[0].site: there is no site 'Z'"},
        BadLine{11, "  - {id: x, site: B}", "islands[1].id: the island 'x' appears twice"},
        BadLine{13, "  p: {core_gbps: 0, egress_gbps: 1, ingress_gbps: 1}",
                "profiles.p.core_gbps: must be above 0"},
        BadLine{13, "  p: {core_gbps: 1, egress_gbps: -1, ingress_gbps: 1}",
                "profiles.p.egress_gbps: must be above"},
        BadLine{13, "  p: {core_gbps: 1, egress_gbps: 1, ingress_gbps: .inf}",
                "profiles.p.ingress_gbps: must be a"},
        BadLine{13, "  p: {core_gbps: 1, egress_gbps: 1}", "profiles.p: no access capacity at the site 'A'"},
        BadLine{13, "  p: {egress_gbps: 1, ingress_gbps: 1}", "profiles.p: no capacity for the link A-B"},
        BadLine{13, "  p: {core_mbps: 1}", "profiles.p.core_mbps: unknown key"},
        BadLine{13, "  p: {core_gbps: 1, core_gbps_by_link: {A-C: 1}}",
                "profiles.p.core_gbps_by_link.A-C: there is no link"},
        BadLine{13, "  p: {core_gbps: 1, core_gbps_by_link: {A-B: 1, B-A: 1}}",
                "profiles.p.core_gbps_by_link.B-A: the link appears twice"},
        BadLine{13, "  p: {core_gbps: 1, access_gbps_by_site: {Z: 1}}",
                "profiles.p.access_gbps_by_site.Z: there is no site"},
        BadLine{13, "  p: 10", "profiles.p: must be a mapping"}));

TEST(Topology, RefusesWhatSpansLines) {
  const auto message = [](const std::string& text) {
    const auto topology = parse_topology(text, "bad.yaml");
    return topology.ok() ? std::string("accepted") : topology.error().message;
  };
  EXPECT_EQ(message(""), "bad.yaml:1: the file is empty");
  EXPECT_EQ(message("just words"), "bad.yaml:1: must be a mapping (key: value)");
  EXPECT_EQ(message("name: x\n"), "bad.yaml:1: the key 'sites' is missing");
  EXPECT_EQ(message("sites: []\nlinks: []\n"), "bad.yaml:1: sites: there must be at least one site");
  EXPECT_EQ(message("name: a\n---\nname: b\n"), "bad.yaml:1: the file holds more than one document");
  // A fourth site without a link.
  EXPECT_EQ(message(good_file_with(6, "  - {id: D}\nlinks:")),
            "bad.yaml:6: sites[3]: no links lead from 'A' to 'D': the sites must be connected");
  EXPECT_NE(message("name: &a x\nsites: *a\n").find("anchors are not allowed"), std::string::npos);
  EXPECT_NE(message("sites: " + std::string(100, '[') + std::string(100, ']')).find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(message(std::string((4u << 20) + 1, '#')).find("larger than"), std::string::npos);
  std::string many = "sites:\n";
  for (int i = 0; i <= 1000; ++i) many += fmt::format("  - {{id: S{}}}\n", i);
  EXPECT_EQ(message(many + "links: []\nprofiles: {}\n"), "bad.yaml:1: sites: 1001 sites; at most 1000");
}

TEST(Topology, FilesThatCannotBeRead) {
  const auto missing = load_topology("/nonexistent/topology.yaml");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("/nonexistent/topology.yaml"), std::string::npos);
  EXPECT_FALSE(load_topology(config_path("topologies")).ok());  // A folder.
}

/// Damaged files end in an Error or in a topology that everything else can use; never in a crash.
TEST(Topology, SurvivesDamagedFiles) {
  const std::uint64_t seed = 20240611;
  SCOPED_TRACE(seed);
  Random random(seed);
  const std::string whole = *read_file(config_path("topologies/nine-city.yaml"));
  const std::string_view alphabet = "{}[]:,-#&*!|>'\"%@`~\n\t 0.eANY\xff\x00";
  int accepted = 0;
  for (int i = 0; i < 300; ++i) {
    std::string text = whole;
    for (std::size_t edits = 1 + random.below(4); edits > 0; --edits) {
      const std::size_t at = random.below(text.size());
      if (random.chance(0.5))
        text[at] = alphabet[random.below(alphabet.size())];
      else
        text.erase(at, 1 + random.below(8));
    }
    const auto topology = parse_topology(text, "damaged");
    if (!topology.ok()) {
      EXPECT_EQ(topology.error().message.substr(0, 8), "damaged:");
      continue;
    }
    ++accepted;
    for (const Profile& profile : topology->profiles) {
      const auto network = resolve(*topology, profile.name);
      ASSERT_TRUE(network.ok());
      EXPECT_EQ(Routes(*network).latency_ns(0, 0), 0u);
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 300);
}

}  // namespace
}  // namespace tombolo::schedule
