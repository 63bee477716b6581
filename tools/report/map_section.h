#pragma once

#include "tools/report/page.h"
#include "tools/report/summary.h"

namespace tombolo::report {

/// The sites on a map of the world with the links between them, and the cliques of each round to step
/// through. Without coordinates it says so.
Section map_section(const RunSummary& summary);

}  // namespace tombolo::report
