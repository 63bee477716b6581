#include "tools/testbed/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregation/fold/kernel.h"
#include "tools/testbed/sizing.h"

namespace tombolo::testbed {
namespace {

using control::EdgeNeeds;
using schedule::SiteId;

constexpr std::uint32_t kEdgeNet = 0x0a000000;    // 10.0.x.y: edges by site
constexpr std::uint32_t kIslandNet = 0x0a010000;  // 10.1.x.y: islands by rank, 10.2.x.y those of the next job
constexpr std::uint32_t kIslandNets = 0x00010000;
constexpr std::uint16_t kBasePort = 4700;
constexpr std::uint32_t kSession = 1;

Address edge_address(SiteId site) { return {kEdgeNet + site + 1, kBasePort}; }
Address island_address(std::uint32_t job, schedule::Rank rank) {
  return {kIslandNet + job * kIslandNets + rank + 1u, kBasePort};
}

dataplane::LinkConfig wire(std::uint64_t rate_bps, Nanoseconds delay_ns, const WireFaults& faults) {
  dataplane::LinkConfig config;
  config.rate_bps = rate_bps;
  config.delay_ns = delay_ns;
  config.loss = faults.loss;
  config.jitter_ns = faults.jitter_ns;
  config.reorder = faults.reorder;
  config.duplicate = faults.duplicate;
  config.corrupt = faults.corrupt;
  config.queue_bytes = wire_queue_bytes(rate_bps);
  return config;
}

Result<std::unique_ptr<MemoryPool>> make_pool(const EdgeNeeds& needs, std::uint32_t jobs) {
  return MemoryPool::create(static_cast<std::uint32_t>(needs.buffers() * jobs), PoolSharing::kShared,
                            needs.buffer_bytes);
}

}  // namespace

Result<std::unique_ptr<InprocTestbed>> InprocTestbed::create(const schedule::Network& network,
                                                             const NetworkOptions& options) {
  std::unique_ptr<InprocTestbed> testbed(new InprocTestbed(network, options));
  if (testbed->options_.receive_queues == 0) testbed->options_.receive_queues = options.workers;
  if (options.plans.empty()) return invalid_input("a testbed needs a plan to reserve memory for");
  for (const auto step : {&InprocTestbed::make_pools, &InprocTestbed::wire_sites,
                          &InprocTestbed::wire_islands, &InprocTestbed::make_nodes})
    if (auto done = ((*testbed).*step)(); !done) return std::move(done).error().within("testbed");
  return testbed;
}

Status InprocTestbed::make_pools() {
  edges_.resize(network_.site_names.size());
  islands_.resize(network_.islands.size() * options_.jobs);
  const std::vector<control::EdgePlace> places = edge_places(network_);
  const NetworkNeeds reserve = network_needs(places, network_.islands.size(), options_.plans);
  for (SiteId site = 0; site < edges_.size(); ++site) {
    edges_[site].site = network_.site_names[site];
    edges_[site].place = places[site];
    edges_[site].needs = reserve.edges[site];
  }
  for (std::uint32_t job = 0; job < options_.jobs; ++job)
    for (schedule::Rank rank = 0; rank < network_.islands.size(); ++rank) {
      IslandNode& node = islands(job)[rank];
      node.id = network_.islands[rank].id;
      node.job = job;
      node.rank = rank;
      node.needs = reserve.islands[rank];
    }
  const auto add_pool = [this](const EdgeNeeds& needs, std::uint32_t jobs) -> Result<MemoryPool*> {
    auto pool = make_pool(needs, jobs);
    if (!pool) return std::move(pool).error();
    pools_.push_back(std::move(pool).value());
    return pools_.back().get();
  };
  for (EdgeNode& node : edges_) {
    auto pool = add_pool(node.needs, options_.jobs);
    if (!pool) return std::move(pool).error().within("edge " + node.site);
    node.pool = *pool;
  }
  for (IslandNode& node : islands_) {
    auto pool = add_pool(node.needs, 1);
    if (!pool) return std::move(pool).error().within("island " + node.id);
    node.pool = *pool;
  }
  return ok_status();
}

Status InprocTestbed::wire_sites() {
  for (std::size_t i = 0; i < network_.links.size(); i += 2) {
    const schedule::DirectedLink& there = network_.links[i];
    const schedule::DirectedLink& back = network_.links[i + 1];
    WireFaults faults = options_.site_faults;
    faults.loss = std::max(faults.loss, loss_between(options_.losses, there.from, there.to));
    auto ports = wires_.connect({edge_address(there.from), edges_[there.from].pool, options_.receive_queues},
                                {edge_address(there.to), edges_[there.to].pool, options_.receive_queues},
                                wire(there.capacity_bps, there.one_way_ns, faults),
                                wire(back.capacity_bps, back.one_way_ns, faults));
    if (!ports) return std::move(ports).error();
    edges_[there.from].ports.push_back(ports->first);
    edges_[there.to].ports.push_back(ports->second);
  }
  return ok_status();
}

Status InprocTestbed::wire_islands() {
  for (IslandNode& node : islands_) {
    const SiteId site = network_.islands[node.rank].site;
    auto ports = wires_.connect({island_address(node.job, node.rank), node.pool, 1},
                                {edge_address(site), edges_[site].pool, options_.receive_queues},
                                wire(network_.egress_bps[site], 0, options_.access_faults),
                                wire(network_.ingress_bps[site], 0, options_.access_faults));
    if (!ports) return std::move(ports).error();
    node.port = ports->first;
    node.edge_port = ports->second;
    edges_[site].ports.push_back(ports->second);
  }
  return ok_status();
}

dataplane::EdgeJobConfig InprocTestbed::job_config(const EdgeNode& node, std::uint32_t job) const {
  dataplane::EdgeJobConfig config;
  config.job = static_cast<std::uint16_t>(options_.job + job);
  const EdgeNeeds& needs = node.needs;
  const auto part = [this](std::uint64_t all) {
    return static_cast<std::uint64_t>(static_cast<double>(all) * options_.quota);
  };
  config.pool_buffers = needs.buffers() - needs.slot_buffers + part(needs.slot_buffers);
  config.arena_bytes = part(needs.arena_bytes);
  const std::size_t islands_here = static_cast<std::size_t>(
      std::count_if(node.place.links.begin(), node.place.links.end(),
                    [](const control::Neighbour& neighbour) { return neighbour.is_island; }));
  for (std::size_t i = 0; i < node.place.links.size(); ++i) {
    const control::Neighbour& neighbour = node.place.links[i];
    dataplane::EdgeLink link;
    link.address = neighbour.is_island ? island_address(job, neighbour.id) : edge_address(neighbour.id);
    // Links to islands come last; those of the next jobs' islands behind them in the same order.
    link.port = static_cast<std::uint8_t>(neighbour.is_island ? i + job * islands_here : i);
    link.is_island = neighbour.is_island;
    for (const schedule::DirectedLink& directed : network_.links)
      if (!neighbour.is_island && directed.from == node.place.site && directed.to == neighbour.id)
        link.rtt_ns = directed.rtt_ns;
    link.window_packets = needs.link_windows[i];
    config.links.push_back(link);
  }
  return config;
}

Status InprocTestbed::make_nodes() {
  const fold::InstructionSet instructions = *fold::choose_instruction_set("");
  for (EdgeNode& node : edges_) {
    dataplane::EdgeConfig config;
    config.site = node.site;
    config.session = kSession;
    config.lane_count = options_.lane_count;
    config.workers = options_.workers;
    config.receive_queues = options_.receive_queues;
    config.hello_interval_ns = options_.hello_interval_ns;
    config.instruction_set = instructions;
    config.jobs.clear();
    for (std::uint32_t job = 0; job < options_.jobs; ++job) config.jobs.push_back(job_config(node, job));
    const std::vector<Port*> ports(node.ports.begin(), node.ports.end());
    auto edge = dataplane::Edge::create(config, ports, *node.pool);
    if (!edge) return std::move(edge).error();
    node.edge = std::move(edge).value();
  }
  for (IslandNode& node : islands_) {
    island::EndpointConfig config;
    config.job = static_cast<std::uint16_t>(options_.job + node.job);
    config.rank = node.rank;
    config.session = kSession;
    config.edge = node.port->peer();
    config.lane_count = options_.lane_count;
    config.window_packets = node.needs.link_windows[0];
    config.instruction_set = instructions;
    config.hello_interval_ns = options_.hello_interval_ns;
    auto endpoint = island::Endpoint::create(config, *node.port, *node.pool);
    if (!endpoint) return std::move(endpoint).error();
    node.endpoint = std::move(endpoint).value();
  }
  return ok_status();
}

bool InprocTestbed::connected() const {
  return std::all_of(edges_.begin(), edges_.end(),
                     [](const EdgeNode& node) { return node.edge->all_links_up(); });
}

}  // namespace tombolo::testbed
