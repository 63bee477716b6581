#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "schedule/round_model.h"

namespace tombolo::schedule {

/// One load for each clique of a round, and the round's time with them.
struct ModeChoice {
  double seconds = 0;
  std::vector<std::size_t> picks;  ///< By clique: index among its options.
  bool proven = true;              ///< Whether no other choice is quicker.
};

/// Chooses among each clique's options (what it asks for in each mode that it may use; at least one) so that
/// the round takes the least time. The quicker mode clique by clique is not the same: a mode that loads
/// shared links less may be worth more to the others. The first of equal options is taken. Exact by branch
/// and bound; cut short after 20,000 steps, as dozens of cliques with a choice may need: then not `proven`.
ModeChoice choose_modes(std::span<const std::span<const CliqueLoad>> options,
                        std::span<const double> update_s);

}  // namespace tombolo::schedule
