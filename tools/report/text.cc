#include "tools/report/text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "base/units.h"

namespace tombolo::report {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD.
constexpr std::string_view kNothing = "\xe2\x80\x93";      // An en dash.
constexpr std::string_view kNarrowSpace = "\xe2\x80\xaf";

/// Bytes of the well-formed UTF-8 sequence at the front of the text (Unicode, table 3-7), or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Over-long forms, surrogates and what lies beyond the last code point.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

/// Whether the character would not show, but change how others do: controls, and the marks that turn the
/// direction of the text that follows (U+202A to U+202E, U+2066 to U+2069).
bool is_invisible(std::string_view character) {
  if (character.size() == 3 && character.starts_with("\xe2\x80"))
    return character[2] >= '\xaa' && character[2] <= '\xae';
  if (character.size() == 3 && character.starts_with("\xe2\x81"))
    return character[2] >= '\xa6' && character[2] <= '\xa9';
  const auto c = static_cast<std::uint8_t>(character.front());
  return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0 || is_invisible(text.substr(0, length)))
      out += kReplacement;
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string json_for_script(const nlohmann::json& json) {
  const std::string text =
      json.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  // Outside of strings JSON has none of these characters, and inside of one an escape means the same.
  for (const char c : text)
    if (c == '<' || c == '>' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  return out;
}

std::string format_fixed(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : std::string(kNothing);
}

std::string format_rate(std::optional<double> bits_per_second) {
  if (!bits_per_second) return std::string(kNothing);
  constexpr std::array<std::string_view, 5> kUnits{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  double value = *bits_per_second;
  std::size_t unit = 0;
  // 999.5 would be printed as 1000 with three digits: it belongs to the next unit.
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return value >= 999.5 ? fmt::format("{:.0f} {}", value, kUnits[unit])
                        : fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string format_size(std::optional<double> bytes) {
  if (!bytes || !(*bytes >= 0)) return std::string(kNothing);  // Nor for what is not a number.
  if (*bytes > 1e18) return fmt::format("{:.3g} B", *bytes);
  return format_bytes(static_cast<std::uint64_t>(std::llround(*bytes)));
}

std::string format_count(std::optional<double> count) {
  if (!count) return std::string(kNothing);
  if (std::abs(*count) > 1e15 || *count != std::floor(*count)) return fmt::format("{}", *count);
  const std::string digits = fmt::format("{:.0f}", std::abs(*count));
  std::string out = *count < 0 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) out += kNarrowSpace;
    out += digits[i];
  }
  return out;
}

std::string format_coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

double text_width_px(std::string_view utf8_text) {
  double width = 0;
  for (const char c : utf8_text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if ((byte & 0xc0) == 0x80) continue;  // The rest of a character that was counted.
    if (byte >= 0xe0)
      width += 13;  // As wide as high, such as Chinese.
    else if (c == 'W' || c == 'M' || c == 'm' || c == 'w')
      width += 10.5;
    else if (c == ' ' || c == 'i' || c == 'l' || c == 'j' || c == 't' || c == 'f' || c == '.' || c == ',')
      width += 4.5;
    else if (c >= 'A' && c <= 'Z')
      width += 8.8;
    else
      width += 7.3;
  }
  return width;
}

std::string shorten(std::string_view utf8_text, std::size_t most) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < utf8_text.size(); ++i) {
    const bool starts = (static_cast<std::uint8_t>(utf8_text[i]) & 0xc0) != 0x80;
    if (starts && ++characters > most) return std::string(utf8_text.substr(0, i)) + "\xe2\x80\xa6";
  }
  return std::string(utf8_text);
}

std::string format_json(const nlohmann::json& value) {
  if (value.is_null()) return std::string(kNothing);
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  std::string out;
  if (value.is_object() || value.is_array()) {
    for (const auto& [name, item] : value.items()) {
      if (!out.empty()) out += ", ";
      if (value.is_object()) out += name + ' ';
      const bool nested = item.is_structured() && !item.empty();
      out += nested ? "(" + format_json(item) + ")" : format_json(item);
    }
    return out.empty() ? std::string(kNothing) : out;
  }
  return value.dump();
}

}  // namespace tombolo::report
