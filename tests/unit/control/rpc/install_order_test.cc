#include "control/rpc/install_order.h"

#include <gtest/gtest.h>

#include "schedule/topology.h"

namespace tombolo::control {
namespace {

class InstallOrderTest : public testing::Test {
 protected:
  static InstallOrder order(std::string name, std::string yaml, std::optional<bool> multicast = {},
                            std::optional<bool> edge_aggregation = {}) {
    return {std::move(name), std::move(yaml), multicast, edge_aggregation};
  }
  Nominal applied(const Nominal& nominal, const InstallOrder& what) const {
    auto result = apply_order(nominal, what, configured, network);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return *result;
  }

  static schedule::Network three_sites() {
    schedule::Network network;
    network.site_names = {"A", "B", "C"};
    network.islands = {{"A", 0}, {"B", 1}, {"C", 2}};
    return network;
  }

  const schedule::Network network = three_sites();
  const Nominal configured{*schedule::full_schedule(network.islands),
                           {.multicast = true, .edge_aggregation = true}};
};

TEST_F(InstallOrderTest, LaterOrdersAddToEarlierOnesAndAllOfThemComeBack) {
  Nominal nominal = applied(configured, order("", "name: pairs\nrounds: [[[A, B]], [[B, C]]]\n", false));
  EXPECT_EQ(nominal.schedule.rounds.size(), 2u);
  nominal = applied(nominal, order("", "", {}, false));
  EXPECT_EQ(nominal.schedule.rounds.size(), 2u) << "the schedule was not mentioned";
  const auto resumed = resume_order(nominal.order, configured, network);
  ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  EXPECT_EQ(resumed->schedule.name, "pairs");
  EXPECT_EQ(resumed->schedule.rounds.size(), 2u);
  EXPECT_EQ(resumed->schedule.rounds[1].cliques, (std::vector<schedule::Clique>{{1, 2}}));
  EXPECT_FALSE(resumed->options.multicast);
  EXPECT_FALSE(resumed->options.edge_aggregation);
  EXPECT_EQ(resumed->order, nominal.order);

  const Nominal full = applied(nominal, order("full", "", true));
  const auto later = resume_order(full.order, configured, network);
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(later->schedule.name, "full");
  EXPECT_TRUE(later->options.multicast);
  EXPECT_FALSE(later->options.edge_aggregation) << "as ordered before";
}

TEST_F(InstallOrderTest, ModesAndRootsComeBack) {
  const Nominal ordered =
      applied(configured, order("", "rounds: [[{members: [A, B, C], mode: tree, root: B}]]"));
  const auto resumed = resume_order(ordered.order, configured, network);
  ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  ASSERT_EQ(resumed->schedule.rounds[0].modes.size(), 1u);
  EXPECT_EQ(resumed->schedule.rounds[0].modes[0], (schedule::CliqueMode{schedule::Mode::kTree, 1}));
  const auto unknown = apply_order(
      configured, order("", "rounds: [[{members: [A, B], mode: tree, root: X}]]"), configured, network);
  EXPECT_FALSE(unknown.ok());
  // Another mode in the configuration is a newer word, too.
  Nominal changed = configured;
  changed.schedule.rounds[0].modes = {schedule::CliqueMode{schedule::Mode::kSharded}};
  EXPECT_EQ(resume_order(ordered.order, changed, network)->order, "");
}

TEST_F(InstallOrderTest, AChangedConfigurationIsTheNewerWord) {
  const Nominal ordered = applied(configured, order("", "rounds: [[[A, B]], [[B, C]]]"));
  Nominal changed = configured;
  changed.options.multicast = false;
  const auto resumed = resume_order(ordered.order, changed, network);
  ASSERT_TRUE(resumed.ok());
  EXPECT_EQ(resumed->schedule.name, "full");
  EXPECT_EQ(resumed->order, "");
  changed = configured;
  changed.schedule.rounds = {{{{0, 1}}}, {{{0, 1, 2}}}};
  EXPECT_EQ(resume_order(ordered.order, changed, network)->order, "");
  // What an order cannot change says nothing about it.
  changed = configured;
  changed.options.deadline_ns = 77;
  EXPECT_EQ(resume_order(ordered.order, changed, network)->order, ordered.order);
}

TEST_F(InstallOrderTest, RefusesWhatIsNoOrder) {
  EXPECT_EQ(resume_order("\xff\xff\xff", configured, network).error().message,
            "stored order: not a message of this version");
  const auto unknown = apply_order(configured, order("/etc/passwd", ""), configured, network);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidInput);
  const Nominal ordered = applied(configured, order("", "rounds: [[[A, C]]]"));
  // The islands of the topology are others now.
  schedule::Network other = network;
  other.islands[2].id = "D";
  const auto lost = resume_order(ordered.order, configured, other);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().message.rfind("stored order: ", 0), 0u) << lost.error().message;
}

}  // namespace
}  // namespace tombolo::control
