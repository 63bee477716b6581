#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "control/epoch_tables.h"
#include "dataplane/edge/edge.h"
#include "island/client.h"
#include "island/udp_port.h"
#include "protocol/memory_pool.h"
#include "schedule/compile.h"
#include "schedule/schedule.h"
#include "tools/testbed/workload.h"

namespace tombolo {
namespace {

constexpr std::uint16_t kJob = 1;
constexpr std::uint16_t kLanes = 4;
constexpr std::uint32_t kSession = 1;
constexpr std::uint32_t kWorkers = 2;
constexpr std::uint32_t kFirstRound = 0;
constexpr std::uint64_t kElements = 20'011;  ///< 63 chunks; the last is short.
constexpr std::uint64_t kSeed = 4711;
constexpr Nanoseconds kIdleSleep = 200 * kMicrosecond;

constexpr const char* kTopology = R"(
sites: [{id: A}, {id: B}, {id: C}]
links:
  - {a: A, b: B, rtt_ms: 1}
  - {a: B, b: C, rtt_ms: 1}
  - {a: A, b: C, rtt_ms: 1}
profiles:
  p: {core_gbps: 0.4, egress_gbps: 0.4, ingress_gbps: 0.4}
)";

/// Opens a port at 127.x.y.`host` with the first base port that is free; x and y come from the process's id,
/// so that tests side by side rarely meet.
std::unique_ptr<island::UdpPort> open_port(MemoryPool& pool, std::uint32_t queues, std::uint32_t host) {
  island::UdpPortConfig config;
  config.address.ipv4 = 0x7f000000U | (static_cast<std::uint32_t>(::getpid()) & 0x7fffU) << 8 | host;
  config.lanes = kLanes;
  config.queues = queues;
  config.pool = &pool;
  std::string reason;
  for (std::uint32_t base_port = 20'000; base_port < 60'000; base_port += 997) {
    config.address.base_port = static_cast<std::uint16_t>(base_port);
    auto port = island::UdpPort::create(config);
    if (port) return std::move(port).value();
    reason = port.error().message;
  }
  ADD_FAILURE() << "no free port; the last: " << reason;
  return nullptr;
}

std::unique_ptr<MemoryPool> make_pool(const control::EdgeNeeds& needs) {
  const auto buffers = static_cast<std::uint32_t>(needs.buffers());
  return std::move(MemoryPool::create(buffers, PoolSharing::kShared, needs.buffer_bytes)).value();
}

/// An edge with one UDP port for all its links, and a thread per worker.
struct EdgeNode {
  std::unique_ptr<MemoryPool> pool;
  std::unique_ptr<island::UdpPort> port;
  control::EdgePlace place;
  std::unique_ptr<dataplane::Edge> edge;
};

struct IslandNode {
  std::unique_ptr<MemoryPool> pool;
  std::unique_ptr<island::UdpPort> port;
  std::unique_ptr<island::Endpoint> endpoint;
  std::unique_ptr<island::Client> client;
};

struct Mode {
  bool multicast;
  bool edge_aggregation;
};

class Loopback : public testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    const auto topology = schedule::parse_topology(kTopology, "loopback");
    ASSERT_TRUE(topology.ok()) << topology.error().message;
    network_ = *schedule::resolve(*topology, "p");
    schedule::CompileOptions options;
    options.job = kJob;
    options.chunk_elements = 320;
    options.lane_count = kLanes;
    options.deadline_ns = 20 * kSecond;
    options.update_bytes = kElements * sizeof(float);
    options.multicast = GetParam().multicast;
    options.edge_aggregation = GetParam().edge_aggregation;
    auto plan = schedule::compile(network_, *schedule::full_schedule(network_.islands), options);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    plan_ = std::move(plan).value();
    open_ports();
    ASSERT_FALSE(HasFailure());
    start_edges();
    start_islands();
  }

  void TearDown() override {
    for (IslandNode& node : islands_)
      if (node.client) node.client->stop();
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }

  void open_ports() {
    const std::size_t sites = network_.site_names.size();
    edges_.resize(sites);
    islands_.resize(sites);
    for (std::uint16_t site = 0; site < sites; ++site) {
      EdgeNode& node = edges_[site];
      node.place.site = site;
      for (const schedule::DirectedLink& link : network_.links)
        if (link.from == site) node.place.links.push_back({false, link.to});
      node.place.links.push_back({true, site});  // Its island, whose rank is the site's number.
      node.pool = make_pool(control::edge_needs(plan_, node.place));
      node.port = open_port(*node.pool, kWorkers, 1U + site);
      islands_[site].pool = make_pool(control::island_needs(plan_, site));
      islands_[site].port = open_port(*islands_[site].pool, 1, 101U + site);
    }
  }

  void start_edges() {
    for (EdgeNode& node : edges_) {
      const control::EdgeNeeds needs = control::edge_needs(plan_, node.place);
      dataplane::EdgeConfig config;
      config.site = network_.site_names[node.place.site];
      config.jobs[0].job = kJob;
      config.session = kSession;
      config.lane_count = kLanes;
      config.workers = kWorkers;
      config.receive_queues = kWorkers;
      config.jobs[0].pool_buffers = needs.buffers();
      for (std::size_t i = 0; i < node.place.links.size(); ++i) {
        const control::Neighbour& neighbour = node.place.links[i];
        dataplane::EdgeLink link;
        link.address =
            (neighbour.is_island ? islands_[neighbour.id].port : edges_[neighbour.id].port)->address();
        link.port = 0;  // The same for all links.
        link.is_island = neighbour.is_island;
        link.window_packets = needs.link_windows[i];
        config.jobs[0].links.push_back(link);
      }
      Port* const ports[] = {node.port.get()};
      auto edge = dataplane::Edge::create(config, ports, *node.pool);
      ASSERT_TRUE(edge.ok()) << edge.error().message;
      node.edge = std::move(edge).value();
      auto table = control::make_epoch_table(plan_, node.place);
      ASSERT_TRUE(table.ok()) << table.error().message;
      ASSERT_TRUE(node.edge->job().install(*table, kFirstRound).ok());
    }
    for (EdgeNode& node : edges_)
      for (std::uint32_t i = 0; i < kWorkers; ++i)
        threads_.emplace_back([this, &node, i] {
          while (!stop_.load(std::memory_order_relaxed))
            if (node.edge->worker(i).turn(clock_.now_ns()).received == 0) node.port->wait(kIdleSleep, i);
        });
  }

  void start_islands() {
    for (std::uint16_t rank = 0; rank < islands_.size(); ++rank) {
      IslandNode& node = islands_[rank];
      island::EndpointConfig config;
      config.job = kJob;
      config.rank = rank;
      config.session = kSession;
      config.edge = edges_[rank].port->address();
      config.lane_count = kLanes;
      config.window_packets = control::island_needs(plan_, rank).link_windows[0];
      auto endpoint = island::Endpoint::create(config, *node.port, *node.pool);
      ASSERT_TRUE(endpoint.ok()) << endpoint.error().message;
      node.endpoint = std::move(endpoint).value();
      node.client = std::make_unique<island::Client>(*node.endpoint, clock_);
    }
  }

  /// All islands take part in a round; every result is compared with the scalar reference.
  void run_round(std::uint32_t round, wire::Operation operation, bool in_place) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " round " << round);
    std::vector<std::uint16_t> members;
    std::vector<std::vector<float>> inputs;
    std::vector<std::vector<float>> outputs;
    std::vector<island::Handle> handles;
    for (std::uint16_t rank = 0; rank < islands_.size(); ++rank) {
      members.push_back(rank);
      inputs.push_back(testbed::make_update(kSeed, round, rank, kElements));
      outputs.emplace_back(in_place ? 0 : kElements);
    }
    for (const std::uint16_t rank : members) {
      island::Allreduce request;
      request.round = round;
      request.input = reinterpret_cast<const std::byte*>(inputs[rank].data());
      request.output = reinterpret_cast<std::byte*>((in_place ? inputs : outputs)[rank].data());
      request.count = kElements;
      request.operation = operation;
      const auto handle = islands_[rank].client->allreduce_async(request);
      ASSERT_TRUE(handle.ok()) << handle.error().message;
      handles.push_back(*handle);
    }
    const std::vector<float> expected = testbed::expected_result(kSeed, round, members, kElements, operation);
    const std::uint64_t bytes = kElements * sizeof(float);
    const std::uint64_t others = members.size() - 1;
    for (const std::uint16_t rank : members) {
      SCOPED_TRACE(testing::Message() << "rank " << rank);
      const auto outcome = islands_[rank].client->wait(handles[rank], island::Stage::kReleased);
      ASSERT_TRUE(outcome.has_value());
      ASSERT_EQ(outcome->stage, island::Stage::kReleased) << outcome->error.message;
      EXPECT_FALSE(outcome->failed_elsewhere);
      EXPECT_EQ(outcome->contributors, members);
      EXPECT_TRUE(testbed::same_bits((in_place ? inputs : outputs)[rank], expected));
      EXPECT_EQ(outcome->payload_bytes_sent, GetParam().multicast ? bytes : others * bytes);
      if (GetParam().edge_aggregation) {
        EXPECT_EQ(outcome->payload_bytes_received, bytes);
      }
      EXPECT_TRUE(islands_[rank].client->drop(handles[rank]));
    }
  }

  MonotonicClock clock_;
  std::atomic<bool> stop_{false};
  schedule::Network network_;
  schedule::EpochPlan plan_;
  std::vector<EdgeNode> edges_;
  std::vector<IslandNode> islands_;
  std::vector<std::thread> threads_;
};

TEST_P(Loopback, RoundsAreExactOverKernelSockets) {
  run_round(kFirstRound, wire::Operation::kSum, false);
  run_round(kFirstRound + 1, wire::Operation::kMean, false);
  run_round(kFirstRound + 2, wire::Operation::kMean, true);
  run_round(kFirstRound + 3, wire::Operation::kSum, true);
  for (const EdgeNode& node : edges_)
    EXPECT_EQ(node.edge->totals().drops[static_cast<std::size_t>(DropReason::kUnknownSender)], 0U);
}

INSTANTIATE_TEST_SUITE_P(Modes, Loopback,
                         testing::Values(Mode{true, true}, Mode{true, false}, Mode{false, true},
                                         Mode{false, false}),
                         [](const auto& mode) {
                           return std::string(mode.param.multicast ? "Multicast" : "Unicast") +
                                  (mode.param.edge_aggregation ? "Edge" : "Island");
                         });

}  // namespace
}  // namespace tombolo
