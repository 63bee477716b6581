#include "tools/testbed/driver.h"

#include <algorithm>
#include <chrono>

namespace tombolo::testbed {
namespace {

/// An idle worker of a real-time run looks again this soon: nine edges share few cores.
constexpr Nanoseconds kIdleSleep = 50 * kMicrosecond;
constexpr Nanoseconds kControlInterval = kMillisecond;

void sleep_ns(Nanoseconds ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }

}  // namespace

VirtualDriver::VirtualDriver(InprocTestbed& testbed, ControlPlane& control)
    : testbed_(testbed),
      controls_{&control},
      edges_(testbed.edges().size()),
      islands_(testbed.islands().size()) {
  for (std::size_t site = 0; site < edges_.size(); ++site)
    edges_[site].ports.assign(testbed.edges()[site].ports.begin(), testbed.edges()[site].ports.end());
  for (std::size_t i = 0; i < islands_.size(); ++i) islands_[i].ports = {testbed.islands()[i].port};
}

void VirtualDriver::with_island(std::size_t island, const EndpointUse& use) {
  use(*testbed_.islands()[island].endpoint, clock_.now_ns());
  islands_[island].wake_ns = clock_.now_ns();
}

void VirtualDriver::look_at_island(std::size_t island, const EndpointLook& look) {
  look(*testbed_.islands()[island].endpoint);
}

bool VirtualDriver::run_until(const std::function<bool()>& done, Nanoseconds limit_ns) {
  const Nanoseconds end_ns = clock_.now_ns() + limit_ns;
  while (!done()) {
    const Nanoseconds next_ns = next_event_ns();
    if (next_ns > end_ns) {
      clock_.advance_to(end_ns);
      return false;
    }
    clock_.advance_to(next_ns);
    step();
  }
  return true;
}

Nanoseconds VirtualDriver::next_event_ns() const {
  Nanoseconds next_ns = kNever;
  for (const ControlPlane* const control : controls_) next_ns = std::min(next_ns, control->next_event_ns());
  for (const Node& node : edges_) next_ns = std::min(next_ns, due_ns(node));
  for (const Node& node : islands_) next_ns = std::min(next_ns, due_ns(node));
  return next_ns;
}

Nanoseconds VirtualDriver::due_ns(const Node& node) {
  if (node.stopped) return kNever;
  Nanoseconds next_ns = node.wake_ns;
  for (const dataplane::InprocPort* const port : node.ports)
    next_ns = std::min(next_ns, port->next_arrival_ns());
  return next_ns;
}

void VirtualDriver::step() {
  const Nanoseconds now_ns = clock_.now_ns();
  for (ControlPlane* const control : controls_)
    if (control->next_event_ns() <= now_ns && control->run(now_ns))
      for (Node& node : edges_) node.wake_ns = now_ns;  // An epoch may have been installed.
  for (std::size_t island = 0; island < islands_.size(); ++island)
    if (due_ns(islands_[island]) <= now_ns) turn_island(island);
  for (std::size_t site = 0; site < edges_.size(); ++site)
    if (due_ns(edges_[site]) <= now_ns) turn_edge(site);
}

void VirtualDriver::turn_edge(std::size_t site) {
  const Nanoseconds now_ns = clock_.now_ns();
  dataplane::Edge& edge = *testbed_.edges()[site].edge;
  Nanoseconds next_ns = kNever;
  std::size_t received = 0;
  for (std::size_t i = 0; i < edge.workers(); ++i) {
    const dataplane::Worker::Turn turn = edge.worker(i).turn(now_ns);
    next_ns = std::min(next_ns, turn.next_ns);
    received += turn.received;
  }
  // A packet may have been handed to a worker that has had its turn.
  if (received > 0 && edge.config().receive_queues < edge.workers()) next_ns = now_ns;
  // Time goes on even if a timer is due at once.
  edges_[site].wake_ns = std::max(next_ns, now_ns + 1);
}

void VirtualDriver::turn_island(std::size_t island) {
  const Nanoseconds now_ns = clock_.now_ns();
  const Nanoseconds next_ns = testbed_.islands()[island].endpoint->turn(now_ns);
  islands_[island].wake_ns = std::max(next_ns, now_ns + 1);
}

RealTimeDriver::RealTimeDriver(InprocTestbed& testbed, ControlPlane& control) : control_(control) {
  for (IslandNode& node : testbed.islands())
    clients_.push_back(std::make_unique<island::Client>(*node.endpoint, clock_));
  for (EdgeNode& node : testbed.edges())
    for (std::size_t i = 0; i < node.edge->workers(); ++i)
      threads_.emplace_back([this, &worker = node.edge->worker(i)] { run_worker(worker); });
}

RealTimeDriver::~RealTimeDriver() {
  for (auto& client : clients_) client->stop();
  stop_.store(true);
  for (std::thread& thread : threads_) thread.join();
}

void RealTimeDriver::with_island(std::size_t island, const EndpointUse& use) { clients_[island]->with(use); }

void RealTimeDriver::look_at_island(std::size_t island, const EndpointLook& look) {
  clients_[island]->with([&look](island::Endpoint& endpoint, Nanoseconds) { look(endpoint); });
}

bool RealTimeDriver::run_until(const std::function<bool()>& done, Nanoseconds limit_ns) {
  const Nanoseconds end_ns = clock_.now_ns() + limit_ns;
  while (!done()) {
    const Nanoseconds now_ns = clock_.now_ns();
    if (now_ns > end_ns) return false;
    if (control_.next_event_ns() <= now_ns) control_.run(now_ns);
    sleep_ns(kControlInterval);
  }
  return true;
}

void RealTimeDriver::run_worker(dataplane::Worker& worker) {
  while (!stop_.load(std::memory_order_relaxed))
    if (worker.turn(clock_.now_ns()).received == 0) sleep_ns(kIdleSleep);
}

}  // namespace tombolo::testbed
