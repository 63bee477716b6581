#include "schedule/event/load_profile.h"

#include <algorithm>
#include <cmath>

namespace tombolo::schedule {
namespace {

/// A stretch of constant load, as a share of a capacity.
struct Step {
  double begin_s = 0;
  double end_s = 0;
  double share = 0;
};

/// The load over time of the streams of one exchange on one resource. Their offsets ascend, and so do their
/// ends: where one is spread, it is the only one.
void find_steps(std::span<const Stream> streams, double sending_s, double update_s,
                std::vector<Step>& steps) {
  steps.clear();
  const double unit = update_s / sending_s;
  std::size_t begun = 0;
  std::size_t ended = 0;
  double updates = 0;
  double now_s = 0;
  while (ended < streams.size()) {
    const double next_end_s = streams[ended].offset_s + streams[ended].spread_s + sending_s;
    const bool begins = begun < streams.size() && streams[begun].offset_s < next_end_s;
    const double next_s = begins ? streams[begun].offset_s : next_end_s;
    if (updates > 0 && next_s > now_s) steps.push_back({now_s, next_s, updates * unit});
    updates += begins ? streams[begun++].updates : -streams[ended++].updates;
    now_s = next_s;
  }
}

std::span<const Stream> same_resource(std::span<const Stream> streams) {
  std::size_t count = 0;
  while (count < streams.size() && streams[count].resource == streams.front().resource) ++count;
  return streams.first(count);
}

}  // namespace

double least_shift(const Exchange& first, double first_sending_s, const Exchange& second,
                   double second_sending_s, std::span<const double> update_s) {
  std::span<const Stream> a = first.streams;
  std::span<const Stream> b = second.streams;
  std::vector<Step> before;
  std::vector<Step> after;
  double shift_s = 0;
  while (!a.empty() && !b.empty()) {
    const auto a_here = same_resource(a);
    const auto b_here = same_resource(b);
    const std::uint32_t resource = a.front().resource;
    if (resource <= b.front().resource) a = a.subspan(a_here.size());
    if (b.front().resource <= resource) b = b.subspan(b_here.size());
    if (b_here.front().resource != resource) continue;
    find_steps(a_here, first_sending_s, update_s[resource], before);
    find_steps(b_here, second_sending_s, update_s[resource], after);
    for (const Step& x : before)
      for (const Step& y : after)
        if (x.share + y.share > 1 + kLoadTolerance) shift_s = std::max(shift_s, x.end_s - y.begin_s);
  }
  return shift_s;
}

Peak find_peak(std::span<const Occupation> occupations, double cycle_s) {
  // Ends come before begins at the same moment; what lasts over the cycle's end is on at its beginning.
  struct Change {
    double at_s = 0;
    bool begins = false;
    std::uint32_t occupation = 0;
  };
  std::vector<Change> changes;
  std::vector<bool> on(occupations.size(), false);
  double share = 0;
  const double rounding_s = cycle_s * 1e-9;
  const auto within = [&](double time_s) { return time_s - std::floor(time_s / cycle_s) * cycle_s; };
  for (std::uint32_t i = 0; i < occupations.size(); ++i) {
    const Occupation& use = occupations[i];
    // Touching ends and begins may differ by rounding.
    if (use.end_s - use.begin_s <= 2 * rounding_s) continue;
    const double begin_s = within(use.begin_s + rounding_s);
    const double end_s = within(use.end_s - rounding_s);
    changes.push_back({begin_s, true, i});
    changes.push_back({end_s, false, i});
    if (end_s >= begin_s) continue;
    on[i] = true;
    share += use.share;
  }
  std::sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) {
    return x.at_s != y.at_s ? x.at_s < y.at_s : x.begins < y.begins;
  });
  Peak peak;
  const auto look = [&] {
    if (share <= peak.share) return;
    peak.share = share;
    peak.occupations.clear();
    for (std::uint32_t i = 0; i < occupations.size(); ++i)
      if (on[i]) peak.occupations.push_back(i);
  };
  look();
  for (const Change& change : changes) {
    on[change.occupation] = change.begins;
    share += change.begins ? occupations[change.occupation].share : -occupations[change.occupation].share;
    look();
  }
  return peak;
}

}  // namespace tombolo::schedule
