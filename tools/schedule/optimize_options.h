#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/optimize/optimize.h"
#include "schedule/optimize/reoptimize.h"
#include "tools/cli_fwd.h"
#include "tools/schedule/event_solution.h"
#include "tools/schedule/network_options.h"

namespace tombolo::tools {

/// The command line of `schedule optimize`, as written.
struct OptimizeArguments {
  NetworkOptions network;
  std::size_t max_rounds = 0;  ///< 0: as many as suit the number of islands.
  double effort = schedule::OptimizeOptions{}.effort;
  double time_limit_s = 0;  ///< 0: none.
  std::uint64_t seed = schedule::OptimizeOptions{}.seed;
  bool packed_trees = false;
  std::string form = "barrier";
  std::uint32_t fragments = kUsualFragments;  ///< At most, of the form event.
  std::string uncertainty;                    ///< Empty: none.
  bool robust = false;
  std::string from;  ///< Empty: from scratch.
  std::vector<std::string> lost_sites;
  std::vector<std::string> lost_links;
  std::string out;
  std::string report;  ///< A page to look at; empty: none.
  std::string json;

  bool wants_event() const { return form != "barrier"; }
};

/// Adds --form and --fragments; what they set must outlive the parsing.
void add_form(CLI::App& command, std::string& form, std::uint32_t& fragments);

/// `arguments` must outlive the parsing.
void add_optimize_options(CLI::App& command, OptimizeArguments& arguments);

/// What the texts among them mean on a network.
struct OptimizeWishes {
  std::optional<double> uncertainty;          ///< A share, from 0 to below 1.
  std::optional<schedule::Schedule> running;  ///< That of --from, as rounds with barriers.
  schedule::Losses losses;

  bool lost_something() const { return !losses.sites.empty() || !losses.links.empty(); }
};

/// Errors: kInvalidInput, naming the option; those of the schedule's file.
Result<OptimizeWishes> read_wishes(const OptimizeArguments& arguments, const schedule::Network& network);

}  // namespace tombolo::tools
