#include "schedule/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "schedule/yaml_value.h"

namespace tombolo::schedule {
namespace {

constexpr double kMaxGbps = 1e6;
constexpr double kMaxLatencyMs = 60'000;
constexpr double kNsPerMs = 1e6;
constexpr double kMinScale = 1e-9;
constexpr double kMaxScale = 1e3;

/// Reads one topology document; each step relies on the ones before it.
class TopologyReader {
 public:
  Topology read(const YamlValue& document) {
    const YamlMap top = document.map({"name", "sites", "links", "islands", "profiles", "explicit_trees"});
    if (const auto name = top.find("name")) topology_.name = name->text();
    if (const auto trees = top.find("explicit_trees")) topology_.explicit_trees = trees->boolean();
    read_sites(top.get("sites"));
    read_links(top.get("links"));
    require_connected(top.get("sites"));
    read_islands(top.find("islands"));
    read_profiles(top.get("profiles"));
    return std::move(topology_);
  }

 private:
  void read_sites(const YamlValue& list);
  void read_links(const YamlValue& list);
  Link read_link(const YamlValue& item);
  void require_connected(const YamlValue& sites) const;
  void read_islands(const std::optional<YamlValue>& list);
  void read_profiles(const YamlValue& map);
  void read_link_capacities(const YamlValue& map, Profile& profile);
  void require_complete(const YamlValue& value, const Profile& profile) const;

  SiteId site(const YamlValue& value) const {
    const auto found = site_by_id_.find(value.text());
    if (found == site_by_id_.end()) value.fail(fmt::format("there is no site '{}'", value.text()));
    return found->second;
  }
  std::string link_name(SiteId from, SiteId to) const {
    return topology_.sites[from].id + "-" + topology_.sites[to].id;
  }

  Topology topology_;
  std::map<std::string, SiteId> site_by_id_;
  std::map<std::string, std::size_t> link_by_name_;  ///< Under both orders of its ends.
};

void TopologyReader::read_sites(const YamlValue& list) {
  const auto items = list.items();
  if (items.empty()) list.fail("there must be at least one site");
  if (items.size() > kMaxSites) list.fail(fmt::format("{} sites; at most {}", items.size(), kMaxSites));
  for (const YamlValue& item : items) {
    const YamlMap map = item.map({"id", "city", "lat", "lon", "replicates", "aggregates"});
    Site site;
    site.id = map.get("id").id();
    if (const auto city = map.find("city")) site.city = city->text();
    if (map.find("lat") || map.find("lon")) {
      site.lat_deg = map.get("lat").number(-90, 90);
      site.lon_deg = map.get("lon").number(-180, 180);
    }
    if (const auto replicates = map.find("replicates")) site.replicates = replicates->boolean();
    if (const auto aggregates = map.find("aggregates")) site.aggregates = aggregates->boolean();
    if (!site_by_id_.emplace(site.id, static_cast<SiteId>(topology_.sites.size())).second)
      map.get("id").fail(fmt::format("the site '{}' appears twice", site.id));
    topology_.sites.push_back(std::move(site));
  }
}

std::uint64_t latency_ns(const YamlValue& value, double ms) {
  const double ns = std::round(ms * kNsPerMs);
  if (ns < 1) value.fail("is below a nanosecond one way");
  return static_cast<std::uint64_t>(ns);
}

Link TopologyReader::read_link(const YamlValue& item) {
  const YamlMap map = item.map({"a", "b", "rtt_ms", "one_way_ms", "gbps", "multicast", "source"});
  Link link;
  link.a = site(map.get("a"));
  link.b = site(map.get("b"));
  if (link.a == link.b) map.get("b").fail(fmt::format("a link from '{}' to itself", map.get("a").text()));
  if (const auto source = map.find("source")) source->text();
  const auto rtt = map.find("rtt_ms");
  const auto one_way = map.find("one_way_ms");
  if (rtt.has_value() == one_way.has_value()) item.fail("must have rtt_ms or one_way_ms, and not both");
  if (rtt) {
    // Half the round trip each way: symmetry is what a round-trip measurement assumes.
    link.one_way_ns_ab = link.one_way_ns_ba = latency_ns(*rtt, rtt->positive_number(kMaxLatencyMs) / 2);
  } else {
    const YamlMap ways = one_way->map({"ab", "ba"});
    link.one_way_ns_ab = latency_ns(ways.get("ab"), ways.get("ab").positive_number(kMaxLatencyMs));
    link.one_way_ns_ba = latency_ns(ways.get("ba"), ways.get("ba").positive_number(kMaxLatencyMs));
  }
  if (const auto gbps = map.find("gbps")) {
    const YamlMap ways = gbps->map({"ab", "ba"});
    link.gbps_ab = ways.get("ab").positive_number(kMaxGbps);
    link.gbps_ba = ways.get("ba").positive_number(kMaxGbps);
  }
  if (const auto multicast = map.find("multicast")) link.multicast = multicast->boolean();
  return link;
}

void TopologyReader::read_links(const YamlValue& list) {
  for (const YamlValue& item : list.items()) {
    const Link link = read_link(item);
    const std::size_t index = topology_.links.size();
    const std::string name = link_name(link.a, link.b);
    const auto [first, added] = link_by_name_.emplace(name, index);
    if (!added) item.fail(fmt::format("the link {} is already links[{}]", name, first->second));
    link_by_name_.emplace(link_name(link.b, link.a), index);
    topology_.links.push_back(link);
  }
}

void TopologyReader::require_connected(const YamlValue& sites) const {
  std::vector<std::vector<SiteId>> neighbours(topology_.sites.size());
  for (const Link& link : topology_.links) {
    neighbours[link.a].push_back(link.b);
    neighbours[link.b].push_back(link.a);
  }
  std::vector<bool> reached(topology_.sites.size(), false);
  std::vector<SiteId> open{0};
  reached[0] = true;
  while (!open.empty()) {
    const SiteId site = open.back();
    open.pop_back();
    for (const SiteId next : neighbours[site]) {
      if (reached[next]) continue;
      reached[next] = true;
      open.push_back(next);
    }
  }
  for (std::size_t i = 0; i < reached.size(); ++i)
    if (!reached[i])
      sites.items()[i].fail(fmt::format("no links lead from '{}' to '{}': the sites must be connected",
                                        topology_.sites[0].id, topology_.sites[i].id));
}

void TopologyReader::read_islands(const std::optional<YamlValue>& list) {
  if (!list) {
    for (std::size_t i = 0; i < topology_.sites.size(); ++i)
      topology_.islands.push_back({topology_.sites[i].id, static_cast<SiteId>(i)});
    return;
  }
  const auto items = list->items();
  if (items.empty()) list->fail("there must be at least one island");
  if (items.size() > kMaxIslands)
    list->fail(fmt::format("{} islands; at most {}", items.size(), kMaxIslands));
  std::map<std::string, std::size_t> seen;
  for (const YamlValue& item : items) {
    const YamlMap map = item.map({"id", "site"});
    Island island{map.get("id").id(), site(map.get("site"))};
    if (!seen.emplace(island.id, seen.size()).second)
      map.get("id").fail(fmt::format("the island '{}' appears twice", island.id));
    topology_.islands.push_back(std::move(island));
  }
}

void TopologyReader::read_profiles(const YamlValue& map) {
  for (const auto& [name, value] : map.members()) {
    const YamlMap keys =
        value.map({"core_gbps", "egress_gbps", "ingress_gbps", "core_gbps_by_link", "access_gbps_by_site"});
    Profile profile;
    profile.name = name;
    if (const auto v = keys.find("core_gbps")) profile.core_gbps = v->positive_number(kMaxGbps);
    if (const auto v = keys.find("egress_gbps")) profile.egress_gbps = v->positive_number(kMaxGbps);
    if (const auto v = keys.find("ingress_gbps")) profile.ingress_gbps = v->positive_number(kMaxGbps);
    if (const auto v = keys.find("core_gbps_by_link")) read_link_capacities(*v, profile);
    if (const auto v = keys.find("access_gbps_by_site")) {
      for (const auto& [id, gbps] : v->members()) {
        const auto found = site_by_id_.find(id);
        if (found == site_by_id_.end()) gbps.fail(fmt::format("there is no site '{}'", id));
        profile.access_gbps_by_site[found->second] = gbps.positive_number(kMaxGbps);
      }
    }
    require_complete(value, profile);
    topology_.profiles.push_back(std::move(profile));
  }
  if (topology_.profiles.empty()) map.fail("there must be at least one profile");
}

void TopologyReader::read_link_capacities(const YamlValue& map, Profile& profile) {
  for (const auto& [name, gbps] : map.members()) {
    const auto found = link_by_name_.find(name);
    if (found == link_by_name_.end()) gbps.fail(fmt::format("there is no link '{}'", name));
    if (!profile.core_gbps_by_link.emplace(found->second, gbps.positive_number(kMaxGbps)).second)
      gbps.fail("the link appears twice, once in each order");
  }
}

void TopologyReader::require_complete(const YamlValue& value, const Profile& profile) const {
  for (std::size_t i = 0; i < topology_.links.size(); ++i) {
    const Link& link = topology_.links[i];
    if (!profile.core_gbps && !link.gbps_ab && !profile.core_gbps_by_link.contains(i))
      value.fail(fmt::format("no capacity for the link {}: give core_gbps", link_name(link.a, link.b)));
  }
  for (const Island& island : topology_.islands)
    if (!profile.access_gbps_by_site.contains(island.site) && !(profile.egress_gbps && profile.ingress_gbps))
      value.fail(fmt::format("no access capacity at the site '{}': give egress_gbps and ingress_gbps",
                             topology_.sites[island.site].id));
}

/// Capacities in Gbit/s to whole bit/s under one scale; remembers whether one vanished.
class Scaler {
 public:
  explicit Scaler(double scale) : scale_(scale) {}
  std::uint64_t bps(double gbps) {
    const double bps = std::round(gbps * 1e9 * scale_);
    if (bps < 1) vanished_ = true;
    return static_cast<std::uint64_t>(bps);
  }
  bool vanished() const { return vanished_; }

 private:
  double scale_;
  bool vanished_ = false;
};

void add_access(const Topology& topology, const Profile& profile, Scaler& scaler, Network& network) {
  for (std::size_t i = 0; i < topology.sites.size(); ++i) {
    const auto access = profile.access_gbps_by_site.find(static_cast<SiteId>(i));
    const bool own = access != profile.access_gbps_by_site.end();
    const auto egress = own ? std::optional(access->second) : profile.egress_gbps;
    const auto ingress = own ? std::optional(access->second) : profile.ingress_gbps;
    network.site_names.push_back(topology.sites[i].id);
    network.egress_bps.push_back(egress ? scaler.bps(*egress) : 0);
    network.ingress_bps.push_back(ingress ? scaler.bps(*ingress) : 0);
  }
}

void add_denials(const Topology& topology, Network& network) {
  const auto list = [&](bool Site::*can) {
    std::vector<bool> all;
    for (const Site& site : topology.sites) all.push_back(site.*can);
    if (std::find(all.begin(), all.end(), false) == all.end()) all.clear();
    return all;
  };
  network.site_replicates = list(&Site::replicates);
  network.site_aggregates = list(&Site::aggregates);
}

void add_links(const Topology& topology, const Profile& profile, Scaler& scaler, Network& network) {
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const Link& link = topology.links[i];
    const auto own = profile.core_gbps_by_link.find(i);
    const auto gbps = [&](const std::optional<double>& of_link) {
      if (own != profile.core_gbps_by_link.end()) return own->second;
      return of_link ? *of_link : *profile.core_gbps;
    };
    const std::uint64_t rtt_ns = link.one_way_ns_ab + link.one_way_ns_ba;
    network.links.push_back(
        {link.a, link.b, link.one_way_ns_ab, rtt_ns, scaler.bps(gbps(link.gbps_ab)), link.multicast});
    network.links.push_back(
        {link.b, link.a, link.one_way_ns_ba, rtt_ns, scaler.bps(gbps(link.gbps_ba)), link.multicast});
  }
}

}  // namespace

Result<Topology> parse_topology(std::string_view text, std::string_view file_name) {
  return read_yaml<Topology>(text, file_name,
                             [](const YamlValue& document) { return TopologyReader().read(document); });
}

Result<Topology> load_topology(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  return parse_topology(*text, path);
}

Result<Network> resolve(const Topology& topology, std::string_view profile_name, double scale) {
  if (!(scale >= kMinScale && scale <= kMaxScale))
    return invalid_input(fmt::format("scale {}: must be from {} to {}", scale, kMinScale, kMaxScale));
  const Profile* profile = nullptr;
  std::vector<std::string> names;
  for (const Profile& candidate : topology.profiles) {
    if (candidate.name == profile_name) profile = &candidate;
    names.push_back(candidate.name);
  }
  if (profile == nullptr)
    return invalid_input(fmt::format("there is no profile '{}'; the topology '{}' has: {}", profile_name,
                                     topology.name, fmt::join(names, ", ")));
  Network network;
  network.name = topology.name;
  network.islands = topology.islands;
  network.explicit_trees = topology.explicit_trees;
  Scaler scaler(scale);
  add_access(topology, *profile, scaler, network);
  add_links(topology, *profile, scaler, network);
  add_denials(topology, network);
  if (scaler.vanished())
    return invalid_input(
        fmt::format("scale {}: leaves a capacity below 1 bit/s in profile '{}'", scale, profile_name));
  return network;
}

void take_share(Network& network, double share) {
  for (DirectedLink& link : network.links)
    link.capacity_bps = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(static_cast<double>(link.capacity_bps) * share));
}

}  // namespace tombolo::schedule
