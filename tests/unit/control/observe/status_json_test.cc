#include "control/observe/status_json.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/control/observe/full_sample.h"

namespace tombolo::control {
namespace {

TEST(StatusJsonTest, AnEdgeTellsEverything) {
  const auto status = status_json(full_edge_sample());
  EXPECT_EQ(status["program"], "edge");
  EXPECT_EQ(status["site"], "NYC");
  EXPECT_EQ(status["session"], 101);
  ASSERT_EQ(status["jobs"].size(), 1U);
  const auto& job = status["jobs"][0];
  EXPECT_EQ(job["job"], 102);
  EXPECT_EQ(status["lanes"], 4);
  EXPECT_EQ(status["uptime_s"], 103.0);
  EXPECT_EQ(job["controller"].dump(), R"({"connected":true,"term":106,"staged_epoch":8})");
  EXPECT_EQ(job["epochs"].dump(),
            R"({"newest":7,"first_round":104,"older":6,"lanes_taken_up":3,"highest_opened_round":105})");
  EXPECT_EQ(status["ports"].dump(), R"([{"name":"wan","rx_packets":201,"rx_bytes":202,"tx_packets":203,)"
                                    R"("tx_bytes":204,"drops":{"arp_other":205,"ipv6":206}}])");
  ASSERT_EQ(job["peers"].size(), 2U);
  EXPECT_EQ(
      job["peers"][0].dump(),
      R"({"name":"LON","address":"10.0.0.2:4700","group":"239.192.0.3","kind":"edge","up":true,)"
      R"("lanes_up":4,"lanes":4,"session":301,"rtt_ms":70.0,"rx_packets":302,"rx_bytes":303,"tx_packets":304,"tx_bytes":305,)"
      R"("outstanding":306,"repairs_sent":307,"repairs_asked":308,"gaps":309,"given_up":310,"downs":311})");
  EXPECT_EQ(job["peers"][1]["up"], false) << "up in one lane of four";
  EXPECT_TRUE(job["peers"][1]["group"].is_null()) << "straight to its address";
  ASSERT_EQ(job["rounds"].size(), 2U);
  EXPECT_EQ(job["rounds"][0].dump(),
            R"({"round":901,"epoch":7,"island":"NYC","members":3,"late":["TYO"],"lanes_open":4,)"
            R"("chunks_done":902,"chunks_total":903,"age_s":1.0,"time_left_s":4.0})");
  EXPECT_TRUE(job["rounds"][1]["age_s"].is_null());
  const auto& aggregation = job["aggregation"];
  EXPECT_EQ(aggregation["rounds_ended"].dump(),
            R"({"complete":802,"deadline":803,"abandoned":804,"superseded":805,"lost":806})");
  EXPECT_EQ(aggregation["mean_round_s"], 15.0) << "90 s in six rounds";
  EXPECT_EQ(aggregation["lag"][0].dump(), R"({"contributor":"AMS","rounds":10,"mean_ms":500.0})");
  EXPECT_EQ(aggregation["held_contributions"], 812);
  EXPECT_EQ(aggregation["window_chunks"], 815);
  EXPECT_EQ(aggregation["planned_window_chunks"], 816);
  EXPECT_EQ(job["replication"].dump(), R"({"packets":702,"copies":703,"payload_bytes_saved":704})");
  EXPECT_EQ(job["drops"].dump(), R"({"beyond_grant":701})") << "only what occurred";
  EXPECT_EQ(status["drops"].dump(), R"({"wrong_lane":605,"beyond_grant":701})") << "of all jobs, and of none";
  EXPECT_EQ(status["pools"][0].dump(),
            R"({"name":"packets","buffers":601,"in_use":602,"high_water":603,"empties":604})");
  EXPECT_EQ(status["workers"][0].dump(),
            R"({"busy_s":1.5,"idle_s":0.25,"asleep_s":2.5,"stalled_s":0.125,"turns":501,"idle_turns":502,)"
            R"("handed_over":503})");
}

TEST(StatusJsonTest, AnEdgeThatHasJustStartedIsWholeToo) {
  EdgeSample sample;
  sample.jobs.resize(1);
  const auto status = status_json(sample);
  const auto& job = status["jobs"][0];
  EXPECT_TRUE(job["controller"].is_null());
  EXPECT_TRUE(job["epochs"]["highest_opened_round"].is_null());
  EXPECT_TRUE(job["aggregation"]["mean_round_s"].is_null());
  for (const char* const key : {"ports", "pools", "workers"}) EXPECT_EQ(status[key].dump(), "[]");
  for (const char* const key : {"peers", "rounds"}) EXPECT_EQ(job[key].dump(), "[]");
  EXPECT_EQ(status["drops"].dump(), "{}");
  EXPECT_EQ(job["drops"].dump(), "{}");
}

TEST(StatusJsonTest, NamesThatAreNotUtf8AreReplacedAndStayOneLine) {
  const std::string text = dump_status(status_json(full_edge_sample("N\xff\nY")));
  EXPECT_TRUE(nlohmann::json::accept(text));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text)["site"], "N\xef\xbf\xbd\nY");
}

}  // namespace
}  // namespace tombolo::control
