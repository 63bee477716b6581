#include "schedule/event/event_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;

/// The notation is that of BOUNDS.md.
class Bound {
 public:
  Bound(const EventModel& model, double update_bytes, std::uint32_t fragments)
      : model_(model),
        n_(model.network().islands.size()),
        update_s_(model.rounds().update_seconds(update_bytes)),
        share_(fragments == 0 ? 0 : 1.0 / fragments),
        doubling_s_(doubling_s()) {}

  double seconds() const {
    double sum = 0;
    for (std::size_t j = 0; j < n_; ++j) sum += of_island(j);
    return sum / static_cast<double>(n_);
  }

 private:
  /// What one update takes to leave or to reach an island.
  double egress_s(std::size_t rank) const { return update_s_[rank]; }
  double ingress_s(std::size_t rank) const { return update_s_[n_ + rank]; }
  double access_s(std::size_t rank) const { return std::max(egress_s(rank), ingress_s(rank)); }

  /// c(j, i): the soonest that i can know what j held at a start.
  double reach_s(std::size_t j, std::size_t i) const {
    const auto& islands = model_.network().islands;
    const auto latency_ns = static_cast<double>(model_.routes().latency_ns(islands[j].site, islands[i].site));
    return latency_ns * kSecondsPerNs + share_ * std::max(access_s(j), access_s(i));
  }

  /// s: a clique of k takes at least (k - 1) s where others are not replicated or not added up; else 0.
  double doubling_s() const {
    const Capabilities& can = model_.rounds().capabilities();
    if (can.family != Family::kDirect || can.aggregation == Aggregation::kTree ||
        !model_.rounds().all_alike() || (can.multicast && can.aggregation != Aggregation::kNone))
      return 0;
    std::vector<double> each;
    for (std::size_t i = 0; i < n_; ++i)
      each.push_back(share_ * std::max(can.multicast ? 0 : egress_s(i),
                                       can.aggregation == Aggregation::kNone ? ingress_s(i) : 0));
    std::sort(each.begin(), each.end());
    return each.size() < 2 ? 0 : each[1];
  }

  /// n times the share of the drift of island j in D, at least.
  double of_island(std::size_t j) const {
    std::vector<double> reached_s{0};
    for (std::size_t i = 0; i < n_; ++i)
      if (i != j) reached_s.push_back(reach_s(j, i));
    std::sort(reached_s.begin(), reached_s.end());
    const double each = 1 / static_cast<double>(n_);
    const double period_s = n_ < 2 ? 0 : std::max(access_s(j), reached_s[1]);
    double sum = (1 - each) * period_s / 2;
    double now_s = 0;
    for (std::size_t m = 1; m < n_; ++m) {
      const double known = static_cast<double>(m);
      const double next_s = std::max({now_s, reached_s[m], doubling_s_ * std::log2(known + 1)});
      sum += (next_s - now_s) * (1 / known - each);
      now_s = next_s;
    }
    return sum;
  }

  const EventModel& model_;
  std::size_t n_;
  std::vector<double> update_s_;  ///< Of the whole update, by resource.
  double share_;                  ///< Of the update in a fragment; 0 for fragments without end.
  double doubling_s_;
};

}  // namespace

double event_bound_s(const EventModel& model, double update_bytes, std::uint32_t fragments) {
  return Bound(model, update_bytes, fragments).seconds();
}

}  // namespace tombolo::schedule
