#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace tombolo::tools {

/// Reads what a program answered. Errors: kFailed when it is not the status of an edge or a controller.
Result<nlohmann::ordered_json> read_status(const std::string& text);

/// The tables that people read. The program may be of another version: a value that is missing or of another
/// kind is shown as "-", and no text can leave its line.
std::string status_tables(const nlohmann::ordered_json& status);

}  // namespace tombolo::tools
