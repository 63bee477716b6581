#pragma once

#include "schedule/baselines/score.h"

namespace tombolo::schedule::baselines {

/// The time of one synchronous exchange with a server at `site`'s island: every update goes up, the mean
/// comes down, chunk by chunk, so that both directions are busy at once. Up: one update per island on its
/// path; with aggregation at edges the server receives 1, with aggregation at every site each link of the
/// union carries 1 too. Down: one per island on its path, or with multicast 1 on the union. Latency: the
/// farthest island's, up and down.
double server_time_s(const Scene& scene, Rank site);

/// One exact round through the best island's site. Li et al.: Scaling Distributed Machine Learning with the
/// Parameter Server, OSDI 2014, synchronous; the server uses that island's access.
Baseline parameter_server(const Scene& scene);

}  // namespace tombolo::schedule::baselines
