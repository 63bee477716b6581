// What a clique asks of the network in each mode, and the choice among modes, against a second computation
// that is written from the table in schedule/README.md with lists of links instead of marks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "schedule/mode_choice.h"
#include "schedule/round_model.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

using Loads = std::map<std::uint32_t, double>;
using Path = std::vector<std::uint32_t>;  ///< Links, from source to destination.

/// The table, for one clique; only capabilities given site by site and link by link.
class Table {
 public:
  Table(const Network& network, const Routes& routes, const Capabilities& with)
      : network_(network), routes_(routes), with_(with) {}

  Loads loads(const Clique& clique, CliqueMode mode) const {
    Loads all;
    const double k = static_cast<double>(clique.size());
    const std::uint32_t n = static_cast<std::uint32_t>(network_.islands.size());
    for (const Rank member : clique) {
      const double out = with_.site_replicates[site(member)] ? 1 : k - 1;
      const double in = with_.site_aggregates[site(member)] ? 1 : k - 1;
      switch (mode.mode) {
        case Mode::kDirect:
          all[member] = out;
          all[n + member] = in;
          add(all, copies(site(member), clique), 1);
          break;
        case Mode::kSharded:
          all[member] = (k - 1) / k + out / k;
          all[n + member] = in / k + (k - 1) / k;
          for (const Rank other : clique)
            for (const std::uint32_t link : path(site(member), site(other))) all[2 * n + link] += 1 / k;
          add(all, copies(site(member), clique), 1 / k);
          break;
        case Mode::kTree:
          all[member] = 1;
          all[n + member] = 1;
      }
    }
    if (mode.mode == Mode::kTree) {
      add(all, copies(mode.root, clique), 1);
      // Every update goes up by itself until a site that folds swallows all but the first of its clique.
      std::set<SiteId> folded;
      for (const Rank member : clique) {
        SiteId at = site(member);
        for (const std::uint32_t link : path(at, mode.root)) {
          if (with_.site_aggregates[at] && !folded.insert(at).second) break;
          all[2 * n + link] += with_.partial_ratio;
          at = network_.links[link].to;
        }
      }
    }
    return all;
  }

  double latency_s(const Clique& clique, CliqueMode mode) const {
    std::uint64_t pair = 0;
    std::uint64_t up = 0;
    std::uint64_t down = 0;
    for (const Rank a : clique) {
      for (const Rank b : clique) pair = std::max(pair, routes_.latency_ns(site(a), site(b)));
      if (mode.mode != Mode::kTree) continue;
      up = std::max(up, routes_.latency_ns(site(a), mode.root));
      down = std::max(down, routes_.latency_ns(mode.root, site(a)));
    }
    const double ns = static_cast<double>(mode.mode == Mode::kDirect    ? pair
                                          : mode.mode == Mode::kSharded ? 2 * pair
                                                                        : up + down);
    return ns * 1e-9;
  }

 private:
  SiteId site(Rank rank) const { return network_.islands[rank].site; }
  Path path(SiteId from, SiteId to) const {
    Path links;
    for (; to != from; to = routes_.parent(from, to)) links.push_back(routes_.link_into(from, to));
    std::reverse(links.begin(), links.end());
    return links;
  }
  std::map<std::uint32_t, double> copies(SiteId source, const Clique& receivers) const {
    std::map<std::uint32_t, double> count;
    for (const Rank receiver : receivers) {
      bool shared = with_.site_replicates[source];
      for (const std::uint32_t link : path(source, site(receiver))) {
        shared = shared && with_.link_multicast[link];
        count[link] = shared ? 1 : count[link] + 1;
      }
    }
    return count;
  }
  void add(Loads& all, const std::map<std::uint32_t, double>& core, double each) const {
    for (const auto& [link, updates] : core)
      all[static_cast<std::uint32_t>(2 * network_.islands.size()) + link] += each * updates;
  }

  const Network& network_;
  const Routes& routes_;
  const Capabilities& with_;
};

Capabilities random_capabilities(Random& random, const Network& network) {
  Capabilities with{true, Aggregation::kTree, Family::kBest};
  const bool alike = random.chance(0.3);
  const double share = alike ? 1 : 0.7;
  for (std::size_t i = 0; i < network.site_names.size(); ++i) {
    with.site_replicates.push_back(random.chance(share));
    with.site_aggregates.push_back(random.chance(share));
  }
  for (std::size_t i = 0; i < network.links.size(); ++i) with.link_multicast.push_back(random.chance(share));
  with.partial_ratio = random.chance(0.5) ? 1 : 2;
  return with;
}

TEST(Modes, LoadsAreThoseOfTheTable) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const Capabilities with = random_capabilities(random, network);
    const RoundModel model(network, routes, with);
    const Table table(network, routes, with);
    for (const Clique& clique : random_round(random, network.islands.size()).cliques)
      for (const CliqueMode mode : model.allowed_modes(clique)) {
        SCOPED_TRACE(mode_name(mode.mode));
        const CliqueLoad load = model.load(clique, mode);
        EXPECT_NEAR(load.latency_s, table.latency_s(clique, mode), 1e-15);
        const Loads expected = table.loads(clique, mode);
        ASSERT_EQ(load.loads.size(), expected.size());
        auto next = expected.begin();
        for (const ResourceLoad& at : load.loads) {
          EXPECT_EQ(at.resource, next->first);
          EXPECT_NEAR(at.updates, next->second, 1e-12) << model.resource_name(at.resource);
          ++next;
        }
      }
  }
}

/// Capabilities for all and the same capabilities one by one are one thing, and so is a denial by the
/// network.
TEST(Modes, CapabilitiesOneByOne) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const Round round = random_round(random, network.islands.size());
    const bool multicast = random.chance(0.5);
    const bool aggregates = random.chance(0.5);
    const Aggregation aggregation = aggregates ? Aggregation::kEdge : Aggregation::kNone;
    const std::size_t sites = network.site_names.size();
    const double all = RoundModel(network, routes, {multicast, aggregation}).time(round, 1e7)->seconds;
    Capabilities each{!multicast, Aggregation::kEdge};
    each.site_replicates.assign(sites, multicast);
    each.site_aggregates.assign(sites, aggregates);
    each.link_multicast.assign(network.links.size(), multicast);
    EXPECT_EQ(RoundModel(network, routes, each).time(round, 1e7)->seconds, all);
    Network denied = network;
    denied.site_replicates.assign(sites, multicast);
    denied.site_aggregates.assign(sites, aggregates);
    for (DirectedLink& link : denied.links) link.multicast = multicast;
    EXPECT_EQ(RoundModel(denied, routes, {true, Aggregation::kEdge}).time(round, 1e7)->seconds, all);
  }
}

TEST(Modes, TheCentralRootHasTheLeastRadius) {
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const Routes routes(network);
  const RoundModel model(network, routes, {true, Aggregation::kTree});
  const Clique all = full_schedule(network.islands)->rounds[0].cliques[0];
  std::vector<std::uint64_t> radius;
  for (SiteId root = 0; root < 9; ++root) {
    radius.push_back(0);
    for (SiteId site = 0; site < 9; ++site)
      radius.back() = std::max(radius.back(), routes.latency_ns(root, site));
  }
  const auto root = model.central_root(all);
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(*root, std::min_element(radius.begin(), radius.end()) - radius.begin());
  // A site that does not aggregate is no root.
  Capabilities with{true, Aggregation::kTree};
  with.site_aggregates.assign(9, true);
  with.site_aggregates[*root] = false;
  EXPECT_NE(RoundModel(network, routes, with).central_root(all), root);
  with.site_aggregates.assign(9, false);
  const RoundModel none(network, routes, with);
  EXPECT_FALSE(none.central_root(all).has_value());
  EXPECT_EQ(none.allowed_modes(all), std::vector<CliqueMode>{CliqueMode{}});
}

/// Every assignment of modes to cliques, tried.
TEST(Modes, AreChosenJointly) {
  int gains = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const Capabilities with = random_capabilities(random, network);
    const RoundModel model(network, routes, with);
    const double bytes = 1e5 * static_cast<double>(1 + random.below(10'000));
    const Round round = random_round(random, network.islands.size());
    const auto chosen = model.time(round, bytes);
    ASSERT_TRUE(chosen.ok());
    EXPECT_TRUE(chosen->modes_proven);

    double least_s = std::numeric_limits<double>::infinity();
    Round tried = round;
    Round apart = round;  // The quicker mode clique by clique.
    tried.modes.resize(round.cliques.size());
    apart.modes.resize(round.cliques.size());
    std::vector<std::vector<CliqueMode>> modes;
    std::size_t assignments = 1;
    for (std::size_t i = 0; i < round.cliques.size(); ++i) {
      modes.push_back(model.allowed_modes(round.cliques[i]));
      assignments *= modes.back().size();
      apart.modes[i] = model.time(Round{{round.cliques[i]}}, bytes)->modes[0];
    }
    for (std::size_t code = 0; code < assignments; ++code) {
      std::size_t rest = code;
      for (std::size_t i = 0; i < modes.size(); ++i) {
        tried.modes[i] = modes[i][rest % modes[i].size()];
        rest /= modes[i].size();
      }
      least_s = std::min(least_s, model.time(tried, bytes)->seconds);
    }
    EXPECT_EQ(chosen->seconds, least_s);
    tried.modes.assign(chosen->modes.begin(), chosen->modes.end());
    EXPECT_EQ(model.time(tried, bytes)->seconds, least_s);
    if (model.time(apart, bytes)->seconds > least_s * 1.001) ++gains;
  }
  EXPECT_GT(gains, 0) << "no network of these shows why modes are chosen jointly";
}

/// The least double at which no resource is over its capacity, against plain halving resource by resource.
TEST(Modes, LeastTimeToTheLastDigit) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::size_t resources = 1 + random.below(6);
    std::vector<CliqueLoad> cliques(1 + random.below(4));
    std::vector<double> update_s;
    for (std::size_t r = 0; r < resources; ++r)
      update_s.push_back(std::pow(10.0, static_cast<double>(random.below(6))) * 1e-4 * (0.1 + random.unit()));
    for (CliqueLoad& clique : cliques) {
      clique.latency_s = random.unit() * 0.2;
      for (std::uint32_t r = 0; r < resources; ++r)
        if (r == 0 || random.chance(0.5))
          clique.loads.push_back({r, static_cast<double>(1 + random.below(5))});
    }
    std::vector<const CliqueLoad*> round;
    for (const CliqueLoad& clique : cliques) round.push_back(&clique);
    const double time_s = RoundModel::least_time(round, update_s);

    double expected_s = 0;
    for (std::uint32_t r = 0; r < resources; ++r) {
      double low = 0;
      double high = 0;
      const auto fits = [&](double t) {
        double sum = 0;
        for (const CliqueLoad& clique : cliques)
          for (const ResourceLoad& load : clique.loads)
            if (load.resource == r) {
              if (!(t > clique.latency_s)) return false;
              sum += load.updates * update_s[r] / (t - clique.latency_s);
            }
        return sum <= 1;
      };
      for (const CliqueLoad& clique : cliques) {
        high += clique.latency_s;
        for (const ResourceLoad& load : clique.loads)
          if (load.resource == r) high += load.updates * update_s[r];
      }
      for (int step = 0; step < 2000; ++step) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) break;
        (fits(middle) ? high : low) = middle;
      }
      if (!fits(0)) expected_s = std::max(expected_s, high);
    }
    EXPECT_NEAR(time_s / expected_s, 1, 4 * std::numeric_limits<double>::epsilon());
  }
}

/// A clique that exchanges directly is a pattern of messages in which a source's are copies of one update.
TEST(Modes, MessagesSayTheSameAsACliqueThatExchangesDirectly) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const Capabilities with = random_capabilities(random, network);
    const RoundModel model(network, routes, with);
    const Clique clique = random_round(random, network.islands.size()).cliques[0];
    MessageRound messages;
    messages.foldable = true;
    for (const Rank from : clique)
      for (const Rank to : clique)
        if (from != to) messages.messages.push_back({.from = from, .to = to});
    const CliqueLoad expected = model.load(clique, CliqueMode{});
    const auto load = model.load(messages);
    ASSERT_TRUE(load.ok());
    EXPECT_EQ(load->latency_s, expected.latency_s);
    ASSERT_EQ(load->loads.size(), expected.loads.size());
    for (std::size_t i = 0; i < expected.loads.size(); ++i) {
      EXPECT_EQ(load->loads[i].resource, expected.loads[i].resource);
      EXPECT_EQ(load->loads[i].updates, expected.loads[i].updates);
    }
  }
}

TEST(Modes, MessagesByHand) {
  // A - B - C, 5 ms and 15 ms, 10 Gbit/s; 1.25 GB take a second.
  const Network network = shipped_network("three-site.yaml", "even");
  const Routes routes(network);
  const RoundModel model(network, routes, {true, Aggregation::kEdge});
  // A ring of shards: each sends a third to the next; C to A passes B.
  MessageRound ring{{{0, 1, 1.0 / 3}, {1, 2, 1.0 / 3}, {2, 0, 1.0 / 3}}};
  EXPECT_NEAR(*model.time(ring, 1.25e9), 0.020 + 1.0 / 3, 1e-12);
  // A to both: the same data goes out once, other data twice, over A's egress and A-B.
  MessageRound star{{{.from = 0, .to = 1}, {.from = 0, .to = 2}}};
  EXPECT_NEAR(*model.time(star, 1.25e9), 1.020, 1e-12);
  star.messages[1].payload = 1;
  EXPECT_NEAR(*model.time(star, 1.25e9), 2.020, 1e-12);
  // Both to B: its ingress carries both, or what is folded.
  MessageRound gather{{{.from = 0, .to = 1}, {.from = 2, .to = 1}}};
  EXPECT_NEAR(*model.time(gather, 1.25e9), 2.015, 1e-12);
  gather.foldable = true;
  EXPECT_NEAR(*model.time(gather, 1.25e9), 1.015, 1e-12);

  const auto refused = [&](const MessageRound& round) { return !model.time(round, 1e9).ok(); };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({{{.from = 0, .to = 0}}}));
  EXPECT_TRUE(refused({{{.from = 0, .to = 3}}}));
  EXPECT_TRUE(refused({{{.from = 0, .to = 1, .share = 0}}}));
  EXPECT_FALSE(model.time(ring, 0).ok());
}

/// The rows of the published table in which cliques are sharded, or fold in a tree.
TEST(Modes, ReferenceValuesOfTheFullClique) {
  const auto full_s = [](const char* profile, Capabilities with) {
    const Network network = shipped_network("nine-city.yaml", profile);
    const Routes routes(network);
    const auto time = RoundModel(network, routes, with).time(full_schedule(network.islands)->rounds[0], 1e9);
    EXPECT_TRUE(time.ok());
    return *time;
  };
  const RoundTime sharded = full_s("access-limited", {false, Aggregation::kNone, Family::kBest});
  EXPECT_NEAR(sharded.seconds, 1.7562, 5e-5);
  EXPECT_NEAR(1.5 * sharded.seconds * 8 / 9, 2.3416, 5e-5);
  EXPECT_EQ(sharded.modes[0].mode, Mode::kSharded);
  const RoundTime tree = full_s("testnet10", {true, Aggregation::kTree, Family::kDirect});
  EXPECT_NEAR(tree.seconds, 0.982, 5e-4);
  EXPECT_NEAR(1.5 * tree.seconds * 8 / 9, 1.309, 5e-4);
  EXPECT_EQ(tree.modes[0].mode, Mode::kTree);
  EXPECT_NE(tree.modes[0].root, kCentralRoot);
}

}  // namespace
}  // namespace tombolo::schedule
