#pragma once

#include "schedule/optimize/optimize.h"
#include "schedule/topology.h"
#include "tools/report/page.h"
#include "tools/schedule/event_score.h"

namespace tombolo::tools {

/// What the page of `optimize` shows of the schedule without barriers: its steady state over as much time as
/// the cycle with barriers takes, D of both, and its exchanges.
report::Section event_section(const schedule::Network& network, const schedule::Optimized& barrier,
                              const EventScore& event);

}  // namespace tombolo::tools
