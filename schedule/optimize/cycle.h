#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/optimize/partition.h"
#include "schedule/optimize/problem.h"

namespace tombolo::schedule {

/// A partition and the time of its round.
struct TimedPartition {
  Partition sets;             ///< Sets in the order of their lowest ranks.
  std::vector<double> sizes;  ///< By set.
  double seconds = 0;
};
using RoundHandle = std::shared_ptr<const TimedPartition>;

/// A period of rounds, as the search turns it over.
using Cycle = std::vector<RoundHandle>;

/// [set of `round`][set of `before`]: the share of the former that was in the latter.
void set_shares(const TimedPartition& before, const TimedPartition& round, std::vector<double>& shares);

/// What a round takes, in seconds; none if it is impossible.
using RoundSeconds = std::function<std::optional<double>(const Round&)>;

/// Times rounds, each partition once: searches come back to the same ones again and again.
class RoundBook {
 public:
  /// `problem` must have passed its check, with at most 64 islands, and outlive the book. `seconds`, if
  /// given, times rounds in the round model's place.
  explicit RoundBook(const Problem& problem, RoundSeconds seconds = {})
      : problem_(problem), seconds_(std::move(seconds)) {}

  /// Puts the sets in order. Null if nobody meets, a clique is too large, or the network does not join one.
  RoundHandle find(Partition sets);

 private:
  RoundHandle measure(Partition sets) const;

  const Problem& problem_;
  RoundSeconds seconds_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<Partition, RoundHandle>>> rounds_;  ///< By hash.
  std::size_t entries_ = 0;
};

/// Computes D of cycles; keeps its working memory between them.
class CycleMeter {
 public:
  explicit CycleMeter(std::size_t islands) : islands_(static_cast<double>(islands)) {}

  /// D in seconds of a cycle of at least one round; iterating stops when a pass adds less than the share
  /// `precision` of it. Where D is above `cutoff_s` the answer may
  /// be any value above it: iterating from no disagreement approaches D from below, so that it can stop
  /// early.
  double disagreement_s(std::span<const RoundHandle> cycle, double cutoff_s, double precision);

 private:
  void prepare(std::span<const RoundHandle> cycle);
  double pass(std::span<const RoundHandle> cycle);

  double islands_;
  std::vector<std::vector<double>> overlaps_;  ///< By round: its sets' shares in the sets before.
  std::vector<double> state_;  ///< Of the sets of the latest round: covariance of their means.
  std::vector<double> half_;
};

Schedule to_schedule(std::span<const RoundHandle> cycle, std::string name);

}  // namespace tombolo::schedule
