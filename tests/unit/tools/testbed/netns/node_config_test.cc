#include "tools/testbed/netns/node_config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "control/config/controller_config.h"
#include "control/config/edge_config.h"
#include "tests/unit/tools/testbed/netns/test_layout.h"
#include "tools/island/options.h"
#include "tools/testbed/netns/run_folder.h"

namespace tombolo::testbed {
namespace {

namespace fs = std::filesystem;

/// The files are read by the programs' own readers, which refuse whatever they do not know.
class NodeConfig : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / ("tombolo-config-" + std::to_string(::getpid()))).string();
    fs::create_directories(folder_);
    layout_ = line_layout(folder_);
    ASSERT_TRUE(write_text(folder_ + "/topology.yaml", kLineTopology).ok());
    ASSERT_TRUE(write_text(folder_ + "/schedule.yaml", schedule_yaml(layout_)).ok());
  }
  void TearDown() override { fs::remove_all(folder_); }

  control::EdgeFile edge(schedule::SiteId site) {
    auto file = control::parse_edge_config(edge_yaml(layout_, site), layout_.edge_file(site));
    EXPECT_TRUE(file.ok()) << file.error().message;
    return std::move(file).value();
  }

  std::string folder_;
  Layout layout_;
};

TEST_F(NodeConfig, AnEdgeReserves) {
  for (schedule::SiteId site = 0; site < 3; ++site) {
    const control::EdgeFile file = edge(site);
    const control::EdgeNeeds& needs = layout_.needs.edges[site];
    ASSERT_EQ(file.jobs.size(), 1U);
    const control::EdgeJobFile& job = file.jobs[0];
    EXPECT_EQ(job.site_id, site);
    EXPECT_EQ(job.buffers, needs.buffers());
    EXPECT_EQ(file.buffer_bytes, 64U + 8192U);
    ASSERT_EQ(job.links.size(), layout_.places[site].links.size());
    for (std::size_t i = 0; i < job.links.size(); ++i) {
      EXPECT_EQ(job.links[i].neighbour.is_island, layout_.places[site].links[i].is_island);
      EXPECT_EQ(job.links[i].neighbour.id, layout_.places[site].links[i].id);
      EXPECT_EQ(job.links[i].window_packets, needs.link_windows[i]);
      EXPECT_EQ(job.links[i].port, i);
    }
  }
}

TEST_F(NodeConfig, BothEndsOfALinkKnowEachOther) {
  const control::EdgeFile b = edge(1);
  ASSERT_EQ(b.jobs[0].links.size(), 2U);
  for (const control::EdgeLinkConfig& link : b.jobs[0].links) {
    const control::EdgeFile other = edge(link.neighbour.id);
    const auto& links = other.jobs[0].links;
    const auto back = std::find_if(links.begin(), links.end(), [](const auto& candidate) {
      return !candidate.neighbour.is_island && candidate.neighbour.id == 1;
    });
    ASSERT_NE(back, links.end());
    EXPECT_EQ(back->address.ipv4, b.ports[link.port].network.address);
    EXPECT_EQ(link.address.ipv4, other.ports[back->port].network.address);
    EXPECT_EQ(back->rtt_ns, link.rtt_ns);
  }
}

TEST_F(NodeConfig, EachEdgeEmulatesWhatItSendsAndBothDirectionsOfAnAccessLink) {
  const control::EdgeFile c = edge(2);
  ASSERT_EQ(c.ports.size(), 2U);
  ASSERT_TRUE(c.ports[0].emulate.has_value());
  EXPECT_EQ(c.ports[0].emulate->delay_ns, 5 * kMillisecond);
  EXPECT_EQ(c.ports[0].emulate->rate_bps, 20'000'000U);
  EXPECT_EQ(c.ports[0].emulate->queue_bytes, 512U * 1024);
  EXPECT_FALSE(c.ports[0].emulate_receive.has_value());
  ASSERT_TRUE(c.ports[1].emulate.has_value() && c.ports[1].emulate_receive.has_value());
  EXPECT_EQ(c.ports[1].emulate->rate_bps, 60'000'000U);
  EXPECT_EQ(c.ports[1].emulate_receive->rate_bps, 40'000'000U);
  layout_.builtin_emulation = false;
  EXPECT_FALSE(edge(2).ports[1].emulate.has_value());
  layout_.builtin_emulation = true;
  layout_.config.losses = {{1, 2, 0.25}};
  EXPECT_DOUBLE_EQ(edge(2).ports[0].emulate->loss, 0.25);
  EXPECT_DOUBLE_EQ(edge(2).ports[1].emulate->loss, 0);
}

TEST_F(NodeConfig, MulticastIsForLinksBetweenEdgesWithARangeFromTheController) {
  EXPECT_TRUE(edge(1).multicast_sites().empty());
  layout_.native_multicast = true;
  EXPECT_EQ(edge(1).multicast_sites(), (std::vector<schedule::SiteId>{0, 2}));
  EXPECT_EQ(edge(2).multicast_sites(), std::vector<schedule::SiteId>{1});
  EXPECT_FALSE(edge(2).ports[1].multicast) << "the island's";
  const auto file = control::parse_controller_config(controller_yaml(layout_), layout_.controller_file());
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_GE(file->native_multicast.count, layout_.config.network.links.size());
}

TEST_F(NodeConfig, TheControllerGetsTheSameNetworkScheduleAndUpdate) {
  const auto file = control::parse_controller_config(controller_yaml(layout_), layout_.controller_file());
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->network.egress_bps, layout_.config.network.egress_bps);
  EXPECT_EQ(file->network.links[2].capacity_bps, layout_.config.network.links[2].capacity_bps);
  EXPECT_EQ(file->schedule.rounds.size(), 1U);
  EXPECT_EQ(file->schedule.rounds[0].cliques, layout_.config.schedule.rounds[0].cliques);
  EXPECT_EQ(file->update_bytes, layout_.config.update_bytes);
  EXPECT_EQ(file->chunk_elements, 2048U);
  EXPECT_EQ(file->deadline_ns, 10 * kSecond);
  EXPECT_TRUE(file->multicast);
  layout_.config.multicast = false;
  layout_.config.edge_aggregation = false;
  const auto plain = control::parse_controller_config(controller_yaml(layout_), layout_.controller_file());
  ASSERT_TRUE(plain.ok());
  EXPECT_FALSE(plain->multicast);
  EXPECT_FALSE(plain->edge_aggregation);
}

TEST_F(NodeConfig, AnIslandTakesItsCommandLine) {
  std::vector<std::string> words = island_arguments(layout_, 1);
  words.insert(words.begin(), "tombolo-island");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const tools::ParsedIsland parsed = tools::parse_island_options(static_cast<int>(argv.size()), argv.data());
  ASSERT_FALSE(parsed.exit_code.has_value());
  EXPECT_EQ(parsed.options.name, "Y");
  EXPECT_EQ(parsed.options.rank, 1);
  EXPECT_EQ(parsed.options.listen.ipv4, edge(2).jobs[0].links[1].address.ipv4);
  EXPECT_EQ(parsed.options.edge.ipv4, edge(2).ports[1].network.address);
  EXPECT_EQ(parsed.options.update_bytes, layout_.config.update_bytes);
  EXPECT_TRUE(parsed.options.commands);
}

}  // namespace
}  // namespace tombolo::testbed
