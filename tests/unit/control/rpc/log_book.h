#pragma once

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "control/observe/log_sink.h"

namespace tombolo::control {

/// Remembers what was logged, as lines "event name=value name=value". Sinks may outlive it.
class LogBook {
 public:
  LogSink sink() {
    return [pages = pages_](LogLevel, std::string_view event, std::span<const LogField> fields) {
      std::string line(event);
      for (const LogField& field : fields)
        std::visit([&](const auto& value) { line += fmt::format(" {}={}", field.name, value); }, field.value);
      const std::lock_guard lock(pages->mutex);
      pages->lines.push_back(std::move(line));
    };
  }

  /// Lines that hold `text`.
  std::size_t count(std::string_view text) const {
    const std::lock_guard lock(pages_->mutex);
    std::size_t found = 0;
    for (const std::string& line : pages_->lines) found += line.find(text) != std::string::npos;
    return found;
  }

  std::string all() const {
    const std::lock_guard lock(pages_->mutex);
    std::string text;
    for (const std::string& line : pages_->lines) text += line + "\n";
    return text;
  }

 private:
  struct Pages {
    std::mutex mutex;
    std::vector<std::string> lines;
  };
  std::shared_ptr<Pages> pages_ = std::make_shared<Pages>();
};

}  // namespace tombolo::control
