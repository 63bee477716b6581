#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace tombolo::control {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

/// "DEBUG", "INFO", "WARN", "ERROR".
std::string_view name(LogLevel level);

/// One named value of an event: a text, a number or a truth. Owns its text, so that an event may be handed to
/// another thread whole.
struct LogField {
  using Value = std::variant<std::string, std::int64_t, std::uint64_t, double, bool>;

  LogField(std::string field_name, std::string text) : name(std::move(field_name)), value(std::move(text)) {}
  LogField(std::string field_name, std::string_view text)
      : name(std::move(field_name)), value(std::string(text)) {}
  LogField(std::string field_name, const char* text)
      : name(std::move(field_name)), value(std::string(text)) {}
  LogField(std::string field_name, bool truth) : name(std::move(field_name)), value(truth) {}
  LogField(std::string field_name, double number) : name(std::move(field_name)), value(number) {}
  /// Any other number; a signed one keeps its sign.
  template <typename Integer>
  requires std::is_integral_v<Integer> LogField(std::string field_name, Integer number)
      : name(std::move(field_name)) {
    if constexpr (std::is_signed_v<Integer>)
      value = std::int64_t{number};
    else
      value = std::uint64_t{number};
  }

  std::string name;
  Value value;
};

/// How a library tells what happened: only programs own a log. The event is a short sentence that never
/// varies; what varies is in the fields. May be called from any thread; empty means that nobody listens.
using LogSink = std::function<void(LogLevel, std::string_view event, std::span<const LogField>)>;

/// Tells the sink, if somebody listens.
inline void log(const LogSink& sink, LogLevel level, std::string_view event,
                std::initializer_list<LogField> fields) {
  if (sink) sink(level, event, {fields.begin(), fields.size()});
}

}  // namespace tombolo::control
