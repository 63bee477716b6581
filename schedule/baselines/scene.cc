#include "schedule/baselines/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace tombolo::schedule::baselines {
namespace {

/// Below this an entry of a mixing matrix is rounding, not a message.
constexpr double kNothing = 1e-12;
constexpr double kSecondsPerNs = 1e-9;

}  // namespace

Result<Scene> Scene::make(const Setting& setting) {
  const std::vector<Island>& islands = setting.network.islands;
  if (islands.size() < 2) return invalid_input("a comparison needs at least two islands");
  if (!(setting.update_bytes > 0) || !std::isfinite(setting.update_bytes))
    return invalid_input("the update must be larger than 0 bytes");
  if (!(setting.step_s > 0) || !std::isfinite(setting.step_s))
    return invalid_input(fmt::format("a local step of {} s; must be above 0", setting.step_s));
  for (const Island& from : islands)
    for (const Island& to : islands)
      if (!setting.routes.reaches(from.site, to.site))
        return invalid_input("there is no way from island " + from.id + " to island " + to.id);
  return Scene(setting);
}

Scene::Scene(const Setting& setting)
    : setting_(setting), latency_s_(islands(), islands()), paths_(islands() * islands()) {
  const Network& network = setting_.network;
  for (const Family family : {Family::kDirect, Family::kSharded, Family::kBest}) {
    Capabilities capabilities = setting_.capabilities;
    capabilities.family = family;
    models_.emplace_back(network, setting_.routes, capabilities);
  }
  const std::uint32_t first_link = static_cast<std::uint32_t>(2 * islands());
  for (std::size_t from = 0; from < islands(); ++from)
    for (std::size_t to = 0; to < islands(); ++to) {
      const SiteId source = network.islands[from].site;
      SiteId site = network.islands[to].site;
      latency_s_(from, to) = static_cast<double>(setting_.routes.latency_ns(source, site)) * kSecondsPerNs;
      for (; site != source; site = setting_.routes.parent(source, site))
        paths_[from * islands() + to].push_back(first_link + setting_.routes.link_into(source, site));
    }
  const double bits = setting_.update_bytes * static_cast<double>(kBitsPerByte);
  for (const Island& island : network.islands)
    update_s_.push_back(bits / static_cast<double>(network.egress_bps[island.site]));
  for (const Island& island : network.islands)
    update_s_.push_back(bits / static_cast<double>(network.ingress_bps[island.site]));
  for (const DirectedLink& link : network.links)
    update_s_.push_back(bits / static_cast<double>(link.capacity_bps));
}

Result<double> Scene::clique_time_s(const Round& round) const {
  return clique_time_s(round, setting_.capabilities.family);
}

Result<double> Scene::clique_time_s(const Round& round, Family family) const {
  const auto time = models_[static_cast<std::size_t>(family)].time(round, setting_.update_bytes);
  if (!time) return time.error();
  return time->seconds;
}

double Scene::pattern_time_s(std::span<const Message> messages) const {
  std::vector<double> loads(resources(), 0.0);
  const double latency_s = add_loads(messages, loads);
  return latency_s + busy_s(loads);
}

double Scene::busy_s(std::span<const double> loads) const {
  double busy_s = 0;
  for (std::size_t resource = 0; resource < loads.size(); ++resource)
    busy_s = std::max(busy_s, loads[resource] * update_s_[resource]);
  return busy_s;
}

double Scene::add_loads(std::span<const Message> messages, std::vector<double>& loads) const {
  if (messages.empty()) return 0;
  const auto load = models_.front().load(MessageRound{{messages.begin(), messages.end()}});
  CHECK(load.ok());  // Baselines send between islands of the scene, which are all joined.
  for (const ResourceLoad& use : load->loads) loads[use.resource] += use.updates;
  return load->latency_s;
}

bool Scene::aggregates(Rank rank) const {
  const Network& network = setting_.network;
  const SiteId site = network.islands[rank].site;
  const std::vector<bool>& sites = setting_.capabilities.site_aggregates;
  const bool can = network.site_aggregates.empty() || network.site_aggregates[site];
  return can && (sites.empty() ? setting_.capabilities.aggregation != Aggregation::kNone : sites[site]);
}

Result<double> Scene::matrix_time_s(const Matrix& w) const {
  Round round;
  if (!is_clique_round(w, round)) return pattern_time_s(messages_of(w));
  if (round.cliques.empty()) return setting_.step_s;
  return clique_time_s(round);
}

std::vector<Message> messages_of(const Matrix& w) {
  std::vector<Message> messages;
  for (Eigen::Index i = 0; i < w.rows(); ++i)
    for (Eigen::Index j = 0; j < w.cols(); ++j)
      if (i != j && std::abs(w(i, j)) > kNothing)
        messages.push_back({static_cast<Rank>(j), static_cast<Rank>(i)});
  return messages;
}

bool is_clique_round(const Matrix& w, Round& round) {
  round.cliques.clear();
  for (Eigen::Index i = 0; i < w.rows(); ++i) {
    Clique members;
    for (Eigen::Index j = 0; j < w.cols(); ++j)
      if (std::abs(w(i, j)) > kNothing) members.push_back(static_cast<Rank>(j));
    // Each member must have the same row: equal weights on the same members.
    for (const Rank a : members)
      for (Eigen::Index j = 0; j < w.cols(); ++j) {
        const bool inside = std::binary_search(members.begin(), members.end(), static_cast<Rank>(j));
        const double expected = inside ? 1.0 / static_cast<double>(members.size()) : 0.0;
        if (std::abs(w(a, j) - expected) > kNothing) return false;
      }
    if (members.size() >= 2 && members.front() == i) round.cliques.push_back(std::move(members));
  }
  return true;
}

Round round_of(std::vector<std::vector<Rank>> sets) {
  Round round;
  for (std::vector<Rank>& set : sets) {
    if (set.size() < 2) continue;
    std::sort(set.begin(), set.end());
    round.cliques.push_back(std::move(set));
  }
  return round;
}

}  // namespace tombolo::schedule::baselines
