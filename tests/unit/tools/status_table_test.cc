#include "tools/status_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "control/observe/status_json.h"
#include "tests/unit/control/observe/full_sample.h"

namespace tombolo::tools {
namespace {

using Json = nlohmann::ordered_json;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(StatusTableTest, AnEdgeIsShownWithWhoIsLate) {
  const std::string tables = status_tables(control::status_json(control::full_edge_sample()));
  const std::vector<std::string> lines{
      "edge NYC, session 101, 4 lanes, up 103.000 s\n",
      "\njob 102\n",
      "drops          wrong_lane 605, beyond_grant 701 (all jobs, and packets of none)\n",
      "controller     connected, term 106\n",
      "epoch          7 from round 104\n",
      "older epoch    6, which still has open rounds\n",
      "staged epoch   8\n",
      "highest round  105\n",
      "  LON   edge    up                   70.0 ms  305 B  303 B     307      308    310       301      "
      "10.0.0.2:4700 by 239.192.0.3\n",
      "  NYC   island  DOWN (1 of 4 lanes)  1.0 ms   0 B    0 B       0        0      0         0        "
      "10.1.0.2:4700\n",
      "  wan   202 B     201      204 B  203      arp_other 205, ipv6 206\n",
      "  901    7      NYC     902 of 903  1.000 s  4.000 s  TYO\n",
      "  904    7      NYC     902 of -    -        -        its first contribution\n",
      "  AMS          0.500 s  10\n",
      "  TYO          0.400 s  20\n",
      "  packets  602     603   601  604\n",
      // 1.5, 0.25 and 2.5 of 4.25 seconds.
      "  0       35.3 %  5.9 %  58.8 %  0.125 s\n",
      "rounds ended   complete 802, deadline 803, abandoned 804, superseded 805, lost 806 (counted in each "
      "lane; 15.000 s "
      "on average)\n",
      "replication    702 packets, 703 copies, 704 B shared instead of copied\n",
      "waiting        812 contributions in 811 slots, 814 grants\n",
      "QUOTA          windows of 815 chunks instead of 816: rounds take longer\n",
      "drops          beyond_grant 701\n",
  };
  for (const std::string& line : lines) EXPECT_TRUE(has(tables, line)) << line << "is not in\n" << tables;
}

TEST(StatusTableTest, AnEdgeThatHasJustStartedHasNoEmptyTables) {
  control::EdgeSample sample;
  sample.jobs.resize(1);
  const std::string tables = status_tables(control::status_json(sample));
  EXPECT_TRUE(has(tables, "epoch          none yet\n")) << tables;
  EXPECT_TRUE(has(tables, "highest round  -\n")) << tables;
  EXPECT_TRUE(has(tables, "drops          none\n")) << tables;
  for (const char* const title : {"Neighbours", "Ports", "Open rounds", "Workers", "Packet buffers"})
    EXPECT_FALSE(has(tables, title)) << tables;
}

TEST(StatusTableTest, AControllerIsShown) {
  const auto status = read_status(control::to_json(control::full_controller_status()));
  ASSERT_TRUE(status.ok());
  const std::string tables = status_tables(*status);
  for (const std::string line :
       {"controller, term 12, committing\n", "epoch          13 from round 14, schedule -\n",
        "TROUBLE        LON is not connected\n", "lost sites     TYO\n",
        "lost links     LON-NYC, AMS-LON, LON-TYO\n", "lost islands   TYO, SEO\n",
        "  NYC   up      yes         13     15       -           -\n",
        "  LON   DOWN    NO          17     16       NYC, AMS    arena too small\n",
        "changes        installed 18, unconfirmed 19, aborted 20, superseded 21\n",
        "ignored        unknown_edge 23, old_session 24, unexpected 25\n"})
    EXPECT_TRUE(has(tables, line)) << line << "is not in\n" << tables;
}

TEST(StatusTableTest, WhatIsNoStatusIsAnError) {
  for (const char* const text : {"", "{", "null", "[]", "7", "\"edge\"", "{}", R"({"program":7})",
                                 R"({"program":"island"})", R"({"program":"edge"} x)"}) {
    const auto status = read_status(text);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(status.error().code, ErrorCode::kFailed);
    EXPECT_EQ(status.error().message, "the answer is not the status of an edge or a controller");
  }
}

TEST(StatusTableTest, ANameCannotLeaveItsLine) {
  Json status = control::status_json(control::full_edge_sample("N\nY\x1b[2J\xc2\x9b"));
  status["jobs"][0]["peers"][0]["name"] = std::string(5000, 'x');
  const std::string tables = status_tables(status);
  EXPECT_TRUE(has(tables, "edge N?Y?[2J??, session")) << tables;
  EXPECT_TRUE(has(tables, "  " + std::string(200, 'x') + "..."));
  EXPECT_FALSE(has(tables, std::string(201, 'x')));
}

/// Puts something odd in the place of a value, anywhere in the document.
void spoil(Json& value, Random& random) {
  if ((value.is_object() || value.is_array()) && !value.empty() && random.chance(0.8)) {
    auto at = value.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random.below(value.size())));
    return spoil(*at, random);
  }
  static const std::vector<Json> odd{nullptr,
                                     true,
                                     -1,
                                     1e300,
                                     -0.5,
                                     18446744073709551615ULL,
                                     "",
                                     "text\n\x1b",
                                     Json::array(),
                                     Json::object(),
                                     Json::array({1, "a", nullptr, Json::object()}),
                                     Json::object({{"name", Json::array()}, {"up", 3}})};
  value = odd[random.below(odd.size())];
}

TEST(StatusTableTest, OddValuesAreShownAsNothing) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int i = 0; i < 3000; ++i) {
    Json status = i % 2 == 0 ? control::status_json(control::full_edge_sample())
                             : Json::parse(control::to_json(control::full_controller_status()));
    for (std::uint64_t n = 1 + random.below(5); n > 0; --n) spoil(status, random);
    const std::string tables = status_tables(status);
    for (const char c : tables) ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << tables;
  }
}

}  // namespace
}  // namespace tombolo::tools
