#include "tools/bench/dpdk/aggregate_bench.h"

#include <fmt/format.h>
#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "tools/bench/dpdk/edge_rig.h"
#include "tools/bench/dpdk/limit_rig.h"
#include "tools/bench/dpdk/stage_rig.h"
#include "tools/bench/dpdk/timed_steps.h"
#include "tools/bench/payloads.h"

namespace tombolo::bench {
namespace {

using dataplane::MbufPool;

/// Ring devices: two each for the edge or a part of it, the limit, and the edge that holds all.
struct Devices {
  std::array<RingDevice*, 6> ring{};

  static Result<Devices> get() {
    Devices devices;
    for (unsigned i = 0; i < devices.ring.size(); ++i) {
      auto device = RingDevice::get(i);
      if (!device) return std::move(device).error();
      devices.ring[i] = *device;
    }
    return devices;
  }
};

Side side_of(const Clique& clique, const std::string& impl, const std::string& resident) {
  Side side;
  side.row.bench = "aggregate";
  side.row.impl = impl;
  side.row.format = format_name(clique.format);
  side.row.result_format = format_name(fold::output_format(kind_of(clique)));
  side.row.k = clique.k;
  side.row.chunk_bytes = clique.chunk_bytes;
  side.row.resident = resident;
  side.packets = clique.k * clique.step_chunks();
  side.bytes = side.packets * clique.payload_bytes();
  return side;
}

/// Runs one part of the pipeline; returns cycles per packet.
Result<double> stage_cycles(const Clique& clique, Stage stage, const Devices& devices,
                            const MeasureOptions& options) {
  auto pool = MbufPool::create(pool_options(clique));
  if (!pool) return std::move(pool).error();
  auto rig = StageRig::create(clique, stage, **pool, *devices.ring[0], *devices.ring[1]);
  if (!rig) return std::move(rig).error();
  const MonotonicClock clock;
  Status status = ok_status();
  Side side = side_of(clique, "stage", "");
  side.run = [&](std::uint64_t steps) {
    return run_steps(**rig, steps, status, [&] { (*rig)->turn(clock.now_ns()); });
  };
  for (std::uint32_t step = 0; step < clique.warm_up_steps() && status; ++step) side.run(1);
  const std::vector<Row> rows = measure({&side, 1}, options, [](std::uint32_t) {});
  if (!status) return std::move(status).error();
  return static_cast<double>(rte_get_tsc_hz()) * 1e-6 / *rows.front().mpps;
}

/// Adds to the edge's row what each stage takes.
Status add_stages(const Clique& clique, const Devices& devices, const MeasureOptions& options, Row& row) {
  constexpr std::array kStages{std::pair{Stage::kReceive, "receive"}, std::pair{Stage::kCheck, "check"},
                               std::pair{Stage::kSlot, "slot"}, std::pair{Stage::kFold, "fold"}};
  const double whole = static_cast<double>(rte_get_tsc_hz()) * 1e-6 / *row.mpps;
  double before = 0;
  for (const auto& [stage, name] : kStages) {
    const auto cycles = stage_cycles(clique, stage, devices, options);
    if (!cycles) return Error(cycles.error()).within(fmt::format("stage {}", name));
    row.more[fmt::format("cycles_{}", name)] = *cycles - before;
    before = *cycles;
  }
  row.more["cycles_link_emit"] = whole - before;
  row.more["cycles"] = whole;
  return ok_status();
}

Side side_of(WarmEdge& edge, const std::string& impl, const std::string& resident, Status& status) {
  Side side = side_of(edge.clique, impl, resident);
  side.row.isa = isa_of(edge.clique);
  side.row.exact = true;
  side.run = [&edge, &status](std::uint64_t steps) {
    const MonotonicClock clock;
    return run_steps(*edge.rig, steps, status, [&] { edge.rig->turn(clock.now_ns()); });
  };
  return side;
}

/// The same members, but what waits stays in its packets.
Clique holding_all(Clique clique) {
  clique.held_bytes = aggregation::kHoldAll;
  return clique;
}

bool compares_holding(const Clique& clique, const AggregateOptions& options) {
  return clique.skew_chunks > 0 && !options.edge_only;
}

Result<std::vector<Row>> run_case(const Clique& clique, const std::string& resident, const Devices& devices,
                                  const AggregateOptions& options, const Progress& progress) {
  const std::string what = fmt::format("aggregate {} k {} {} B {}", format_name(clique.format), clique.k,
                                       clique.chunk_bytes, resident);
  progress(what + ": fills the slots");
  Status status = ok_status();
  std::vector<Side> sides;
  auto edge = WarmEdge::create(clique, *devices.ring[0], *devices.ring[1]);
  if (!edge) return std::move(edge).error();
  sides.push_back(side_of(*edge, "tombolo", resident, status));
  std::optional<WarmEdge> holding;
  if (compares_holding(clique, options)) {
    auto made = WarmEdge::create(holding_all(clique), *devices.ring[4], *devices.ring[5]);
    if (!made) return std::move(made).error();
    holding.emplace(std::move(made).value());
    sides.push_back(side_of(*holding, "tombolo_held", resident, status));
  }
  auto limit_pool =
      MbufPool::create(pool_options(clique_of(options, clique.format, clique.k, clique.chunk_bytes, "")));
  if (!limit_pool) return std::move(limit_pool).error();
  auto limit = LimitRig::create(clique, **limit_pool, *devices.ring[2], *devices.ring[3]);
  if (!limit) return std::move(limit).error();
  if (!options.edge_only) {
    sides.push_back(side_of(clique, "limit", resident));
    sides.back().run = [&](std::uint64_t steps) {
      return run_steps(**limit, steps, status, [&] { (*limit)->turn(); });
    };
  }
  std::vector<Row> rows = measure(sides, options.measure, [&](std::uint32_t repetition) {
    progress(fmt::format("{}: {}/{}", what, repetition, options.measure.repeat));
  });
  if (!status) return std::move(status).error();
  for (Row& row : rows) row.more["distance_bytes"] = clique.distance_bytes();
  if (options.edge_only) return rows;
  holding.reset();
  limit->reset();
  edge->rig.reset();
  edge->pool.reset();
  progress(what + ": stages");
  if (Status added = add_stages(clique, devices, options.measure, rows[0]); !added)
    return std::move(added).error();
  return rows;
}

/// Calls body(clique, resident) for each case until it returns an error.
template <typename Body>
Status for_each_case(const AggregateOptions& options, Body&& body) {
  for (const wire::Format format : options.formats)
    for (const std::uint32_t chunk_bytes : options.chunk_bytes)
      for (const std::uint32_t k : options.k)
        for (const std::string& resident : options.resident) {
          const Clique clique = clique_of(options, format, k, chunk_bytes, resident);
          if (k < 2 || k > aggregation::kMaxMembers)
            return invalid_input(fmt::format("-k {}: must be 2 to 64", k));
          if (clique.elements() == 0 || clique.payload_bytes() > kMaxPayloadBytes)
            return invalid_input(fmt::format("--chunk-bytes {}: must hold 32 elements and be at most {}",
                                             chunk_bytes, kMaxPayloadBytes));
          if (!fold::is_supported(kind_of(clique)))
            return invalid_input(fmt::format("{}: no fold", format_name(format)));
          if (Status done = body(clique, resident); !done) return done;
        }
  return ok_status();
}

}  // namespace

Clique clique_of(const AggregateOptions& options, wire::Format format, std::uint32_t k,
                 std::uint32_t chunk_bytes, const std::string& resident) {
  Clique clique;
  clique.k = k;
  clique.format = format;
  clique.operation = options.operation;
  clique.chunk_bytes = chunk_bytes;
  clique.isa = options.isa;
  if (resident == "memory") clique.skew_chunks = skew_for(clique, options.distance_bytes);
  return clique;
}

Status check(const AggregateOptions& options) {
  return for_each_case(options, [](const Clique&, const std::string&) { return ok_status(); });
}

std::uint32_t memory_mb(const AggregateOptions& options) {
  std::uint64_t most = 0;
  const Status sized = for_each_case(options, [&](const Clique& clique, const std::string&) {
    Clique close = clique;
    close.skew_chunks = 0;
    std::uint64_t bytes =
        MbufPool::memory_bytes(pool_options(clique)) + MbufPool::memory_bytes(pool_options(close));
    if (compares_holding(clique, options)) bytes += MbufPool::memory_bytes(pool_options(holding_all(clique)));
    most = std::max(most, bytes);
    return ok_status();
  });
  if (!sized) return 256;  // What is wrong is said when it is run.
  return static_cast<std::uint32_t>((most >> 20) + 64);
}

Result<std::vector<Row>> run_aggregate(const AggregateOptions& options, const Progress& progress) {
  std::vector<Row> rows;
  auto devices = Devices::get();
  if (!devices) return std::move(devices).error();
  Status ran = for_each_case(options, [&](const Clique& clique, const std::string& resident) -> Status {
    auto measured = run_case(clique, resident, *devices, options, progress);
    if (!measured) return std::move(measured).error();
    std::move(measured->begin(), measured->end(), std::back_inserter(rows));
    return ok_status();
  });
  if (!ran) return std::move(ran).error();
  return rows;
}

}  // namespace tombolo::bench
