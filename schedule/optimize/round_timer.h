#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "schedule/optimize/problem.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// A clique of two and more islands in the mode in which it is quickest alone.
struct TimedClique {
  struct Use {
    std::uint32_t link = 0;  ///< Directed.
    double transfer_s = 0;   ///< What its updates take on the link, latency apart.
  };
  CliqueMode mode;
  double latency_s = 0;
  double alone_s = 0;     ///< Its time if it has the network to itself.
  std::vector<Use> uses;  ///< Of core links; access links are its own.
};

/// What a round takes and which of its cliques the time hangs on.
struct TimedGroups {
  double seconds = 0;                 ///< 0 if all islands rest.
  std::vector<std::size_t> critical;  ///< Indices of cliques on the bottleneck.
};

/// Times rounds of large networks over and over: loads of cliques are kept, and a round costs what its
/// cliques use. Where several modes are allowed each clique takes the mode that is quickest alone, which is
/// an upper bound on the round model's joint choice. Not for several threads.
class RoundTimer {
 public:
  /// The problem passes Problem::check and must outlive this.
  explicit RoundTimer(const Problem& problem) : problem_(problem), shared_(problem.network().links.size()) {}

  /// Kept until the next call of `forget_if_full`. Two and more members, ascending.
  const TimedClique& clique(const Clique& members);
  TimedGroups time(const std::vector<const TimedClique*>& cliques);
  /// Makes room; references to cliques end.
  void forget_if_full();

  /// Steps of work done, for budgets that do not depend on the clock.
  std::uint64_t work() const { return work_; }

 private:
  struct Shared {
    double latency_s = 0;
    double transfer_s = 0;
    std::uint32_t clique = 0;
  };
  struct Hash {
    std::size_t operator()(const Clique& clique) const;
  };

  const Problem& problem_;
  std::unordered_map<Clique, TimedClique, Hash> known_;
  std::vector<std::vector<Shared>> shared_;  ///< By link; empty between calls.
  std::vector<std::uint32_t> touched_;
  std::uint64_t work_ = 0;
};

}  // namespace tombolo::schedule
