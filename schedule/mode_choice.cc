#include "schedule/mode_choice.h"

#include <algorithm>
#include <numeric>

namespace tombolo::schedule {
namespace {

constexpr std::size_t kMaxSteps = 20'000;

/// Whether `a` asks for no more than `b` in anything: then `b` need not be looked at.
bool asks_no_more(const CliqueLoad& a, const CliqueLoad& b) {
  if (a.latency_s > b.latency_s) return false;
  auto in_b = b.loads.begin();
  for (const ResourceLoad& load : a.loads) {
    while (in_b != b.loads.end() && in_b->resource < load.resource) ++in_b;
    if (in_b == b.loads.end() || in_b->resource != load.resource || load.updates > in_b->updates)
      return false;
  }
  return true;
}

/// What every option asks for at least: the clique's share in a bound.
CliqueLoad least_of(std::span<const CliqueLoad> options, std::span<const std::size_t> kept) {
  CliqueLoad least = options[kept.front()];
  for (const std::size_t option : kept.subspan(1)) {
    const CliqueLoad& other = options[option];
    least.latency_s = std::min(least.latency_s, other.latency_s);
    std::vector<ResourceLoad> both;
    auto in_other = other.loads.begin();
    for (const ResourceLoad& load : least.loads) {
      while (in_other != other.loads.end() && in_other->resource < load.resource) ++in_other;
      if (in_other != other.loads.end() && in_other->resource == load.resource)
        both.push_back({load.resource, std::min(load.updates, in_other->updates)});
    }
    least.loads = std::move(both);
  }
  return least;
}

class Chooser {
 public:
  Chooser(std::span<const std::span<const CliqueLoad>> options, std::span<const double> update_s)
      : options_(options), update_s_(update_s), kept_(options.size()), round_(options.size()) {
    bounds_.reserve(options.size());
    for (std::size_t clique = 0; clique < options.size(); ++clique) {
      keep_useful(clique);
      bounds_.push_back(least_of(options[clique], kept_[clique]));
      if (kept_[clique].size() > 1) open_.push_back(clique);
    }
    best_.picks.resize(options.size());
  }

  ModeChoice run() {
    start_greedily();
    if (open_.empty()) return best_;
    for (std::size_t clique = 0; clique < options_.size(); ++clique) round_[clique] = &bounds_[clique];
    std::vector<std::size_t> picks = best_.picks;
    branch(0, picks);
    best_.proven = steps_ <= kMaxSteps;
    return best_;
  }

 private:
  double alone_s(std::size_t clique, std::size_t option) const {
    const CliqueLoad* const load = &options_[clique][option];
    return RoundModel::least_time({&load, 1}, update_s_);
  }

  void keep_useful(std::size_t clique) {
    const auto options = options_[clique];
    for (std::size_t i = 0; i < options.size(); ++i) {
      const auto beaten_by = [&](std::size_t j) {
        return j != i && asks_no_more(options[j], options[i]) &&
               (j < i || !asks_no_more(options[i], options[j]));
      };
      bool useful = true;
      for (std::size_t j = 0; j < options.size() && useful; ++j) useful = !beaten_by(j);
      if (useful) kept_[clique].push_back(i);
    }
    // The quickest alone first: it leads to a good choice early.
    std::stable_sort(kept_[clique].begin(), kept_[clique].end(),
                     [&](std::size_t a, std::size_t b) { return alone_s(clique, a) < alone_s(clique, b); });
  }

  double time_of(const std::vector<std::size_t>& picks) {
    for (std::size_t clique = 0; clique < options_.size(); ++clique)
      round_[clique] = &options_[clique][picks[clique]];
    return RoundModel::least_time(round_, update_s_);
  }

  /// Each clique's quickest, then the best single change as long as there is one.
  void start_greedily() {
    for (std::size_t clique = 0; clique < options_.size(); ++clique)
      best_.picks[clique] = kept_[clique].front();
    best_.seconds = time_of(best_.picks);
    for (bool better = true; better;) {
      better = false;
      for (const std::size_t clique : open_)
        for (const std::size_t option : kept_[clique]) {
          std::vector<std::size_t> picks = best_.picks;
          picks[clique] = option;
          const double seconds = time_of(picks);
          if (seconds >= best_.seconds) continue;
          best_ = {seconds, std::move(picks), true};
          better = true;
        }
    }
  }

  /// Settles the open cliques from `depth` on; those before it have their option in `round_`.
  void branch(std::size_t depth, std::vector<std::size_t>& picks) {
    if (++steps_ > kMaxSteps) return;
    const double bound_s = RoundModel::least_time(round_, update_s_);
    if (bound_s >= best_.seconds) return;
    if (depth == open_.size()) {
      best_ = {bound_s, picks, true};
      return;
    }
    const std::size_t clique = open_[depth];
    for (const std::size_t option : kept_[clique]) {
      picks[clique] = option;
      round_[clique] = &options_[clique][option];
      branch(depth + 1, picks);
    }
    round_[clique] = &bounds_[clique];
  }

  std::span<const std::span<const CliqueLoad>> options_;
  std::span<const double> update_s_;
  std::vector<std::vector<std::size_t>> kept_;  ///< By clique: the options that no other one beats.
  std::vector<CliqueLoad> bounds_;
  std::vector<std::size_t> open_;  ///< Cliques with more than one option kept.
  std::vector<const CliqueLoad*> round_;
  ModeChoice best_;
  std::size_t steps_ = 0;
};

}  // namespace

ModeChoice choose_modes(std::span<const std::span<const CliqueLoad>> options,
                        std::span<const double> update_s) {
  return Chooser(options, update_s).run();
}

}  // namespace tombolo::schedule
