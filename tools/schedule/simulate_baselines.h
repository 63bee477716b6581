#pragma once

#include "schedule/baselines/scene.h"
#include "schedule/simulate/methods.h"

namespace tombolo::tools {

/// The ring all-reduce over the best order, as a round that averages all islands exactly, again and again.
schedule::Method ring_method(const schedule::baselines::Scene& scene);

/// MATCHA on the core's graph with the budget, of ten, whose D is least: see schedule/baselines/matchings.h.
/// A round is one set of active matchings: all sets up to ten matchings, else a thousand drawn ones.
schedule::Method matcha_method(const schedule::baselines::Scene& scene);

}  // namespace tombolo::tools
