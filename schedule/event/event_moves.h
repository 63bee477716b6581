#pragma once

#include "base/random.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// Changes a schedule a little, at random: an island moves to another clique or rests, two change places,
/// cliques merge, split, come and go, a clique meets once more in a round of its own, rounds change places or
/// go. False, and nothing is changed that matters, if the chosen move is not possible. What it leaves is a
/// schedule: at least one round, each with disjoint cliques of 2 to kMaxCliqueMembers islands. A round that
/// changes leaves its modes open.
bool move_at_random(Schedule& schedule, std::size_t islands, std::size_t max_rounds, Random& random);

}  // namespace tombolo::schedule
