#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "control/observe/edge_sample.h"

namespace tombolo::control {

/// What `tombolo status` gets from an edge; README.md lists the keys.
nlohmann::ordered_json status_json(const EdgeSample& sample);

/// One line of text for the reply. Bytes that are not UTF-8 are replaced.
std::string dump_status(const nlohmann::ordered_json& status);

}  // namespace tombolo::control
