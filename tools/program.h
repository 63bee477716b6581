#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/result.h"
#include "control/config/common_config.h"
#include "control/observe/log.h"

namespace tombolo::tools {

/// Set by SIGINT and SIGTERM, once stop_on_signals() was called.
const std::atomic<bool>& stop_flag();
void stop_on_signals();

/// The log that a configuration file asks for. Errors: those of Log::create.
Result<std::unique_ptr<control::Log>> open_log(const std::string& site, const control::LogSettings& settings);

}  // namespace tombolo::tools
