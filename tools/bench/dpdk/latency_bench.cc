#include "tools/bench/dpdk/latency_bench.h"

#include <fmt/format.h>
#include <rte_cycles.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "tools/bench/dpdk/edge_rig.h"
#include "tools/bench/dpdk/timed_steps.h"
#include "tools/bench/payloads.h"

namespace tombolo::bench {
namespace {

/// Packets that wait in the rings at most: what a turn takes from two ports. The others come when there is
/// room, and have waited longer. More of them would leave the cache that a network card writes to.
constexpr std::size_t kMostWaiting = 2 * kBurst;

/// The edge of one case, and what is known of it.
struct Subject {
  WarmEdge edge;
  double highest_pps = 0;
};

AggregateOptions aggregate_options(const LatencyOptions& options) {
  AggregateOptions aggregate;
  aggregate.formats = options.formats;
  aggregate.k = options.k;
  aggregate.chunk_bytes = options.chunk_bytes;
  aggregate.resident = {"cache"};
  aggregate.isa = options.isa;
  return aggregate;
}

/// The rate at which a worker that always finds a burst waiting gets on.
Status find_highest_rate(const MeasureOptions& options, Subject& subject) {
  const MonotonicClock clock;
  Status status = ok_status();
  Side side;
  side.packets = subject.edge.clique.k * subject.edge.clique.step_chunks();
  side.run = [&](std::uint64_t steps) {
    return run_steps(*subject.edge.rig, steps, status, [&] { subject.edge.rig->turn(clock.now_ns()); });
  };
  const std::vector<Row> rows = measure({&side, 1}, options, [](std::uint32_t) {});
  subject.highest_pps = *rows.front().mpps * 1e6;
  return status;
}

/// Arrivals and the worker's time, in nanoseconds since the run began.
class Timeline {
 public:
  Timeline(Subject& subject, double packets_per_s, std::uint64_t seed)
      : subject_(subject), gap_ns_(1e9 / packets_per_s), random_(seed), begin_(MonotonicClock().now_ns()) {
    next_ns_ = draw_gap();
  }

  /// One turn of the worker, with what has arrived by then.
  Status step() {
    // With nothing to do it polls until the next packet is there.
    if (subject_.edge.rig->waiting() == 0) now_ns_ = std::max(now_ns_, next_ns_);
    while (next_ns_ <= now_ns_ && subject_.edge.rig->waiting() < kMostWaiting) {
      auto put = subject_.edge.rig->members().put_next();
      if (!put) return std::move(put).error();
      if (put->completes) arrivals_.push_back(next_ns_);
      next_ns_ += draw_gap();
    }
    const std::uint64_t begin = rte_rdtsc_precise();
    subject_.edge.rig->turn_once(begin_ + static_cast<Nanoseconds>(now_ns_));
    const std::uint64_t cycles = rte_rdtsc_precise() - begin;
    now_ns_ += 1e9 * static_cast<double>(cycles) / static_cast<double>(rte_get_tsc_hz());
    return subject_.edge.rig->take_out([this](std::uint32_t) {
      CHECK(!arrivals_.empty());
      latencies_ns_.push_back(now_ns_ - arrivals_.front());
      arrivals_.pop_front();
    });
  }

  std::vector<double>& latencies_ns() { return latencies_ns_; }
  double now_ns() const { return now_ns_; }

 private:
  double draw_gap() { return -std::log(1 - random_.unit()) * gap_ns_; }

  Subject& subject_;
  double gap_ns_;
  Random random_;
  Nanoseconds begin_;
  double now_ns_ = 0;
  double next_ns_ = 0;           ///< When the next packet arrives.
  std::deque<double> arrivals_;  ///< Of last contributions whose results are not out; results come in order.
  std::vector<double> latencies_ns_;
};

Result<Row> measure_load(Subject& subject, double load, const LatencyOptions& options) {
  const double rate = load * subject.highest_pps;
  // What the run before left in the rings is none of this one's.
  subject.edge.rig->turn(MonotonicClock().now_ns());
  if (Status taken = subject.edge.rig->take_out(); !taken) return std::move(taken).error();
  Timeline timeline(subject, rate, options.seed);
  while (timeline.latencies_ns().size() < options.chunks)
    if (Status step = timeline.step(); !step) return std::move(step).error();
  timeline.latencies_ns().clear();
  const double begin_ns = timeline.now_ns();
  while (timeline.latencies_ns().size() < options.chunks)
    if (Status step = timeline.step(); !step) return std::move(step).error();
  const double seconds = (timeline.now_ns() - begin_ns) * 1e-9;
  const std::vector<double>& latencies = timeline.latencies_ns();
  const Clique& clique = subject.edge.clique;
  Row row;
  row.bench = "latency";
  row.impl = "tombolo";
  row.format = row.result_format = format_name(clique.format);
  row.k = clique.k;
  row.chunk_bytes = clique.chunk_bytes;
  row.resident = "cache";
  row.isa = isa_of(clique);
  row.mpps = static_cast<double>(latencies.size()) * clique.k / seconds * 1e-6;
  row.gbytes_per_s = *row.mpps * clique.payload_bytes() * 1e-3;
  row.gbit_per_s = 8 * *row.gbytes_per_s;
  row.exact = true;
  row.more["load"] = load;
  row.more["highest_mpps"] = subject.highest_pps * 1e-6;
  row.more["p50_us"] = quantile(latencies, 0.5) * 1e-3;
  row.more["p99_us"] = quantile(latencies, 0.99) * 1e-3;
  row.more["p999_us"] = quantile(latencies, 0.999) * 1e-3;
  return row;
}

Result<Subject> open_subject(const Clique& clique) {
  auto wan = RingDevice::get(0), lan = RingDevice::get(1);
  if (!wan) return std::move(wan).error();
  if (!lan) return std::move(lan).error();
  auto edge = WarmEdge::create(clique, **wan, **lan);
  if (!edge) return std::move(edge).error();
  return Subject{std::move(edge).value()};
}

}  // namespace

Result<std::vector<Row>> run_latency(const LatencyOptions& options, const Progress& progress) {
  const AggregateOptions aggregate = aggregate_options(options);
  if (Status fits = check(aggregate); !fits) return std::move(fits).error();
  std::vector<Row> rows;
  for (const wire::Format format : options.formats)
    for (const std::uint32_t chunk_bytes : options.chunk_bytes)
      for (const std::uint32_t k : options.k) {
        const std::string what = fmt::format("latency {} k {} {} B", format_name(format), k, chunk_bytes);
        progress(what + ": the highest rate");
        auto subject = open_subject(clique_of(aggregate, format, k, chunk_bytes, "cache"));
        if (!subject) return std::move(subject).error();
        if (Status found = find_highest_rate(options.measure, *subject); !found)
          return std::move(found).error();
        for (const double load : options.loads) {
          progress(fmt::format("{}: at {:.0f} %", what, 100 * load));
          auto row = measure_load(*subject, load, options);
          if (!row) return std::move(row).error();
          rows.push_back(std::move(row).value());
        }
      }
  return rows;
}

std::uint32_t memory_mb(const LatencyOptions& options) { return memory_mb(aggregate_options(options)) + 64; }

}  // namespace tombolo::bench
