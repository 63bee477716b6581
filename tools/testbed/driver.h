#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "island/client.h"
#include "tools/testbed/control_plane.h"
#include "tools/testbed/network.h"

namespace tombolo::testbed {

/// Lets the testbed's nodes run: in virtual or in real time.
class Driver {
 public:
  virtual ~Driver() = default;

  virtual Nanoseconds now_ns() const = 0;

  /// Calls `use` with the endpoint of the testbed's island of that index while no turn of it is running; its
  /// next turn follows at once.
  using EndpointUse = std::function<void(island::Endpoint&, Nanoseconds now_ns)>;
  virtual void with_island(std::size_t island, const EndpointUse& use) = 0;

  /// The same for a look that changes nothing.
  using EndpointLook = std::function<void(const island::Endpoint&)>;
  virtual void look_at_island(std::size_t island, const EndpointLook& look) = 0;

  /// The island takes no more turns, as if it had been killed.
  virtual void stop_island(std::size_t island) = 0;

  /// Lets the nodes run until `done` holds; false if it does not before `limit_ns` has passed.
  virtual bool run_until(const std::function<bool()>& done, Nanoseconds limit_ns) = 0;
};

/// Virtual time: jumps from event to event in one thread. The same seed gives the same run, to the bit.
class VirtualDriver final : public Driver {
 public:
  /// Both outlive the driver. Islands are named by their index in the testbed.
  VirtualDriver(InprocTestbed& testbed, ControlPlane& control);
  /// Another job's.
  void add_control(ControlPlane& control) { controls_.push_back(&control); }

  Nanoseconds now_ns() const override { return clock_.now_ns(); }
  void with_island(std::size_t island, const EndpointUse& use) override;
  void look_at_island(std::size_t island, const EndpointLook& look) override;
  void stop_island(std::size_t island) override { islands_[island].stopped = true; }
  /// The same for an edge.
  void stop_edge(schedule::SiteId site) { edges_[site].stopped = true; }
  bool run_until(const std::function<bool()>& done, Nanoseconds limit_ns) override;

 private:
  /// One edge or one island: its ports, and when it wants to run again.
  struct Node {
    std::vector<const dataplane::InprocPort*> ports;
    Nanoseconds wake_ns = 0;
    bool stopped = false;
  };

  Nanoseconds next_event_ns() const;
  static Nanoseconds due_ns(const Node& node);
  void turn_edge(std::size_t site);
  void turn_island(std::size_t island);
  void step();

  InprocTestbed& testbed_;
  std::vector<ControlPlane*> controls_;
  VirtualClock clock_;
  std::vector<Node> edges_;
  std::vector<Node> islands_;
};

/// Real time: a thread per worker and per island, which sleep when they are idle.
class RealTimeDriver final : public Driver {
 public:
  /// Starts the threads. Both outlive the driver.
  RealTimeDriver(InprocTestbed& testbed, ControlPlane& control);
  ~RealTimeDriver() override;

  Nanoseconds now_ns() const override { return clock_.now_ns(); }
  void with_island(std::size_t island, const EndpointUse& use) override;
  void look_at_island(std::size_t island, const EndpointLook& look) override;
  void stop_island(std::size_t island) override { clients_[island]->stop(); }
  bool run_until(const std::function<bool()>& done, Nanoseconds limit_ns) override;

 private:
  void run_worker(dataplane::Worker& worker);

  ControlPlane& control_;
  MonotonicClock clock_;
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<island::Client>> clients_;
  std::vector<std::thread> threads_;
};

}  // namespace tombolo::testbed
