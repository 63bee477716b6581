#include "schedule/baselines/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

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
  for (std::size_t link = 0; link < network.links.size(); ++link) {
    const std::vector<bool>& links = setting_.capabilities.link_multicast;
    link_multicast_.push_back(network.links[link].multicast &&
                              (links.empty() ? setting_.capabilities.multicast : links[link]));
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
  std::vector<Message> sorted(messages.begin(), messages.end());
  std::sort(sorted.begin(), sorted.end(), [](const Message& a, const Message& b) {
    return std::pair(a.from, a.payload) < std::pair(b.from, b.payload);
  });
  double latency_s = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].from == sorted[begin].from &&
           sorted[end].payload == sorted[begin].payload)
      ++end;
    latency_s = std::max(latency_s, add_equal_loads(std::span(sorted).subspan(begin, end - begin), loads));
    begin = end;
  }
  return latency_s;
}

/// Messages with the same bytes from one source. Returns the longest latency.
double Scene::add_equal_loads(std::span<const Message> same_payload, std::vector<double>& loads) const {
  const Rank source = same_payload.front().from;
  const double updates = same_payload.front().updates;
  const std::size_t first_link = 2 * islands();
  loads[source] += replicates(source) ? updates : updates * static_cast<double>(same_payload.size());
  std::vector<std::uint32_t> once;
  double latency_s = 0;
  for (const Message& message : same_payload) {
    loads[islands() + message.to] += updates;
    latency_s = std::max(latency_s, latency_s_(source, message.to));
    const auto route = path(source, message.to);
    bool shared = replicates(source);
    for (auto link = route.rbegin(); link != route.rend(); ++link) {  // From the source on.
      shared = shared && link_multicast_[*link - first_link];
      if (shared)
        once.push_back(*link);
      else
        loads[*link] += updates;
    }
  }
  std::sort(once.begin(), once.end());
  once.erase(std::unique(once.begin(), once.end()), once.end());
  for (const std::uint32_t link : once) loads[link] += updates;
  return latency_s;
}

bool Scene::replicates(Rank rank) const {
  const Network& network = setting_.network;
  const SiteId site = network.islands[rank].site;
  const std::vector<bool>& sites = setting_.capabilities.site_replicates;
  const bool can = network.site_replicates.empty() || network.site_replicates[site];
  return can && (sites.empty() ? setting_.capabilities.multicast : sites[site]);
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
        messages.push_back({static_cast<Rank>(j), static_cast<Rank>(i), 1, 0});
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

Matrix matrix_of(const Round& round, std::size_t islands) {
  const auto n = static_cast<Eigen::Index>(islands);
  Matrix w = Matrix::Identity(n, n);
  for (const Clique& clique : round.cliques)
    for (const Rank a : clique)
      for (const Rank b : clique) w(a, b) = 1.0 / static_cast<double>(clique.size());
  return w;
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
