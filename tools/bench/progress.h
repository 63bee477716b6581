#pragma once

#include <functional>
#include <string>

namespace tombolo::bench {

/// Hears what is being measured, a line at a time.
using Progress = std::function<void(const std::string&)>;

}  // namespace tombolo::bench
