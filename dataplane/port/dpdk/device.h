#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataplane/port/dpdk/frame.h"
#include "dataplane/port/dpdk/mbuf_pool.h"

struct rte_mbuf;

namespace tombolo::dataplane {

struct DeviceOptions {
  std::string device;  ///< See parse_device(). One that exists already in this process is used as it is.
  std::uint32_t queues = 1;
  std::uint16_t rx_descriptors = 1024;
  std::uint16_t tx_descriptors = 1024;
  std::uint32_t mtu = 1500;
  bool is_promiscuous = false;  ///< Takes frames for any Ethernet address: the port's own was made up.
  bool takes_groups = false;    ///< Takes frames for groups.
  MbufPool* pool = nullptr;
};

/// What a device counted itself, since it was opened.
struct DeviceStats {
  std::uint64_t missed = 0;     ///< Arrived when its queue was full.
  std::uint64_t no_buffer = 0;  ///< Arrived when the pool was empty.
  std::uint64_t rx_errors = 0;
  std::uint64_t tx_errors = 0;
};

/// An ethdev that runs: as many queues for receiving as for sending, each used by one worker.
class Device {
 public:
  Device() = default;
  /// EAL is running. Errors: those of parse_device() and check_device(); kUnavailable when DPDK refuses, with
  /// its reason and what to do.
  static Result<Device> open(const DeviceOptions& options);
  ~Device();
  Device(Device&& other) noexcept;
  Device& operator=(Device&& other) noexcept;

  /// A burst in, a burst out; the frames sent are the device's. Nothing goes while the device waits for its
  /// other end.
  std::uint16_t receive(std::uint32_t queue, rte_mbuf** frames, std::uint16_t count);
  std::uint16_t transmit(std::uint32_t queue, rte_mbuf** frames, std::uint16_t count);

  /// 0 for a device that has none.
  Mac mac() const { return mac_; }
  /// Whether a frame may be sent in several pieces.
  bool takes_chains() const { return takes_chains_; }
  bool is_up() const;
  /// Whether it is the end of a memif that joins the other: opened, but without traffic, while the other is
  /// away.
  bool joins() const { return !gates_.empty(); }
  /// For such a device that is not up, from one thread beside the workers': tries to join anew.
  void rejoin();
  DeviceStats stats() const;
  const std::string& driver() const { return driver_; }

 private:
  static constexpr std::uint16_t kNoPort = 0xffff;

  /// Held by a queue's worker for the length of a burst, and by rejoin() while the device does not run. One
  /// that is held is not waited for by a worker: it has no traffic.
  struct alignas(64) Gate {
    std::atomic_flag is_held;
  };

  Status attach(const std::string& device, const std::string& name);
  Status configure(const DeviceOptions& options, bool is_pci);
  Status set_up_queues(const DeviceOptions& options);
  void close();

  std::uint16_t port_ = kNoPort;
  bool is_owned_ = false;  ///< Attached here, so detached here.
  bool is_started_ = false;
  bool is_promiscuous_ = false;
  bool takes_groups_ = false;
  bool takes_chains_ = false;
  Mac mac_ = 0;
  std::string name_;
  std::string driver_;
  std::vector<Gate> gates_;  ///< By queue; none for a device that always runs.
};

}  // namespace tombolo::dataplane
