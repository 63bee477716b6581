#include "schedule/random_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"

namespace tombolo::schedule {
namespace {

constexpr double kDegree = std::numbers::pi / 180;
constexpr double kEarthRadiusKm = 6371;
/// Light in fibre, 4.9 us/km, on cables that are a third longer than the great circle.
constexpr double kNsPerKm = 4900 * 1.36;
constexpr double kMinOneWayNs = 100'000;  ///< Two sites of one city.
constexpr std::array<double, 4> kCoreGbps = {10, 40, 100, 100};
constexpr std::array<double, 6> kAccessGbps = {2.5, 10, 10, 10, 20, 40};

double distance_km(const Site& a, const Site& b) {
  const double lat_a = *a.lat_deg * kDegree;
  const double lat_b = *b.lat_deg * kDegree;
  const double east = (*a.lon_deg - *b.lon_deg) * kDegree;
  const double cosine =
      std::sin(lat_a) * std::sin(lat_b) + std::cos(lat_a) * std::cos(lat_b) * std::cos(east);
  return kEarthRadiusKm * std::acos(std::clamp(cosine, -1.0, 1.0));
}

/// Sites lie about centres of regions, of which there are about as many as sites in a region.
std::vector<Site> random_sites(Random& random, std::size_t count) {
  const auto regions = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  std::vector<std::pair<double, double>> centres;
  for (std::size_t i = 0; i < regions; ++i)
    centres.emplace_back(-45 + 105 * random.unit(), -180 + 360 * random.unit());
  std::vector<Site> sites;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [lat, lon] = centres[random.below(regions)];
    const double near_lat = lat + 16 * (random.unit() - 0.5);
    const double near_lon = lon + 24 * (random.unit() - 0.5);
    sites.push_back({fmt::format("S{}", i), "", near_lat, std::remainder(near_lon, 360.0)});
  }
  return sites;
}

/// Pairs (a < b) that a cable joins: the shortest tree over all sites, which connects them; each site's two
/// nearest; and, for one site in five, a long cable to anywhere.
std::set<std::pair<SiteId, SiteId>> random_cables(Random& random, const std::vector<Site>& sites) {
  const std::size_t count = sites.size();
  std::set<std::pair<SiteId, SiteId>> cables;
  const auto add = [&](std::size_t a, std::size_t b) {
    if (a != b) cables.emplace(static_cast<SiteId>(std::min(a, b)), static_cast<SiteId>(std::max(a, b)));
  };
  // Prim's algorithm: each site outside the tree knows its nearest inside.
  std::vector<std::size_t> nearest(count, 0);
  std::vector<bool> inside(count, false);
  inside[0] = true;
  for (std::size_t joined = 1; joined < count; ++joined) {
    std::size_t next = count;
    double least_km = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < count; ++i) {
      if (inside[i] || distance_km(sites[i], sites[nearest[i]]) >= least_km) continue;
      next = i;
      least_km = distance_km(sites[i], sites[nearest[i]]);
    }
    add(next, nearest[next]);
    inside[next] = true;
    for (std::size_t i = 0; i < count; ++i)
      if (distance_km(sites[i], sites[next]) < distance_km(sites[i], sites[nearest[i]])) nearest[i] = next;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::pair<double, std::size_t>> others;
    for (std::size_t j = 0; j < count; ++j)
      if (j != i) others.emplace_back(distance_km(sites[i], sites[j]), j);
    std::sort(others.begin(), others.end());
    for (std::size_t k = 0; k < std::min<std::size_t>(2, others.size()); ++k) add(i, others[k].second);
    if (random.chance(0.2)) add(i, random.below(count));
  }
  return cables;
}

std::uint64_t random_one_way_ns(Random& random, double km) {
  return static_cast<std::uint64_t>(std::max(kMinOneWayNs, km * kNsPerKm * (1 + 0.1 * random.unit())));
}

}  // namespace

Topology random_topology(std::uint64_t seed, std::size_t sites) {
  CHECK(sites >= 1 && sites <= kMaxSites);
  Random random(seed);
  Topology topology;
  topology.name = fmt::format("random-{}-{}", seed, sites);
  topology.sites = random_sites(random, sites);
  Profile profile;
  profile.name = "random";
  for (const auto& [a, b] : random_cables(random, topology.sites)) {
    const double km = distance_km(topology.sites[a], topology.sites[b]);
    Link link;
    link.a = a;
    link.b = b;
    link.one_way_ns_ab = random_one_way_ns(random, km);
    link.one_way_ns_ba = random_one_way_ns(random, km);
    profile.core_gbps_by_link[topology.links.size()] = kCoreGbps[random.below(kCoreGbps.size())];
    topology.links.push_back(link);
  }
  for (std::size_t i = 0; i < sites; ++i) {
    topology.islands.push_back({fmt::format("I{}", i), static_cast<SiteId>(i)});
    profile.access_gbps_by_site[static_cast<SiteId>(i)] = kAccessGbps[random.below(kAccessGbps.size())];
  }
  topology.profiles.push_back(std::move(profile));
  return topology;
}

Network random_network(std::uint64_t seed, std::size_t sites) {
  auto network = resolve(random_topology(seed, sites), "random");
  CHECK(network.ok());
  return *std::move(network);
}

}  // namespace tombolo::schedule
