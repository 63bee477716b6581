#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/testbed/fold_order.h"

namespace tombolo::tools {

/// One line that drives an island.
struct IslandCommand {
  enum class Kind : std::uint8_t { kStatus, kStart, kCheck, kQuit };
  Kind kind = Kind::kStatus;
  std::uint32_t round = 0;  ///< Of kStart and kCheck.
  /// Of kCheck: how cliques of the round fold that do not fold their members one after the other.
  std::vector<testbed::FoldOrder> orders{};
};

/// Reads `status`, `start ROUND`, `check ROUND [ORDER ...]` or `quit`; an ORDER is a testbed::FoldOrder. Any
/// bytes may be given. Errors: kInvalidInput, naming the line as far as it can be shown.
Result<IslandCommand> parse_island_command(std::string_view line);

}  // namespace tombolo::tools
