#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "control/observe/edge_sample.h"
#include "control/observe/latest.h"
#include "dataplane/edge/lane_counters.h"

namespace tombolo::control {

/// How a round went for an island.
enum class IslandRound : std::uint8_t {
  kComplete,         ///< It has the result, and so has every other member.
  kFailedElsewhere,  ///< It has the result, and another member may not.
  kFailed,           ///< It has no result.
  kRested,           ///< It was in no clique.
  kCount
};
inline constexpr std::size_t kIslandRounds = static_cast<std::size_t>(IslandRound::kCount);
std::string_view name(IslandRound outcome);

/// An island's endpoint at one moment. Plain data, filled in by the program: see IslandRounds for what it has
/// to add up itself.
struct IslandSample {
  std::string island;
  std::uint32_t session = 0;
  Nanoseconds uptime_ns = 0;
  bool connected = false;   ///< To its edge.
  std::uint32_t epoch = 0;  ///< 0: none yet.
  std::uint64_t rx_packets = 0;
  std::uint64_t repairs_sent = 0;
  std::uint64_t results = 0;  ///< Chunks.
  std::array<std::uint64_t, kDropReasons> drops{};
  std::array<std::uint64_t, kIslandRounds> rounds{};
  std::uint64_t payload_bytes_sent = 0;
  std::uint64_t payload_bytes_received = 0;
  DurationSample durations;  ///< From call to result.
};

/// What a program adds up as its rounds end. For one thread, the one that takes the samples too.
class IslandRounds {
 public:
  /// `ready_after_ns`: from the call to the result; nothing when there was none, or nothing to wait for.
  void add(IslandRound outcome, std::uint64_t payload_bytes_sent, std::uint64_t payload_bytes_received,
           std::optional<Nanoseconds> ready_after_ns);
  /// Writes the sums into the sample.
  void fill(IslandSample& sample) const;

 private:
  std::array<std::uint64_t, kIslandRounds> rounds_{};
  std::uint64_t payload_bytes_sent_ = 0;
  std::uint64_t payload_bytes_received_ = 0;
  dataplane::DurationCounters durations_;
};

/// A sample as Prometheus wants it; every name begins with `tombolo_island_`.
std::vector<prometheus::MetricFamily> island_families(const IslandSample& sample);

/// Exports the newest sample of an island; nothing before there is one.
class IslandMetrics final : public prometheus::Collectable {
 public:
  explicit IslandMetrics(const Latest<IslandSample>& latest) : latest_(latest) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    const auto sample = latest_.get();
    return sample == nullptr ? std::vector<prometheus::MetricFamily>{} : island_families(*sample);
  }

 private:
  const Latest<IslandSample>& latest_;
};

}  // namespace tombolo::control
