#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "control/observe/log.h"

namespace tombolo::control {
namespace {

/// What a reader looks for first.
constexpr std::array<std::string_view, 3> kFirstFields{"epoch", "round", "reason"};
/// What every line has; a field of that name gets an underscore behind it.
constexpr std::array<std::string_view, 4> kOwnKeys{"time", "level", "site", "event"};

std::string format_time(LogTime time) {
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const auto whole = std::chrono::system_clock::time_point(seconds);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(whole)),
                     (since_epoch - seconds).count());
}

/// How many bytes of well-formed UTF-8 make the character at the front of `text`; 0 if it is not well-formed.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xc2 && byte(0) <= 0xdf) return follows(1) ? 2 : 0;
  if ((byte(0) & 0xf0) == 0xe0) {
    if (!follows(1) || !follows(2)) return 0;
    const bool overlong = byte(0) == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = byte(0) == 0xed && byte(1) >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (byte(0) >= 0xf0 && byte(0) <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    const bool overlong = byte(0) == 0xf0 && byte(1) < 0x90;
    const bool too_high = byte(0) == 0xf4 && byte(1) >= 0x90;
    return overlong || too_high ? 0 : 4;
  }
  return 0;
}

/// Characters that would move a terminal's cursor or turn its writing round: controls of both ranges, line
/// and paragraph separators, and the marks of bidirectional text.
bool is_unsafe(std::string_view character) {
  const auto byte = [character](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (character.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (character.size() != 3 || byte(0) != 0xe2) return false;
  if (byte(1) == 0x80) return byte(2) >= 0xa8 && byte(2) <= 0xae;
  return byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
}

/// The text in one line: what is unsafe or not UTF-8 as \xNN; inside quotes, quotes and backslashes escaped.
std::string escape(std::string_view text, bool quoted) {
  std::string out;
  while (!text.empty()) {
    const std::size_t whole = character_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(whole, 1));
    text.remove_prefix(character.size());
    if (character == "\n") {
      out += "\\n";
    } else if (character == "\t") {
      out += "\\t";
    } else if (quoted && (character == "\"" || character == "\\")) {
      out += '\\';
      out += character;
    } else if (whole == 0 || is_unsafe(character)) {
      for (const char byte : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      out += character;
    }
  }
  return out;
}

std::string text_value(const LogField::Value& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) {
    const bool plain = !text->empty() && std::all_of(text->begin(), text->end(), [](char c) {
      return c > ' ' && c < '\x7f' && c != '"' && c != '=' && c != '\\';
    });
    return plain ? *text : '"' + escape(*text, true) + '"';
  }
  return std::visit(
      [](const auto& plain) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(plain)>, std::string>)
          return plain;
        else
          return fmt::format("{}", plain);
      },
      value);
}

/// A name as it may stand before '=' and as a key: letters, digits and underscores.
std::string safe_name(const std::string& name) {
  std::string safe = name.empty() ? "_" : name;
  for (char& c : safe)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9')) c = '_';
  if (std::find(kOwnKeys.begin(), kOwnKeys.end(), safe) != kOwnKeys.end()) safe += '_';
  return safe;
}

std::vector<const LogField*> in_order(std::span<const LogField> fields) {
  std::vector<const LogField*> order;
  for (const std::string_view first : kFirstFields)
    for (const LogField& field : fields)
      if (field.name == first) order.push_back(&field);
  for (const LogField& field : fields)
    if (std::find(kFirstFields.begin(), kFirstFields.end(), field.name) == kFirstFields.end())
      order.push_back(&field);
  return order;
}

}  // namespace

std::string_view name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARN";
    case LogLevel::kError:
      return "ERROR";
  }
  return "ERROR";
}

std::string format_log_line(LogFormat format, LogTime time, LogLevel level, std::string_view site,
                            std::string_view event, std::span<const LogField> fields) {
  const std::vector<const LogField*> order = in_order(fields);
  if (format == LogFormat::kText) {
    std::string line = fmt::format("{} {} {} {}", format_time(time), name(level),
                                   site.empty() ? "-" : escape(site, false), escape(event, false));
    for (const LogField* const field : order)
      line += fmt::format(" {}={}", safe_name(field->name), text_value(field->value));
    return line;
  }
  nlohmann::ordered_json line;
  line["time"] = format_time(time);
  line["level"] = name(level);
  line["site"] = site;
  line["event"] = event;
  for (const LogField* const field : order)
    std::visit([&](const auto& value) { line[safe_name(field->name)] = value; }, field->value);
  // Bytes that are not UTF-8 are replaced; the library would throw. ASCII only: a terminal that shows the log
  // sees no control character.
  return line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tombolo::control
