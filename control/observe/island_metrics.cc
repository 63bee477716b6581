#include "control/observe/island_metrics.h"

#include "control/observe/family.h"

namespace tombolo::control {

std::string_view name(IslandRound outcome) {
  switch (outcome) {
    case IslandRound::kComplete:
      return "complete";
    case IslandRound::kFailedElsewhere:
      return "failed_elsewhere";
    case IslandRound::kFailed:
      return "failed";
    case IslandRound::kRested:
      return "rested";
    case IslandRound::kCount:
      break;
  }
  return "unknown";
}

void IslandRounds::add(IslandRound outcome, std::uint64_t payload_bytes_sent,
                       std::uint64_t payload_bytes_received, std::optional<Nanoseconds> ready_after_ns) {
  ++rounds_[static_cast<std::size_t>(outcome)];
  payload_bytes_sent_ += payload_bytes_sent;
  payload_bytes_received_ += payload_bytes_received;
  if (ready_after_ns) durations_.add(*ready_after_ns);
}

void IslandRounds::fill(IslandSample& sample) const {
  sample.rounds = rounds_;
  sample.payload_bytes_sent = payload_bytes_sent_;
  sample.payload_bytes_received = payload_bytes_received_;
  for (std::size_t i = 0; i < sample.durations.counts.size(); ++i)
    sample.durations.counts[i] = durations_.count(i);
  sample.durations.sum_ns = durations_.sum_ns();
}

std::vector<prometheus::MetricFamily> island_families(const IslandSample& sample) {
  Families out({{"island", sample.island}});
  out.gauge("tombolo_island_uptime_seconds", "Time since the island's endpoint was started.")
      .seconds(sample.uptime_ns);
  out.gauge("tombolo_island_session", "Number of this life of the endpoint; grows with each restart.")
      .value(std::uint64_t{sample.session});
  out.gauge("tombolo_island_connected", "Whether the edge is heard in every lane (1) or not (0).")
      .value(std::uint64_t{sample.connected});
  out.gauge("tombolo_island_epoch", "Newest epoch whose schedule the island knows whole; 0 before the first.")
      .value(std::uint64_t{sample.epoch});
  out.counter("tombolo_island_rounds_total", "Ended rounds, by outcome.");
  for (std::size_t i = 0; i < kIslandRounds; ++i)
    out.value(sample.rounds[i], {{"outcome", std::string(name(static_cast<IslandRound>(i)))}});
  out.histogram("tombolo_island_round_duration_seconds", "From the call to the whole result.")
      .durations(dataplane::kDurationBounds, sample.durations.counts, sample.durations.sum_ns);
  out.counter("tombolo_island_transmit_payload_bytes_total",
              "Bytes of updates sent, each once; repairs are apart.")
      .value(sample.payload_bytes_sent);
  out.counter("tombolo_island_receive_payload_bytes_total",
              "Bytes of results, or of the others' updates, received.")
      .value(sample.payload_bytes_received);
  out.counter("tombolo_island_receive_packets_total", "Packets that arrived, used or dropped.")
      .value(sample.rx_packets);
  out.counter("tombolo_island_results_total", "Finished chunks, received or folded here.")
      .value(sample.results);
  out.counter("tombolo_island_repairs_sent_total", "Packets sent again because the edge asked for them.")
      .value(sample.repairs_sent);
  out.counter("tombolo_island_drops_total", "Packets that were not used, by reason.");
  for (std::size_t i = 1; i < sample.drops.size(); ++i)  // 0 is no reason.
    out.value(sample.drops[i], {{"reason", std::string(tombolo::name(static_cast<DropReason>(i)))}});
  return out.take();
}

}  // namespace tombolo::control
