#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "schedule/topology.h"
#include "tools/testbed/experiment.h"
#include "tools/testbed/report.h"

namespace tombolo::tools {

/// How a run was asked for, in the words of the command line: what its report says beside the figures.
struct RunWords {
  std::string command_line;
  std::string profile;
  std::string aggregation;
  std::string bytes;
  double scale = 1;
  schedule::Topology topology;
};

/// The tables for people, on standard output.
void print_run(const RunWords& words, const testbed::RunConfig& config, const testbed::RunReport& report);

/// The report of `testbed run --json`, and summary.json of a run folder.
nlohmann::ordered_json run_json(const RunWords& words, const testbed::RunConfig& config,
                                const testbed::RunReport& report);

}  // namespace tombolo::tools
