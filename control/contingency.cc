#include "control/contingency.h"

#include <algorithm>
#include <utility>

#include "control/membership.h"

namespace tombolo::control {
namespace {

using schedule::Network;
using schedule::Rank;
using schedule::SiteId;

/// What every edge reports when one thing is out of service.
struct Fault {
  std::optional<SiteId> site;
  std::optional<schedule::LostLink> link;
  std::optional<Rank> island;

  bool concerns(SiteId a, SiteId b) const {
    if (site == a || site == b) return true;
    return link && *link == schedule::LostLink{std::min(a, b), std::max(a, b)};
  }
};

/// The verdict of the policy that the controller uses, so that what is reserved is what will be wanted.
Survivors survivors_of(const Network& network, const Fault& fault) {
  const SurvivorOptions options;
  SurvivorPolicy policy(network, options);
  Nanoseconds now_ns = kSecond;
  for (const Fault& seen : {Fault{}, fault}) {
    for (SiteId site = 0; site < network.site_names.size(); ++site) {
      if (seen.site == site) {
        policy.silent(site, now_ns);
        continue;
      }
      std::vector<LinkState> links;
      for (const schedule::DirectedLink& link : network.links)
        if (link.from == site) links.push_back({false, link.to, !seen.concerns(link.from, link.to)});
      for (Rank rank = 0; rank < network.islands.size(); ++rank)
        if (network.islands[rank].site == site) links.push_back({true, rank, seen.island != rank});
      policy.report(site, links, now_ns);
    }
    policy.advance(now_ns);
    now_ns += options.settle_ns + options.return_ns + kSecond;
    policy.advance(now_ns);
  }
  return policy.survivors();
}

/// Whether trees that the schedule gives a clique use no link that is lost.
bool all_in_service(const Network& network, const schedule::CliqueTrees& trees) {
  return std::all_of(trees.begin(), trees.end(), [&](const schedule::SourceTree& tree) {
    return std::all_of(tree.begin(), tree.end(), [&](const schedule::SiteLink& link) {
      return schedule::find_link(network, link).has_value();
    });
  });
}

}  // namespace

Result<schedule::EpochPlan> plan_without(const Network& network, const Nominal& nominal,
                                         const Survivors& survivors, std::uint32_t epoch) {
  Network remaining = network;
  std::erase_if(remaining.links, [&survivors](const schedule::DirectedLink& link) {
    return survivors.lost_links.contains({std::min(link.from, link.to), std::max(link.from, link.to)});
  });
  auto schedule = without(nominal.schedule, survivors.lost_islands);
  if (!schedule) return std::move(schedule).error();
  for (schedule::Round& round : schedule->rounds)
    for (schedule::CliqueTrees& trees : round.trees)
      if (!all_in_service(remaining, trees)) trees.clear();
  schedule::CompileOptions options = nominal.options;
  options.epoch = epoch;
  options.lost_links.assign(survivors.lost_links.begin(), survivors.lost_links.end());
  options.lost_ranks.assign(survivors.lost_islands.begin(), survivors.lost_islands.end());
  return schedule::compile(remaining, *schedule, options);
}

Result<std::vector<schedule::EpochPlan>> contingency_plans(const Network& network, const Nominal& nominal) {
  auto whole = plan_without(network, nominal, {}, 1);
  if (!whole) return std::move(whole).error();
  std::vector<schedule::EpochPlan> plans{std::move(whole).value()};
  std::vector<Fault> faults;
  for (SiteId site = 0; site < network.site_names.size(); ++site) faults.push_back({site, {}, {}});
  for (const schedule::DirectedLink& link : network.links)
    if (link.from < link.to) faults.push_back({{}, schedule::LostLink{link.from, link.to}, {}});
  for (Rank rank = 0; rank < network.islands.size(); ++rank) faults.push_back({{}, {}, rank});
  for (const Fault& fault : faults)
    if (auto plan = plan_without(network, nominal, survivors_of(network, fault), 1))
      plans.push_back(std::move(plan).value());
  return plans;
}

}  // namespace tombolo::control
