#include "tools/island/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace tombolo::tools {
namespace {

constexpr std::size_t kShownBytes = 40;

/// What of a line may be shown: printable ASCII, and not too much of it.
std::string shown(std::string_view line) {
  std::string text(line.substr(0, kShownBytes));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

/// Words after the first, each an order.
std::optional<std::vector<testbed::FoldOrder>> parse_orders(std::string_view text) {
  std::vector<testbed::FoldOrder> orders;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' ', 1), text.size());
    auto order = testbed::parse_fold_order(text.substr(1, end - 1));
    if (!order) return std::nullopt;
    orders.push_back(std::move(order).value());
    text.remove_prefix(end);
  }
  return orders;
}

std::optional<std::uint32_t> parse_round(std::string_view text) {
  std::uint32_t round = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), round);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return round;
}

}  // namespace

Result<IslandCommand> parse_island_command(std::string_view line) {
  using Kind = IslandCommand::Kind;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line == "status") return IslandCommand{Kind::kStatus, 0};
  if (line == "quit") return IslandCommand{Kind::kQuit, 0};
  const std::size_t space = line.find(' ');
  if (space != std::string_view::npos) {
    const std::string_view word = line.substr(0, space);
    const std::size_t end = std::min(line.find(' ', space + 1), line.size());
    const auto round = parse_round(line.substr(space + 1, end - space - 1));
    if (round && word == "start" && end == line.size()) return IslandCommand{Kind::kStart, *round};
    const auto orders = parse_orders(line.substr(end));
    if (round && word == "check" && orders) return IslandCommand{Kind::kCheck, *round, *orders};
  }
  return invalid_input(fmt::format("'{}' is none of: status, start ROUND, check ROUND, quit", shown(line)));
}

}  // namespace tombolo::tools
