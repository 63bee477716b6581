#include "control/config/edge_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>
#include <utility>

#include "dataplane/edge/edge.h"
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

/// What can be said of a neighbour without knowing a topology.
EdgeLinkConfig read_link(const YamlMap& map, const std::vector<EdgePortConfig>& ports, std::uint16_t lanes) {
  EdgeLinkConfig link;
  const YamlValue port = map.get("port");
  const std::string name = port.text();
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const auto& each) { return each.name == name; });
  if (found == ports.end()) port.fail(fmt::format("there is no port '{:.40}'", name));
  link.port = static_cast<std::uint8_t>(found - ports.begin());
  link.address = node_address(map.get("address"));
  if (std::uint32_t{link.address.base_port} + lanes > 65536)
    map.get("address").fail(fmt::format("{} lanes from that port on do not fit", lanes));
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

/// Fills the file's fields, in an order in which each finds what it refers to.
class EdgeReader {
 public:
  explicit EdgeReader(const std::string& path) { file_.path = path; }

  EdgeFile read(const YamlValue& root) {
    const YamlMap map = root.map({"site", "lanes", "hello_interval_ms", "state", "local_socket", "metrics",
                                  "log", "workers", "memory", "ports", "links", "jobs"});
    site_.emplace(map.get("site"));
    file_.site = site_->id();
    read_programs(map);
    if (const auto workers = map.find("workers")) read_workers(*workers);
    read_memory(map.get("memory"));
    read_ports(map.get("ports"));
    if (const auto links = map.find("links")) read_sites(*links);
    read_jobs(map.get("jobs"));
    return std::move(file_);
  }

 private:
  void read_programs(const YamlMap& map) {
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
    const YamlMap map = value.map({"hugepages", "buffer_bytes", "limit"});
    if (const auto use = map.find("hugepages"))
      file_.hugepages = static_cast<HugepageUse>(choice(*use, {"auto", "required", "off"}));
    file_.buffer_bytes =
        static_cast<std::uint32_t>(whole_number(map.get("buffer_bytes"), kLeastBufferBytes, kMaxPacketBytes));
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

  /// Links to other sites, which all jobs use. Whether there are such sites each job's topology says.
  void read_sites(const YamlValue& value) {
    for (const YamlValue& item : value.items()) {
      const YamlMap map = item.map({"to", "port", "address", "mac", "rtt_ms", "window"});
      SiteLink site{read_link(map, file_.ports, file_.lanes), map.get("to")};
      site.link.name = site.to.id();
      for (const SiteLink& other : sites_) {
        if (other.link.address == site.link.address)
          item.fail(to_string(site.link.address) + " is given twice");
        if (other.link.name == site.link.name) item.fail(site.link.name + " is given twice");
      }
      sites_.push_back(std::move(site));
    }
  }

  void read_jobs(const YamlValue& value) {
    for (const YamlValue& item : value.items()) {
      EdgeJobFile job = read_job(item);
      for (const EdgeJobFile& other : file_.jobs)
        if (other.job == job.job) item.fail(fmt::format("job {} is given twice", job.job));
      file_.jobs.push_back(std::move(job));
    }
    if (file_.jobs.empty() || file_.jobs.size() > dataplane::Edge::kMaxJobs)
      value.fail(fmt::format("{} jobs; there must be 1 to {}", file_.jobs.size(), dataplane::Edge::kMaxJobs));
    // A group belongs to a link of one plan; the ports could not tell two jobs' groups apart.
    const bool multicast = std::any_of(file_.ports.begin(), file_.ports.end(),
                                       [](const EdgePortConfig& port) { return port.multicast; });
    if (file_.jobs.size() > 1 && multicast)
      value.fail("a port with delivery: multicast serves one job; use unicast delivery for several");
  }

  EdgeJobFile read_job(const YamlValue& item) {
    const YamlMap map = item.map({"job", "topology", "controller", "buffers", "arena", "islands"});
    EdgeJobFile job;
    job.job = static_cast<std::uint16_t>(whole_number(map.get("job"), 0, 65535));
    const YamlValue topology = map.get("topology");
    auto loaded = schedule::load_topology(path_beside(topology, file_.path));
    if (!loaded) topology.fail(loaded.error().message);
    job.topology = std::move(loaded).value();
    job.site_id = find_site(*site_, job.topology, file_.site);
    const YamlMap controller = map.get("controller").map({"address", "ca", "certificate", "key"});
    job.controller = host_and_port(controller.get("address"));
    job.controller_tls = read_tls(controller, file_.path);
    job.buffers = whole_number(map.get("buffers"), 64, kMaxBuffers);
    if (const auto arena = map.find("arena")) job.arena_bytes = byte_count(*arena);
    for (const SiteLink& site : sites_) {
      job.links.push_back(site.link);
      job.links.back().neighbour = {false, find_neighbour(site.to, job)};
    }
    if (const auto islands = map.find("islands"))
      for (const YamlValue& island : islands->items()) job.links.push_back(read_island(island, job));
    if (job.links.empty() || job.links.size() > multicast::kMaxLinks)
      item.fail(
          fmt::format("{} links and islands; there must be 1 to {}", job.links.size(), multicast::kMaxLinks));
    return job;
  }

  EdgeLinkConfig read_island(const YamlValue& item, const EdgeJobFile& job) {
    const YamlMap map = item.map({"island", "port", "address", "mac", "rtt_ms", "window"});
    EdgeLinkConfig link = read_link(map, file_.ports, file_.lanes);
    const YamlValue island = map.get("island");
    link.name = island.id();
    link.neighbour = {true, find_island(island, job, link.name)};
    const auto refuse_twice = [&](const EdgeLinkConfig& other) {
      if (other.address == link.address) item.fail(to_string(link.address) + " is given twice");
      // Islands of several jobs may be on one host, each with UDP ports of its own.
      if (other.address.ipv4 == link.address.ipv4 && (other.port != link.port || other.mac != link.mac))
        item.fail(fmt::format("its host is that of {}, with another port or mac", other.name));
      const std::uint32_t apart = other.address.base_port > link.address.base_port
                                      ? other.address.base_port - link.address.base_port
                                      : link.address.base_port - other.address.base_port;
      if (other.address.ipv4 == link.address.ipv4 && apart < file_.lanes)
        item.fail(fmt::format("its {} lanes would share UDP ports with {}", file_.lanes, other.name));
    };
    for (const EdgeLinkConfig& other : job.links) {
      refuse_twice(other);
      if (other.neighbour.is_island && other.neighbour.id == link.neighbour.id)
        item.fail(link.name + " is given twice");
    }
    for (const EdgeJobFile& before : file_.jobs)
      for (const EdgeLinkConfig& other : before.links)
        if (other.neighbour.is_island) refuse_twice(other);
    return link;
  }

  static schedule::SiteId find_site(const YamlValue& value, const schedule::Topology& topology,
                                    const std::string& id) {
    const auto& sites = topology.sites;
    const auto found =
        std::find_if(sites.begin(), sites.end(), [&](const auto& site) { return site.id == id; });
    if (found == sites.end()) value.fail(fmt::format("the topology has no site '{}'", id));
    return static_cast<schedule::SiteId>(found - sites.begin());
  }

  std::uint16_t find_neighbour(const YamlValue& value, const EdgeJobFile& job) const {
    const std::string id = value.id();
    const schedule::SiteId site = find_site(value, job.topology, id);
    const auto joins = [&](const schedule::Link& link) {
      return (link.a == site && link.b == job.site_id) || (link.b == site && link.a == job.site_id);
    };
    const auto& links = job.topology.links;
    if (std::none_of(links.begin(), links.end(), joins))
      value.fail(fmt::format("the topology has no link between {} and {}", file_.site, id));
    return site;
  }

  std::uint16_t find_island(const YamlValue& value, const EdgeJobFile& job, const std::string& id) const {
    const auto& islands = job.topology.islands;
    const auto found =
        std::find_if(islands.begin(), islands.end(), [&](const auto& island) { return island.id == id; });
    if (found == islands.end() || found->site != job.site_id)
      value.fail(fmt::format("the topology has no island '{}' at {}", id, file_.site));
    return static_cast<std::uint16_t>(found - islands.begin());
  }

  struct SiteLink {
    EdgeLinkConfig link;
    YamlValue to;
  };

  EdgeFile file_;
  std::optional<YamlValue> site_;  ///< Where the site's name stands.
  std::vector<SiteLink> sites_;
};

}  // namespace

EdgePlace EdgeJobFile::place() const {
  EdgePlace place{site_id, {}};
  for (const EdgeLinkConfig& link : links) place.links.push_back(link.neighbour);
  return place;
}

std::vector<dataplane::EdgeLink> EdgeJobFile::edge_links() const {
  std::vector<dataplane::EdgeLink> all;
  for (const EdgeLinkConfig& link : links)
    all.push_back({link.address, link.port, link.neighbour.is_island, link.rtt_ns, link.window_packets});
  return all;
}

std::uint64_t EdgeFile::buffers() const {
  std::uint64_t sum = 0;
  for (const EdgeJobFile& job : jobs) sum += job.buffers;
  return sum;
}

std::vector<EdgeLinkConfig> EdgeFile::neighbours() const {
  std::vector<EdgeLinkConfig> all;
  for (const EdgeJobFile& job : jobs)
    for (const EdgeLinkConfig& link : job.links)
      if (link.neighbour.is_island || &job == &jobs.front()) all.push_back(link);
  return all;
}

std::vector<schedule::SiteId> EdgeFile::multicast_sites() const {
  std::vector<schedule::SiteId> sites;
  for (const EdgeLinkConfig& link : jobs.front().links)
    if (!link.neighbour.is_island && ports[link.port].multicast) sites.push_back(link.neighbour.id);
  std::sort(sites.begin(), sites.end());
  return sites;
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
