#include "tools/testbed/netns/node_config.h"

#include <fmt/format.h>

#include "tools/testbed/netns/addresses.h"

namespace tombolo::testbed {
namespace {

using schedule::Rank;
using schedule::SiteId;

/// Nine idle edges on two cores must leave the cores to those that have work.
constexpr std::uint32_t kIdleSleepUs = 100;
constexpr double kAccessRttMs = 0.1;
constexpr std::uint32_t kJumboMtu = 9000;
constexpr std::uint32_t kStandardMtu = 1500;
/// Of the organisation's own scope (RFC 2365): nothing outside can mean the same groups.
constexpr const char* kGroups = "239.192.0.0/16";

std::string device(const Layout& layout, std::size_t index, const std::string& interface) {
  // A block holds whole frames and is whole pages; a ring holds what arrives while a worker has no core.
  const char* const ring =
      layout.jumbo ? "framesz=9216,blocksz=36864,framecnt=512" : "framesz=2048,blocksz=32768,framecnt=4096";
  return fmt::format("net_af_packet{},iface={},qpairs={},{}{}", index, interface, layout.config.workers, ring,
                     layout.builtin_emulation ? "" : ",qdisc_bypass=0");
}

std::string emulation(const char* key, double delay_ms, std::uint64_t rate_bps, double loss) {
  return fmt::format(",\n     {}: {{delay_ms: {:.6f}, rate_bps: {}, queue_bytes: {}, loss: {}}}", key,
                     delay_ms, rate_bps, wire_queue_bytes(rate_bps), loss);
}

std::string link_port(const Layout& layout, SiteId site, std::size_t position, SiteId other) {
  const schedule::Network& network = layout.config.network;
  const std::size_t link = link_between(network, site, other);
  const bool is_first = network.links[2 * link].from == site;
  const EndAddresses ends = link_addresses(link);
  const schedule::DirectedLink& out = direction(network, site, other);
  std::string text = fmt::format(
      "  - {{name: \"to-{}\", device: \"{}\", address: {}/{}, base_port: {}, mtu: {}", layout.site(other),
      device(layout, position, link_interface(link)), ipv4_text(is_first ? ends.first : ends.second),
      kLinkPrefix, kBasePort, layout.jumbo ? kJumboMtu : kStandardMtu);
  if (layout.native_multicast) text += ", delivery: multicast";
  if (layout.builtin_emulation)
    text += emulation("emulate", static_cast<double>(out.one_way_ns) * 1e-6, out.capacity_bps,
                      loss_between(layout.config.losses, site, other));
  return text + "}\n";
}

std::string access_port(const Layout& layout, SiteId site, std::size_t position, Rank rank) {
  std::string text =
      fmt::format("  - {{name: \"access-{}\", device: \"{}\", address: {}/{}, base_port: {}, mtu: {}",
                  layout.island(rank).id, device(layout, position, access_interface(rank)),
                  ipv4_text(access_addresses(rank).first), kLinkPrefix, kBasePort,
                  layout.jumbo ? kJumboMtu : kStandardMtu);
  if (layout.builtin_emulation)
    text += emulation("emulate", 0, layout.config.network.ingress_bps[site], 0) +
            emulation("emulate_receive", 0, layout.config.network.egress_bps[site], 0);
  return text + "}\n";
}

std::string link_line(const Layout& layout, SiteId site, std::size_t position) {
  const control::Neighbour& neighbour = layout.places[site].links[position];
  const std::uint32_t window = layout.needs.edges[site].link_windows[position];
  if (neighbour.is_island)
    return fmt::format(
        "      - {{island: \"{0}\", port: \"access-{0}\", address: \"{1}:{2}\", rtt_ms: {3}, window: {4}}}\n",
        layout.island(neighbour.id).id, ipv4_text(access_addresses(neighbour.id).second), kBasePort,
        kAccessRttMs, window);
  const schedule::Network& network = layout.config.network;
  const std::size_t link = link_between(network, site, neighbour.id);
  const EndAddresses ends = link_addresses(link);
  const std::uint32_t far = network.links[2 * link].from == site ? ends.second : ends.first;
  return fmt::format(
      "  - {{to: \"{0}\", port: \"to-{0}\", address: \"{1}:{2}\", rtt_ms: {3:.6f}, window: {4}}}\n",
      layout.site(neighbour.id), ipv4_text(far), kBasePort,
      static_cast<double>(direction(network, site, neighbour.id).rtt_ns) * 1e-6, window);
}

}  // namespace

std::string edge_yaml(const Layout& layout, SiteId site) {
  const control::EdgeNeeds& needs = layout.needs.edges[site];
  std::string text = fmt::format(
      "site: \"{0}\"\n"
      "lanes: {1}\n"
      "hello_interval_ms: {2}\n"
      "state: {3}/state/{0}\n"
      "local_socket: {4}\n"
      "metrics: {5}:{6}\n"
      "log: {{format: text, level: info}}\n"
      "workers: {{count: {7}, idle_sleep_us: {8}}}\n"
      "memory: {{hugepages: auto, buffer_bytes: {9}}}\n",
      layout.site(site), layout.config.lane_count, layout.hello_interval_ms, layout.folder,
      layout.edge_socket(site), layout.edge_management(site), kEdgeMetricsPort, layout.config.workers,
      kIdleSleepUs, needs.buffer_bytes);
  const std::vector<control::Neighbour>& links = layout.places[site].links;
  text += "ports:\n";
  for (std::size_t i = 0; i < links.size(); ++i)
    text += links[i].is_island ? access_port(layout, site, i, links[i].id)
                               : link_port(layout, site, i, links[i].id);
  std::string sites, islands;
  for (std::size_t i = 0; i < links.size(); ++i)
    (links[i].is_island ? islands : sites) += link_line(layout, site, i);
  if (!sites.empty()) text += "links:\n" + sites;
  text += fmt::format(
      "jobs:\n"
      "  - job: {0}\n"
      "    topology: {1}/topology.yaml\n"
      "    controller: {{address: \"{2}:{3}\"}}\n"
      "    buffers: {4}\n"
      "    arena: {5}\n",
      kTestbedJob, layout.folder, layout.controller_management(), kControllerPort, needs.buffers(),
      needs.arena_bytes);
  if (!islands.empty()) text += "    islands:\n" + islands;
  return text;
}

std::string controller_yaml(const Layout& layout) {
  const RunConfig& config = layout.config;
  std::string text = fmt::format(
      "listen: {0}:{1}\n"
      "topology: {2}/topology.yaml\n"
      "profile: \"{3}\"\n"
      "scale: {4}\n"
      "schedule: {2}/schedule.yaml\n"
      "job: {5}\n"
      "lanes: {6}\n"
      "chunk: {7}\n"
      "bytes: {8}\n"
      "multicast: {9}\n"
      "aggregation: {10}\n",
      layout.controller_management(), kControllerPort, layout.folder, layout.profile, layout.scale,
      kTestbedJob, config.lane_count, layout.jumbo ? "jumbo" : "standard", layout.bytes,
      config.multicast ? "on" : "off",
      config.tree_aggregation   ? "tree"
      : config.edge_aggregation ? "edge"
                                : "none");
  text += fmt::format("format: {}\nresult_format: {}\npartials: {}\nnon_finite: {}\n", name(config.format),
                      name(config.output_format()),
                      config.partial_format == schedule::PartialFormat::kUpdate ? "update" : "fp32",
                      name(config.non_finite));
  if (layout.native_multicast) text += fmt::format("native_multicast: {}\n", kGroups);
  const auto deadline_ns = deadline_of(config);
  if (deadline_ns) text += fmt::format("deadline_s: {:.3f}\n", static_cast<double>(*deadline_ns) * 1e-9);
  text += fmt::format(
      "settle_ms: 300\n"
      "state: {}/state/the-controller\n"
      "local_socket: {}\n"
      "metrics: {}:{}\n"
      "log: {{format: text, level: info}}\n",
      layout.folder, layout.controller_socket(), layout.controller_management(), kControllerMetricsPort);
  return text;
}

std::string schedule_yaml(const Layout& layout) {
  std::string text = fmt::format("name: \"{}\"\n", layout.config.schedule.name);
  const std::vector<float>& weights = layout.config.schedule.weights;
  if (!weights.empty()) text += "weights:\n";
  for (std::size_t rank = 0; rank < weights.size(); ++rank)
    text += fmt::format("  \"{}\": {}\n", layout.island(static_cast<Rank>(rank)).id, weights[rank]);
  text += "rounds:\n";
  for (const schedule::Round& round : layout.config.schedule.rounds) {
    std::string cliques;
    for (const schedule::Clique& clique : round.cliques) {
      std::string members;
      for (const Rank rank : clique)
        members += fmt::format("{}\"{}\"", members.empty() ? "" : ", ", layout.island(rank).id);
      cliques += fmt::format("{}[{}]", cliques.empty() ? "" : ", ", members);
    }
    text += fmt::format("  - [{}]\n", cliques);
  }
  return text;
}

std::vector<std::string> island_arguments(const Layout& layout, Rank rank) {
  const control::EdgeNeeds& needs = layout.needs.islands[rank];
  const EndAddresses ends = access_addresses(rank);
  return {"--name",
          layout.island(rank).id,
          "--rank",
          std::to_string(rank),
          "--listen",
          fmt::format("{}:{}", ipv4_text(ends.second), kBasePort),
          "--edge",
          fmt::format("{}:{}", ipv4_text(ends.first), kBasePort),
          "--lanes",
          std::to_string(layout.config.lane_count),
          "--job",
          std::to_string(kTestbedJob),
          "--bytes",
          std::to_string(layout.config.update_bytes),
          "--seed",
          std::to_string(layout.config.seed),
          "--format",
          std::string(name(layout.config.format)),
          "--result-format",
          std::string(name(layout.config.output_format())),
          "--operation",
          std::string(operation_name(layout.config.operation)),
          "--non-finite",
          std::string(name(layout.config.non_finite)),
          "--non-finite-share",
          fmt::format("{}", layout.config.non_finite_share),
          "--hello-ms",
          std::to_string(layout.hello_interval_ms),
          "--buffers",
          std::to_string(needs.buffers()),
          "--buffer-bytes",
          std::to_string(needs.buffer_bytes),
          "--window",
          std::to_string(needs.link_windows[0]),
          "--rtt-ms",
          fmt::format("{}", kAccessRttMs),
          "--metrics",
          fmt::format("{}:{}", layout.island_management(rank), kIslandMetricsPort),
          "--commands"};
}

}  // namespace tombolo::testbed
