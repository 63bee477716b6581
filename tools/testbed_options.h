#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/topology.h"
#include "tools/cli_fwd.h"
#include "tools/testbed/experiment.h"
#include "tools/testbed_report.h"

namespace tombolo::tools {

/// The command line of the `testbed` commands, as written.
struct TestbedOptions {
  std::string topology;
  std::string profile;
  std::optional<double> scale;
  std::string schedule = "full";
  std::string form;             ///< Empty: as the schedule says.
  std::uint32_t fragments = 0;  ///< 0: as the schedule says.
  std::uint32_t rounds = 0;
  std::string bytes = "1G";
  bool multicast = true;
  std::string aggregation = "edge";
  std::string partials = "fp32";
  std::string chunk;  ///< Empty: the backend's.
  std::string format = "fp32";
  std::string result_format;  ///< Empty: as `format`.
  std::string operation = "mean";
  std::string non_finite = "propagate";
  double non_finite_share = 0;
  std::vector<std::string> losses;
  std::uint64_t seed = 1;
  std::uint32_t workers = 1;
  std::uint32_t receive_queues = 0;
  std::uint16_t lanes = 4;
  double deadline_s = 0;
  bool real_time = false;
  std::string json;
  std::string backend = "inproc";

  // Of the backend netns.
  std::string emulation = "auto";
  std::uint32_t hello_interval_ms = 200;
  std::string delivery = "unicast";
  std::string out;
  std::string programs;
  bool accept_links = false;
  bool islands = false;  ///< `testbed up` starts them too.

  bool jumbo() const { return chunk.empty() ? backend == "netns" : chunk == "jumbo"; }
};

/// Adds what every testbed command takes: topology, schedule, sizes, capabilities.
void add_experiment_options(CLI::App& command, TestbedOptions& options);
/// Adds what only the backend netns takes.
void add_netns_options(CLI::App& command, TestbedOptions& options);

/// What is to be run at a scale. Errors: kInvalidInput and kNotFound, naming the option or the place in a
/// file; kNotSupported for what is not there yet.
Result<testbed::RunConfig> make_config(const TestbedOptions& options, double scale);

/// How the run was asked for; the topology can be loaded, since make_config has.
Result<RunWords> make_words(const TestbedOptions& options, double scale);

}  // namespace tombolo::tools
