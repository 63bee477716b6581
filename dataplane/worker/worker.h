#pragma once

#include <array>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/counter.h"
#include "dataplane/edge/lane.h"
#include "dataplane/worker/transmitter.h"

namespace tombolo::dataplane {

/// A packet on its way to the worker that owns its lane, with the reference to its buffer.
struct HandOver {
  Address from;
  std::uint16_t lane = 0;
  std::uint32_t bytes = 0;
  Buffer* buffer = nullptr;
};
using HandOverQueue = boost::lockfree::spsc_queue<HandOver>;

/// A committed epoch for one of a worker's lanes, or one that it replaced; see EpochDoor.
struct Installation {
  Lane* lane = nullptr;
  LaneEpoch* epoch = nullptr;
};
/// Control pushes, the worker pops; and back with what an installation replaced (may be nullptr).
using InstallQueue = boost::lockfree::spsc_queue<Installation>;

struct WorkerCounters {
  DropCounters drops;  ///< Packets that no lane saw.
  Counter turns;
  Counter idle_turns;   ///< Turns in which nothing arrived.
  Counter handed_over;  ///< Packets passed to another worker.
};

/// One core's loop body over the lanes that it owns. `turn` is the only step; who calls it, and how it sleeps
/// in between, is the runner's affair (a thread, the simulator, a test).
class Worker {
 public:
  struct Parts {
    std::uint32_t index = 0;
    std::vector<Port*> ports;
    std::uint32_t queue = 0;                   ///< The worker's receive queue on each port ...
    bool receives = true;                      ///< ... unless the ports have fewer queues than workers.
    std::vector<std::uint16_t> jobs;           ///< That the edge serves, each with all lanes.
    std::vector<std::unique_ptr<Lane>> lanes;  ///< The worker's own, by lane, then by job.
    std::vector<HandOverQueue*> from;          ///< From each worker, nullptr for itself.
    std::vector<HandOverQueue*> to;            ///< To each worker, nullptr for itself.
    InstallQueue* installations = nullptr;
    InstallQueue* retired = nullptr;
  };

  Worker(Parts parts, std::span<const std::unique_ptr<Transmitter>> transmitters);

  /// What a turn did, and when the next one is due if nothing arrives: `now_ns` when there is more to do.
  struct Turn {
    std::size_t received = 0;
    Nanoseconds next_ns = kNever;
  };

  /// Receives and handles a burst from each port and each other worker, then does what is due.
  Turn turn(Nanoseconds now_ns);

  const WorkerCounters& counters() const { return counters_; }
  std::span<const std::unique_ptr<Lane>> lanes() const { return parts_.lanes; }
  std::uint64_t transmit_refused() const;

 private:
  std::size_t receive_from_ports(Nanoseconds now_ns);
  std::size_t receive_from_workers(Nanoseconds now_ns);
  bool has_handed_over() const;
  void install_epochs(Nanoseconds now_ns);
  void dispatch(RxPacket& packet, Nanoseconds now_ns);
  Lane* own_lane(const RxPacket& packet) const;

  Parts parts_;
  std::span<const std::unique_ptr<Transmitter>> transmitters_;
  std::array<RxPacket, kBurst> burst_;
  WorkerCounters counters_;
};

}  // namespace tombolo::dataplane
