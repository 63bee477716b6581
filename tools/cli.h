#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Exit codes of every program; tools/README.md lists them.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;        ///< It ran, and what it checks did not hold.
inline constexpr int kExitBadInput = 2;      ///< A wrong option, file or value; nothing was started.
inline constexpr int kExitNotSupported = 3;  ///< Valid, but not in this version.

/// Version of the JSON reports' layout; raised when a name or a unit in them changes.
inline constexpr int kReportSchema = 1;

/// Adds `--name on|off`.
CLI::Option* add_on_off(CLI::App& app, const std::string& name, bool& value, const std::string& description);

/// Adds `--json FILE`; "-" is standard output, which then carries nothing else.
CLI::Option* add_json(CLI::App& app, std::string& path);

/// Whether tables for people go to standard output.
inline bool prints_tables(const std::string& json_path) { return json_path != "-"; }

/// A report with its `schema` and `command`, to which the command adds its own keys.
nlohmann::ordered_json start_report(const std::string& command);

/// Writes the report to the file, or to standard output for "-"; does nothing for an empty path.
/// Errors: kUnavailable, naming the file and the reason.
Status write_report(const nlohmann::ordered_json& report, const std::string& path);

/// Prints "tombolo: message" on standard error and returns the exit code that fits the error.
int report_error(const Error& error);

}  // namespace tombolo::tools
