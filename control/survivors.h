#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/clock.h"
#include "schedule/epoch_plan.h"
#include "schedule/topology.h"

namespace tombolo::control {

/// What an edge sees of one of its neighbours: another edge, or an island of its own.
struct LinkState {
  bool is_island = false;
  std::uint16_t id = 0;  ///< A site, or a rank.
  bool up = false;

  friend bool operator==(const LinkState&, const LinkState&) = default;
};

struct SurvivorOptions {
  /// What is lost must have been so for this long. The longest wait for more that is about to be lost, too.
  Nanoseconds settle_ns = 300 * kMillisecond;
  /// What was lost must have been up for this long to count again.
  Nanoseconds return_ns = kSecond;
  /// What never was up counts as lost only this long after an edge first spoke of it: programs do not start
  /// all at once.
  Nanoseconds first_up_ns = 10 * kSecond;
};

/// What an epoch has to go on without.
struct Survivors {
  std::set<schedule::LostLink> lost_links;  ///< Those of dead sites included.
  std::set<schedule::SiteId> dead_sites;
  std::set<schedule::Rank> lost_islands;  ///< Those at dead sites included.

  friend bool operator==(const Survivors&, const Survivors&) = default;
};

/// Decides from what the edges see of each other which links, sites and islands are lost. Pure: reports and
/// the time go in. A link is lost when an edge at one of its ends says so. A site is dead when it is not in
/// the largest part of the network that live links join. An island is lost at a dead site, or when its edge
/// says so. An edge that says nothing is not dead: it goes on without its controller.
class SurvivorPolicy {
 public:
  SurvivorPolicy(const schedule::Network& network, const SurvivorOptions& options);

  /// Goes on from a committed epoch: what it goes on without is lost until it has been seen up, everything
  /// else has been up.
  void resume(const schedule::EpochPlan& plan);

  /// Everything that the edge of `site` sees now; replaces its report before. What is not a neighbour of that
  /// site is ignored.
  void report(schedule::SiteId site, std::span<const LinkState> links, Nanoseconds now_ns);

  /// The edge of `site` says nothing any more: only the other ends speak of its links. What it said last of
  /// its islands stands.
  void silent(schedule::SiteId site, Nanoseconds now_ns);

  /// To be called at next_timer_ns() or soon after.
  void advance(Nanoseconds now_ns);
  Nanoseconds next_timer_ns() const { return next_timer_ns_; }

  /// What to act on.
  const Survivors& survivors() const { return settled_; }

 private:
  struct Part {
    std::optional<bool> said;       ///< What was said last; nothing before the first report.
    Nanoseconds said_since_ns = 0;  ///< Since when it says the same.
    Nanoseconds first_heard_ns = 0;
    bool was_up = false;
    bool up = true;
  };
  struct LinkPart : Part {
    std::optional<bool> said_by_a;
    std::optional<bool> said_by_b;
  };

  /// Whether something is said that does not count yet.
  struct Pending {
    bool losses = false;
    bool returns = false;
  };

  void hear(Part& part, bool up, Nanoseconds now_ns);
  void hear(LinkPart& part, Nanoseconds now_ns);
  void advance(Part& part, Nanoseconds now_ns, Pending& pending);
  Survivors judge() const;
  std::set<schedule::SiteId> largest_part() const;

  const SurvivorOptions options_;
  const std::size_t sites_;
  std::vector<schedule::SiteId> site_of_island_;
  std::map<schedule::LostLink, LinkPart> links_;
  std::vector<Part> islands_;  ///< By rank.
  std::set<schedule::SiteId> speaking_;
  Survivors settled_;
  std::optional<Nanoseconds> differs_since_ns_;  ///< Since when the verdict is not `settled_`.
  Nanoseconds next_timer_ns_ = kNever;
};

}  // namespace tombolo::control
