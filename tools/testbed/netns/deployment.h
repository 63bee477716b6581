#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/testbed/netns/island_group.h"
#include "tools/testbed/netns/layout.h"
#include "tools/testbed/netns/namespaces.h"
#include "tools/testbed/netns/process.h"
#include "tools/testbed/netns/run_record.h"

namespace tombolo::testbed {

enum class Emulation { kAuto, kBuiltin, kNetem };

/// What the testbed asks of whoever runs it.
struct Surroundings {
  std::string programs;  ///< The folder of tombolo-edge, tombolo-controller and tombolo-island.
  Emulation emulation = Emulation::kAuto;
  std::function<bool()> stop;                   ///< True once the user wants an end.
  std::function<void(const std::string&)> say;  ///< A line of progress for a person.
};

/// A running network of processes: a controller, an edge per site and, if wanted, an island each. All of it
/// ends with this object.
class Deployment {
 public:
  /// Makes namespaces and starts the programs; the layout's run id, socket folder and emulation are filled
  /// in. What the run's folder must hold is written. Errors: kUnavailable, naming what cannot be had; kFailed
  /// when a program ended at once, with its last lines.
  static Result<std::unique_ptr<Deployment>> start(Layout layout, const Surroundings& surroundings,
                                                   bool with_islands);
  ~Deployment();
  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;

  const Layout& layout() const { return layout_; }
  IslandGroup& islands() { return *islands_; }
  Process& edge(schedule::SiteId site) { return *edges_[site]; }
  Process& controller() { return *controller_; }

  /// Nothing to complain about: no wish to stop, and every program runs. Errors: kFailed, with the last lines
  /// of the log that explains it.
  Status sound();

  /// Waits until every edge answers on its socket and is connected to the controller.
  Status wait_for_edges(Nanoseconds limit_ns);
  /// Waits until every island can start the epoch's first round, and returns that.
  Result<std::uint32_t> wait_for_islands(Nanoseconds limit_ns);

  /// The command line of a node: to start it once more by hand.
  std::vector<std::string> edge_arguments(schedule::SiteId site) const;
  std::vector<std::string> controller_arguments() const;
  std::vector<std::string> full_island_arguments(schedule::Rank rank) const;

 private:
  Deployment(Layout layout, const Surroundings& surroundings)
      : layout_(std::move(layout)), surroundings_(surroundings) {}
  Status make_network();
  Status write_files() const;
  Status start_programs(bool with_islands);
  Result<std::unique_ptr<Process>> spawn(const std::string& name, const std::string& network_namespace,
                                         std::vector<std::string> arguments, const std::string& log,
                                         bool pipes);
  Error failure(const std::string& what, const Process& process) const;

  Layout layout_;
  const Surroundings surroundings_;
  // Destroyed in reverse order: programs, then namespaces, then the record of both.
  std::unique_ptr<RunRecord> record_;
  std::unique_ptr<Namespaces> namespaces_;
  std::unique_ptr<Process> controller_;
  std::vector<std::unique_ptr<Process>> edges_;  ///< By site.
  std::unique_ptr<IslandGroup> islands_;         ///< By rank; empty without islands.
};

}  // namespace tombolo::testbed
