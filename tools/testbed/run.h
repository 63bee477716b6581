#pragma once

#include "base/result.h"
#include "tools/testbed/experiment.h"
#include "tools/testbed/report.h"

namespace tombolo::testbed {

/// Builds the network, installs the schedule, runs the rounds one after the other (all islands start a round
/// together) and checks every result. Errors: kInvalidInput and kUnavailable before anything starts; what
/// goes wrong in a round is in its report.
Result<RunReport> run(const RunConfig& config, const Progress& progress);

}  // namespace tombolo::testbed
