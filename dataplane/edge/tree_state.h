#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/edge/epoch_table.h"
#include "protocol/link/grant_table.h"
#include "protocol/wire/header.h"

namespace tombolo::dataplane {

/// How many results of each round have come on the trees that end at islands of this edge, in one lane and
/// epoch. Each comes once, because links repair and never repeat.
class ResultCounts {
 public:
  explicit ResultCounts(const EpochTable& table);

  /// One more chunk has come; true if it was the round's last.
  bool add(std::uint16_t tree, std::uint32_t round);
  /// The root says how many chunks there are; true if all of them have come.
  bool set_total(std::uint16_t tree, std::uint32_t round, std::uint64_t total);

 private:
  static constexpr std::uint32_t kNoPlace = 0xffffffff;
  static constexpr std::uint32_t kRounds = link::GrantTable::kRounds;
  struct Count {
    bool used = false;
    std::uint32_t round = 0;
    std::uint64_t come = 0;
    std::uint64_t total = 0;  ///< 0: not known yet.

    bool is_full() const { return total != 0 && come == total; }
  };
  Count* use(std::uint16_t tree, std::uint32_t round);

  std::uint32_t period_;
  std::vector<std::uint32_t> places_;  ///< By tree: its first in counts_.
  std::vector<Count> counts_;          ///< kRounds per tree.
};

/// What the source of a tree says down the tree about a round's end.
struct SourceEnd {
  std::uint16_t tree = 0;
  std::uint16_t rank = wire::kNoRank;  ///< Abandoned: who gave up.
  std::uint32_t round = 0;
  wire::RoundOutcome outcome = wire::RoundOutcome::kComplete;
  /// Complete: how many chunks of results the lane had. Abandoned: how many rounds before this one, too.
  /// Else: a bit per member that is missing.
  std::uint64_t specific = 0;
};

/// Those that this edge still has to say, oldest first; what finds no room on a link is said later.
class SourceEnds {
 public:
  explicit SourceEnds(const EpochTable& table);

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  /// Whether `count` more find a place.
  bool has_room(std::size_t count) const { return count_ + count <= ends_.size(); }
  /// False, and nothing changes, if there is no place.
  bool add(const SourceEnd& end);
  const SourceEnd& front() const { return ends_[head_]; }
  void pop();

 private:
  std::vector<SourceEnd> ends_;  ///< A ring.
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace tombolo::dataplane
