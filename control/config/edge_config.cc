#include "control/config/edge_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>
#include <utility>

#include "multicast/forwarding.h"
#include "protocol/link/sender.h"
#include "protocol/port.h"

namespace tombolo::control {
namespace {

using schedule::YamlMap;
using schedule::YamlValue;

constexpr std::uint64_t kMaxLanes = 256;
constexpr std::uint64_t kMaxCpu = 1023;
constexpr std::uint64_t kMaxBuffers = 1ULL << 24;
constexpr std::uint32_t kLeastBufferBytes = kHeaderBytes + 640;
constexpr std::uint64_t kMaxWindow = 1ULL << 16;
constexpr double kLongestMs = 10'000;
constexpr double kHighestBps = 1e12;

dataplane::LinkConfig read_emulation(const YamlValue& value) {
  const YamlMap map = value.map({"delay_ms", "rate_bps", "queue_bytes", "loss"});
  dataplane::LinkConfig link;
  if (const auto delay = map.find("delay_ms")) link.delay_ns = milliseconds(*delay, kLongestMs);
  if (const auto rate = map.find("rate_bps"))
    link.rate_bps = static_cast<std::uint64_t>(rate->positive_number(kHighestBps));
  if (const auto queue = map.find("queue_bytes")) link.queue_bytes = byte_count(*queue);
  if (const auto loss = map.find("loss")) link.loss = loss->number(0, 1);
  if (auto checked = dataplane::check_link(link); !checked) value.fail(checked.error().message);
  return link;
}

EdgePortConfig read_port(const YamlValue& value, std::uint16_t lanes) {
  const YamlMap map = value.map(
      {"name", "device", "address", "gateway", "base_port", "mtu", "delivery", "emulate", "emulate_receive"});
  EdgePortConfig port;
  port.name = map.get("name").text();
  port.device = map.get("device").text();
  port.network = ipv4_network(map.get("address"));
  if (const auto gateway = map.find("gateway")) port.gateway = ipv4(*gateway);
  if (const auto base = map.find("base_port"))
    port.base_port = static_cast<std::uint16_t>(whole_number(*base, 1024, 65536U - lanes));
  if (const auto delivery = map.find("delivery"))
    port.multicast = choice(*delivery, {"unicast", "multicast"}) == 1;
  if (const auto mtu = map.find("mtu")) port.mtu = static_cast<std::uint32_t>(whole_number(*mtu, 576, 9600));
  if (const auto emulate = map.find("emulate")) port.emulate = read_emulation(*emulate);
  if (const auto emulate = map.find("emulate_receive")) port.emulate_receive = read_emulation(*emulate);
  return port;
}

std::uint64_t read_mac(const YamlValue& value) {
  const std::string text = value.text();
  constexpr std::size_t kText = 17;  // 02:00:00:00:00:01
  std::uint64_t mac = 0;
  for (std::size_t at = 0; text.size() == kText && at < kText; at += 3) {
    unsigned octet = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 2, octet, 16);
    if (error != std::errc{} || end != text.data() + at + 2 || (at + 2 < kText && text[at + 2] != ':')) break;
    mac = mac << 8 | octet;
    if (at + 2 == kText) {
      if (mac == 0 || (mac >> 40 & 1) != 0) value.fail("is not the address of one machine");
      return mac;
    }
  }
  value.fail(fmt::format("'{:.40}' is not an Ethernet address such as 02:00:00:00:00:01", text));
}

/// Fills the file's fields, in the order of their keys.
class EdgeReader {
 public:
  explicit EdgeReader(const std::string& path) { file_.path = path; }

  EdgeFile read(const YamlValue& root) {
    const YamlMap map =
        root.map({"site", "topology", "job", "lanes", "hello_interval_ms", "state", "local_socket", "metrics",
                  "log", "workers", "memory", "controller", "ports", "links"});
    read_place(map);
    read_programs(map);
    if (const auto workers = map.find("workers")) read_workers(*workers);
    read_memory(map.get("memory"));
    const YamlMap controller = map.get("controller").map({"address", "ca", "certificate", "key"});
    file_.controller = host_and_port(controller.get("address"));
    file_.controller_tls = read_tls(controller, file_.path);
    read_ports(map.get("ports"));
    read_links(map.get("links"));
    return std::move(file_);
  }

 private:
  void read_place(const YamlMap& map) {
    const YamlValue topology = map.get("topology");
    auto loaded = schedule::load_topology(path_beside(topology, file_.path));
    if (!loaded) topology.fail(loaded.error().message);
    file_.topology = std::move(loaded).value();
    const YamlValue site = map.get("site");
    file_.site = site.id();
    file_.site_id = find_site(site, file_.site);
  }

  void read_programs(const YamlMap& map) {
    if (const auto job = map.find("job"))
      file_.job = static_cast<std::uint16_t>(whole_number(*job, 0, 65535));
    if (const auto lanes = map.find("lanes"))
      file_.lanes = static_cast<std::uint16_t>(whole_number(*lanes, 1, kMaxLanes));
    if (const auto hello = map.find("hello_interval_ms")) {
      file_.hello_interval_ns = milliseconds(*hello, kLongestMs);
      if (file_.hello_interval_ns < kMillisecond) hello->fail("must be at least 1");
    }
    file_.state = path_beside(map.get("state"), file_.path);
    if (const auto socket = map.find("local_socket")) file_.local_socket = path_beside(*socket, file_.path);
    if (const auto metrics = map.find("metrics")) file_.metrics = host_and_port(*metrics);
    if (const auto log = map.find("log")) file_.log = read_log(*log, file_.path);
  }

  void read_workers(const YamlValue& value) {
    const YamlMap map = value.map({"count", "cores", "idle_sleep_us"});
    if (const auto count = map.find("count")) {
      file_.workers = static_cast<std::uint32_t>(whole_number(*count, 1, kMaxLanes));
      if (file_.lanes % file_.workers != 0)
        count->fail(fmt::format("{} workers do not divide {} lanes", file_.workers, file_.lanes));
    }
    if (const auto cores = map.find("cores")) {
      for (const YamlValue& core : cores->items()) {
        file_.cores.push_back(static_cast<std::uint32_t>(whole_number(core, 0, kMaxCpu)));
        if (std::count(file_.cores.begin(), file_.cores.end(), file_.cores.back()) > 1)
          core.fail("is given twice");
      }
      if (file_.cores.size() != file_.workers)
        cores->fail(fmt::format("{} cores for {} workers", file_.cores.size(), file_.workers));
    }
    if (const auto sleep = map.find("idle_sleep_us"))
      file_.idle_sleep_ns = whole_number(*sleep, 0, 100'000) * kMicrosecond;
  }

  void read_memory(const YamlValue& value) {
    const YamlMap map = value.map({"hugepages", "buffers", "buffer_bytes", "arena", "limit"});
    if (const auto use = map.find("hugepages"))
      file_.hugepages = static_cast<HugepageUse>(choice(*use, {"auto", "required", "off"}));
    file_.buffers = whole_number(map.get("buffers"), 64, kMaxBuffers);
    file_.buffer_bytes =
        static_cast<std::uint32_t>(whole_number(map.get("buffer_bytes"), kLeastBufferBytes, kMaxPacketBytes));
    if (const auto arena = map.find("arena")) file_.arena_bytes = byte_count(*arena);
    if (const auto limit = map.find("limit")) file_.memory_limit_bytes = byte_count(*limit);
  }

  void read_ports(const YamlValue& value) {
    for (const YamlValue& item : value.items()) {
      EdgePortConfig port = read_port(item, file_.lanes);
      for (const EdgePortConfig& other : file_.ports)
        if (other.name == port.name) item.fail(fmt::format("the name '{:.40}' is given twice", port.name));
      file_.ports.push_back(std::move(port));
    }
    if (file_.ports.empty()) value.fail("there must be a port");
  }

  void read_links(const YamlValue& value) {
    for (const YamlValue& item : value.items()) {
      EdgeLinkConfig link = read_link(item);
      for (const EdgeLinkConfig& other : file_.links) {
        if (other.address == link.address) item.fail(to_string(link.address) + " is given twice");
        if (other.neighbour.is_island == link.neighbour.is_island && other.neighbour.id == link.neighbour.id)
          item.fail(link.name + " is given twice");
      }
      file_.links.push_back(std::move(link));
    }
    if (file_.links.empty() || file_.links.size() > multicast::kMaxLinks)
      value.fail(fmt::format("{} links; there must be 1 to {}", file_.links.size(), multicast::kMaxLinks));
  }

  EdgeLinkConfig read_link(const YamlValue& item) {
    const YamlMap map = item.map({"to", "island", "port", "address", "mac", "rtt_ms", "window"});
    EdgeLinkConfig link;
    const auto to = map.find("to");
    const auto island = map.find("island");
    if (to.has_value() == island.has_value())
      item.fail("exactly one of 'to' (a site) and 'island' must be given");
    link.name = to ? to->id() : island->id();
    link.neighbour = to ? Neighbour{false, find_neighbour(*to, link.name)}
                        : Neighbour{true, find_island(*island, link.name)};
    link.port = find_port(map.get("port"));
    link.address = node_address(map.get("address"));
    if (std::uint32_t{link.address.base_port} + file_.lanes > 65536)
      map.get("address").fail(fmt::format("{} lanes from that port on do not fit", file_.lanes));
    if (const auto mac = map.find("mac")) link.mac = read_mac(*mac);
    if (const auto rtt = map.find("rtt_ms"))
      link.rtt_ns = std::max<Nanoseconds>(milliseconds(*rtt, kLongestMs), 1);
    if (const auto window = map.find("window")) {
      link.window_packets = static_cast<std::uint32_t>(whole_number(*window, 1, kMaxWindow));
      if (!std::has_single_bit(link.window_packets) || link.window_packets <= link::Sender::kControlReserve)
        window->fail(fmt::format("must be a power of two above {}", link::Sender::kControlReserve));
    }
    return link;
  }

  schedule::SiteId find_site(const YamlValue& value, const std::string& id) const {
    const auto& sites = file_.topology.sites;
    const auto found =
        std::find_if(sites.begin(), sites.end(), [&](const auto& site) { return site.id == id; });
    if (found == sites.end()) value.fail(fmt::format("the topology has no site '{}'", id));
    return static_cast<schedule::SiteId>(found - sites.begin());
  }

  std::uint16_t find_neighbour(const YamlValue& value, const std::string& id) const {
    const schedule::SiteId site = find_site(value, id);
    const auto joins = [&](const schedule::Link& link) {
      return (link.a == site && link.b == file_.site_id) || (link.b == site && link.a == file_.site_id);
    };
    const auto& links = file_.topology.links;
    if (std::none_of(links.begin(), links.end(), joins))
      value.fail(fmt::format("the topology has no link between {} and {}", file_.site, id));
    return site;
  }

  std::uint16_t find_island(const YamlValue& value, const std::string& id) const {
    const auto& islands = file_.topology.islands;
    const auto found =
        std::find_if(islands.begin(), islands.end(), [&](const auto& island) { return island.id == id; });
    if (found == islands.end() || found->site != file_.site_id)
      value.fail(fmt::format("the topology has no island '{}' at {}", id, file_.site));
    return static_cast<std::uint16_t>(found - islands.begin());
  }

  std::uint8_t find_port(const YamlValue& value) const {
    const std::string name = value.text();
    for (std::size_t i = 0; i < file_.ports.size(); ++i)
      if (file_.ports[i].name == name) return static_cast<std::uint8_t>(i);
    value.fail(fmt::format("there is no port '{:.40}'", name));
  }

  EdgeFile file_;
};

}  // namespace

EdgePlace EdgeFile::place() const {
  EdgePlace place{site_id, {}};
  for (const EdgeLinkConfig& link : links) place.links.push_back(link.neighbour);
  return place;
}

std::vector<schedule::SiteId> EdgeFile::multicast_sites() const {
  std::vector<schedule::SiteId> sites;
  for (const EdgeLinkConfig& link : links)
    if (!link.neighbour.is_island && ports[link.port].multicast) sites.push_back(link.neighbour.id);
  std::sort(sites.begin(), sites.end());
  return sites;
}

std::vector<dataplane::EdgeLink> EdgeFile::edge_links() const {
  std::vector<dataplane::EdgeLink> all;
  for (const EdgeLinkConfig& link : links)
    all.push_back({link.address, link.port, link.neighbour.is_island, link.rtt_ns, link.window_packets});
  return all;
}

Result<EdgeFile> parse_edge_config(std::string_view text, const std::string& path) {
  return schedule::read_yaml<EdgeFile>(text, path,
                                       [&](const YamlValue& root) { return EdgeReader(path).read(root); });
}

Result<EdgeFile> load_edge_config(const std::string& path) {
  auto text = schedule::read_file(path);
  if (!text) return std::move(text).error();
  return parse_edge_config(*text, path);
}

}  // namespace tombolo::control
