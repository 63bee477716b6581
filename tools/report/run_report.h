#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "tools/report/page.h"

namespace tombolo::report {

/// The page of one run. Errors: those of parse_summary.
Result<Page> run_page(const nlohmann::json& summary);

/// Writes the page of one run, such as a run folder's report.html. `summary` is what `testbed run --json`
/// writes; what it lacks is left out or said to be missing. Errors: kInvalidInput, naming the key that is
/// wrong; kUnavailable, naming the file that cannot be written.
Status write_run_report(const nlohmann::json& summary, const std::string& path);

}  // namespace tombolo::report
