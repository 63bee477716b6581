#include "tools/bench/dpdk/replicate_bench.h"

#include <fmt/format.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "dataplane/port/dpdk/big_endian.h"
#include "protocol/wire/packet.h"
#include "tools/bench/dpdk/replicate_rigs.h"
#include "tools/bench/dpdk/timed_steps.h"

namespace tombolo::bench {
namespace {

using dataplane::MbufPool;

/// Ring devices by number: four for what comes in, then one per copy of ours, then one per copy of the
/// others.
constexpr unsigned kFirstOut = 4;
constexpr unsigned kFirstBareOut = kFirstOut + kMaxCopies;

using Rings = std::vector<RingDevice*>;

Error failed(const std::string& message) { return Error{ErrorCode::kFailed, message}; }

Result<Rings> get_rings(unsigned first, std::size_t count) {
  Rings rings;
  for (std::size_t i = 0; i < count; ++i) {
    auto ring = RingDevice::get(first + static_cast<unsigned>(i));
    if (!ring) return std::move(ring).error();
    rings.push_back(*ring);
  }
  return rings;
}

void swallow(const Rings& rings) {
  for (RingDevice* const ring : rings) ring->swallow();
}

/// A source and what handles its packets, as run_steps() wants it.
template <typename Rig>
class Steps {
 public:
  Steps(std::unique_ptr<Rig> rig, const PacketSource& source) : rig_(std::move(rig)), source_(source) {}
  Rig& rig() { return *rig_; }
  PacketSource& members() { return source_; }
  Status take_out() const {
    return rig_->refused() == 0 ? ok_status()
                                : Status(failed(fmt::format("{} copies were not sent", rig_->refused())));
  }

 private:
  std::unique_ptr<Rig> rig_;
  PacketSource source_;
};

/// Whether a frame that left is the right copy.
Status check_copy(const PacketSource& source, std::size_t copy, rte_mbuf* frame) {
  std::vector<std::byte> bytes;
  for (const rte_mbuf* piece = frame; piece != nullptr; piece = piece->next) {
    const auto* const start = rte_pktmbuf_mtod(piece, const std::byte*);
    bytes.insert(bytes.end(), start, start + piece->data_len);
  }
  const std::uint32_t to = dataplane::get32(bytes.data() + dataplane::kEthernetBytes + 16);
  const std::span packet = std::span<const std::byte>(bytes).subspan(kFramingBytes);
  if (to != ReplicatorRig::copy_address(copy).ipv4) return failed("a copy for another neighbour");
  if (wire::validate(packet) != DropReason::kNone) return failed("a copy that is not valid");
  const auto payload = wire::payload_of(packet);
  if (!std::equal(payload.begin(), payload.end(), source.payload().begin(), source.payload().end()))
    return failed("a copy of another payload");
  return ok_status();
}

/// One step whose copies go to rings instead of nowhere.
Status look_at_copies(const Fanout& fanout, MbufPool& pool, RingDevice& in, const Rings& rings) {
  auto rig = ReplicatorRig::create(fanout, pool, in, rings);
  if (!rig) return std::move(rig).error();
  PacketSource source(fanout.payload_bytes, unicast_framing(), pool, in);
  if (Status put = source.put_step(); !put) return put;
  while ((*rig)->turn(kSecond)) {
  }
  Status status = ok_status();
  for (std::size_t copy = 0; copy < fanout.copies; ++copy) {
    std::array<rte_mbuf*, kBurst> frames;
    std::size_t seen = 0;
    while (const std::size_t count = rings[copy]->take(frames))
      for (std::size_t i = 0; i < count; ++i, ++seen) {
        if (status) status = check_copy(source, copy, frames[i]);
        rte_pktmbuf_free(frames[i]);
      }
    if (status && seen != PacketSource::kStepPackets) status = failed("copies are missing");
  }
  return status;
}

Side side_of(const Fanout& fanout, const char* impl, std::uint32_t chunk_bytes) {
  Side side;
  side.row.bench = "replicate";
  side.row.impl = impl;
  side.row.copies = static_cast<std::uint32_t>(fanout.copies);
  side.row.chunk_bytes = chunk_bytes;
  side.packets = static_cast<double>(PacketSource::kStepPackets * fanout.copies);
  side.bytes = side.packets * fanout.payload_bytes;
  return side;
}

/// One comparison: rigs, sides, and the first error of any of them.
struct Comparison {
  std::unique_ptr<Steps<ReplicatorRig>> ours;
  std::vector<std::unique_ptr<Steps<BareRig>>> bare;
  std::vector<Side> sides;
  Status status = ok_status();
};

Status add_ours(const Fanout& fanout, MbufPool& pool, RingDevice& in, const Rings& rings, Comparison& all) {
  auto rig = ReplicatorRig::create(fanout, pool, in, rings);
  if (!rig) return std::move(rig).error();
  all.ours = std::make_unique<Steps<ReplicatorRig>>(
      std::move(rig).value(), PacketSource(fanout.payload_bytes, unicast_framing(), pool, in));
  all.sides.push_back(side_of(fanout, "tombolo", fanout.payload_bytes));
  all.sides.back().row.exact = true;
  all.sides.back().run = [&all, &rings](std::uint64_t steps) {
    const MonotonicClock clock;
    return run_steps(*all.ours, steps, all.status, [&] {
      while (all.ours->rig().turn(clock.now_ns())) swallow(rings);
    });
  };
  return ok_status();
}

Status add_bare(Technique technique, const char* impl, const Fanout& fanout, MbufPool& pool, RingDevice& in,
                OutDevices& out, const Rings& rings, Comparison& all) {
  auto rig = BareRig::create(technique, fanout, pool, in, out);
  if (!rig) return std::move(rig).error();
  all.bare.push_back(std::make_unique<Steps<BareRig>>(
      std::move(rig).value(), PacketSource(fanout.payload_bytes, group_framing(fanout.copies), pool, in)));
  all.sides.push_back(side_of(fanout, impl, fanout.payload_bytes));
  all.sides.back().run = [&all, &rings, steps_of = all.bare.back().get()](std::uint64_t steps) {
    return run_steps(*steps_of, steps, all.status, [&] {
      while (steps_of->rig().turn()) swallow(rings);
    });
  };
  return ok_status();
}

Result<std::vector<Row>> run_case(const Fanout& fanout, const MeasureOptions& options,
                                  const Progress& progress) {
  dataplane::MbufPoolOptions sizes;
  sizes.frame_bytes = fanout.mtu == 1500 ? dataplane::kStandardFrameBytes : dataplane::kJumboFrameBytes;
  sizes.buffers = 8 * PacketSource::kStepPackets;
  sizes.headers = 16384;
  auto pool = MbufPool::create(sizes);
  if (!pool) return std::move(pool).error();
  const auto in = get_rings(0, 4), rings = get_rings(kFirstOut, fanout.copies),
             bare_rings = get_rings(kFirstBareOut, fanout.copies);
  for (const auto* const found : {&in, &rings, &bare_rings})
    if (!*found) return Error(found->error());
  if (Status right = look_at_copies(fanout, **pool, *(*in)[0], *rings); !right)
    return std::move(right).error();
  auto out = open_devices(fanout, **pool, *bare_rings);
  if (!out) return std::move(out).error();
  Comparison all;
  Status added = add_ours(fanout, **pool, *(*in)[0], *rings, all);
  if (added)
    added =
        add_bare(Technique::kExample, "ipv4_multicast", fanout, **pool, *(*in)[1], *out, *bare_rings, all);
  if (added)
    added = add_bare(Technique::kClone, "ipv4_multicast_clone", fanout, **pool, *(*in)[2], *out, *bare_rings,
                     all);
  if (added) added = add_bare(Technique::kAttach, "limit", fanout, **pool, *(*in)[3], *out, *bare_rings, all);
  if (!added) return std::move(added).error();
  std::vector<Row> rows = measure(all.sides, options, [&](std::uint32_t repetition) {
    progress(fmt::format("replicate {} copies {} B: {}/{}", fanout.copies, fanout.payload_bytes, repetition,
                         options.repeat));
  });
  for (RingDevice* const ring : *in) ring->drain();
  if (!all.status) return std::move(all.status).error();
  return rows;
}

}  // namespace

Result<std::vector<Row>> run_replicate(const ReplicateOptions& options, const Progress& progress) {
  std::vector<Row> rows;
  for (const std::uint32_t chunk_bytes : options.chunk_bytes)
    for (const std::uint32_t copies : options.copies) {
      if (copies < 2 || copies > kMaxCopies)
        return invalid_input(fmt::format("--copies {}: must be 2 to {}", copies, kMaxCopies));
      if (chunk_bytes < 64 || chunk_bytes > kMaxPayloadBytes)
        return invalid_input(
            fmt::format("--chunk-bytes {}: must be 64 to {}", chunk_bytes, kMaxPayloadBytes));
      Fanout fanout;
      fanout.copies = copies;
      fanout.payload_bytes = chunk_bytes / 4 * 4;
      if (fanout.payload_bytes + kHeaderBytes + kFramingBytes <= 1500) fanout.mtu = 1500;
      auto measured = run_case(fanout, options.measure, progress);
      if (!measured) return std::move(measured).error();
      std::move(measured->begin(), measured->end(), std::back_inserter(rows));
    }
  return rows;
}

}  // namespace tombolo::bench
