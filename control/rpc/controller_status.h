#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/controller.h"
#include "control/rpc/control_server.h"

namespace tombolo::control {

/// What a controller knows and has done, for people and for metrics. Names, not numbers.
struct ControllerStatus {
  struct Edge {
    std::string name;
    bool member = false;  ///< It takes part in changes; false while its site counts as dead.
    bool connected = false;
    std::uint32_t session = 0;  ///< 0: none heard of.
    std::uint32_t running_epoch = 0;
    std::uint32_t staged_epoch = 0;
    std::string refusal;                  ///< Why it last refused the committed epoch.
    std::vector<std::string> links_down;  ///< What it reports: "LON", "island NYC".
  };
  Term term = 0;
  std::string phase;  ///< "waiting", "idle", "staging", "committing" or "superseded".
  std::uint32_t epoch = 0;
  std::uint32_t newest_epoch = 0;
  std::uint32_t activating_round = 0;
  std::string schedule;
  std::vector<Edge> edges;  ///< Of every site.
  std::vector<std::string> dead_sites;
  std::vector<std::string> lost_links;  ///< "LON-NYC".
  std::vector<std::string> lost_islands;
  std::string last_outcome;  ///< In words; empty before the first change.
  std::string trouble;       ///< Why what is wanted is not installed; empty if it is.
  std::uint64_t installed = 0;
  std::uint64_t unconfirmed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t superseded = 0;
  std::uint64_t store_failures = 0;
  ControllerCounters ignored;
  ServerCounts streams;
};

/// One object; the keys are the fields.
std::string to_json(const ControllerStatus& status);

}  // namespace tombolo::control
