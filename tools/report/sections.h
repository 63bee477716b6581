#pragma once

#include "tools/report/page.h"
#include "tools/report/summary.h"

/// The sections of a run's page, apart from the map. Each says so where the summary has nothing for it.
namespace tombolo::report {

/// Measured against predicted round times, as a chart and a table, with the rounds' errors.
Section rounds_section(const RunSummary& summary);

/// Bytes per island with each capability on and off, and of this run island by island.
Section bytes_section(const RunSummary& summary);

/// Target and measured RTT and rate of each link. Within max(5 %, 1 ms) and 5 % a link holds its target.
Section calibration_section(const RunSummary& summary);

/// How the run was made: command, versions, machine, drops and repairs, the workers' times, and every other
/// key.
Section facts_section(const RunSummary& summary);

/// Whether measured and target RTT, or rate, agree; nothing where one is missing.
std::optional<bool> rtt_holds(const CalibratedLink& link);
std::optional<bool> rate_holds(const CalibratedLink& link);

}  // namespace tombolo::report
