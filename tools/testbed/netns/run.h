#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/testbed/experiment.h"
#include "tools/testbed/netns/deployment.h"
#include "tools/testbed/netns/layout.h"
#include "tools/testbed/report.h"

namespace tombolo::testbed {

struct NetnsRun {
  /// The scales to try, the largest first; the one that is taken is the first whose calibration is not bound
  /// by the processor, or else the last. A single one is taken as it is.
  std::vector<double> scales;
  /// What to run at a scale; folder, profile, bytes and chunk size are filled in. Errors: kInvalidInput.
  std::function<Result<Layout>(double scale)> layout_at;
  Surroundings surroundings;
  bool accept_links = false;  ///< Go on when a link is not what was asked for.
};

struct NetnsOutcome {
  Layout layout;  ///< Of the scale that was taken.
  RunReport report;
};

/// Starts the network, measures its links, runs the rounds one after the other (all islands start a round
/// together) and has every island check its result. Everything is gone when it returns.
/// Errors: those of Deployment; kFailed when a link does not hold, an island is lost, or the user stops it.
/// What goes wrong in a round is in its report.
Result<NetnsOutcome> run_netns(const NetnsRun& run, const Progress& progress);

}  // namespace tombolo::testbed
