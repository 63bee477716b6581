#include "tools/schedule/schedule_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/barrier_bound.h"
#include "schedule/bounds.h"
#include "schedule/optimize/pricing.h"
#include "schedule/optimize/random.h"
#include "schedule/routes.h"

namespace tombolo::tools {
namespace {

using schedule::CliqueMode;
using schedule::Mode;

constexpr std::size_t kMostTreesShown = 16;
constexpr double kBitsPerGbit = 1e9;

/// "LON: LON-NYC LON-AMS AMS-FRA": the links of a source's tree.
std::string tree_text(const schedule::Routes& routes, const schedule::Network& network, schedule::SiteId from,
                      const schedule::Clique& receivers) {
  std::vector<schedule::SiteId> sites;
  for (const schedule::Rank rank : receivers) sites.push_back(network.islands[rank].site);
  std::string text = network.site_names[from] + ":";
  for (const schedule::TreeHop& hop : routes.tree(from, sites))
    if (hop.site != from)
      text += fmt::format(" {}-{}", network.site_names[hop.parent], network.site_names[hop.site]);
  return text;
}

/// Sums over a cycle.
struct PackedCycle {
  double shortest_s = 0;
  double packed_s = 0;
  double bound_s = 0;
  std::size_t proven = 0;  ///< Rounds.

  double gain() const { return 1 - packed_s / shortest_s; }
};

PackedCycle packed_cycle(const std::vector<schedule::PackedTime>& packed) {
  PackedCycle cycle;
  for (const schedule::PackedTime& time : packed) {
    cycle.shortest_s += time.shortest_s;
    cycle.packed_s += time.packed_s;
    cycle.bound_s += time.bound_s;
    cycle.proven += time.proven ? 1 : 0;
  }
  return cycle;
}

/// What packed trees are worth: the cycle with them and without, and how far from the best they can be.
std::string packed_text(const std::vector<schedule::PackedTime>& packed) {
  const PackedCycle cycle = packed_cycle(packed);
  return fmt::format(
      "packed trees    cycle {:.6f} s along shortest routes: {:.1f} % saved; none is below {:.6f} s; {} of "
      "{} "
      "rounds proven\n",
      cycle.shortest_s, 100 * cycle.gain(), cycle.bound_s, cycle.proven, packed.size());
}

std::string link_text(const schedule::Network& network, schedule::SiteId from, schedule::SiteId to) {
  return network.site_names[from] + "-" + network.site_names[to];
}

/// By island: the trees of cliques that do not all go the shortest way.
nlohmann::ordered_json trees_json(const schedule::Round& round, const schedule::Network& network) {
  auto json = nlohmann::ordered_json::object();
  for (std::size_t c = 0; c < round.trees.size(); ++c)
    for (std::size_t i = 0; i < round.trees[c].size(); ++i) {
      if (round.trees[c][i].empty()) continue;
      auto& links = json[network.islands[round.cliques[c][i]].id] = nlohmann::ordered_json::array();
      for (const schedule::SiteLink& link : round.trees[c][i])
        links.push_back(link_text(network, link.from, link.to));
    }
  return json;
}

}  // namespace

std::string clique_text(const schedule::Clique& clique, CliqueMode mode, const schedule::Network& network) {
  std::string text = fmt::format("{{{}}}", fmt::join(island_names(clique, network), ","));
  if (mode.mode == Mode::kTree) return text + fmt::format(" tree at {}", network.site_names[mode.root]);
  if (mode.mode == Mode::kSharded) return text + " sharded";
  return text;
}

std::vector<std::string> tree_texts(const schedule::Routes& routes, const schedule::Network& network,
                                    const schedule::Clique& clique, CliqueMode mode) {
  if (network.islands.size() > kMostTreesShown) return {};
  if (mode.mode == Mode::kTree) return {"  " + tree_text(routes, network, mode.root, clique)};
  std::vector<std::string> lines;
  for (const schedule::Rank source : clique)
    lines.push_back("  " + tree_text(routes, network, network.islands[source].site, clique));
  return lines;
}

nlohmann::ordered_json report_cliques(const std::vector<schedule::Clique>& cliques,
                                      const std::vector<std::optional<CliqueMode>>& modes,
                                      const schedule::Network& network) {
  nlohmann::ordered_json round;
  round["cliques"] = nlohmann::ordered_json::array();
  round["modes"] = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    const CliqueMode chosen = modes[c].value_or(CliqueMode{});
    round["cliques"].push_back(island_names(cliques[c], network));
    nlohmann::ordered_json mode{{"mode", schedule::mode_name(chosen.mode)}};
    if (chosen.mode == Mode::kTree) mode["root"] = network.site_names[chosen.root];
    round["modes"].push_back(std::move(mode));
  }
  return round;
}

nlohmann::ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

Result<ScheduleScore> score_schedule(const NetworkInput& input, schedule::Schedule schedule,
                                     bool packed_trees) {
  const schedule::Network& network = input.network;
  const double bytes = static_cast<double>(input.update_bytes);
  const schedule::Routes routes(network);
  const schedule::RoundModel model(network, routes, input.capabilities);
  ScheduleScore score;
  if (packed_trees) {
    auto packed =
        schedule::pack_schedule(model, bytes, schedule, schedule::suitable_packing(network.islands.size()));
    if (!packed) return std::move(packed).error();
    score.packed = std::move(*packed);
  }
  std::vector<double> seconds;
  for (std::size_t r = 0; r < schedule.rounds.size(); ++r) {
    auto time = model.time(schedule.rounds[r], bytes);
    if (!time) return std::move(time).error().within(fmt::format("round {}", r));
    seconds.push_back(time->seconds);
    score.cycle_s += time->seconds;
    score.times.push_back(std::move(*time));
  }
  const auto mixing = schedule::measure_mixing(schedule, seconds, network.islands.size());
  if (!mixing) return mixing.error();
  schedule::Capabilities allowed = schedule::covering(input.capabilities, schedule);
  if (packed_trees) allowed.family = schedule::Family::kBest;  // Other trees could have been chosen.
  const auto bound_s = schedule::barrier_bound_s({network, routes, std::move(allowed)}, bytes);
  if (!bound_s) return bound_s.error();
  score.schedule = std::move(schedule);
  score.mixing = *mixing;
  score.bound_s = *bound_s;
  return score;
}

Status add_best_random(const schedule::Problem& problem, std::size_t most_islands, ScheduleScore& score) {
  if (problem.islands() > std::min(most_islands, schedule::kMaxPricedIslands)) return ok_status();
  const auto random = schedule::optimal_random(problem);
  if (!random) return random.error();
  score.r_iid_per_s = random->r_iid_per_s;
  score.r_iid_gap = random->gap;
  return ok_status();
}

std::string score_text(const ScheduleScore& score, const schedule::Network& network) {
  std::string text =
      fmt::format("{:>5}  {:>12}  {:<20}  {:>7}  {}\n", "round", "time", "bottleneck", "updates", "cliques");
  for (std::size_t r = 0; r < score.times.size(); ++r) {
    const schedule::RoundTime& time = score.times[r];
    std::vector<std::string> cliques;
    for (std::size_t c = 0; c < time.modes.size(); ++c)
      cliques.push_back(clique_text(score.schedule.rounds[r].cliques[c], time.modes[c], network));
    text += fmt::format("{:>5}  {:>10.6f} s  {:<20}  {:>7.4g}  {}\n", r, time.seconds, time.bottleneck,
                        time.bottleneck_updates,
                        cliques.empty() ? "all rest" : fmt::format("{}", fmt::join(cliques, " ")));
  }
  text += fmt::format("\ncycle           {:.6f} s\n", score.cycle_s);
  const double d = score.mixing.disagreement_s;
  if (std::isfinite(d))
    text += fmt::format("disagreement D  {:.6f} s\nlower bound     {:.6f} s (gap {:.1f} %)\n", d,
                        score.bound_s, 100 * schedule::optimality_gap(d, score.bound_s));
  else
    text += "disagreement D  unbounded: the schedule never joins all islands\n";
  text += fmt::format("contraction R   {:.6f} per s\n", score.mixing.r_per_s);
  if (!score.packed.empty()) text += packed_text(score.packed);
  if (score.r_iid_per_s)
    text += fmt::format("best random R   {:.6f} per s (gap {:.2f} %)\n", *score.r_iid_per_s,
                        100 * score.r_iid_gap);
  return text;
}

void report_score(const ScheduleScore& score, const schedule::Network& network,
                  nlohmann::ordered_json& report) {
  using Json = nlohmann::ordered_json;
  const double d = score.mixing.disagreement_s;
  // JSON has no infinity: null says that the schedule never joins all islands.
  report["form"] = "barrier";
  report["disagreement_s"] = finite_or_null(d);
  report["bound_s"] = score.bound_s;
  report["gap"] = std::isfinite(d) ? Json(schedule::optimality_gap(d, score.bound_s)) : Json(nullptr);
  report["r_per_s"] = score.mixing.r_per_s;
  report["r_iid_per_s"] = score.r_iid_per_s ? Json(*score.r_iid_per_s) : Json(nullptr);
  report["r_iid_gap"] = score.r_iid_per_s ? Json(score.r_iid_gap) : Json(nullptr);
  report["cycle_s"] = score.cycle_s;
  report["rounds"] = Json::array();
  for (std::size_t r = 0; r < score.times.size(); ++r) {
    const schedule::RoundTime& time = score.times[r];
    Json round =
        report_cliques(score.schedule.rounds[r].cliques, {time.modes.begin(), time.modes.end()}, network);
    round["time_s"] = time.seconds;
    if (!score.packed.empty()) {
      const schedule::PackedTime& packed = score.packed[r];
      round["packed"] = {
          {"shortest_s", packed.shortest_s}, {"bound_s", packed.bound_s}, {"proven", packed.proven}};
      round["trees"] = trees_json(score.schedule.rounds[r], network);
    }
    round["bottleneck"] = {{"resource", time.bottleneck}, {"load", time.bottleneck_updates}};
    report["rounds"].push_back(std::move(round));
  }
  report["trees"] = score.packed.empty() ? "shortest" : "packed";
  if (!score.packed.empty()) report["packed_gain"] = packed_cycle(score.packed).gain();
  report["solve_s"] = score.solve_s;
  report["certified"] = score.certified.empty() ? Json(false) : Json(score.certified);
}

schedule::ScheduleNotes score_notes(const ScheduleScore& score, const NetworkInput& input,
                                    const std::string& setting) {
  const schedule::Network& network = input.network;
  const schedule::Routes routes(network);
  schedule::ScheduleNotes notes;
  notes.head = {setting,
                fmt::format("disagreement D {:.6f} s, lower bound {:.6f} s, contraction R {:.6f} per s, "
                            "cycle {:.6f} s",
                            score.mixing.disagreement_s, score.bound_s, score.mixing.r_per_s, score.cycle_s)};
  if (!score.certified.empty()) notes.head.push_back("certified: " + score.certified);
  const double bits = 8 * static_cast<double>(input.update_bytes);
  for (std::size_t r = 0; r < score.times.size(); ++r) {
    const schedule::RoundTime& time = score.times[r];
    std::vector<std::string> lines{fmt::format("round {}: {:.6f} s, {}", r, time.seconds,
                                               time.bottleneck.empty() ? "all rest" : time.bottleneck)};
    for (std::size_t c = 0; c < time.modes.size(); ++c) {
      const schedule::Clique& clique = score.schedule.rounds[r].cliques[c];
      const CliqueMode mode = time.modes[c];
      const double sending_s = time.seconds - 1e-9 * static_cast<double>(time.latency_ns[c]);
      lines.push_back(fmt::format("{}: {}, a stream at {:.4g} Gbit/s", clique_text(clique, mode, network),
                                  schedule::mode_name(mode.mode), bits / sending_s / kBitsPerGbit));
      const schedule::Round& round = score.schedule.rounds[r];
      if (!round.trees.empty() && !round.trees[c].empty()) continue;  // The file itself says them.
      for (std::string& line : tree_texts(routes, network, clique, mode)) lines.push_back(std::move(line));
    }
    notes.rounds.push_back(std::move(lines));
  }
  return notes;
}

}  // namespace tombolo::tools
