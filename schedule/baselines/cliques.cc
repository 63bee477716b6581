#include "schedule/baselines/cliques.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "schedule/baselines/placement.h"
#include "schedule/weighted_mixing.h"

namespace tombolo::schedule::baselines {
namespace {

using Regions = std::vector<std::vector<Rank>>;

constexpr std::size_t kExactIslands = 9;
constexpr std::size_t kExactMatchings = 10395;
constexpr std::size_t kSampledMatchings = 2000;
constexpr std::size_t kPlacementEvaluations = 1500;

constexpr const char* kGridSource =
    "Ryabinin, Gorbunov, Plokhotnyuk, Pekhimenko: Moshpit SGD, arXiv 2103.03239";
constexpr const char* kMatchingSource =
    "Boyd, Ghosh, Prabhakar, Shah: Randomized Gossip Algorithms, IEEE Trans. Inf. Theory 2006";
constexpr const char* kHierarchicalSource =
    "Liu, Zhang, Song, Letaief: Client-Edge-Cloud Hierarchical Federated Learning, arXiv 1905.06641";
constexpr const char* kStaticSource =
    "Lin, Stich, Patel, Jaggi: Don't Use Large Mini-Batches, Use Local SGD, arXiv 1808.07217";
constexpr const char* kFactoredSource =
    "Hewa Koneputugodage et al.: Factored Gossip DiLoCo, arXiv 2606.22768";
constexpr const char* kDilocoSource = "Douillard et al.: DiLoCo, arXiv 2311.08105";

Round everyone(std::size_t islands) {
  Clique all(islands);
  std::iota(all.begin(), all.end(), Rank{0});
  return {{all}};
}

std::string named_regions(const Scene& scene, const Regions& regions) {
  if (scene.islands() > 16) return fmt::format("{} regions", regions.size());
  std::string text;
  for (const std::vector<Rank>& region : regions) {
    std::vector<std::string> ids;
    for (const Rank rank : region) ids.push_back(scene.id(rank));
    text += fmt::format("{{{}}}", fmt::join(ids, ","));
  }
  return text;
}

/// A cycle of clique rounds with its times. A round without cliques rests for one local step.
Result<std::vector<TimedMatrix>> timed(const Scene& scene, const std::vector<Round>& rounds) {
  std::vector<TimedMatrix> cycle;
  for (const Round& round : rounds) {
    double seconds = scene.step_s();
    if (!round.cliques.empty()) {
      const auto time = scene.clique_time_s(round);
      if (!time) return time.error();
      seconds = *time;
    }
    cycle.push_back({averaging_matrix(round, scene.islands()), seconds});
  }
  return cycle;
}

/// `order` as a grid of rows of `columns`; the last row may be shorter.
std::vector<Round> grid_rounds(const Order& order, std::size_t columns) {
  Regions rows;
  Regions across(columns);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % columns == 0) rows.emplace_back();
    rows.back().push_back(order[i]);
    across[i % columns].push_back(order[i]);
  }
  return {round_of(rows), round_of(across)};
}

double cycle_s(const std::vector<TimedMatrix>& cycle) {
  double sum_s = 0;
  for (const TimedMatrix& round : cycle) sum_s += round.seconds;
  return sum_s;
}

/// The grid of `columns` with its islands placed for the least cycle time.
Result<std::vector<TimedMatrix>> placed_grid(const Scene& scene, std::size_t columns) {
  const Order start = short_tour(scene);
  if (const auto first = timed(scene, grid_rounds(start, columns)); !first) return first.error();
  const Order order = local_order(
      start, [&](const Order& candidate) { return cycle_s(*timed(scene, grid_rounds(candidate, columns))); },
      scene.seed(), kPlacementEvaluations);
  return timed(scene, grid_rounds(order, columns));
}

}  // namespace

Result<Baseline> full_clique(const Scene& scene, Family family) {
  const bool sharded = family == Family::kSharded;
  const std::string name = sharded ? "full clique, sharded" : "full clique, direct";
  const std::string source =
      sharded ? "Rabenseifner: Optimization of Collective Reduction Operations, ICCS 2004"
              : "McMahan, Moore, Ramage, Hampson, Aguera y Arcas: Communication-Efficient Learning (FedAvg), "
                "arXiv 1602.05629, every island sending to every other";
  const auto seconds = scene.clique_time_s(everyone(scene.islands()), family);
  if (!seconds) return seconds.error();
  Baseline row = baseline_of_exact_round(name, source, "", *seconds, scene.islands());
  row.direct_cliques = !sharded;
  return row;
}

Result<Baseline> geographic_grid(const Scene& scene) {
  const std::string name = "geographic grid";
  std::string choices = "the nine cities' 3 x 3 grid";
  Result<std::vector<TimedMatrix>> cycle = std::vector<TimedMatrix>();
  if (const auto cities = grid_schedule(scene.setting().network.islands)) {
    cycle = timed(scene, cities->rounds);
  } else {
    const auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(scene.islands()))));
    choices = fmt::format("rows of {}, cut from a short tour", columns);
    cycle = timed(scene, grid_rounds(short_tour(scene), columns));
  }
  if (!cycle) return cycle.error();
  return baseline_of_cycle(name, kGridSource, choices, *cycle);
}

namespace {

/// Calls `visit` with every matching of `free` that has the most pairs; an odd one out may be anyone.
void each_matching(std::vector<Rank> free, bool odd_used, Round& round,
                   const std::function<void(const Round&)>& visit) {
  if (free.size() < 2) return visit(round);
  const Rank first = free.front();
  free.erase(free.begin());
  if (free.size() % 2 == 0 && !odd_used) each_matching(free, true, round, visit);
  for (std::size_t i = 0; i < free.size(); ++i) {
    std::vector<Rank> rest = free;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    round.cliques.push_back({first, free[i]});
    each_matching(std::move(rest), odd_used, round, visit);
    round.cliques.pop_back();
  }
}

/// The number of matchings with the most pairs, up to a bound.
std::size_t matching_count(std::size_t islands) {
  std::size_t count = islands % 2 == 1 ? islands : 1;
  for (std::size_t factor = islands - 1 - islands % 2; factor > 1; factor -= 2) {
    count *= factor;
    if (count > kExactMatchings) break;
  }
  return count;
}

Round drawn_matching(std::size_t islands, Random& random) {
  std::vector<Rank> ranks(islands);
  std::iota(ranks.begin(), ranks.end(), Rank{0});
  for (std::size_t i = islands; i > 1; --i) std::swap(ranks[i - 1], ranks[random.below(i)]);
  Regions pairs;
  for (std::size_t i = 0; i + 1 < islands; i += 2) pairs.push_back({ranks[i], ranks[i + 1]});
  return round_of(pairs);
}

}  // namespace

Result<Baseline> random_matchings(const Scene& scene) {
  const std::size_t n = scene.islands();
  double sum_s = 0;
  double sum_s2 = 0;
  double count = 0;
  Status status = ok_status();
  const auto add = [&](const Round& round) {
    const auto seconds = scene.clique_time_s(round);
    if (!seconds) {
      status = seconds.error();
      return;
    }
    sum_s += *seconds;
    sum_s2 += *seconds * *seconds;
    count += 1;
  };
  const bool exact = matching_count(n) <= kExactMatchings;
  if (exact) {
    std::vector<Rank> free(n);
    std::iota(free.begin(), free.end(), Rank{0});
    Round round;
    each_matching(free, false, round, add);
  } else {
    Random random(scene.seed());
    for (std::size_t i = 0; i < kSampledMatchings && status; ++i) add(drawn_matching(n, random));
  }
  if (!status) return status.error();
  const auto dimension = static_cast<double>(n);
  // A uniform matching treats all islands alike, so S = s (I - J), and W, a projection of trace n - pairs,
  // leaves E[W - J] = (n - pairs - 1)/(n - 1) (I - J) of it.
  const double left = (dimension - std::floor(dimension / 2) - 1) / (dimension - 1);
  const double mean_s = sum_s / count;
  const double mean_s2 = sum_s2 / count;
  Baseline row;
  row.name = "random matchings";
  row.source = kMatchingSource;
  row.choices = exact ? fmt::format("all {} matchings", count)
                      : fmt::format("times of {} drawn matchings, seed {}", kSampledMatchings, scene.seed());
  row.round_s = {mean_s};
  row.cycle_s = mean_s;
  row.r_per_s = (1 - left) / mean_s;
  row.disagreement_s = (dimension - 1) / dimension * (mean_s / (1 - left) + mean_s2 / (2 * mean_s));
  return row;
}

std::vector<Matrix> leader_rounds(const std::vector<std::vector<Rank>>& regions,
                                  const std::vector<Rank>& leaders) {
  Eigen::Index n = 0;
  for (const std::vector<Rank>& region : regions) n += static_cast<Eigen::Index>(region.size());
  Matrix across = Matrix::Identity(n, n);
  Matrix broadcast = Matrix::Identity(n, n);
  for (std::size_t to = 0; to < regions.size(); ++to) {
    for (std::size_t from = 0; from < regions.size(); ++from)
      across(leaders[to], leaders[from]) = static_cast<double>(regions[from].size()) / static_cast<double>(n);
    for (const Rank member : regions[to]) {
      broadcast.row(member).setZero();
      broadcast(member, leaders[to]) = 1;
    }
  }
  return {across, broadcast};
}

Result<Baseline> hierarchical(const Scene& scene) {
  if (scene.islands() < 3)
    return undefined_baseline(
        "hierarchical", kHierarchicalSource,
        fmt::format("not defined for n = {}: two regions need three islands", scene.islands()));
  Baseline best;
  best.disagreement_s = std::numeric_limits<double>::infinity();
  const auto keep = [&](const std::vector<TimedMatrix>& cycle, std::string choices) {
    Baseline row = baseline_of_cycle("hierarchical", kHierarchicalSource, std::move(choices), cycle);
    if (best.name.empty() || row.disagreement_s < best.disagreement_s) best = std::move(row);
  };
  const auto partitions = regional_partitions(scene);
  for (std::size_t k = 2; k < scene.islands(); ++k) {
    const Regions& regions = partitions[k - 1];
    std::vector<Rank> leaders;
    for (const std::vector<Rank>& region : regions) leaders.push_back(center_of(scene, region));
    const Round regional = round_of(regions);
    const auto cliques = timed(scene, {regional, round_of({leaders}), regional});
    if (!cliques) return cliques.error();
    keep(*cliques, fmt::format("{} regions, three rounds of cliques", k));
    std::vector<TimedMatrix> exact{cliques->front()};
    for (const Matrix& w : leader_rounds(regions, leaders)) {
      const auto seconds = scene.matrix_time_s(w);
      if (!seconds) return seconds.error();
      exact.push_back({w, *seconds});
    }
    keep(exact, fmt::format("{} regions, weighted leaders, broadcast", k));
  }
  return best;
}

double partition_and_full_disagreement_s(double partition_s, double full_s, std::size_t parts,
                                         std::size_t islands) {
  const double n = static_cast<double>(islands);
  // The full clique forgets everything but its own drift: tr S = T_f (n-1) when the partition's round starts,
  // of which its projection keeps T_f (parts - 1).
  const double before_partition = full_s * (n - 1);
  const double before_full = full_s * (static_cast<double>(parts) - 1) + partition_s * (n - 1);
  return (partition_s * (before_partition + partition_s * (n - 1) / 2) +
          full_s * (before_full + full_s * (n - 1) / 2)) /
         (n * (partition_s + full_s));
}

namespace {

/// The best partition found so far to alternate with the full clique.
class PartitionSearch {
 public:
  PartitionSearch(const Scene& scene, double full_s) : scene_(scene), full_s_(full_s) {}

  /// True if `label` (the part of each island) is the best yet.
  bool offer(const std::vector<std::size_t>& label) {
    std::map<std::size_t, std::vector<Rank>> parts;
    for (std::size_t i = 0; i < label.size(); ++i) parts[label[i]].push_back(static_cast<Rank>(i));
    Regions regions;
    for (auto& [index, part] : parts) regions.push_back(std::move(part));
    const std::size_t count = regions.size();
    if (count == label.size()) return false;  // Nobody meets: a rest, not a partition.
    const auto seconds = scene_.clique_time_s(round_of(regions));
    if (!seconds) return false;
    const double disagreement_s = partition_and_full_disagreement_s(*seconds, full_s_, count, label.size());
    if (disagreement_s >= best_s_) return false;
    best_s_ = disagreement_s;
    best_ = regions;
    return true;
  }

  /// Every partition once, as restricted growth strings.
  void all() {
    std::vector<std::size_t> label(scene_.islands(), 0);
    grow(label, 1, 1);
  }

  /// From each regional partition, moves of one island to another part or to one of its own, while they help.
  void local() {
    for (const Regions& regions : regional_partitions(scene_)) {
      std::vector<std::size_t> label(scene_.islands());
      for (std::size_t part = 0; part < regions.size(); ++part)
        for (const Rank rank : regions[part]) label[rank] = part;
      offer(label);
    }
    std::size_t left = kPlacementEvaluations * 4;
    for (bool improved = true; improved && left > 0;) {
      improved = false;
      std::vector<std::size_t> label(scene_.islands());
      for (std::size_t part = 0; part < best_.size(); ++part)
        for (const Rank rank : best_[part]) label[rank] = part;
      const std::size_t parts = best_.size();
      for (std::size_t i = 0; i < label.size() && left > 0; ++i)
        for (std::size_t part = 0; part <= parts && left > 0; ++part, --left) {
          const std::size_t home = std::exchange(label[i], part);
          if (home != part && offer(label))
            improved = true;
          else
            label[i] = home;
        }
    }
  }

  const Regions& best() const { return best_; }

 private:
  void grow(std::vector<std::size_t>& label, std::size_t next, std::size_t parts) {
    if (next == label.size()) {
      offer(label);
      return;
    }
    for (std::size_t part = 0; part <= parts; ++part) {
      label[next] = part;
      grow(label, next + 1, std::max(parts, part + 1));
    }
  }

  const Scene& scene_;
  double full_s_;
  double best_s_ = std::numeric_limits<double>::infinity();
  Regions best_;
};

}  // namespace

Result<Baseline> static_partition_and_full(const Scene& scene) {
  const std::string name = "static partition and full";
  if (scene.islands() < 3)
    return undefined_baseline(
        name, kStaticSource,
        fmt::format("not defined for n = {}: the only clique is the full one", scene.islands()));
  const auto full_s = scene.clique_time_s(everyone(scene.islands()));
  if (!full_s) return full_s.error();
  PartitionSearch search(scene, *full_s);
  if (scene.islands() <= kExactIslands)
    search.all();
  else
    search.local();
  const auto cycle = timed(scene, {round_of(search.best()), everyone(scene.islands())});
  if (!cycle) return cycle.error();
  return baseline_of_cycle(name, kStaticSource, named_regions(scene, search.best()), *cycle);
}

Result<Baseline> factored_gossip(const Scene& scene) {
  if (scene.islands() < 4)
    return undefined_baseline(
        "factored gossip", kFactoredSource,
        fmt::format("not defined for n = {}: two factors need four islands", scene.islands()));
  Baseline best;
  best.disagreement_s = std::numeric_limits<double>::infinity();
  for (std::size_t columns = 2; columns <= (scene.islands() + 1) / 2; ++columns) {
    const auto cycle = placed_grid(scene, columns);
    if (!cycle) return cycle.error();
    Baseline row = baseline_of_cycle("factored gossip", kFactoredSource,
                                     fmt::format("rows of {}, then columns", columns), *cycle);
    if (best.name.empty() || row.disagreement_s < best.disagreement_s) best = std::move(row);
  }
  return best;
}

Result<Baseline> diloco(const Scene& scene, unsigned local_steps) {
  auto cycle = timed(scene, {Round{}, everyone(scene.islands())});
  if (!cycle) return cycle.error();
  cycle->front().seconds = static_cast<double>(local_steps) * scene.step_s();
  return baseline_of_cycle(fmt::format("DiLoCo, every {} steps", local_steps), kDilocoSource,
                           fmt::format("a step of {} s", scene.step_s()), *cycle);
}

}  // namespace tombolo::schedule::baselines
