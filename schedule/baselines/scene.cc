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

Result<Scene> Scene::make(const Problem& problem) {
  const std::vector<Island>& islands = problem.network.islands;
  if (islands.size() < 2) return invalid_input("a comparison needs at least two islands");
  if (!(problem.update_bytes > 0) || !std::isfinite(problem.update_bytes))
    return invalid_input("the update must be larger than 0 bytes");
  if (!(problem.step_s > 0) || !std::isfinite(problem.step_s))
    return invalid_input(fmt::format("a local step of {} s; must be above 0", problem.step_s));
  for (const Island& from : islands)
    for (const Island& to : islands)
      if (!problem.routes.reaches(from.site, to.site))
        return invalid_input("there is no way from island " + from.id + " to island " + to.id);
  return Scene(problem);
}

Scene::Scene(const Problem& problem)
    : problem_(problem), latency_s_(islands(), islands()), paths_(islands() * islands()) {
  const Network& network = problem_.network;
  const std::uint32_t first_link = static_cast<std::uint32_t>(2 * islands());
  for (std::size_t from = 0; from < islands(); ++from)
    for (std::size_t to = 0; to < islands(); ++to) {
      const SiteId source = network.islands[from].site;
      SiteId site = network.islands[to].site;
      latency_s_(from, to) = static_cast<double>(problem_.routes.latency_ns(source, site)) * kSecondsPerNs;
      for (; site != source; site = problem_.routes.parent(source, site))
        paths_[from * islands() + to].push_back(first_link + problem_.routes.link_into(source, site));
    }
  const double bits = problem_.update_bytes * static_cast<double>(kBitsPerByte);
  for (const Island& island : network.islands)
    update_s_.push_back(bits / static_cast<double>(network.egress_bps[island.site]));
  for (const Island& island : network.islands)
    update_s_.push_back(bits / static_cast<double>(network.ingress_bps[island.site]));
  for (const DirectedLink& link : network.links)
    update_s_.push_back(bits / static_cast<double>(link.capacity_bps));
}

Result<double> Scene::clique_time_s(const Round& round) const {
  return clique_time_s(round, problem_.capabilities.family);
}

Result<double> Scene::clique_time_s(const Round& round, Family family) const {
  Capabilities capabilities = problem_.capabilities;
  capabilities.family = family;
  const auto time =
      RoundModel(problem_.network, problem_.routes, capabilities).time(round, problem_.update_bytes);
  if (!time) return time.error();
  return time->seconds;
}

double Scene::pattern_time_s(std::span<const Message> messages) const {
  std::vector<double> loads(resources(), 0.0);
  std::vector<Message> sorted(messages.begin(), messages.end());
  std::sort(sorted.begin(), sorted.end(), [](const Message& a, const Message& b) {
    return std::pair(a.from, a.payload) < std::pair(b.from, b.payload);
  });
  double latency_s = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    if (problem_.capabilities.multicast)
      while (end < sorted.size() && sorted[end].from == sorted[begin].from &&
             sorted[end].payload == sorted[begin].payload)
        ++end;
    latency_s = std::max(latency_s, add_tree_loads(std::span(sorted).subspan(begin, end - begin), loads));
    begin = end;
  }
  double busy_s = 0;
  for (std::size_t resource = 0; resource < loads.size(); ++resource)
    busy_s = std::max(busy_s, loads[resource] * update_s_[resource]);
  return messages.empty() ? 0 : latency_s + busy_s;
}

/// Messages with the same bytes: the source sends once, and each link of the union of their routes carries
/// them once. Returns the longest latency.
double Scene::add_tree_loads(std::span<const Message> same_payload, std::vector<double>& loads) const {
  const double updates = same_payload.front().updates;
  loads[same_payload.front().from] += updates;
  std::vector<std::uint32_t> links;
  double latency_s = 0;
  for (const Message& message : same_payload) {
    loads[islands() + message.to] += updates;
    latency_s = std::max(latency_s, latency_s_(message.from, message.to));
    const auto route = path(message.from, message.to);
    links.insert(links.end(), route.begin(), route.end());
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  for (const std::uint32_t link : links) loads[link] += updates;
  return latency_s;
}

Result<double> Scene::matrix_time_s(const Matrix& w) const {
  Round round;
  if (!is_clique_round(w, round)) return pattern_time_s(messages_of(w));
  if (round.cliques.empty()) return problem_.step_s;
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
