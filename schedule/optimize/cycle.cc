#include "schedule/optimize/cycle.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace tombolo::schedule {
namespace {

/// Enough to hold every partition of nine islands many times over, and some 100 MB at most.
constexpr std::size_t kMaxEntries = 400'000;
/// A cycle that has not converged by then mixes so slowly that no search wants it.
constexpr int kMaxPasses = 100'000;

std::uint64_t hash(const Partition& sets) {
  std::uint64_t sum = 0;
  for (std::uint64_t set :
       sets) {  // The finaliser of a 64-bit mixing hash; its constants are arbitrary odd numbers.
    set = (set ^ set >> 31) * 0x9e3779b97f4a7c15;
    set = (set ^ set >> 29) * 0xbf58476d1ce4e5b9;
    sum += set ^ set >> 32;
  }
  return sum;
}

}  // namespace

RoundHandle RoundBook::find(Partition sets) {
  std::sort(sets.begin(), sets.end(),
            [](IslandSet a, IslandSet b) { return std::countr_zero(a) < std::countr_zero(b); });
  auto& entries = rounds_[hash(sets)];
  for (const auto& [known, round] : entries)
    if (known == sets) return round;
  RoundHandle round = measure(sets);
  if (++entries_ > kMaxEntries) {
    rounds_.clear();
    entries_ = 0;
    return round;
  }
  entries.emplace_back(std::move(sets), round);
  return round;
}

RoundHandle RoundBook::measure(Partition sets) const {
  if (sets.size() >= problem_.islands()) return nullptr;
  TimedPartition round;
  for (const IslandSet set : sets) round.sizes.push_back(std::popcount(set));
  if (*std::max_element(round.sizes.begin(), round.sizes.end()) > kMaxCliqueMembers) return nullptr;
  if (seconds_) {
    const auto seconds = seconds_(to_round(sets));
    if (!seconds) return nullptr;
    round.seconds = *seconds;
  } else {
    const auto time = problem_.model().time(to_round(sets), problem_.update_bytes());
    if (!time) return nullptr;
    round.seconds = time->seconds;
  }
  round.sets = std::move(sets);
  return std::make_shared<const TimedPartition>(std::move(round));
}

void set_shares(const TimedPartition& before, const TimedPartition& round, std::vector<double>& shares) {
  shares.clear();
  for (std::size_t a = 0; a < round.sets.size(); ++a)
    for (const IslandSet set : before.sets)
      shares.push_back(std::popcount(round.sets[a] & set) / round.sizes[a]);
}

/// After a round the islands of a set are equal, so S = Z + T (I - J) with one row and column of Z per set.
/// The next round's Z' is R (Z + T (I - J)) R' with R its shares in the sets before, which comes to
/// R Z R' + T (diag(1 / size) - 1 / n).
double CycleMeter::disagreement_s(std::span<const RoundHandle> cycle, double cutoff_s, double precision) {
  prepare(cycle);
  double cycle_s = 0;
  for (const RoundHandle& round : cycle) cycle_s += round->seconds;
  double previous_s = 0;
  for (int i = 0; i < kMaxPasses; ++i) {
    const double d_s = pass(cycle) / (islands_ * cycle_s);
    // The first pass starts from nothing and lacks the end of the last round; it bounds D like all others.
    if (d_s > cutoff_s || d_s - previous_s <= precision * d_s) return d_s;
    previous_s = d_s;
  }
  return std::numeric_limits<double>::infinity();
}

void CycleMeter::prepare(std::span<const RoundHandle> cycle) {
  overlaps_.resize(std::max(overlaps_.size(), cycle.size()));
  for (std::size_t r = 0; r < cycle.size(); ++r)
    set_shares(*cycle[(r + cycle.size() - 1) % cycle.size()], *cycle[r], overlaps_[r]);
  const std::size_t last = cycle.back()->sets.size();
  state_.assign(last * last, 0.0);
}

/// One cycle: takes `state_` from the end of one to the end of the next; returns the integral of tr Cov.
double CycleMeter::pass(std::span<const RoundHandle> cycle) {
  double integral = 0;
  const TimedPartition* before = cycle.back().get();
  for (std::size_t r = 0; r < cycle.size(); ++r) {
    const TimedPartition& round = *cycle[r];
    const std::size_t old_sets = before->sets.size();
    const std::size_t sets = round.sets.size();
    const double seconds = round.seconds;
    double trace = before->seconds * (islands_ - 1);
    for (std::size_t p = 0; p < old_sets; ++p) trace += before->sizes[p] * state_[p * old_sets + p];
    integral += seconds * (trace + seconds * (islands_ - 1) / 2);

    const double* const share = overlaps_[r].data();
    half_.assign(sets * old_sets, 0.0);
    for (std::size_t a = 0; a < sets; ++a)
      for (std::size_t p = 0; p < old_sets; ++p) {
        const double weight = share[a * old_sets + p];
        if (weight == 0) continue;
        for (std::size_t q = 0; q < old_sets; ++q)
          half_[a * old_sets + q] += weight * state_[p * old_sets + q];
      }
    state_.resize(sets * sets);
    for (std::size_t a = 0; a < sets; ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        double sum = a == b ? before->seconds / round.sizes[a] : 0.0;
        sum -= before->seconds / islands_;
        for (std::size_t q = 0; q < old_sets; ++q) sum += half_[a * old_sets + q] * share[b * old_sets + q];
        state_[a * sets + b] = state_[b * sets + a] = sum;
      }
    before = &round;
  }
  return integral;
}

Schedule to_schedule(std::span<const RoundHandle> cycle, std::string name) {
  Schedule schedule{std::move(name), {}};
  for (const RoundHandle& round : cycle) schedule.rounds.push_back(to_round(round->sets));
  return schedule;
}

}  // namespace tombolo::schedule
