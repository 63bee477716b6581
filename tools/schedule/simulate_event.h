#pragma once

#include <string>

#include "base/result.h"
#include "schedule/schedule.h"
#include "schedule/simulate/methods.h"
#include "tools/schedule/network_options.h"

namespace tombolo::tools {

/// A schedule of the form event as a method: the exchanges of its steady state, cycle after cycle, for
/// `duration_s`. Errors: those of score_event; kInvalidInput for more than kMaxExchanges exchanges.
Result<schedule::Method> event_method(std::string name, const NetworkInput& input,
                                      schedule::Schedule schedule, double duration_s);

}  // namespace tombolo::tools
