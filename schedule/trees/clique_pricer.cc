#include "schedule/trees/clique_pricer.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "schedule/trees/shortest_tree.h"

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;

/// Far from one another: each next is the one whose nearest so far is farthest.
std::vector<SiteId> spread_out(const std::vector<SiteId>& sites, std::size_t count, const Routes& routes) {
  std::vector<SiteId> chosen{sites.front()};
  while (chosen.size() < count) {
    std::uint64_t most_ns = 0;
    SiteId best = sites.front();
    for (const SiteId site : sites) {
      std::uint64_t near_ns = std::numeric_limits<std::uint64_t>::max();
      for (const SiteId other : chosen) near_ns = std::min(near_ns, routes.latency_ns(other, site));
      if (near_ns <= most_ns) continue;
      most_ns = near_ns;
      best = site;
    }
    chosen.push_back(best);
  }
  return chosen;
}

}  // namespace

CliquePricer::CliquePricer(const RoundModel& model, const Clique& clique)
    : model_(model), clique_(clique), multicast_(model.capabilities().multicast) {
  for (const Rank rank : clique)
    if (std::find(sites_.begin(), sites_.end(), site(rank)) == sites_.end()) sites_.push_back(site(rank));
  // Without multicast each path is priced by itself, so any number will do.
  const std::size_t most = multicast_ ? kMostTerminals : SteinerTable::kMaxPaths;
  terminals_ = sites_.size() <= most ? sites_ : spread_out(sites_, most, model.routes());
  for (const ResourceLoad& asked : model.load(clique, CliqueMode{Mode::kDirect}).loads)
    if (asked.resource < 2 * model.network().islands.size()) access_.push_back(asked);
}

double CliquePricer::receivers_at(SiteId at) const {
  return static_cast<double>(
      std::count_if(clique_.begin(), clique_.end(), [&](Rank rank) { return site(rank) == at; }));
}

const std::vector<CliquePricer::Point>& CliquePricer::find(std::span<const double> price,
                                                           std::uint64_t limit_ns,
                                                           const RulesByMember& rules) {
  price_.assign(price.begin(), price.end());
  const Network& network = model_.network();
  while (tables_.size() < 1 + rules.size()) tables_.emplace_back(network);
  tables_.front().solve(terminals_, price, {}, limit_ns, multicast_);
  std::size_t next = 1;
  found_.assign(clique_.size(), {});
  for (std::size_t i = 0; i < clique_.size(); ++i) {
    Member& member = found_[i];
    member.site = site(clique_[i]);
    const auto ruled = rules.find(i);
    if (ruled == rules.end()) {
      member.table = &tables_.front();
      find_offers(member, terminals_);
      continue;
    }
    member.required = ruled->second.required;
    member.forbidden = ruled->second.forbidden;
    std::vector<SiteId> terminals;
    for (const SiteId terminal : terminals_)
      if (terminal != member.site) terminals.push_back(terminal);
    for (const SiteId extra : member.required)
      if (terminals.size() < SteinerTable::kMaxTerminals && extra != member.site &&
          std::find(terminals.begin(), terminals.end(), extra) == terminals.end())
        terminals.push_back(extra);
    SteinerTable& table = tables_[next++];
    table.solve(terminals, price, member.forbidden, limit_ns, multicast_);
    member.table = &table;
    find_offers(member, terminals);
  }
  find_curve();
  return curve_;
}

/// With multicast straight from the table. Without, a path to each site: all trades of their summed prices
/// against the longest, from the dearest and lowest down as one path after the other may be longer.
void CliquePricer::find_offers(Member& member, std::span<const SiteId> terminals) const {
  std::uint64_t mask = 0;
  for (std::size_t t = 0; t < terminals.size(); ++t)
    if (terminals[t] != member.site) mask |= std::uint64_t{1} << t;
  if (mask == 0) {
    member.offers.push_back({});
    return;
  }
  if (multicast_) {
    for (const std::uint32_t index : member.table->trees(member.site, mask)) {
      const SteinerTable::Label& label = member.table->label(index);
      member.offers.push_back({label.price, label.height_ns, {index}});
    }
    return;
  }
  std::set<std::uint64_t, std::greater<>> heights_ns;
  for (std::size_t t = 0; t < terminals.size(); ++t)
    if ((mask >> t & 1) != 0)
      for (const std::uint32_t index : member.table->trees(member.site, std::uint64_t{1} << t))
        heights_ns.insert(member.table->label(index).height_ns);
  for (const std::uint64_t limit_ns : heights_ns) {
    Offer offer;
    for (std::size_t t = 0; t < terminals.size(); ++t) {
      if ((mask >> t & 1) == 0) continue;
      const auto paths = member.table->trees(member.site, std::uint64_t{1} << t);
      const auto path = std::find_if(paths.begin(), paths.end(), [&](std::uint32_t index) {
        return member.table->label(index).height_ns <= limit_ns;
      });
      if (path == paths.end()) return;  // Lower is not possible.
      offer.price += receivers_at(terminals[t]) * member.table->label(*path).price;
      offer.height_ns = std::max(offer.height_ns, member.table->label(*path).height_ns);
      offer.labels.push_back(*path);
    }
    if (member.offers.empty() || offer.height_ns < member.offers.back().height_ns)
      member.offers.push_back(std::move(offer));
  }
}

void CliquePricer::find_curve() {
  curve_.clear();
  std::set<std::uint64_t> latencies_ns;
  std::uint64_t least_ns = 0;
  for (const Member& member : found_) {
    if (member.offers.empty()) return;
    least_ns = std::max(least_ns, member.offers.back().height_ns);
    for (const Offer& offer : member.offers) latencies_ns.insert(offer.height_ns);
  }
  for (auto latency_ns = latencies_ns.lower_bound(least_ns); latency_ns != latencies_ns.end(); ++latency_ns) {
    Point point{*latency_ns, 0};
    for (const Member& member : found_)
      point.price += std::find_if(member.offers.begin(), member.offers.end(), [&](const Offer& offer) {
                       return offer.height_ns <= *latency_ns;
                     })->price;
    if (curve_.empty() || point.price < curve_.back().price) curve_.push_back(point);
  }
}

std::vector<LinkTree> CliquePricer::trees(const Point& point) const {
  std::vector<LinkTree> trees;
  for (const Member& member : found_) {
    const auto offer = std::find_if(member.offers.begin(), member.offers.end(), [&](const Offer& candidate) {
      return candidate.height_ns <= point.latency_ns;
    });
    CHECK(offer != member.offers.end());
    std::vector<std::uint32_t> links;
    for (const std::uint32_t label : offer->labels) member.table->collect(label, links);
    trees.push_back(tidy(member, with_missing(member, std::move(links)), point.latency_ns));
  }
  return trees;
}

/// Adds ways to the sites that prices did not look at: the cheapest, where what is there costs nothing more.
std::vector<std::uint32_t> CliquePricer::with_missing(const Member& member,
                                                      std::vector<std::uint32_t> links) const {
  if (terminals_.size() == sites_.size()) return links;
  std::vector<double> price = price_;
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < price.size(); ++i)
    if (member.forbidden.empty() || !member.forbidden[i]) all.push_back(static_cast<std::uint32_t>(i));
  for (const SiteId missing : sites_) {
    if (std::find(terminals_.begin(), terminals_.end(), missing) != terminals_.end()) continue;
    if (multicast_)
      for (const std::uint32_t link : links) price[link] = 0;
    const auto path = shortest_tree(model_.network(), all, member.site, {&missing, 1}, price);
    if (path) links.insert(links.end(), path->begin(), path->end());
  }
  return links;
}

/// Branches may have met again: one tree of what is there.
LinkTree CliquePricer::tidy(const Member& member, const std::vector<std::uint32_t>& links,
                            std::uint64_t limit_ns) const {
  const Network& network = model_.network();
  std::vector<SiteId> sites = sites_;
  sites.insert(sites.end(), member.required.begin(), member.required.end());
  std::erase(sites, member.site);
  if (!multicast_) {  // Every path pays for itself: the cheapest, if they are quick enough.
    const auto cheap = shortest_tree(network, links, member.site, sites, price_);
    if (cheap && height_ns(network, *cheap, member.site, sites) <= limit_ns) return *cheap;
  }
  const auto quick = shortest_tree(network, links, member.site, sites, {});
  CHECK(quick.has_value());
  return *quick;
}

std::vector<LinkTree> CliquePricer::shortest() const {
  std::vector<LinkTree> trees;
  for (const Rank rank : clique_) {
    LinkTree links;
    for (const SiteId to : sites_)
      for (SiteId at = to; at != site(rank); at = model_.routes().parent(site(rank), at))
        links.push_back(model_.routes().link_into(site(rank), at));
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    trees.push_back(std::move(links));
  }
  return trees;
}

CliqueLoad CliquePricer::load(const std::vector<LinkTree>& trees) const {
  const Network& network = model_.network();
  std::vector<double> copies(network.links.size(), 0.0);
  std::uint64_t most_ns = 0;
  for (std::size_t i = 0; i < clique_.size(); ++i) {
    const SiteId source = site(clique_[i]);
    most_ns = std::max(most_ns, height_ns(network, trees[i], source, sites_));
    for (const std::uint32_t link : trees[i])
      if (multicast_) copies[link] += 1;
    if (multicast_) continue;
    for (const SiteId to : sites_)
      for (SiteId at = to; at != source;) {
        const auto into = std::find_if(trees[i].begin(), trees[i].end(),
                                       [&](std::uint32_t link) { return network.links[link].to == at; });
        copies[*into] += receivers_at(to);
        at = network.links[*into].from;
      }
  }
  CliqueLoad load{static_cast<double>(most_ns) * kSecondsPerNs, access_};
  for (std::size_t link = 0; link < copies.size(); ++link)
    if (copies[link] > 0)
      load.loads.push_back({static_cast<std::uint32_t>(2 * network.islands.size() + link), copies[link]});
  return load;
}

}  // namespace tombolo::schedule
