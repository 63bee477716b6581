#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tombolo::report {

/// Text for HTML, as content or inside a quoted attribute: markup characters become references; control
/// characters, marks that turn the direction of writing and bytes that are not UTF-8 become U+FFFD. Nothing
/// that it returns can end a tag or an attribute.
std::string escape_html(std::string_view text);

/// JSON for the inside of a <script> element: pure ASCII, without '<', '>' and '&'.
std::string json_for_script(const nlohmann::json& json);

/// "12.500", or "–" where there is nothing.
std::string format_fixed(std::optional<double> value, int decimals);

/// "10 Gbit/s", "100 Mbit/s"; three digits.
std::string format_rate(std::optional<double> bits_per_second);

/// "1.16 MB", "–".
std::string format_size(std::optional<double> bytes);

/// "1 000 000": whole numbers in groups of three, by narrow spaces that do not break; "–".
std::string format_count(std::optional<double> count);

/// Coordinates in SVG: at most two decimals, no trailing zeros.
std::string format_coordinate(double value);

/// The width of a text of the page's 12-pixel font, in pixels; an estimate that errs upwards.
double text_width_px(std::string_view utf8_text);

/// At most `most` characters; a longer text ends with an ellipsis.
std::string shorten(std::string_view utf8_text, std::size_t most);

/// A value for people: lists by commas, objects as "name value", an empty or missing one as "–".
std::string format_json(const nlohmann::json& value);

}  // namespace tombolo::report
