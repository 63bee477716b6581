#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/controller.h"
#include "control/observe/log_sink.h"
#include "control/rpc/wanted_plan.h"
#include "control/survivors.h"

namespace tombolo::control {

struct KeeperOptions {
  Nanoseconds least_pause_ns =
      200 * kMillisecond;  ///< Before an aborted change is tried again; doubled each time.
  Nanoseconds most_pause_ns = 5 * kSecond;
  /// How long an operator's order waits for the epoch before the running one to drain.
  Nanoseconds drain_patience_ns = 20 * kSecond;
};

/// Keeps the installed epoch what it should be: what the operator wants, for what survives. A pure state
/// machine beside the controller, which it tells what to propose; it proposes one change after the other, and
/// tries again what was aborted.
class EpochKeeper {
 public:
  using Done = std::function<void(Result<ChangeOutcome>)>;

  /// All but `nominal` outlive it. The edges of dead sites are taken out of `controller` here, and put back.
  EpochKeeper(const schedule::Network& network, Nominal nominal, const KeeperOptions& options,
              Controller& controller, const SurvivorPolicy& policy, LogSink log);

  /// Installs `nominal` as soon as no other change is in progress; `done` is called once, from step() or at
  /// once. When it is aborted, what was wanted before stays wanted. One order at a time: a second is refused.
  void order(Nominal nominal, Nanoseconds now_ns, Done done);
  /// Ends an order that waits, if there is one.
  void refuse_order(Error error);

  /// Notices the end of a change and starts the next one. To be called after each event, and at
  /// next_timer_ns().
  Controller::Actions step(Nanoseconds now_ns);
  Nanoseconds next_timer_ns() const;

  const Nominal& nominal() const { return nominal_; }
  /// Why what is wanted cannot be installed now; empty if it is or is on its way.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Order {
    Nominal nominal;
    Nanoseconds due_ns = 0;
    Nanoseconds give_up_ns = 0;  ///< It no longer waits for a drain then.
    Done done;
  };

  Controller::Actions let_go_of_the_dead(Nanoseconds now_ns);
  bool all_connected();
  Controller::Actions propose(const Nominal& nominal, Nanoseconds now_ns);
  /// Takes the edges of dead sites out and puts those that are back in again. Done between changes whatever
  /// follows, so that an edge which came back before its loss led to an epoch is not left out for good.
  void sync_edges(const Survivors& survivors);
  void on_ended(const ChangeOutcome& outcome, Nanoseconds now_ns);
  void retry_later(Nanoseconds now_ns);
  void set_trouble(std::string trouble);
  /// What a plan is made for: when any of it changes, another plan is wanted.
  struct Circumstances {
    Survivors survivors;
    NativeLinks native;

    friend bool operator==(const Circumstances&, const Circumstances&) = default;
  };
  Circumstances circumstances() const;
  void listen_to_hellos();

  const schedule::Network& network_;
  Nominal nominal_;
  const KeeperOptions options_;
  Controller& controller_;
  const SurvivorPolicy& policy_;
  const LogSink log_;
  std::optional<Order> order_;
  bool under_way_ = false;        ///< A change that this object proposed has not ended yet.
  bool order_under_way_ = false;  ///< And it is that of the order.
  /// By site, where its edge can do native multicast, as it said last. Outlives the edge's being dead: it is
  /// likely to come back as it was.
  std::map<schedule::SiteId, std::vector<schedule::SiteId>> multicast_sites_;
  std::optional<Circumstances> proposed_for_;
  std::optional<Circumstances> installed_for_;   ///< `nominal_` is installed for these.
  std::optional<Circumstances> impossible_for_;  ///< No plan of `nominal_` can be made for these.
  Nanoseconds retry_at_ns_ = kNever;
  Nanoseconds pause_ns_;
  std::string trouble_;
};

}  // namespace tombolo::control
