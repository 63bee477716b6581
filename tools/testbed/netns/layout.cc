#include "tools/testbed/netns/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "control/contingency.h"
#include "tools/testbed/netns/addresses.h"

namespace tombolo::testbed {
namespace {

using schedule::Rank;
using schedule::SiteId;

constexpr std::uint32_t kStandardMtu = 1500;
/// A jumbo packet with its headers is 8284 bytes of IP; the port's frames hold this much.
constexpr std::uint32_t kJumboMtu = 9018;
constexpr const char* kBridge = "bridge";

std::size_t edge_node(SiteId site) { return std::size_t{1} + site; }
std::size_t island_node(const Layout& layout, Rank rank) { return 1 + layout.places.size() + rank; }

/// A node's way to the bridge of the controller's namespace.
Veth management_veth(const Layout& layout, const std::string& network_namespace, std::size_t node) {
  Veth veth;
  veth.a.network_namespace = network_namespace;
  veth.a.interface = kManagementInterface;
  veth.a.ipv4 = management_address(node);
  veth.a.prefix = kManagementPrefix;
  veth.b.network_namespace = layout.controller_namespace();
  veth.b.interface = fmt::format("node{}", node);
  veth.b.bridge = kBridge;
  return veth;
}

NetemRule netem(const std::string& network_namespace, const std::string& interface, double delay_ms,
                std::uint64_t rate_bps, double loss) {
  // netem's limit counts packets, those under way included; the smallest that fills a queue is a header.
  const double under_way_bytes = static_cast<double>(rate_bps) / 8 * delay_ms * 1e-3;
  const double packets = (static_cast<double>(wire_queue_bytes(rate_bps)) + under_way_bytes) / 128;
  return {network_namespace, interface, delay_ms,
          rate_bps,          loss,      static_cast<std::uint32_t>(std::clamp(packets, 1000.0, 1e6))};
}

}  // namespace

std::string Layout::controller_namespace() const {
  // With two parts behind the number, and no site or island may have a hyphen: this is none of theirs.
  return fmt::format("{}{}-ctl-net", kNamespacePrefix, run_id);
}
std::string Layout::edge_namespace(SiteId id) const {
  return fmt::format("{}{}-{}", kNamespacePrefix, run_id, site(id));
}
std::string Layout::island_namespace(Rank rank) const {
  return fmt::format("{}{}-{}-island", kNamespacePrefix, run_id, island(rank).id);
}
std::string Layout::edge_socket(SiteId id) const {
  return fmt::format("{}/{}.sock", socket_folder, site(id));
}
std::string Layout::controller_socket() const { return socket_folder + "/the-controller.sock"; }
std::string Layout::edge_file(SiteId id) const { return fmt::format("{}/edges/{}.yaml", folder, site(id)); }
std::string Layout::controller_file() const { return folder + "/controller.yaml"; }
std::string Layout::log_file(const std::string& node) const {
  return fmt::format("{}/logs/{}.log", folder, node);
}
std::string Layout::edge_management(SiteId id) const { return ipv4_text(management_address(edge_node(id))); }
std::string Layout::island_management(Rank rank) const {
  return ipv4_text(management_address(island_node(*this, rank)));
}
std::string Layout::controller_management() const { return ipv4_text(management_address(0)); }

Status complete_layout(Layout& layout) {
  if (Status sound = check_config(layout.config); !sound) return sound;
  if (Status sound = check_addresses(layout.config.network); !sound) return sound;
  auto options = compile_options(layout.config, 1);
  if (!options) return std::move(options).error();
  layout.places = edge_places(layout.config.network);
  // Memory for what the controller will want when something fails, too.
  auto plans = control::contingency_plans(layout.config.network, {layout.config.schedule, *options});
  if (!plans) return std::move(plans).error();
  layout.needs = network_needs(layout.places, layout.config.network.islands.size(), *plans);
  return ok_status();
}

std::string link_interface(std::size_t link) { return fmt::format("link{}", link); }
std::string access_interface(Rank rank) { return fmt::format("access{}", rank); }

std::size_t link_between(const schedule::Network& network, SiteId a, SiteId b) {
  for (std::size_t i = 0; i < network.links.size(); ++i)
    if (network.links[i].from == a && network.links[i].to == b) return i / 2;
  check_failed("the two sites are neighbours", __FILE__, __LINE__);
}

const schedule::DirectedLink& direction(const schedule::Network& network, SiteId from, SiteId to) {
  const std::size_t link = link_between(network, from, to);
  return network.links[network.links[2 * link].from == from ? 2 * link : 2 * link + 1];
}

NamespacePlan namespace_plan(const Layout& layout) {
  const schedule::Network& network = layout.config.network;
  const std::uint32_t mtu = layout.jumbo ? kJumboMtu : kStandardMtu;
  NamespacePlan plan;
  plan.namespaces.push_back(layout.controller_namespace());
  plan.bridges.push_back({layout.controller_namespace(), kBridge, management_address(0), kManagementPrefix});
  for (SiteId site = 0; site < layout.places.size(); ++site) {
    plan.namespaces.push_back(layout.edge_namespace(site));
    plan.veths.push_back(management_veth(layout, layout.edge_namespace(site), edge_node(site)));
  }
  for (std::size_t i = 0; i < network.links.size() / 2; ++i) {
    Veth veth;
    veth.a.network_namespace = layout.edge_namespace(network.links[2 * i].from);
    veth.b.network_namespace = layout.edge_namespace(network.links[2 * i].to);
    veth.a.interface = veth.b.interface = link_interface(i);
    veth.mtu = mtu;
    plan.veths.push_back(veth);
  }
  for (Rank rank = 0; rank < network.islands.size(); ++rank) {
    plan.namespaces.push_back(layout.island_namespace(rank));
    plan.veths.push_back(management_veth(layout, layout.island_namespace(rank), island_node(layout, rank)));
    Veth veth;
    veth.a.network_namespace = layout.edge_namespace(network.islands[rank].site);
    veth.a.interface = access_interface(rank);
    veth.b.network_namespace = layout.island_namespace(rank);
    veth.b.interface = kIslandInterface;
    veth.b.ipv4 = access_addresses(rank).second;
    veth.b.prefix = kLinkPrefix;
    veth.b.plain_packets = true;
    veth.mtu = mtu;
    plan.veths.push_back(veth);
  }
  return plan;
}

std::vector<NetemRule> netem_rules(const Layout& layout) {
  const schedule::Network& network = layout.config.network;
  std::vector<NetemRule> rules;
  for (std::size_t i = 0; i < network.links.size(); ++i) {
    const schedule::DirectedLink& link = network.links[i];
    rules.push_back(netem(layout.edge_namespace(link.from), link_interface(i / 2),
                          static_cast<double>(link.one_way_ns) * 1e-6, link.capacity_bps,
                          loss_between(layout.config.losses, link.from, link.to)));
  }
  for (Rank rank = 0; rank < network.islands.size(); ++rank) {
    const SiteId site = network.islands[rank].site;
    rules.push_back(
        netem(layout.edge_namespace(site), access_interface(rank), 0, network.ingress_bps[site], 0));
    rules.push_back(netem(layout.island_namespace(rank), kIslandInterface, 0, network.egress_bps[site], 0));
  }
  return rules;
}

}  // namespace tombolo::testbed
