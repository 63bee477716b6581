#include <algorithm>
#include <cmath>
#include <limits>

#include "schedule/round_model.h"

namespace tombolo::schedule {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What one clique asks of the resource at hand.
struct Use {
  double work_s = 0;  ///< The time that it takes alone, without its latency.
  double latency_s = 0;
};

/// Kept between calls, so that millions of them allocate nothing. The sums are all 0 between calls.
struct Scratch {
  std::vector<double> utilisation;  ///< By resource.
  std::vector<Use> uses;
};

double utilisation(const std::vector<Use>& uses, double time_s) {
  double sum = 0;
  for (const Use& use : uses) sum += use.work_s / (time_s - use.latency_s);
  return sum;
}

/// The least time, above `time_s`, at which the uses fill a resource no more; at `time_s` they overfill it.
/// The utilisation S falls as T grows, and 1 / S is concave in T (it is a harmonic mean of linear functions),
/// so Newton's steps towards 1 / S = 1 from the left never pass the solution. Near it rounding rules: the
/// last steps go from one double to the next.
double solve(const std::vector<Use>& uses, double time_s) {
  for (int step = 0; step < 100; ++step) {
    double sum = 0;
    double slope = 0;
    for (const Use& use : uses) {
      const double share = use.work_s / (time_s - use.latency_s);
      sum += share;
      slope += share / (time_s - use.latency_s);
    }
    const double next = time_s + sum * (sum - 1) / slope;
    if (!(sum > 1) || !(next > time_s)) break;
    time_s = next;
  }
  for (int step = 0; step < 64 && utilisation(uses, time_s) > 1; ++step)
    time_s = std::nextafter(time_s, kInfinity);
  for (int step = 0; step < 64; ++step) {
    const double before = std::nextafter(time_s, 0.0);
    if (utilisation(uses, before) > 1) break;
    time_s = before;
  }
  return time_s;
}

void gather(std::span<const CliqueLoad* const> cliques, std::uint32_t resource, double update_s,
            std::vector<Use>& uses) {
  uses.clear();
  for (const CliqueLoad* const clique : cliques) {
    const auto found = std::lower_bound(
        clique->loads.begin(), clique->loads.end(), resource,
        [](const ResourceLoad& load, std::uint32_t wanted) { return load.resource < wanted; });
    if (found != clique->loads.end() && found->resource == resource)
      uses.push_back({found->updates * update_s, clique->latency_s});
  }
}

}  // namespace

double RoundModel::least_time(std::span<const CliqueLoad* const> cliques, std::span<const double> update_s) {
  // Each clique alone: below this nothing can be. It lies above every latency.
  double time_s = 0;
  for (const CliqueLoad* const clique : cliques) {
    double work_s = 0;
    for (const ResourceLoad& load : clique->loads)
      work_s = std::max(work_s, load.updates * update_s[load.resource]);
    time_s = std::max({time_s, clique->latency_s + work_s, std::nextafter(clique->latency_s, kInfinity)});
  }
  if (cliques.size() < 2) return time_s;

  static thread_local Scratch scratch;
  if (scratch.utilisation.size() < update_s.size()) scratch.utilisation.resize(update_s.size(), 0);
  // Each turn settles the resource that is fullest at this time, which is then full exactly; time only grows,
  // so no resource is settled twice, and few turns are needed.
  for (;;) {
    double fullest = 1;
    std::uint32_t resource = 0;
    for (const CliqueLoad* const clique : cliques) {
      const double per_s = 1 / (time_s - clique->latency_s);
      for (const ResourceLoad& load : clique->loads) {
        double& sum = scratch.utilisation[load.resource];
        sum += load.updates * update_s[load.resource] * per_s;
        if (sum <= fullest) continue;
        fullest = sum;
        resource = load.resource;
      }
    }
    for (const CliqueLoad* const clique : cliques)
      for (const ResourceLoad& load : clique->loads) scratch.utilisation[load.resource] = 0;
    if (fullest <= 1) return time_s;
    gather(cliques, resource, update_s[resource], scratch.uses);
    const double solved_s = solve(scratch.uses, time_s);
    if (!(solved_s > time_s)) return time_s;  // Over its capacity by rounding alone.
    time_s = solved_s;
  }
}

}  // namespace tombolo::schedule
