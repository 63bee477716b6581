#include "schedule/optimize/structured_seeds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace tombolo::schedule {
namespace {

using Ranks = std::vector<Rank>;

/// Splits into `parts` groups of sizes that differ by one at most: again and again the island that is
/// farthest from those left, with the ones nearest to it.
std::vector<Ranks> near_groups(Ranks ranks, std::size_t parts, const Eigen::MatrixXd& distance) {
  std::vector<Ranks> groups;
  for (; parts > 0; --parts) {
    const std::size_t size = (ranks.size() + parts - 1) / parts;
    if (ranks.empty()) break;
    Rank corner = ranks.front();
    double farthest = -1;
    for (const Rank i : ranks) {
      double sum = 0;
      for (const Rank j : ranks) sum += distance(i, j);
      if (sum > farthest) {
        farthest = sum;
        corner = i;
      }
    }
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](Rank a, Rank b) { return distance(corner, a) < distance(corner, b); });
    const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(size);
    groups.emplace_back(ranks.begin(), end);
    ranks.erase(ranks.begin(), end);
  }
  return groups;
}

/// Digits so that their product is at least `count`, as small and as equal as that allows; `digits` of them.
std::vector<std::size_t> radices(std::size_t count, std::size_t digits) {
  auto radix = static_cast<std::size_t>(
      std::ceil(std::pow(static_cast<double>(count), 1.0 / static_cast<double>(digits)) - 1e-9));
  std::vector<std::size_t> all(digits, std::max<std::size_t>(2, radix));
  const auto product = [&] {
    double value = 1;
    for (const std::size_t one : all) value *= static_cast<double>(one);
    return value;
  };
  for (std::size_t& one : all) {
    while (one > 1) {
      --one;
      if (product() < static_cast<double>(count)) {
        ++one;
        break;
      }
    }
  }
  std::erase(all, std::size_t{1});
  return all;
}

/// The butterfly's rounds over `ranks`, by digit from the nearest; all others rest.
GroupedCycle butterfly(const Ranks& ranks, const std::vector<std::size_t>& digits, std::size_t islands,
                       const Eigen::MatrixXd& distance) {
  using Address = std::vector<std::uint16_t>;  // From the farthest digit.
  std::vector<std::pair<Address, Ranks>> clusters{{{}, ranks}};
  for (std::size_t d = digits.size(); d-- > 0;) {
    std::vector<std::pair<Address, Ranks>> finer;
    for (const auto& [address, members] : clusters) {
      const auto groups = near_groups(members, digits[d], distance);
      for (std::size_t g = 0; g < groups.size(); ++g) {
        finer.emplace_back(address, groups[g]);
        finer.back().first.push_back(static_cast<std::uint16_t>(g));
      }
    }
    clusters = std::move(finer);
  }
  GroupedCycle rounds;
  for (std::size_t d = 0; d < digits.size(); ++d) {
    std::map<Address, Clique> cliques;
    for (const auto& [address, members] : clusters) {
      Address key = address;
      key[digits.size() - 1 - d] = 0;
      cliques[key].insert(cliques[key].end(), members.begin(), members.end());
    }
    Round round;
    for (const auto& [key, clique] : cliques)
      if (clique.size() >= 2) round.cliques.push_back(clique);
    rounds.push_back(to_grouping(round, islands));
  }
  return rounds;
}

/// 1 2 1 3 1 2 1: the nearest digit every second round, the next every fourth.
GroupedCycle ruler(const GroupedCycle& digits) {
  GroupedCycle rounds;
  for (std::size_t i = 1; i < std::size_t{1} << digits.size(); ++i)
    rounds.push_back(digits[static_cast<std::size_t>(std::countr_zero(i))]);
  return rounds;
}

/// After every round of `all`, `times` rounds of `few` in turn.
GroupedCycle between(const GroupedCycle& all, const GroupedCycle& few, std::size_t times) {
  GroupedCycle rounds;
  std::size_t next = 0;
  for (const Grouping& round : all) {
    rounds.push_back(round);
    for (std::size_t i = 0; i < times; ++i) rounds.push_back(few[next++ % few.size()]);
  }
  return rounds;
}

/// `rounds` of the fast, then one in which each of the slow meets the nearest of the fast that is left; the
/// others rest. Every half of the rounds if `twice`. Nothing if the slow are more.
GroupedCycle attached(const GroupedCycle& rounds, const Ranks& fast, const Ranks& slow, bool twice,
                      const Eigen::MatrixXd& distance) {
  if (slow.empty() || slow.size() > fast.size()) return {};
  Ranks left = fast;
  Round attach;
  for (const Rank rank : slow) {
    const auto nearest = std::min_element(
        left.begin(), left.end(), [&](Rank a, Rank b) { return distance(rank, a) < distance(rank, b); });
    attach.cliques.push_back({std::min(rank, *nearest), std::max(rank, *nearest)});
    left.erase(nearest);
  }
  GroupedCycle cycle = rounds;
  const Grouping round = to_grouping(attach, fast.size() + slow.size());
  cycle.push_back(round);
  if (twice) cycle.insert(cycle.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2), round);
  return cycle;
}

/// Numbers of digits that keep cliques within 2 to 64 islands.
std::vector<std::vector<std::size_t>> digit_choices(std::size_t count) {
  std::vector<std::vector<std::size_t>> choices;
  for (std::size_t digits = 1; digits <= 10; ++digits) {
    auto all = radices(count, digits);
    // The largest digit is the nearest.
    std::sort(all.begin(), all.end(), std::greater<>());
    if (all.size() < digits || all.front() > kMaxCliqueMembers) continue;
    choices.push_back(all);
    if (all.front() == 2) break;
  }
  return choices;
}

/// Regions, one leader of each, regions again.
GroupedCycle regions_and_leaders(const Ranks& all, std::size_t regions, const PairTimes& pairs) {
  Round regional;
  Round leaders;
  leaders.cliques.emplace_back();
  for (const Ranks& region : near_groups(all, regions, pairs.latency_s)) {
    Rank leader = region.front();
    for (const Rank rank : region)
      if (pairs.alone_s.row(rank).sum() < pairs.alone_s.row(leader).sum()) leader = rank;
    leaders.cliques.front().push_back(leader);
    if (region.size() >= 2) regional.cliques.push_back(region);
  }
  const Grouping region_round = to_grouping(regional, all.size());
  return {region_round, to_grouping(leaders, all.size()), region_round};
}

}  // namespace

std::vector<GroupedCycle> structured_cycles(const Problem& problem, const PairTimes& pairs,
                                            std::size_t max_rounds) {
  const std::size_t n = problem.islands();
  Ranks all(n);
  std::iota(all.begin(), all.end(), Rank{0});
  std::vector<GroupedCycle> cycles;
  const auto add = [&](GroupedCycle cycle) {
    if (!cycle.empty() && cycle.size() <= max_rounds) cycles.push_back(std::move(cycle));
  };
  // The islands whose quickest pair is quickest: those that a slow access line does not hold up.
  std::vector<double> own_s(n);
  for (std::size_t i = 0; i < n; ++i) {
    own_s[i] = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < n; ++j)
      if (j != i) own_s[i] = std::min(own_s[i], pairs.alone_s(i, j));
  }
  Ranks by_speed = all;
  std::stable_sort(by_speed.begin(), by_speed.end(), [&](Rank a, Rank b) { return own_s[a] < own_s[b]; });

  // Those that are at least twice as quick as the slowest go on among themselves most of the time.
  const auto quick = static_cast<std::size_t>(
      std::partition_point(by_speed.begin(), by_speed.end(),
                           [&](Rank rank) { return own_s[rank] <= own_s[by_speed.back()] / 2; }) -
      by_speed.begin());
  const Ranks fast(by_speed.begin(), by_speed.begin() + static_cast<std::ptrdiff_t>(quick));
  const Ranks slow(by_speed.begin() + static_cast<std::ptrdiff_t>(quick), by_speed.end());
  if (quick >= 4)
    for (const auto& digits : digit_choices(quick))
      for (const bool twice : {false, true})
        add(attached(butterfly(fast, digits, n, pairs.latency_s), fast, slow, twice, pairs.latency_s));

  for (const auto& digits : digit_choices(n)) {
    const GroupedCycle rounds = butterfly(all, digits, n, pairs.latency_s);
    add(rounds);
    if (digits.size() >= 2 && digits.size() <= 4) add(ruler(rounds));
    for (const double share : {0.5, 0.75, 0.9}) {
      const auto count = static_cast<std::size_t>(share * static_cast<double>(n));
      if (count < 4 || own_s[by_speed[count - 1]] > 0.8 * own_s[by_speed.back()]) continue;
      const Ranks quickest(by_speed.begin(), by_speed.begin() + static_cast<std::ptrdiff_t>(count));
      for (const auto& fast_digits : digit_choices(count)) {
        if (fast_digits.size() > digits.size() + 1 || fast_digits.size() + 1 < digits.size()) continue;
        const GroupedCycle fast_rounds = butterfly(quickest, fast_digits, n, pairs.latency_s);
        for (const std::size_t times : {1, 2, 4}) add(between(rounds, fast_rounds, times));
      }
    }
  }
  for (std::size_t regions = 2; regions <= std::min(kMaxCliqueMembers, n / 2); regions *= 2)
    if ((n + regions - 1) / regions <= kMaxCliqueMembers) add(regions_and_leaders(all, regions, pairs));
  return cycles;
}

std::vector<Schedule> structured_seeds(const Problem& problem, std::size_t max_rounds) {
  RoundTimer timer(problem);
  std::vector<Schedule> schedules;
  for (const GroupedCycle& cycle :
       structured_cycles(problem, pair_times(timer, problem.islands()), max_rounds)) {
    Schedule schedule{"structured", {}};
    for (const Grouping& grouping : cycle) schedule.rounds.push_back(to_round(grouping));
    schedules.push_back(std::move(schedule));
  }
  return schedules;
}

}  // namespace tombolo::schedule
