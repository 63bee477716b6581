#pragma once

#include <string>

#include "base/result.h"
#include "tools/testbed/report.h"

namespace tombolo::testbed {

/// Makes the folder of a run and returns its absolute path. An empty `wanted`: runs/<time>-<name> below the
/// current folder. Errors: kInvalidInput for one that exists and holds something; kUnavailable.
Result<std::string> make_run_folder(const std::string& wanted, const std::string& name);

/// Errors: kUnavailable, naming the file.
Status write_text(const std::string& path, const std::string& text);

/// A field of a CSV file: quoted where it has to be (RFC 4180).
std::string csv_field(const std::string& text);

/// rounds.csv and links.csv.
std::string rounds_csv(const RunReport& report);
std::string links_csv(const RunReport& report);

}  // namespace tombolo::testbed
