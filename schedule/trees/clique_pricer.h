#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "schedule/round_model.h"
#include "schedule/trees/steiner.h"

namespace tombolo::schedule {

/// What a member's tree must keep to while a search divides the possibilities.
struct TreeRules {
  std::vector<bool> forbidden;   ///< By link.
  std::vector<SiteId> required;  ///< Sites that must be in the tree, whether members are there or not.
};

/// By member; who is missing is free.
using RulesByMember = std::map<std::size_t, TreeRules>;

/// Trees for the members of one clique of mode direct, and what they ask of the network. With multicast a
/// link carries one copy of what goes through it, without one for each receiving island behind it.
class CliquePricer {
 public:
  /// With so many sites or fewer to reach, prices are those of the best trees; with more, of the best trees
  /// to some of them, which is a bound, and the trees are completed as well as may be.
  static constexpr std::size_t kMostTerminals = 10;

  /// The model must outlive the pricer; sites and links are all alike in what they can do.
  CliquePricer(const RoundModel& model, const Clique& clique);

  /// One trade of latency against price: no trees of all members have a lower sum of prices within it.
  struct Point {
    std::uint64_t latency_ns = 0;
    double price = 0;
  };

  /// Finds all of those for `price` by link, up to `limit_ns`: ascending latency, descending price; empty if
  /// some member reaches nobody in time or by the rules. Valid until the next call.
  const std::vector<Point>& find(std::span<const double> price, std::uint64_t limit_ns,
                                 const RulesByMember& rules);
  /// The trees of a point, by member. Their latency is at most the point's where the prices are exact.
  std::vector<LinkTree> trees(const Point& point) const;

  /// Along the shortest routes.
  std::vector<LinkTree> shortest() const;
  /// What these trees ask for, access lines included.
  CliqueLoad load(const std::vector<LinkTree>& trees) const;
  /// What the clique asks of access lines, whatever its trees.
  const std::vector<ResourceLoad>& access() const { return access_; }
  std::size_t members() const { return clique_.size(); }
  const Clique& clique() const { return clique_; }

 private:
  /// A tree of one member, as labels of a table: one, or without multicast one for each site.
  struct Offer {
    double price = 0;
    std::uint64_t height_ns = 0;
    std::vector<std::uint32_t> labels;
  };
  struct Member {
    SiteId site = 0;
    const SteinerTable* table = nullptr;
    std::vector<SiteId> required;
    std::vector<bool> forbidden;
    std::vector<Offer> offers;  ///< Ascending price, descending height.
  };

  SiteId site(Rank rank) const { return model_.network().islands[rank].site; }
  double receivers_at(SiteId site) const;
  void find_offers(Member& member, std::span<const SiteId> terminals) const;
  void find_curve();
  std::vector<std::uint32_t> with_missing(const Member& member, std::vector<std::uint32_t> links) const;
  LinkTree tidy(const Member& member, const std::vector<std::uint32_t>& links, std::uint64_t limit_ns) const;

  const RoundModel& model_;
  Clique clique_;
  bool multicast_;
  std::vector<SiteId> sites_;      ///< Of all members, each once.
  std::vector<SiteId> terminals_;  ///< Those that prices look at.
  std::vector<ResourceLoad> access_;
  std::vector<double> price_;
  std::vector<SteinerTable> tables_;  ///< The first for all who are free; then one for each who is not.
  std::vector<Member> found_;
  std::vector<Point> curve_;
};

}  // namespace tombolo::schedule
