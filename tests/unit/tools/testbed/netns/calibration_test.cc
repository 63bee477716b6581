#include "tools/testbed/netns/calibration.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/testbed/netns/test_layout.h"

namespace tombolo::testbed {
namespace {

LinkReport measured(double target_rtt_ms, double rtt_ms, double target_bps, double bps) {
  return {"A-B", target_rtt_ms, rtt_ms, target_bps, bps};
}

TEST(Calibration, TargetsAreLinksBothWaysAndAccess) {
  const Layout layout = line_layout("/nowhere");
  const auto targets = link_targets(layout.config.network);
  ASSERT_EQ(targets.size(), 4U);
  EXPECT_EQ(targets[0].target.name, "A-B");
  EXPECT_EQ(targets[0].neighbour, "B");
  EXPECT_DOUBLE_EQ(targets[0].target.target_rtt_ms, 10);
  EXPECT_DOUBLE_EQ(targets[0].target.target_bps, 100e6);  // 10 Gbit/s at scale 0.01.
  EXPECT_EQ(targets[1].target.name, "C-B");
  EXPECT_DOUBLE_EQ(targets[1].target.target_rtt_ms, 12);
  EXPECT_DOUBLE_EQ(targets[1].target.target_bps, 10e6);  // The slower direction.
  EXPECT_EQ(targets[2].target.name, "access of X");
  EXPECT_EQ(targets[2].site, 0U);
  EXPECT_DOUBLE_EQ(targets[2].target.target_bps, 40e6);
  EXPECT_EQ(targets[3].site, 2U);
}

TEST(Calibration, TheRttMayBeOffByFivePercentOrAMillisecond) {
  EXPECT_EQ(judge_link(measured(100, 104.9, 1e6, 1e6)), "");
  EXPECT_EQ(judge_link(measured(100, 95.1, 1e6, 1e6)), "");
  EXPECT_NE(judge_link(measured(100, 105.1, 1e6, 1e6)), "");
  EXPECT_EQ(judge_link(measured(2, 2.9, 1e6, 1e6)), "");
  EXPECT_EQ(judge_link(measured(2, 3.1, 1e6, 1e6)), "A-B: its round trip is 3.100 ms instead of 2.000 ms");
  EXPECT_NE(judge_link(measured(2, 0.9, 1e6, 1e6)), "");
}

TEST(Calibration, TheRateMayBeOffByFivePercent) {
  EXPECT_EQ(judge_link(measured(1, 1, 100e6, 95.1e6)), "");
  EXPECT_EQ(judge_link(measured(1, 1, 100e6, 104.9e6)), "");
  EXPECT_EQ(judge_link(measured(1, 1, 100e6, 94.9e6)),
            "A-B: its rate is 94.900 Mbit/s instead of 100.000 Mbit/s");
  EXPECT_NE(judge_link(measured(1, 1, 100e6, 0)), "");
}

TEST(Calibration, ADisturbedMeasurementIsRepeatedAndABadLinkStaysBad) {
  const auto targets = link_targets(line_layout("/nowhere").config.network);
  int calls = 0;
  const auto probe = [&](const LinkTarget& target, LinkReport& link) {
    ++calls;
    link.measured_rtt_ms = target.target.target_rtt_ms;
    link.measured_bps = target.target.target_bps;
    if (link.name == "A-B" && calls < 3) link.measured_rtt_ms += 50;  // Disturbed twice.
    if (link.name == "C-B") link.measured_bps /= 2;
    return ok_status();
  };
  const auto links = measure_links(targets, probe, [] { return ok_status(); });
  ASSERT_TRUE(links.ok());
  EXPECT_EQ(calls, 3 + 6 + 1 + 1);
  EXPECT_EQ(bad_links(*links),
            std::vector<std::string>{"C-B: its rate is 5.000 Mbit/s instead of 10.000 Mbit/s"});
}

TEST(Calibration, StopsWhenTheUserDoes) {
  const auto targets = link_targets(line_layout("/nowhere").config.network);
  const auto probe = [](const LinkTarget&, LinkReport&) { return ok_status(); };
  const auto links = measure_links(targets, probe, []() -> Status {
    return Error{ErrorCode::kFailed, "enough"};
  });
  ASSERT_FALSE(links.ok());
  EXPECT_EQ(links.error().message, "enough");
}

}  // namespace
}  // namespace tombolo::testbed
