#include "control/observe/log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <exception>
#include <utility>
#include <vector>

namespace tombolo::control {

Result<LogFormat> parse_log_format(std::string_view text) {
  if (text == "text") return LogFormat::kText;
  if (text == "json") return LogFormat::kJson;
  return invalid_input(fmt::format("'{}' is no log format; text or json", text));
}

Result<LogLevel> parse_log_level(std::string_view text) {
  if (text == "debug") return LogLevel::kDebug;
  if (text == "info") return LogLevel::kInfo;
  if (text == "warning") return LogLevel::kWarning;
  if (text == "error") return LogLevel::kError;
  return invalid_input(fmt::format("'{}' is no log level; debug, info, warning or error", text));
}

Result<std::unique_ptr<Log>> Log::create(LogConfig config) {
  std::shared_ptr<spdlog::sinks::sink> sink;
  try {  // The library throws; nothing of ours does.
    if (config.file.empty())
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    else
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(config.file);
  } catch (const std::exception& error) {
    return Error{ErrorCode::kUnavailable, fmt::format("log file {}: {}", config.file, error.what())};
  }
  auto logger = std::make_shared<spdlog::logger>("tombolo", std::move(sink));
  // The line is made here; the library brings it to its place, whole, whatever thread it comes from.
  logger->set_pattern("%v");
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  // A full disk must not end up on standard error again and again.
  logger->set_error_handler([](const std::string&) {});
  return std::unique_ptr<Log>(new Log(std::move(config), std::move(logger)));
}

Log::Log(LogConfig config, std::shared_ptr<spdlog::logger> logger)
    : config_(std::move(config)), logger_(std::move(logger)) {}

Log::~Log() {
  const LogTime now = config_.now();
  for (const auto& [event, recent] : recent_)
    if (recent.left_out > 0) put(recent.level, event, {}, now, recent.left_out);
}

void Log::write(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (level < config_.level) return;
  const LogTime now = config_.now();
  std::uint64_t left_out = 0;
  if (admit(level, event, now, left_out)) put(level, event, fields, now, left_out);
}

LogSink Log::sink() {
  return [this](LogLevel level, std::string_view event, std::span<const LogField> fields) {
    write(level, event, fields);
  };
}

/// Whether the line is written; then `left_out` becomes how many like it were not. When the clock was set
/// back the window begins anew.
bool Log::admit(LogLevel level, std::string_view event, LogTime now, std::uint64_t& left_out) {
  const std::lock_guard lock(mutex_);
  auto found = recent_.find(event);
  if (found == recent_.end()) {
    // Events are few and fixed. Should one vary all the same, memory stays bounded and its lines unlimited.
    if (recent_.size() >= kMaxRecent) return true;
    found = recent_.emplace(std::string(event), Recent{now, level, 0, 0}).first;
  }
  Recent& recent = found->second;
  if (now - recent.since >= config_.window || now < recent.since) {
    left_out = recent.left_out;
    recent = {now, level, 0, 0};
  }
  recent.level = level;
  if (recent.lines >= config_.most_lines_per_window) {
    ++recent.left_out;
    return false;
  }
  ++recent.lines;
  return true;
}

void Log::put(LogLevel level, std::string_view event, std::span<const LogField> fields, LogTime now,
              std::uint64_t left_out) {
  std::vector<LogField> all(fields.begin(), fields.end());
  if (left_out > 0) all.emplace_back("left_out", left_out);
  const std::string line = format_log_line(config_.format, now, level, config_.site, event, all);
  logger_->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace tombolo::control
