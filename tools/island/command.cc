#include "tools/island/command.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>

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
    const auto round = parse_round(line.substr(space + 1));
    if (round && word == "start") return IslandCommand{Kind::kStart, *round};
    if (round && word == "check") return IslandCommand{Kind::kCheck, *round};
  }
  return invalid_input(fmt::format("'{}' is none of: status, start ROUND, check ROUND, quit", shown(line)));
}

}  // namespace tombolo::tools
