#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "dataplane/edge/edge.h"
#include "dataplane/port/dpdk/dpdk_port.h"
#include "tools/bench/dpdk/members.h"

namespace tombolo::bench {

/// A whole edge with one worker on two ring devices, and the peers that it needs: they bring its links up,
/// acknowledge what it sends, and look at every result.
class EdgeRig {
 public:
  /// The pool has room for what the edge holds (pool_options()). The devices are this rig's alone. Errors:
  /// those of the ports and the edge; kFailed when its links do not come up.
  static Result<std::unique_ptr<EdgeRig>> create(const Clique& clique, dataplane::MbufPool& pool,
                                                 RingDevice& wan, RingDevice& lan);
  ~EdgeRig();

  Members& members() { return members_; }
  /// Lets the edge's worker turn until it has received all that was put. The only part that is ever timed.
  void turn(Nanoseconds now_ns);
  /// One turn: a burst from each port at most.
  void turn_once(Nanoseconds now_ns) { edge_->worker(0).turn(now_ns); }
  /// Packets that were put and not received yet.
  std::size_t waiting() const { return devices_[0]->waiting() + devices_[1]->waiting(); }
  /// Takes what the edge sent, acknowledges it, and compares every result with the reference; calls `result`,
  /// if there is one, with each result's chunk. Errors: kFailed for a wrong, missing or repeated result, or a
  /// packet that the edge dropped, with the reason's name.
  Status take_out(const std::function<void(std::uint32_t)>& result = nullptr);
  /// Steps until every member has begun and the slots are as full as they will be.
  Status warm_up(const Clock& clock);

  /// Results that came out.
  std::uint64_t results() const { return results_; }

 private:
  /// What a peer knows of the edge's stream to it.
  struct Heard {
    std::uint32_t next_sequence = 0;
    std::uint32_t acknowledged = 0;
  };

  EdgeRig(const Clique& clique, dataplane::MbufPool& pool, RingDevice& wan, RingDevice& lan);
  Status open(const std::string& wan, const std::string& lan, dataplane::MbufPool& pool);
  Status bring_up();
  Status greet(std::uint32_t member);
  Status acknowledge(std::uint32_t member);
  Status take(std::span<const std::byte> packet, std::uint32_t member,
              const std::function<void(std::uint32_t)>& result);
  Status check_drops() const;

  const Clique clique_;
  std::array<RingDevice*, 2> devices_;  ///< WAN, LAN.
  std::vector<std::unique_ptr<dataplane::DpdkPort>> ports_;
  std::unique_ptr<dataplane::Edge> edge_;
  Members members_;
  std::vector<Heard> heard_;       ///< By member.
  std::vector<std::byte> packet_;  ///< One packet, its pieces joined.
  std::uint32_t next_result_ = 0;  ///< The chunk whose result comes next.
  std::uint64_t results_ = 0;
};

/// The pool that a rig of this clique needs.
dataplane::MbufPoolOptions pool_options(const Clique& clique);

/// A rig and its own pool, with full slots.
struct WarmEdge {
  Clique clique;
  std::unique_ptr<dataplane::MbufPool> pool;
  std::unique_ptr<EdgeRig> rig;

  /// Errors: those of the pool, of EdgeRig::create and of warm_up.
  static Result<WarmEdge> create(const Clique& clique, RingDevice& wan, RingDevice& lan);
};

}  // namespace tombolo::bench
