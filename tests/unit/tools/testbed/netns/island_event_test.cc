#include "tools/testbed/netns/island_event.h"

#include <gtest/gtest.h>

namespace tombolo::testbed {
namespace {

TEST(IslandEvent, TakesWhatIsThere) {
  const auto event = parse_island_event(
      R"({"event":"ready","round":7,"epoch":2,"contributors":[0,2],"first_send_ns":5,"ready_ns":9,)"
      R"("tx_bytes":10,"rx_bytes":11,"failed_elsewhere":true,"error":"x","other":{"a":1}})");
  ASSERT_TRUE(event.ok()) << event.error().message;
  EXPECT_EQ(event->event, "ready");
  EXPECT_EQ(event->round, 7U);
  EXPECT_EQ(event->epoch, 2U);
  EXPECT_EQ(event->contributors, (std::vector<std::uint16_t>{0, 2}));
  EXPECT_EQ(event->first_send_ns, 5U);
  EXPECT_EQ(event->ready_ns, 9U);
  EXPECT_EQ(event->tx_bytes, 10U);
  EXPECT_EQ(event->rx_bytes, 11U);
  EXPECT_TRUE(event->failed_elsewhere);
  EXPECT_EQ(event->error, "x");
  const auto status =
      parse_island_event(R"({"event":"status","up":true,"can_start":[4,5],"drops":{"lost":3},"repairs":2})");
  ASSERT_TRUE(status.ok());
  EXPECT_TRUE(status->up);
  EXPECT_EQ(status->can_start, (std::vector<std::uint32_t>{4, 5}));
  ASSERT_EQ(status->drops.size(), 1U);
  EXPECT_EQ(status->drops[0].second, 3U);
}

TEST(IslandEvent, RefusesWhatIsNoEventAndNamesTheKey) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "JSON object"},
      {"[]", "JSON object"},
      {"{", "JSON object"},
      {"{}", "event: is missing"},
      {R"({"event":5})", "event: has the wrong type"},
      {R"({"event":"x","round":-1})", "round: "},
      {R"({"event":"x","round":4294967296})", "round: "},
      {R"({"event":"x","contributors":[65536]})", "contributors: "},
      {R"({"event":"x","contributors":"0"})", "contributors: "},
      {R"({"event":"x","drops":[1]})", "drops: "},
      {R"({"event":"x","drops":{"a":-1}})", "drops: "},
      {R"({"event":"x","up":1})", "up: "},
  };
  for (const auto& [line, what] : wrong) {
    const auto event = parse_island_event(line);
    ASSERT_FALSE(event.ok()) << line;
    EXPECT_NE(event.error().message.find(what), std::string::npos) << line << ": " << event.error().message;
  }
}

}  // namespace
}  // namespace tombolo::testbed
