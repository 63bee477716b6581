#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/observe/controller_metrics.h"
#include "control/observe/edge_metrics.h"
#include "control/observe/island_metrics.h"
#include "control/observe/metrics_server.h"
#include "tests/unit/control/observe/full_sample.h"
#include "tests/unit/control/observe/scrape.h"

namespace tombolo::control {
namespace {

std::string page_of(const std::vector<prometheus::MetricFamily>& families) {
  return prometheus::TextSerializer().Serialize(families);
}

std::string whole_page() {
  return page_of(edge_families(full_edge_sample())) + page_of(controller_families(full_controller_status())) +
         page_of(island_families(full_island_sample()));
}

using Expected = std::vector<std::pair<std::string, double>>;

/// Series of the full sample, without what their names have in common.
void expect_edge_series(const Expected& expected) {
  const Scrape scrape = parse_scrape(page_of(edge_families(full_edge_sample())));
  EXPECT_TRUE(scrape.faults.empty()) << scrape.faults[0];
  for (const auto& [series, value] : expected)
    EXPECT_DOUBLE_EQ(scrape.at("tombolo_edge_" + series), value) << series;
}

TEST(MetricsTest, StatePortsAndPeersOfAnEdgeHaveTheirSeries) {
  expect_edge_series({
      {R"(uptime_seconds{site="NYC"})", 103},
      {R"(session{site="NYC"})", 101},
      {R"(lanes{site="NYC"})", 4},
      {R"(epoch{site="NYC",training_job="102"})", 7},
      {R"(epoch_older{site="NYC",training_job="102"})", 6},
      {R"(epoch_first_round{site="NYC",training_job="102"})", 104},
      {R"(epoch_lanes{site="NYC",training_job="102"})", 3},
      {R"(epoch_staged{site="NYC",training_job="102"})", 8},
      {R"(highest_round{site="NYC",training_job="102"})", 105},
      {R"(controller_connected{site="NYC",training_job="102"})", 1},
      {R"(controller_term{site="NYC",training_job="102"})", 106},
      {R"(port_receive_packets_total{site="NYC",port="wan"})", 201},
      {R"(port_receive_bytes_total{site="NYC",port="wan"})", 202},
      {R"(port_transmit_packets_total{site="NYC",port="wan"})", 203},
      {R"(port_transmit_bytes_total{site="NYC",port="wan"})", 204},
      {R"(port_drops_total{site="NYC",port="wan",reason="arp_other"})", 205},
      {R"(port_drops_total{site="NYC",port="wan",reason="ipv6"})", 206},
      {R"(peer_up{site="NYC",training_job="102",peer="LON",kind="edge"})", 1},
      {R"(peer_up{site="NYC",training_job="102",peer="NYC",kind="island"})", 0},
      {R"(peer_group_info{site="NYC",training_job="102",peer="LON",kind="edge",group="239.192.0.3"})", 1},
      {R"(peer_rtt_seconds{site="NYC",training_job="102",peer="LON",kind="edge"})", 0.07},
      {R"(peer_session{site="NYC",training_job="102",peer="LON",kind="edge"})", 301},
      {R"(peer_receive_packets_total{site="NYC",training_job="102",peer="LON",kind="edge"})", 302},
      {R"(peer_receive_bytes_total{site="NYC",training_job="102",peer="LON",kind="edge"})", 303},
      {R"(peer_transmit_packets_total{site="NYC",training_job="102",peer="LON",kind="edge"})", 304},
      {R"(peer_transmit_bytes_total{site="NYC",training_job="102",peer="LON",kind="edge"})", 305},
      {R"(peer_outstanding_packets{site="NYC",training_job="102",peer="LON",kind="edge"})", 306},
      {R"(peer_repairs_sent_total{site="NYC",training_job="102",peer="LON",kind="edge"})", 307},
      {R"(peer_repairs_asked_total{site="NYC",training_job="102",peer="LON",kind="edge"})", 308},
      {R"(peer_gaps_total{site="NYC",training_job="102",peer="LON",kind="edge"})", 309},
      {R"(peer_given_up_total{site="NYC",training_job="102",peer="LON",kind="edge"})", 310},
      {R"(peer_downs_total{site="NYC",training_job="102",peer="LON",kind="edge"})", 311},
  });
}

TEST(MetricsTest, WorkOfAnEdgeHasItsSeries) {
  expect_edge_series({
      {R"(lane_receive_packets_total{site="NYC",training_job="102",lane="1"})", 405},
      {R"(lane_contributions_total{site="NYC",training_job="102",lane="0"})", 402},
      {R"(lane_results_total{site="NYC",training_job="102",lane="0"})", 403},
      {R"(worker_seconds_total{site="NYC",worker="0",state="busy"})", 1.5},
      {R"(worker_seconds_total{site="NYC",worker="0",state="idle"})", 0.25},
      {R"(worker_seconds_total{site="NYC",worker="0",state="asleep"})", 2.5},
      {R"(worker_stalled_seconds_total{site="NYC",worker="0"})", 0.125},
      {R"(worker_turns_total{site="NYC",worker="0"})", 501},
      {R"(worker_idle_turns_total{site="NYC",worker="0"})", 502},
      {R"(worker_handed_over_packets_total{site="NYC",worker="0"})", 503},
      {R"(pool_buffers{site="NYC",pool="packets"})", 601},
      {R"(pool_used_buffers{site="NYC",pool="packets"})", 602},
      {R"(pool_used_buffers_max{site="NYC",pool="packets"})", 603},
      {R"(pool_empty_total{site="NYC",pool="packets"})", 604},
      {R"(drops_total{site="NYC",training_job="102",reason="beyond_grant"})", 701},
      {R"(drops_total{site="NYC",training_job="102",reason="truncated"})", 0},
      {R"(drops_total{site="NYC",reason="wrong_lane"})", 605},
      {R"(replicated_packets_total{site="NYC",training_job="102"})", 702},
      {R"(copies_total{site="NYC",training_job="102"})", 703},
      {R"(copy_saved_bytes_total{site="NYC",training_job="102"})", 704},
      {R"(rounds_open{site="NYC",training_job="102"})", 801},
      {R"(rounds_total{site="NYC",training_job="102",outcome="complete"})", 802},
      {R"(rounds_total{site="NYC",training_job="102",outcome="deadline"})", 803},
      {R"(rounds_total{site="NYC",training_job="102",outcome="abandoned"})", 804},
      {R"(rounds_total{site="NYC",training_job="102",outcome="superseded"})", 805},
      {R"(rounds_total{site="NYC",training_job="102",outcome="lost"})", 806},
      // Two in the first class, three between 0.5 s and 1 s, one above a minute.
      {R"(round_duration_seconds_bucket{site="NYC",training_job="102",le="0.001"})", 2},
      {R"(round_duration_seconds_bucket{site="NYC",training_job="102",le="0.5"})", 2},
      {R"(round_duration_seconds_bucket{site="NYC",training_job="102",le="1"})", 5},
      {R"(round_duration_seconds_bucket{site="NYC",training_job="102",le="60"})", 5},
      {R"(round_duration_seconds_bucket{site="NYC",training_job="102",le="+Inf"})", 6},
      {R"(round_duration_seconds_count{site="NYC",training_job="102"})", 6},
      {R"(round_duration_seconds_sum{site="NYC",training_job="102"})", 90},
      {R"(contributor_lag_seconds_sum{site="NYC",training_job="102",contributor="TYO"})", 8},
      {R"(contributor_lag_seconds_count{site="NYC",training_job="102",contributor="TYO"})", 20},
      {R"(contributor_lag_seconds_sum{site="NYC",training_job="102",contributor="AMS"})", 5},
      {R"(slots{site="NYC",training_job="102"})", 811},
      {R"(held_contributions{site="NYC",training_job="102"})", 812},
      {R"(grants_outstanding{site="NYC",training_job="102"})", 813},
      {R"(grants_waiting{site="NYC",training_job="102"})", 814},
  });
}

TEST(MetricsTest, ControllerAndIslandHaveTheirs) {
  const Scrape scrape = parse_scrape(whole_page());
  EXPECT_TRUE(scrape.faults.empty()) << scrape.faults[0];
  const std::vector<std::pair<std::string, double>> expected{
      {"tombolo_controller_term", 12},
      {"tombolo_controller_epoch", 13},
      {"tombolo_controller_epoch_first_round", 14},
      {R"(tombolo_controller_phase{phase="committing"})", 1},
      {R"(tombolo_controller_phase{phase="idle"})", 0},
      {"tombolo_controller_troubled", 1},
      {R"(tombolo_controller_edge_connected{edge="NYC"})", 1},
      {R"(tombolo_controller_edge_connected{edge="LON"})", 0},
      {R"(tombolo_controller_edge_member{edge="LON"})", 0},
      {R"(tombolo_controller_edge_session{edge="LON"})", 16},
      {R"(tombolo_controller_edge_epoch{edge="LON"})", 17},
      {R"(tombolo_controller_edge_links_down{edge="LON"})", 2},
      {R"(tombolo_controller_edge_refusing{edge="LON"})", 1},
      {R"(tombolo_controller_edge_refusing{edge="NYC"})", 0},
      {"tombolo_controller_lost_sites", 1},
      {"tombolo_controller_lost_links", 3},
      {"tombolo_controller_lost_islands", 2},
      {R"(tombolo_controller_changes_total{outcome="installed"})", 18},
      {R"(tombolo_controller_changes_total{outcome="unconfirmed"})", 19},
      {R"(tombolo_controller_changes_total{outcome="aborted"})", 20},
      {R"(tombolo_controller_changes_total{outcome="superseded"})", 21},
      {"tombolo_controller_store_failures_total", 22},
      {R"(tombolo_controller_ignored_messages_total{reason="unknown_edge"})", 23},
      {R"(tombolo_controller_ignored_messages_total{reason="old_session"})", 24},
      {R"(tombolo_controller_ignored_messages_total{reason="unexpected"})", 25},
      {"tombolo_controller_streams_total", 26},
      {"tombolo_controller_streams", 27},
      {"tombolo_controller_refused_streams_total", 28},
      {"tombolo_controller_receive_messages_total", 29},
      {R"(tombolo_controller_ignored_messages_total{reason="undecodable"})", 30},
      {"tombolo_controller_transmit_messages_total", 31},
      {R"(tombolo_controller_ignored_messages_total{reason="queue_full"})", 32},
      {R"(tombolo_island_rounds_total{island="NYC",outcome="complete"})", 2},
      {R"(tombolo_island_rounds_total{island="NYC",outcome="failed"})", 1},
      {R"(tombolo_island_rounds_total{island="NYC",outcome="failed_elsewhere"})", 0},
      {R"(tombolo_island_rounds_total{island="NYC",outcome="rested"})", 1},
      {R"(tombolo_island_transmit_payload_bytes_total{island="NYC"})", 2500},
      {R"(tombolo_island_receive_payload_bytes_total{island="NYC"})", 4010},
      {R"(tombolo_island_round_duration_seconds_bucket{island="NYC",le="0.05"})", 1},
      {R"(tombolo_island_round_duration_seconds_count{island="NYC"})", 2},
      {R"(tombolo_island_round_duration_seconds_sum{island="NYC"})", 3.03},
      {R"(tombolo_island_drops_total{island="NYC",reason="old_session"})", 37},
      {R"(tombolo_island_connected{island="NYC"})", 1},
      {R"(tombolo_island_epoch{island="NYC"})", 33},
      {R"(tombolo_island_receive_packets_total{island="NYC"})", 34},
      {R"(tombolo_island_repairs_sent_total{island="NYC"})", 35},
      {R"(tombolo_island_results_total{island="NYC"})", 36},
      {R"(tombolo_island_session{island="NYC"})", 31},
  };
  for (const auto& [series, value] : expected) EXPECT_DOUBLE_EQ(scrape.at(series), value) << series;
}

TEST(MetricsTest, EveryFamilyIsExplainedAndNoLabelIsARound) {
  const Scrape scrape = parse_scrape(whole_page());
  for (const auto& [family, type] : scrape.type) {
    EXPECT_GT(scrape.help.at(family).size(), 10U) << family;
    EXPECT_EQ(scrape.help.at(family).back(), '.') << family << ": a sentence";
    const bool total = family.size() > 6 && family.compare(family.size() - 6, 6, "_total") == 0;
    EXPECT_EQ(total, type == "counter") << family;
  }
  for (const auto& [series, value] : scrape.values) {
    EXPECT_EQ(series.find("round=\""), std::string::npos) << series << ": would grow without end";
    EXPECT_EQ(series.find("epoch=\""), std::string::npos) << series << ": would grow without end";
  }
}

TEST(MetricsTest, AHostileNameStaysInItsLabel) {
  EdgeSample sample = full_edge_sample(kHostile);
  sample.jobs[0].peers[0].name = kHostile;
  const Scrape scrape = parse_scrape(page_of(edge_families(sample)));
  EXPECT_TRUE(scrape.faults.empty()) << scrape.faults[0];
  EXPECT_EQ(scrape.at(R"(tombolo_edge_lanes{site="N\"Y\\C\n</script>"})"), 4);
}

TEST(MetricsTest, PromtoolFindsNoFault) {
  if (!have_promtool()) GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  const ToolAnswer answer = promtool("check metrics", whole_page());
  EXPECT_EQ(answer.exit_code, 0) << answer.output;
  EXPECT_EQ(answer.output, "");
  EXPECT_NE(promtool("check metrics", "# TYPE bad_total gauge\nbad_total 1\n").exit_code, 0)
      << "it would find one";
}

TEST(MetricsServerTest, AScrapeOverHttpGivesTheNewestSample) {
  auto server = MetricsServer::start("127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.error().message;
  ASSERT_NE((*server)->port(), 0);
  EXPECT_EQ((*server)->url(), "http://127.0.0.1:" + std::to_string((*server)->port()) + "/metrics");
  Latest<EdgeSample> latest;
  const auto metrics = std::make_shared<EdgeMetrics>(latest);
  (*server)->add(metrics);
  const auto scrape = [&] { return http_get((*server)->port(), "/metrics"); };
  const std::string empty = scrape();
  EXPECT_EQ(empty.compare(0, 15, "HTTP/1.1 200 OK"), 0) << empty;
  EXPECT_EQ(parse_scrape(body_of(empty)).values.count(R"(tombolo_edge_lanes{site="NYC"})"), 0U);
  latest.put(full_edge_sample());
  Scrape first = parse_scrape(body_of(scrape()));
  EXPECT_TRUE(first.faults.empty()) << first.faults[0];
  EXPECT_EQ(first.at(R"(tombolo_edge_copies_total{site="NYC",training_job="102"})"), 703);
  EdgeSample later = full_edge_sample();
  later.jobs[0].copies = 1703;
  latest.put(later);
  EXPECT_EQ(parse_scrape(body_of(scrape())).at(R"(tombolo_edge_copies_total{site="NYC",training_job="102"})"),
            1703);
}

TEST(MetricsServerTest, AnAddressInUseIsOneClearError) {
  auto first = MetricsServer::start("localhost:0");
  ASSERT_TRUE(first.ok()) << first.error().message;
  const std::string address = "127.0.0.1:" + std::to_string((*first)->port());
  const auto second = MetricsServer::start(address);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(second.error().message, "metrics address " + address +
                                        ": Address already in use; stop the program that has it, or choose "
                                        "another port");
  first->reset();
  const auto third = MetricsServer::start(address);
  EXPECT_TRUE(third.ok()) << "free again: " << third.error().message;
}

TEST(MetricsServerTest, AnAddressThatIsNoneIsRefused) {
  for (const char* const address : {"", "9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                                    "127.0.0.1:94x", "example:9464", "127.0.0.1:-1", "1.2.3:80", "::1:80"}) {
    const auto server = MetricsServer::start(address);
    ASSERT_FALSE(server.ok()) << address;
    EXPECT_EQ(server.error().code, ErrorCode::kInvalidInput) << address;
    EXPECT_EQ(server.error().message, "metrics address '" + std::string(address) +
                                          "' is not HOST:PORT with an IPv4 address, such as 127.0.0.1:9464");
  }
  const auto foreign = MetricsServer::start("192.0.2.1:9464");
  ASSERT_FALSE(foreign.ok()) << "an address of documentation, which no machine has";
  EXPECT_EQ(foreign.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace tombolo::control
