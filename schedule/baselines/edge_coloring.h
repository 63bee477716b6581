#pragma once

#include <span>
#include <vector>

#include "schedule/baselines/score.h"

namespace tombolo::schedule::baselines {

/// The edges in at most (largest degree + 1) matchings, by the algorithm of Misra and Gries (A constructive
/// proof of Vizing's theorem, 1992). Every edge is in exactly one matching, no matching is empty. Edges are
/// distinct, without loops.
std::vector<std::vector<Edge>> matchings_of(std::span<const Edge> edges, std::size_t islands);

/// The core's graph on islands: two sites are joined by a link, or by a route that passes no third site with
/// an island; their first islands stand for them, the other islands of a site hang on its first. Each edge
/// once, the lower rank first.
std::vector<Edge> physical_edges(const Scene& scene);

}  // namespace tombolo::schedule::baselines
