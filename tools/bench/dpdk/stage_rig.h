#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "aggregation/fold_point.h"
#include "base/result.h"
#include "dataplane/port/dpdk/dpdk_port.h"
#include "tools/bench/dpdk/members.h"

namespace tombolo::bench {

/// How much of an edge's way a packet goes: each includes those before it.
enum class Stage : std::uint8_t {
  kReceive,  ///< The port: from a frame to a packet, and back to the pool.
  kCheck,    ///< Header, payload and both their CRCs (wire::validate).
  kSlot,     ///< Taken by the fold point, which holds it until its chunk is complete.
  kFold,     ///< Complete chunks are folded.
};

/// A part of the edge's pipeline, put together from the same parts without links, grants and results: what
/// the whole edge takes longer is theirs.
class StageRig {
 public:
  static Result<std::unique_ptr<StageRig>> create(const Clique& clique, Stage stage,
                                                  dataplane::MbufPool& pool, RingDevice& wan,
                                                  RingDevice& lan);
  ~StageRig();

  Members& members() { return members_; }
  /// Receives all that was put. The timed part.
  void turn(Nanoseconds now_ns);
  /// Errors: kFailed when a packet was refused, or the last chunk's result has not the bits of the reference.
  Status take_out() const;

 private:
  StageRig(const Clique& clique, Stage stage, dataplane::MbufPool& pool, RingDevice& wan, RingDevice& lan);
  Status open();
  void take(RxPacket& packet, Nanoseconds now_ns);
  void finish(aggregation::OpenRound& round, std::uint32_t index);

  const Clique clique_;
  const Stage stage_;
  dataplane::MbufPool& pool_;
  std::array<RingDevice*, 2> devices_;  ///< WAN, LAN.
  std::vector<std::unique_ptr<dataplane::DpdkPort>> ports_;
  Members members_;
  std::array<aggregation::MemberEntry, 1> entries_;
  std::optional<aggregation::FoldPoint> point_;
  fold::FoldFunction fold_ = nullptr;
  BufferRef result_;  ///< Of the last chunk that was folded.
  std::uint32_t result_chunk_ = 0;
  bool has_result_ = false;
  std::uint64_t refused_ = 0;
};

}  // namespace tombolo::bench
