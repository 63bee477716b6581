#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "schedule/topology.h"
#include "tools/testbed/control_plane.h"
#include "tools/testbed/driver.h"
#include "tools/testbed/network.h"

namespace tombolo::sim {

using dataplane::EdgeTotals;

/// What an epoch goes on without.
struct Loss {
  std::vector<schedule::LostLink> links;  ///< Ascending.
  std::vector<schedule::Rank> ranks;      ///< Ascending.
};

/// What a scenario is made of, beside its network and schedules.
struct ScenarioOptions {
  std::uint64_t update_bytes = 64'000;
  std::uint32_t chunk_elements = 320;
  bool multicast = true;
  bool edge_aggregation = true;
  bool tree_aggregation = false;
  wire::Operation operation = wire::Operation::kMean;
  Nanoseconds deadline_ns = 20 * kSecond;
  testbed::NetworkOptions network;  ///< Plans are filled in.
  double share = 1.0;               ///< Of every link's capacity that plans use.
  Loss loss{};                      ///< Memory is reserved for epochs without it too.
};

/// One island's part in one round, from its start on.
struct Part {
  schedule::Rank rank = 0;
  std::uint32_t round = 0;
  std::vector<float> input;
  std::vector<float> output;
  island::Handle handle = 0;
  island::Outcome outcome;
  Nanoseconds started_ns = 0;
};

/// A testbed in virtual time whose islands go through rounds on their own: each starts its next round as soon
/// as its own last one is ready (or has failed) and never waits for the others.
class Scenario {
 public:
  /// `schedules`: those that will be installed; memory is reserved for the largest. Fails the running test
  /// and returns nullptr if the testbed cannot be built.
  static std::unique_ptr<Scenario> create(schedule::Network network, ScenarioOptions options,
                                          const std::vector<schedule::Schedule>& schedules);

  /// The testbed's job of that index, which plays in the same time as the first one's scenario; that outlives
  /// it. The options are the first one's.
  static std::unique_ptr<Scenario> beside(Scenario& first, std::uint32_t job);

  /// Proposes the next epoch; it comes into force while time goes on. False if the controller refuses.
  bool propose(const schedule::Schedule& schedule, const Loss& loss = {});
  /// Proposes and waits until every edge and every live island has it and may start to send. Returns its
  /// first round, or nothing (and fails the test).
  std::optional<std::uint32_t> install(const schedule::Schedule& schedule, const Loss& loss = {});

  /// From `at_ns` on the island takes part in rounds `first` to `last`.
  void play(schedule::Rank rank, std::uint32_t first, std::uint32_t last, Nanoseconds at_ns = 0);
  void play_all(std::uint32_t first, std::uint32_t last);
  void stop_island(schedule::Rank rank);
  /// The edge is dead; its islands live on without it.
  void stop_edge(schedule::SiteId site);

  /// Lets time go on until `done`, or `limit_ns` has passed; the islands play meanwhile.
  bool run_until(const std::function<bool()>& done, Nanoseconds limit_ns);
  /// The same until each island that lives has finished all that it is to play, memory released.
  bool finish(Nanoseconds limit_ns);
  bool finished() const;
  void run_for(Nanoseconds time_ns);

  /// Who has not finished what, for the message of a wait that failed.
  std::string unfinished() const;

  /// What the island made of that round; nullptr if it has not started it.
  const Part* part(schedule::Rank rank, std::uint32_t round) const;
  /// Whether the island has had its result, or its failure, of that round.
  bool has_outcome(schedule::Rank rank, std::uint32_t round) const;

  /// Checks every part of every live island: ready, exact under the epoch that its outcome names, the same
  /// epoch and contributors at all members of the clique. Empty if so; otherwise the first things that are
  /// wrong.
  std::string judge() const;
  /// The same for one part.
  std::string judge_part(const Part& part) const;

  /// The island's clique in a round of an epoch; only itself if it rests.
  schedule::Clique clique_of(std::uint32_t epoch, std::uint32_t round, schedule::Rank rank) const;

  testbed::InprocTestbed& testbed() { return *testbed_; }
  testbed::VirtualDriver& driver() { return *driver_; }
  testbed::ControlPlane& control() { return *control_; }
  Nanoseconds now_ns() const { return driver_->now_ns(); }
  /// Over all jobs, edges and islands.
  std::uint64_t drops(DropReason reason);
  /// At the edges, of this job.
  EdgeTotals totals();
  /// Buffers that are out, over all edges and islands that live.
  std::uint64_t buffers_in_use();

 private:
  struct Player {
    std::uint32_t next = 0;
    std::uint32_t last = 0;
    bool plays = false;
    bool stopped = false;
    Nanoseconds at_ns = 0;
    std::map<std::uint32_t, std::unique_ptr<Part>> parts;  ///< By round.
    std::vector<Part*> under_way;                          ///< Those that are not finished.
  };
  struct Installed {
    schedule::Schedule schedule;
    std::uint32_t first_round = 0;
    schedule::EpochPlan plan{};
  };

  Scenario(schedule::Network network, ScenarioOptions options)
      : network_(std::move(network)), options_(std::move(options)) {}
  Result<schedule::EpochPlan> compile(const schedule::Schedule& schedule, std::uint32_t epoch,
                                      const Loss& loss) const;
  bool open_job(std::uint32_t job);
  std::size_t index_of(schedule::Rank rank) const { return job_ * players_.size() + rank; }
  testbed::IslandNode& node_of(schedule::Rank rank) const { return testbed_->islands()[index_of(rank)]; }
  void pump();
  void pump_player(schedule::Rank rank);
  void start_next(schedule::Rank rank);
  bool somebody_stopped() const;
  void note_outcome();

  schedule::Network network_;
  ScenarioOptions options_;
  std::uint32_t job_ = 0;  ///< Index.
  std::shared_ptr<testbed::InprocTestbed> testbed_;
  std::unique_ptr<testbed::ControlPlane> control_;
  std::shared_ptr<testbed::VirtualDriver> driver_;
  std::vector<Scenario*> together_;  ///< The first one's: all that play, itself the first.
  Scenario* first_ = this;
  std::vector<Player> players_;  ///< By rank.
  bool edge_stopped_ = false;
  std::map<std::uint32_t, Installed> epochs_;  ///< By epoch; proposed ones with first round 0.
};

/// A shipped topology under one of its profiles.
schedule::Network shipped(const std::string& file, const std::string& profile, double scale);
/// The nine cities, access-limited: times are those of 1 GB at 10 Gbit/s when an update has 1 GB x scale.
schedule::Network nine_cities(double scale);
/// A schedule in the text form of its file, for the network's islands.
schedule::Schedule schedule_of(const std::string& rounds, const schedule::Network& network);
schedule::Schedule full(const schedule::Network& network);
schedule::Schedule grid(const schedule::Network& network);
/// The rank of an island by its id.
schedule::Rank rank_of(const schedule::Network& network, const std::string& id);

}  // namespace tombolo::sim
