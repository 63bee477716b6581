#include "tools/schedule/round_details.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/units.h"
#include "tools/schedule/network_options.h"

namespace tombolo::tools {
namespace {

using schedule::Clique;
using schedule::CliqueLoad;
using schedule::CliqueMode;
using schedule::Mode;
using schedule::Network;
using schedule::Problem;
using schedule::RoundTime;
using schedule::SiteId;

report::RunSummary summarize(const schedule::Topology& topology, const Problem& problem,
                             const schedule::Schedule& schedule, std::span<const RoundTime> times) {
  const Network& network = problem.network();
  report::RunSummary summary;
  for (const schedule::Site& site : topology.sites)
    summary.sites.push_back({site.id, site.city, site.lat_deg, site.lon_deg, {}});
  for (const schedule::Island& island : network.islands)
    summary.sites[island.site].islands.push_back(island.id);
  for (std::size_t l = 0; l + 1 < network.links.size(); l += 2) {
    const schedule::DirectedLink& link = network.links[l];
    summary.topology_links.push_back(
        {link.from, link.to, static_cast<double>(link.rtt_ns) / 1e6, static_cast<double>(link.capacity_bps)});
  }
  for (std::size_t r = 0; r < schedule.rounds.size(); ++r) {
    report::SummaryRound round;
    round.round = r;
    round.predicted_s = times[r].seconds;
    for (const Clique& clique : schedule.rounds[r].cliques)
      round.cliques.push_back(island_names(clique, network));
    summary.rounds.push_back(std::move(round));
  }
  return summary;
}

using Links = std::set<std::size_t>;  // By index in RunSummary::topology_links.

void add_route(const schedule::Routes& routes, SiteId from, SiteId to, Links& links) {
  for (SiteId at = to; at != from; at = routes.parent(from, at)) links.insert(routes.link_into(from, at) / 2);
}

/// Where what each member's site sends goes; all share one tree where the network sums on the way.
void add_trees(const Problem& problem, const Clique& clique, const CliqueMode& mode,
               const schedule::CliqueTrees& given, std::map<std::size_t, Links>& trees) {
  const auto site = [&](schedule::Rank rank) { return problem.network().islands[rank].site; };
  Links shared;
  if (mode.mode == Mode::kTree)
    for (const schedule::Rank member : clique) add_route(problem.routes(), mode.root, site(member), shared);
  for (std::size_t i = 0; i < clique.size(); ++i) {
    const schedule::Rank source = clique[i];
    Links& links = trees[site(source)];
    links.insert(shared.begin(), shared.end());
    if (mode.mode == Mode::kTree) continue;
    if (!given.empty() && !given[i].empty()) {
      for (const schedule::SiteLink& link : given[i])
        if (const auto found = schedule::find_link(problem.network(), link)) links.insert(*found / 2);
      continue;
    }
    for (const schedule::Rank target : clique) add_route(problem.routes(), site(source), site(target), links);
  }
}

std::string note_of(const Problem& problem, std::size_t resource, double share, double updates) {
  const std::size_t n = problem.islands();
  std::string name = problem.model().resource_name(resource);
  if (resource >= 2 * n) {
    const schedule::DirectedLink& link = problem.network().links[resource - 2 * n];
    name = problem.network().site_names[link.from] + " \u2192 " + problem.network().site_names[link.to];
  }
  return fmt::format("{}: {:.0f} %, {:.4g} update{}", name, 100 * share, updates, updates == 1 ? "" : "s");
}

void add_note(std::map<std::size_t, std::string>& notes, std::size_t key, const std::string& note) {
  std::string& text = notes[key];
  text += (text.empty() ? "" : "\n") + note;
}

/// Everything about one round.
class RoundPicture {
 public:
  RoundPicture(const Problem& problem, const schedule::Round& round, const RoundTime& time)
      : problem_(problem),
        round_(round),
        time_(time),
        update_s_(problem.model().update_seconds(problem.update_bytes())),
        share_(update_s_.size()),
        updates_(update_s_.size()) {
    for (std::size_t c = 0; c < round.cliques.size(); ++c) {
      CliqueMode mode = time.modes[c];
      if (mode.mode == Mode::kTree && mode.root == schedule::kCentralRoot)
        mode.root = problem.model().central_root(round.cliques[c]).value_or(0);
      modes_.push_back(mode);
      trees_.push_back(round.trees.empty() ? schedule::CliqueTrees{} : round.trees[c]);
      loads_.push_back(trees_[c].empty() ? problem.model().load(round.cliques[c], mode)
                                         : problem.model().load(round.cliques[c], trees_[c]));
      for (const schedule::ResourceLoad& load : loads_.back().loads) {
        share_[load.resource] += share(c, load);
        updates_[load.resource] += load.updates;
      }
    }
  }

  const std::vector<double>& shares() const { return share_; }

  report::MapDetail detail() const {
    report::MapDetail detail;
    detail.note = fmt::format("{:.3f} s", time_.seconds);
    if (!time_.bottleneck.empty())
      detail.note += fmt::format(", bottleneck {}: {:.4g} update{}", time_.bottleneck,
                                 time_.bottleneck_updates, time_.bottleneck_updates == 1 ? "" : "s");
    std::map<std::size_t, Links> trees;
    for (std::size_t c = 0; c < loads_.size(); ++c) {
      std::map<std::size_t, double> fuller;  // By link, of its two directions.
      for (const schedule::ResourceLoad& load : loads_[c].loads)
        if (load.resource >= 2 * problem_.islands()) {
          double& most = fuller[(load.resource - 2 * problem_.islands()) / 2];
          most = std::max(most, share(c, load));
        }
      for (const auto& [link, most] : fuller) detail.uses.push_back({c, link, most});
      add_trees(problem_, round_.cliques[c], modes_[c], trees_[c], trees);
    }
    for (const auto& [site, links] : trees) detail.trees.push_back({site, {links.begin(), links.end()}});
    const std::size_t n = problem_.islands();
    for (std::size_t e = 0; e < share_.size(); ++e) {
      if (share_[e] <= 0) continue;
      const std::string note = note_of(problem_, e, share_[e], updates_[e]);
      if (e >= 2 * n)
        add_note(detail.link_notes, (e - 2 * n) / 2, note);
      else
        add_note(detail.site_notes, problem_.network().islands[e % n].site, note);
    }
    return detail;
  }

  report::GanttRound bars(std::size_t number) const {
    report::GanttRound bars{
        fmt::format("round {}, {:.3f} s", number, time_.seconds), time_.seconds, time_.bottleneck, {}};
    for (std::size_t c = 0; c < loads_.size(); ++c) {
      const CliqueLoad* const alone = &loads_[c];
      report::GanttClique bar{.name = clique_name(round_.cliques[c], problem_.network()),
                              .lanes = {round_.cliques[c].begin(), round_.cliques[c].end()},
                              .latency_s = loads_[c].latency_s,
                              .alone_s = schedule::RoundModel::least_time({&alone, 1}, update_s_)};
      if (modes_[c].mode != Mode::kDirect) bar.note = std::string(schedule::mode_name(modes_[c].mode));
      bars.cliques.push_back(std::move(bar));
    }
    return bars;
  }

 private:
  double share(std::size_t clique, const schedule::ResourceLoad& load) const {
    return load.updates * update_s_[load.resource] / (time_.seconds - loads_[clique].latency_s);
  }

  const Problem& problem_;
  const schedule::Round& round_;
  const RoundTime& time_;
  std::vector<double> update_s_;
  std::vector<double> share_;    ///< By resource.
  std::vector<double> updates_;  ///< By resource.
  std::vector<CliqueMode> modes_;
  std::vector<schedule::CliqueTrees> trees_;  ///< By clique; empty: along shortest routes.
  std::vector<CliqueLoad> loads_;
};

}  // namespace

std::string clique_name(const Clique& clique, const Network& network) {
  return fmt::format("{}", fmt::join(island_names(clique, network), " "));
}

RoundPictures picture_rounds(const schedule::Topology& topology, const Problem& problem,
                             const schedule::Schedule& schedule, std::span<const RoundTime> times) {
  RoundPictures pictures;
  pictures.summary = summarize(topology, problem, schedule, times);
  for (const schedule::Island& island : problem.network().islands) pictures.gantt.lanes.push_back(island.id);
  for (std::size_t r = 0; r < schedule.rounds.size(); ++r) {
    const RoundPicture picture(problem, schedule.rounds[r], times[r]);
    pictures.details.push_back(picture.detail());
    pictures.gantt.rounds.push_back(picture.bars(r));
    pictures.shares.push_back(picture.shares());
  }
  return pictures;
}

}  // namespace tombolo::tools
