#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/controller_config.h"
#include "control/config/edge_config.h"

namespace tombolo::control {
namespace {

const std::string kConfigs = TOMBOLO_CONFIGS;

std::string shipped(const std::string& name) {
  auto text = schedule::read_file(kConfigs + "/" + name);
  EXPECT_TRUE(text.ok()) << text.error().message;
  return text.ok() ? *text : "";
}

/// The shipped text with one place in it changed, and the line of that place.
struct Changed {
  std::string text;
  int line = 1;
};
Changed change(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  Changed changed;
  if (at == std::string::npos) return changed;
  for (std::size_t i = 0; i < at; ++i) changed.line += text[i] == '\n' ? 1 : 0;
  changed.text = text.replace(at, from.size(), to);
  return changed;
}

TEST(EdgeConfigTest, TheShippedExampleSaysWhatItMeans) {
  const auto file = load_edge_config(kConfigs + "/edges/LON.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->site, "LON");
  ASSERT_EQ(file->jobs.size(), 1u);
  const EdgeJobFile& job = file->jobs[0];
  EXPECT_EQ(job.topology.sites[job.site_id].id, "LON");
  EXPECT_EQ(job.buffers, 69632u);
  EXPECT_EQ(file->buffers(), 69632u);
  EXPECT_EQ(job.arena_bytes, 256u << 20);
  EXPECT_EQ(file->state, "/var/lib/tombolo/LON");
  EXPECT_EQ(file->workers, 2u);
  EXPECT_EQ(file->cores, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(file->idle_sleep_ns, 0u);
  EXPECT_EQ(file->memory_limit_bytes, 2ULL << 30);
  EXPECT_EQ(job.controller, "controller.example:4600");
  EXPECT_EQ(job.controller_tls.key, "/etc/tombolo/LON.key");
  ASSERT_EQ(file->ports.size(), 2u);
  EXPECT_EQ(file->ports[0].network.address, 0x0a010001u);
  EXPECT_EQ(file->ports[0].network.prefix_bits, 24u);
  EXPECT_EQ(file->ports[0].gateway, 0x0a0100feu);
  EXPECT_FALSE(file->ports[0].multicast);
  EXPECT_FALSE(file->ports[0].emulate.has_value());
  ASSERT_TRUE(file->ports[1].emulate.has_value());
  EXPECT_EQ(file->ports[1].emulate->delay_ns, kMillisecond);
  EXPECT_EQ(file->ports[1].emulate->rate_bps, 1'000'000'000u);
  EXPECT_EQ(file->ports[1].emulate->queue_bytes, 1U << 20);
  ASSERT_EQ(job.links.size(), 5u);
  EXPECT_FALSE(job.links[0].neighbour.is_island);
  EXPECT_EQ(job.topology.sites[job.links[0].neighbour.id].id, "NYC");
  EXPECT_EQ(job.links[0].rtt_ns, 67'300'000u);
  EXPECT_EQ(job.links[0].address, (Address{0x0a010801, 4700}));
  EXPECT_TRUE(job.links[4].neighbour.is_island);
  EXPECT_EQ(job.links[4].mac, 0x020000000002u);
  EXPECT_EQ(job.place().links.size(), 5u);
  EXPECT_EQ(job.edge_links()[3].window_packets, 8192u);
  EXPECT_EQ(job.edge_links()[4].port, 1u);
}

TEST(EdgeConfigTest, EveryMistakeIsOneErrorWithItsPlace) {
  const std::string text = shipped("edges/LON.yaml");
  const struct {
    const char* from;
    const char* to;
    const char* says;
  } cases[] = {
      {"site: LON ", "site: YYY ", "site: the topology has no site 'YYY'"},
      {"topology: ../topologies/nine-city.yaml", "topology: none.yaml", "jobs[0].topology: "},
      {"job: 1\n", "job: 70000\n", "jobs[0].job: must be from 0 to 65535"},
      {"lanes: 4 ", "lanes: 2.5 ", "lanes: must be a whole number"},
      {"hello_interval_ms: 200", "hello_interval_ms: 0.2", "hello_interval_ms: must be at least 1"},
      {"metrics: 127.0.0.1:9464", "metrics: localhost", "metrics: 'localhost' is not HOST:PORT"},
      {"format: text", "format: xml", "log.format: 'xml' is not one of text, json"},
      {"count: 2 ", "count: 3 ", "workers.count: 3 workers do not divide 4 lanes"},
      {"cores: [2, 3]", "cores: [2]", "workers.cores: 1 cores for 2 workers"},
      {"cores: [2, 3]", "cores: [2, 2]", "workers.cores[1]: is given twice"},
      {"hugepages: auto", "hugepages: maybe", "memory.hugepages: 'maybe' is not one of"},
      {"buffers: 69632", "buffers: 1", "jobs[0].buffers: must be from 64"},
      {"buffer_bytes: 8256", "buffer_bytes: 100", "memory.buffer_bytes: must be from"},
      {"limit: 2Gi", "limit: lots", "memory.limit: "},
      {"      ca: /etc/tombolo/ca.crt\n", "",
       "jobs[0].controller: ca, certificate and key must be given together"},
      {"name: access", "name: wan", "ports[1]: the name 'wan' is given twice"},
      {"address: 10.1.0.1/24", "address: 10.1.0.1", "ports[0].address: '10.1.0.1' is not an address with"},
      {"address: 10.1.0.1/24", "address: 10.1.0.1/33", "ports[0].address: "},
      {"gateway: 10.1.0.254", "gateway: 10.1.0.256", "ports[0].gateway: '10.1.0.256' is not an IPv4 address"},
      {"mtu: 9000", "mtu: 100", "ports[0].mtu: must be from 576"},
      {"delivery: unicast", "delivery: anycast",
       "ports[0].delivery: 'anycast' is not one of unicast, multicast"},
      {"base_port: 4700", "base_port: 65535", "ports[0].base_port: must be from 1024 to 65532"},
      {"loss: 0}", "loss: 2}", "ports[1].emulate.loss: must be from 0 to 1"},
      {"rate_bps: 1e9, queue_bytes: 1Mi, loss", "rate_bps: 0, queue_bytes: 1Mi, loss",
       "ports[1].emulate.rate_bps: must be above 0"},
      {"{to: NYC,", "{to: TYO,", "links[0].to: the topology has no link between LON and TYO"},
      {"{to: NYC,", "{to: NYC, island: LON,", "links[0].island: unknown key"},
      {"{to: FRA,", "{to: NYC,", "links[1]: NYC is given twice"},
      {"jobs: ", "links_of: ", "links_of: unknown key"},
      {"    buffers: 69632", "    buffer: 69632", "jobs[0].buffer: unknown key"},
      {"{island: LON,", "{island: NYC,",
       "jobs[0].islands[0].island: the topology has no island 'NYC' at LON"},
      {"to: FRA, port: wan", "to: FRA, port: lan", "links[1].port: there is no port 'lan'"},
      {"address: 10.1.9.1:4700", "address: 10.1.8.1:4700", "links[1]: 10.1.8.1:4700 is given twice"},
      {"address: 10.1.9.1:4700", "address: 10.1.9.1:65534", "links[1].address: 4 lanes from that port on"},
      {"mac: \"02:00:00:00:00:02\"", "mac: \"02:00:00:00:00\"",
       "jobs[0].islands[0].mac: '02:00:00:00:00' is not"},
      {"mac: \"02:00:00:00:00:02\"", "mac: \"01:00:00:00:00:02\"",
       "jobs[0].islands[0].mac: is not the address of one"},
      {"window: 4096", "window: 4000", "links[0].window: must be a power of two"},
      {"window: 4096", "windows: 4096", "links[0].windows: unknown key"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.to);
    const Changed changed = change(text, test.from, test.to);
    const auto file = parse_edge_config(changed.text, kConfigs + "/edges/LON.yaml");
    ASSERT_FALSE(file.ok());
    const std::string& message = file.error().message;
    EXPECT_NE(message.find(test.says), std::string::npos) << message;
    EXPECT_NE(message.find("LON.yaml:"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

/// The shipped file with a second job behind its first: the same, but for its number and its island's
/// address.
std::string two_jobs() {
  const std::string text = shipped("edges/LON.yaml");
  std::string second = text.substr(text.find("  - job: 1"));
  second = change(second, "job: 1", "job: 2").text;
  second = change(second, "buffers: 69632", "buffers: 70000").text;
  return text + change(second, "10.2.0.2:4700", "10.2.0.2:5700").text;
}

TEST(EdgeConfigTest, JobsShareLinksToSitesAndHaveTheRestForThemselves) {
  const auto file = parse_edge_config(two_jobs(), kConfigs + "/edges/LON.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_EQ(file->jobs.size(), 2u);
  EXPECT_EQ(file->jobs[1].job, 2);
  EXPECT_EQ(file->buffers(), 69632u + 70000u);
  ASSERT_EQ(file->jobs[1].links.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(file->jobs[1].links[i].address, file->jobs[0].links[i].address);
  EXPECT_EQ(file->jobs[1].links[4].address, (Address{0x0a020002, 5700}));
  EXPECT_EQ(file->neighbours().size(), 6u) << "four sites, and an island of each job";
}

TEST(EdgeConfigTest, WhatTwoJobsCannotHaveTogetherIsRefused) {
  const std::string text = two_jobs();
  const struct {
    const char* from;
    const char* to;
    const char* says;
  } cases[] = {
      {"job: 2", "job: 1", "jobs[1]: job 1 is given twice"},
      {"10.2.0.2:5700", "10.2.0.2:4700", "jobs[1].islands[0]: 10.2.0.2:4700 is given twice"},
      {"10.2.0.2:5700", "10.1.9.1:4700", "jobs[1].islands[0]: 10.1.9.1:4700 is given twice"},
      {"10.2.0.2:5700, mac: \"02:00:00:00:00:02\"", "10.2.0.2:5700",
       "jobs[1].islands[0]: its host is that of LON, with another port or mac"},
      {"10.2.0.2:5700", "10.2.0.2:4703", "jobs[1].islands[0]: its 4 lanes would share UDP ports with LON"},
      {"delivery: unicast", "delivery: multicast",
       "jobs: a port with delivery: multicast serves one job; use unicast delivery for several"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.to);
    const auto file = parse_edge_config(change(text, test.from, test.to).text, kConfigs + "/edges/LON.yaml");
    ASSERT_FALSE(file.ok());
    EXPECT_NE(file.error().message.find(test.says), std::string::npos) << file.error().message;
  }
}

TEST(EdgeConfigTest, APortThatDeliversByMulticastIsSaidOfItsNeighbours) {
  const auto all = parse_edge_config(shipped("edges/LON.yaml"), kConfigs + "/edges/LON.yaml");
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->multicast_sites().empty());
  const Changed changed = change(shipped("edges/LON.yaml"), "delivery: unicast", "delivery: multicast");
  const auto file = parse_edge_config(changed.text, kConfigs + "/edges/LON.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(file->ports[0].multicast);
  EXPECT_FALSE(file->ports[1].multicast);
  std::set<std::string> names;
  const std::vector<schedule::SiteId> sites = file->multicast_sites();
  for (const schedule::SiteId site : sites) names.insert(file->jobs[0].topology.sites[site].id);
  EXPECT_EQ(names, (std::set<std::string>{"AMS", "FRA", "NYC", "SIN"}));
  EXPECT_TRUE(std::is_sorted(sites.begin(), sites.end()));
}

TEST(EdgeConfigTest, TheLineIsThatOfTheMistake) {
  const Changed changed = change(shipped("edges/LON.yaml"), "window: 4096", "window: 4000");
  const auto file = parse_edge_config(changed.text, kConfigs + "/edges/LON.yaml");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().message.rfind(
                kConfigs + "/edges/LON.yaml:" + std::to_string(changed.line) + ": links[0].window:", 0),
            0u)
      << file.error().message;
}

TEST(ControllerConfigTest, TheShippedExampleSaysWhatItMeans) {
  const auto file = load_controller_config(kConfigs + "/controller.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->listen, "0.0.0.0:4600");
  EXPECT_EQ(file->network.islands.size(), 9u);
  EXPECT_EQ(file->schedule.rounds.size(), 1u);
  EXPECT_EQ(file->chunk_elements, 2048u);
  EXPECT_EQ(file->update_bytes, 1'000'000'000u);
  EXPECT_TRUE(file->multicast);
  EXPECT_EQ(file->native_multicast.first, 0xefc00000u);
  EXPECT_EQ(file->native_multicast.count, 65536u);
  EXPECT_EQ(file->deadline_ns, 30 * kSecond);
  EXPECT_TRUE(file->log.json);
  EXPECT_EQ(file->tls.certificate, "/etc/tombolo/controller.crt");
}

TEST(ControllerConfigTest, PartialsDecideTheChunkWhereSitesFold) {
  // Of 8192 bytes: 2048 values of fp32, or 4096 of bf16 if partials are, too.
  for (const auto& [partials, elements] : {std::pair{"partials: fp32", 2048U}, {"partials: update", 4096U}}) {
    std::string text = change(shipped("controller.yaml"), "partials: fp32", partials).text;
    text = change(text, "aggregation: edge", "aggregation: tree").text;
    text = change(text, "result_format: fp32", "result_format: bf16").text;
    text = change(text, "\nformat: fp32", "\nformat: bf16").text;
    const auto file = parse_controller_config(text, kConfigs + "/controller.yaml");
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(file->chunk_elements, elements);
    EXPECT_EQ(file->compile_options().partial_format == schedule::PartialFormat::kUpdate, elements == 4096U);
  }
}

TEST(ControllerConfigTest, AShareIsOfEveryLinkBetweenSites) {
  const auto all = parse_controller_config(shipped("controller.yaml"), kConfigs + "/controller.yaml");
  const auto part = parse_controller_config(
      change(shipped("controller.yaml"), "share: 1 ", "share: 0.25 ").text, kConfigs + "/controller.yaml");
  ASSERT_TRUE(all.ok() && part.ok());
  EXPECT_EQ(part->network.egress_bps, all->network.egress_bps) << "an island's access link is its own";
  EXPECT_EQ(part->network.ingress_bps, all->network.ingress_bps);
  for (std::size_t link = 0; link < all->network.links.size(); ++link)
    EXPECT_EQ(part->network.links[link].capacity_bps * 4, all->network.links[link].capacity_bps);
  EXPECT_EQ(part->update_bytes, all->update_bytes);
}

TEST(ControllerConfigTest, FormatsDecideTheChunk) {
  const struct {
    const char* chunk;
    const char* format;
    const char* result_format;
    std::uint32_t elements;
    std::uint64_t update_bytes;
  } cases[] = {
      {"chunk: jumbo", "format: mxint8", "result_format: mxint8", 7936, 999'999'990},  // 30303030 blocks.
      {"chunk: jumbo", "format: mxint8", "result_format: bf16", 4096, 999'999'990},
      {"chunk: standard", "format: bf16", "result_format: bf16", 640, 1'000'000'000},
      {"chunk: standard", "format: bf16", "result_format: fp32", 320, 1'000'000'000},
      {"chunk: standard", "format: mxfp8_e5m2", "", 1216, 999'999'990},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.format);
    std::string text = change(shipped("controller.yaml"), "chunk: jumbo", test.chunk).text;
    text = change(text, "result_format: fp32", test.result_format).text;
    text = change(text, "format: fp32", test.format).text;
    const auto file = parse_controller_config(text, kConfigs + "/controller.yaml");
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(file->chunk_elements, test.elements);
    EXPECT_EQ(file->update_bytes, test.update_bytes);
  }
}

TEST(ControllerConfigTest, EveryMistakeIsOneErrorWithItsPlace) {
  const std::string text = shipped("controller.yaml");
  const struct {
    const char* from;
    const char* to;
    const char* says;
  } cases[] = {
      {"listen: 0.0.0.0:4600", "listen: 0.0.0.0:99999", "listen: '0.0.0.0:99999' is not HOST:PORT"},
      {"key: /etc/tombolo/controller.key\n", "", "ca, certificate and key must be given together"},
      {"profile: access-limited", "profile: none", "profile: "},
      {"schedule: full", "schedule: none.yaml", "schedule: "},
      {"share: 1 ", "share: 0 ", "share: must be from 0.001"},
      {"share: 1 ", "share: 1.5 ", "share: must be from 0.001"},
      {"bytes: 1G", "bytes: 1", "bytes: is less than one element"},
      {"chunk: jumbo", "chunk: huge", "chunk: 'huge' is not one of standard, jumbo"},
      {"format: fp32", "format: fp8", "format: must be one of fp32, bf16, fp16, int32, mxint8"},
      {"result_format: fp32", "result_format: none", "result_format: must be one of"},
      {"partials: fp32", "partials: bf16", "partials: 'bf16' is not one of fp32, update"},
      {"non_finite: propagate", "non_finite: ignore",
       "non_finite: 'ignore' is not one of propagate, zero, reject"},
      {"multicast: on", "multicast: maybe", "multicast: 'maybe' is not one of"},
      {"aggregation: edge", "aggregation: forest", "aggregation: 'forest' is not one of none, edge, tree"},
      {"239.192.0.0/16", "239.192.0.0", "native_multicast: '239.192.0.0' is not an address with its prefix"},
      {"239.192.0.0/16", "10.192.0.0/16", "native_multicast: must lie in 224.0.0.0/4"},
      {"239.192.0.0/16", "224.0.0.0/3", "native_multicast: must lie in 224.0.0.0/4"},
      {"239.192.0.0/16", "239.192.0.1/16", "native_multicast: has bits behind its prefix length"},
      {"239.192.0.0/16", "224.0.0.0/24", "native_multicast: must lie beyond 224.0.0.0/24"},
      {"239.192.0.0/16", "224.0.0.0/4", "native_multicast: must lie beyond 224.0.0.0/24"},
      {"239.192.0.0/16", "239.192.0.0/28", "native_multicast: has 16 groups; the topology's links have "},
      {"deadline_s: 30", "deadline_s: 0", "deadline_s: must be from"},
      {"state: /var/lib/tombolo/controller", "states: x", "states: unknown key"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.to);
    const auto file =
        parse_controller_config(change(text, test.from, test.to).text, kConfigs + "/controller.yaml");
    ASSERT_FALSE(file.ok());
    EXPECT_NE(file.error().message.find(test.says), std::string::npos) << file.error().message;
    EXPECT_NE(file.error().message.find("controller.yaml:"), std::string::npos) << file.error().message;
  }
}

}  // namespace
}  // namespace tombolo::control
