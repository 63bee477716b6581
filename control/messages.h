#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "schedule/epoch_plan.h"

namespace tombolo::control {

/// Counts the controllers that ruled, one after the other; a restart takes the next one. 0: none yet.
using Term = std::uint64_t;

/// One life of one edge. A stream between controller and edge belongs to one identity, so every message that
/// comes from it does. Sessions of a site are compared as serial numbers: a restart takes a later one.
struct EdgeIdentity {
  schedule::SiteId site = 0;
  std::uint32_t session = 0;

  friend bool operator==(const EdgeIdentity&, const EdgeIdentity&) = default;
};

// From the controller to an edge. All of them may be repeated: an edge answers a repetition as it
// answered the first, and does the work once.

/// Build and check the tables of `epoch`; do not use them yet.
struct Stage {
  Term term = 0;
  std::uint32_t epoch = 0;
  std::shared_ptr<const schedule::EpochPlan> plan;
};

/// Every edge has staged `epoch`: it rules the rounds from `activating_round` on.
struct Commit {
  Term term = 0;
  std::uint32_t epoch = 0;
  std::uint32_t activating_round = 0;
};

/// Forget the staged `epoch`; what runs goes on.
struct Abort {
  Term term = 0;
  std::uint32_t epoch = 0;
};

using ToEdge = std::variant<Stage, Commit, Abort>;

// From an edge to the controller.

/// What an edge has and knows. First on every stream, then as its heartbeat, and as its answer to whatever it
/// cannot act on: the controller corrects its picture of the edge from it.
struct EdgeHello {
  schedule::SiteId site = 0;
  std::uint32_t session = 0;
  Term term = 0;                      ///< Newest term heard of; a controller of an older one must stop.
  std::uint32_t committed_epoch = 0;  ///< The newest epoch it runs; 0: none.
  std::uint32_t staged_epoch = 0;     ///< Staged and not yet committed; 0: none.
  std::uint32_t newest_epoch = 0;     ///< The highest epoch number ever offered to it, aborted ones included.
  /// The sites that it can reach, and hear, by native multicast; ascending. The same for a whole session.
  std::vector<schedule::SiteId> multicast_sites{};
};

struct StageAck {
  std::uint32_t epoch = 0;
  std::uint32_t highest_opened_round = 0;  ///< At this edge, under any epoch; 0 if none is.
};

struct StageNack {
  std::uint32_t epoch = 0;
  std::string reason;
  bool draining = false;  ///< Two epochs are live: the same again may be taken once the older one has ended.
};

/// The edge runs `epoch`.
struct CommitAck {
  std::uint32_t epoch = 0;
};

/// The edge does not hold `epoch` (any more).
struct AbortAck {
  std::uint32_t epoch = 0;
};

using ToController = std::variant<EdgeHello, StageAck, StageNack, CommitAck, AbortAck>;

}  // namespace tombolo::control
