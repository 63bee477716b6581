#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "control/agent.h"
#include "control/controller.h"
#include "control/installed_edge.h"
#include "tools/testbed/network.h"

namespace tombolo::testbed {

/// One job's controller and its agent at every edge, joined by messages that take a while (each its own,
/// drawn from the seed), so that edges hear of a new epoch at different times.
class ControlPlane {
 public:
  /// The testbed outlives it. Errors: those of Controller::create.
  /// `job` is its index.
  static Result<std::unique_ptr<ControlPlane>> create(InprocTestbed& testbed, std::uint64_t seed,
                                                      std::uint32_t job = 0);

  /// Proposes the plan; the exchange goes on in run(). Errors: those of Controller::propose.
  Status propose(schedule::EpochPlan plan, Nanoseconds now_ns);

  /// How the last proposal ended; nothing while it is under way.
  std::optional<control::ChangeOutcome> outcome() const;

  /// The site's edge is dead: changes no longer wait for it.
  void lose_edge(schedule::SiteId site);

  /// What the job's windows at that site's edge are.
  const control::Windows& windows(schedule::SiteId site) const { return edges_[site]->windows(); }

  std::uint32_t next_epoch() const { return controller_->next_epoch(); }

  /// When run() has something to do.
  Nanoseconds next_event_ns() const;
  /// Delivers what has arrived and does what is due; true if an edge got a message.
  bool run(Nanoseconds now_ns);

 private:
  struct Message {
    Nanoseconds at_ns = 0;
    std::uint64_t order = 0;
    std::size_t site = 0;
    std::variant<control::ToEdge, control::ToController> body;
    bool operator>(const Message& other) const {
      return at_ns != other.at_ns ? at_ns > other.at_ns : order > other.order;
    }
  };

  ControlPlane(InprocTestbed& testbed, std::uint64_t seed, std::uint32_t job)
      : testbed_(testbed), random_(seed + job), job_(job) {}
  void send(std::size_t site, std::variant<control::ToEdge, control::ToController> body, Nanoseconds now_ns);
  void send_all(const control::Controller::Actions& actions, Nanoseconds now_ns);
  void answer(std::size_t site, const control::Agent::Answers& answers, Nanoseconds now_ns);

  InprocTestbed& testbed_;
  Random random_;
  std::uint32_t job_;
  std::optional<control::Controller> controller_;
  std::vector<std::unique_ptr<control::InstalledEdge>> edges_;
  std::vector<std::unique_ptr<control::Agent>> agents_;
  std::set<std::size_t> dead_;  ///< Sites.
  std::priority_queue<Message, std::vector<Message>, std::greater<>> under_way_;
  std::uint64_t order_ = 0;
  Nanoseconds look_ns_ = 0;  ///< When to look next at what peers told the edges.
};

}  // namespace tombolo::testbed
