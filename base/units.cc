#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace tombolo {
namespace {

struct Suffix {
  std::string_view name;
  double factor;
};
constexpr std::array<Suffix, 9> kSuffixes{{{"", 1.0},
                                           {"k", 1e3},
                                           {"M", 1e6},
                                           {"G", 1e9},
                                           {"T", 1e12},
                                           {"Ki", 1024.0},
                                           {"Mi", 1048576.0},
                                           {"Gi", 1073741824.0},
                                           {"Ti", 1099511627776.0}}};
constexpr double kLargestExactInteger = 9007199254740992.0;  // 2^53

}  // namespace

Result<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return invalid_input(fmt::format("'{}' is not a finite number", text));
  return value;
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::string_view rest = text;
  double number = 0;
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const Error wrong = invalid_input(
      fmt::format("'{}' is not a size; write bytes with k, M, G (decimal) or Ki, Mi, Gi", text));
  if (status != std::errc{} || !std::isfinite(number) || number < 0) return wrong;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (!rest.empty() && rest.back() == 'B') rest.remove_suffix(1);
  for (const Suffix& suffix : kSuffixes) {
    if (rest != suffix.name) continue;
    const double bytes = number * suffix.factor;
    if (bytes > kLargestExactInteger || bytes != std::floor(bytes)) return wrong;
    return static_cast<std::uint64_t>(bytes);
  }
  return wrong;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string format_duration_ns(std::uint64_t ns) {
  const double seconds = static_cast<double>(ns) * 1e-9;
  if (ns >= 100'000'000) return fmt::format("{:.3f} s", seconds);
  if (ns >= 1'000'000) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

}  // namespace tombolo
