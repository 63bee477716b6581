#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/port/dpdk/control_frame.h"
#include "dataplane/port/dpdk/dpdk_port.h"

struct rte_mbuf;
struct rte_ring;

namespace tombolo::dataplane {

using Bytes = std::vector<std::byte>;

/// The two ends of a cable in this process: DPDK's net_ring devices "A" and "B", each receiving what the
/// other sends, with as many queues as asked for. A test that uses one end only plays the other by hand.
class Cable {
 public:
  static constexpr unsigned kRingFrames = 1023;

  /// Made once per number of queues and kept: EAL has few devices. Empty at the start of a test.
  static Cable& get(std::uint32_t queues = 1);

  const std::string& device_a() const { return names_[0]; }
  const std::string& device_b() const { return names_[1]; }

  /// Puts frames on the way to A, or takes what A sent (as the other end would).
  bool to_a(rte_mbuf* frame, std::uint32_t queue = 0);
  rte_mbuf* from_a(std::uint32_t queue = 0);
  /// How many frames A sent that nobody took.
  unsigned waiting_from_a(std::uint32_t queue = 0) const;
  /// Frees all that is on the way.
  void drain();

 private:
  explicit Cable(std::uint32_t queues);

  std::vector<rte_ring*> to_a_;
  std::vector<rte_ring*> to_b_;
  std::string names_[2];
};

/// All bytes of a frame, pieces joined; the frame is freed.
Bytes take_bytes(rte_mbuf* frame);

inline constexpr Address kEdgeA{0x0a000001, 4700};
inline constexpr Address kEdgeB{0x0a000002, 4800};
inline constexpr Address kStranger{0x0a0000ff, 4900};
inline constexpr Mac kMacA = 0x02000000000a;
inline constexpr Mac kMacB = 0x02000000000b;
inline constexpr std::uint16_t kLanes = 4;

/// A pool, a cable and shorthands. At the end of each test nothing may be left of the pool.
class PortTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kBuffers = 512;

  PortTest();
  ~PortTest() override;
  void TearDown() override;

  /// A's or B's configuration, with the other as a neighbour whose Ethernet address is known.
  DpdkPortConfig config_a(std::uint32_t queues = 1) const;
  DpdkPortConfig config_b(std::uint32_t queues = 1) const;
  std::unique_ptr<DpdkPort> open(const DpdkPortConfig& config);

  /// A frame in one buffer of the pool, or of several pieces of the given sizes (the last takes the rest).
  rte_mbuf* make_frame(std::span<const std::byte> bytes);
  rte_mbuf* make_frame(std::span<const std::byte> bytes, std::span<const std::size_t> pieces);
  /// Gives the bytes to A as a frame.
  void send_to_a(std::span<const std::byte> bytes);
  /// All frames that A sent.
  std::vector<Bytes> sent_by_a();

  /// A packet's frame from B to A, as B would send it.
  static Bytes data_frame(std::uint16_t lane, std::uint32_t packet_bytes);
  static std::vector<RxPacket> receive(Port& port, Nanoseconds now_ns, std::uint32_t queue = 0);
  /// A packet to B with a header of this number and `payload_bytes` in a buffer of the pool.
  TxPacket packet_to_b(std::uint32_t number, std::uint32_t payload_bytes, std::uint16_t lane = 0);

  std::unique_ptr<MbufPool> pool_;
  Cable& cable_;
};

/// Byte i of what tests send.
constexpr std::byte pattern(std::size_t i) { return static_cast<std::byte>(i * 7 + i / 256 + 1); }

}  // namespace tombolo::dataplane
