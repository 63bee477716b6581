#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/observe/log_sink.h"

namespace spdlog {
class logger;
}

namespace tombolo::control {

enum class LogFormat : std::uint8_t {
  kText,  ///< 2026-03-01T12:00:00.123Z INFO NYC epoch installed epoch=7 round=12
  kJson,  ///< {"time":"2026-03-01T12:00:00.123Z","level":"INFO","site":"NYC","event":"epoch installed",...}
};

/// "text" or "json". Errors: kInvalidInput, naming the text.
Result<LogFormat> parse_log_format(std::string_view text);
/// "debug", "info", "warning" or "error". Errors: kInvalidInput, naming the text.
Result<LogLevel> parse_log_level(std::string_view text);

using LogTime = std::chrono::system_clock::time_point;

/// One line without its end. `epoch`, `round` and `reason` come first among the fields. Whatever the texts
/// hold, the line is one line of valid UTF-8 without control characters, and in JSON one valid object.
std::string format_log_line(LogFormat format, LogTime time, LogLevel level, std::string_view site,
                            std::string_view event, std::span<const LogField> fields);

struct LogConfig {
  std::string site{};
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;  ///< The least that is written.
  std::string file{};                ///< Appended to; empty: standard error.
  /// Of one event so many lines are written in each window; the next one that is written says how many were
  /// left out.
  std::uint32_t most_lines_per_window = 20;
  std::chrono::milliseconds window{10'000};
  std::function<LogTime()> now = std::chrono::system_clock::now;
};

/// A program's log: structured lines, one per event. All calls are thread-safe.
class Log {
 public:
  /// Errors: kUnavailable, naming the file and the reason.
  static Result<std::unique_ptr<Log>> create(LogConfig config);
  /// Says what was left out and not told yet.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields);
  void debug(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kDebug, event, {fields.begin(), fields.size()});
  }
  void info(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kInfo, event, {fields.begin(), fields.size()});
  }
  void warning(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kWarning, event, {fields.begin(), fields.size()});
  }
  void error(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kError, event, {fields.begin(), fields.size()});
  }

  /// What libraries are given; the log outlives every copy.
  LogSink sink();

 private:
  /// What is known of an event that came lately.
  struct Recent {
    LogTime since;
    LogLevel level = LogLevel::kInfo;
    std::uint32_t lines = 0;
    std::uint64_t left_out = 0;
  };
  static constexpr std::size_t kMaxRecent = 1024;

  Log(LogConfig config, std::shared_ptr<spdlog::logger> logger);
  bool admit(LogLevel level, std::string_view event, LogTime now, std::uint64_t& left_out);
  void put(LogLevel level, std::string_view event, std::span<const LogField> fields, LogTime now,
           std::uint64_t left_out);

  const LogConfig config_;
  const std::shared_ptr<spdlog::logger> logger_;
  std::mutex mutex_;  ///< Guards recent_.
  std::map<std::string, Recent, std::less<>> recent_;
};

}  // namespace tombolo::control
