#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataplane/port/dpdk/device.h"
#include "dataplane/port/dpdk/dpdk_port.h"
#include "dataplane/worker/transmitter.h"
#include "multicast/replicator.h"
#include "tools/bench/dpdk/packet_source.h"

struct rte_fbk_hash_table;
struct rte_mempool;

namespace tombolo::bench {

inline constexpr std::size_t kMaxCopies = 8;

/// What the rigs of one comparison have in common: one packet in, a copy out of each of `copies` devices.
struct Fanout {
  std::size_t copies = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t mtu = 9000;
};

/// Where packets for the Tombolo port come from and go to; and for the others, which only know groups.
dataplane::Framing unicast_framing();
dataplane::Framing group_framing(std::size_t copies);

/// Our own way: received by a port, copied by the replicator (a header of its own each, the payload shared),
/// numbered, stamped and sealed as on each link, and sent by a port per copy.
class ReplicatorRig {
 public:
  /// Errors: those of the ports.
  static Result<std::unique_ptr<ReplicatorRig>> create(const Fanout& fanout, dataplane::MbufPool& pool,
                                                       RingDevice& in, std::span<RingDevice* const> out);
  /// Handles one burst; false when nothing was there.
  bool turn(Nanoseconds now_ns);
  /// Copies that a device did not take.
  std::uint64_t refused() const;

  static Address copy_address(std::size_t copy);

 private:
  explicit ReplicatorRig(const Fanout& fanout) : fanout_(fanout) {}
  void replicate(RxPacket& packet, Nanoseconds now_ns);

  const Fanout fanout_;
  std::unique_ptr<dataplane::DpdkPort> in_;
  std::vector<std::unique_ptr<dataplane::DpdkPort>> out_;
  std::vector<std::unique_ptr<dataplane::Transmitter>> transmitters_;
  multicast::Replicator replicator_;
  std::array<std::uint32_t, kMaxCopies> sequences_{};
};

/// Devices that take bare frames, shared by the loops below.
using OutDevices = std::vector<dataplane::Device>;
Result<OutDevices> open_devices(const Fanout& fanout, dataplane::MbufPool& pool,
                                std::span<RingDevice* const> rings);

/// How a bare loop makes copies.
enum class Technique : std::uint8_t {
  kAttach,   ///< The limit: a header buffer before the payload, whose reference count is raised; nothing is
             ///< written.
  kExample,  ///< DPDK's example ipv4_multicast: looks the group up, and clones for at most two copies, else
             ///< attaches.
  kClone,    ///< The same example, but always by clones.
};

/// The bare loops, over DPDK's bursts.
class BareRig {
 public:
  static Result<std::unique_ptr<BareRig>> create(Technique technique, const Fanout& fanout,
                                                 dataplane::MbufPool& pool, RingDevice& in, OutDevices& out);
  ~BareRig();
  /// Handles one burst; false when nothing was there.
  bool turn();
  std::uint64_t refused() const { return refused_; }

 private:
  BareRig(Technique technique, const Fanout& fanout, OutDevices& out)
      : technique_(technique), fanout_(fanout), out_(out) {}
  Status create_pools();
  void attach(rte_mbuf* packet);
  void forward(rte_mbuf* packet);
  rte_mbuf* outgoing(rte_mbuf* packet, bool clones);
  void send(rte_mbuf* frame, std::uint64_t to, std::size_t copy);
  void queue(rte_mbuf* frame, std::size_t copy);
  void flush(std::size_t copy);

  struct Waiting {
    std::array<rte_mbuf*, kBurst> frames{};
    std::uint16_t count = 0;
  };

  const Technique technique_;
  const Fanout fanout_;
  OutDevices& out_;
  dataplane::Device in_;
  rte_mempool* headers_ = nullptr;
  rte_mempool* clones_ = nullptr;
  rte_fbk_hash_table* groups_ = nullptr;
  std::array<Waiting, kMaxCopies> waiting_{};
  std::uint64_t refused_ = 0;
};

}  // namespace tombolo::bench
