#include "tools/testbed/netns/run_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tombolo::testbed {
namespace {

namespace fs = std::filesystem;

TEST(RunFolder, IsMadeAndMustBeEmpty) {
  const fs::path base = fs::temp_directory_path() / ("tombolo-folder-" + std::to_string(::getpid()));
  const std::string wanted = (base / "a" / "b").string();
  const auto made = make_run_folder(wanted, "n");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(*made, wanted);
  EXPECT_TRUE(make_run_folder(wanted, "n").ok());  // Still empty.
  ASSERT_TRUE(write_text(wanted + "/x", "text").ok());
  const auto again = make_run_folder(wanted, "n");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kInvalidInput);
  EXPECT_FALSE(make_run_folder(wanted + "/x", "n").ok());
  EXPECT_FALSE(write_text(wanted + "/none/y", "text").ok());
  fs::remove_all(base);
}

TEST(RunFolder, TablesQuoteWhatHoldsACommaOrAQuote) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
  RunReport report;
  RoundReport round;
  round.round = 3;
  round.cliques = {{"A", "B"}, {"C", "D"}};
  round.model_s = 1;
  round.predicted_s = 2;
  round.measured_s = 3;
  round.tx_bytes = 4;
  round.rx_bytes = 5;
  round.errors = {"A: no, not", "B: x"};
  report.rounds.push_back(round);
  report.links = {{"A-B", 10, 10.2, 1e6, 1e6}, {"C-D", 10, 20, 1e6, 1e6}};
  EXPECT_EQ(rounds_csv(report),
            "round,cliques,model_s,predicted_s,measured_s,ratio,tx_bytes,rx_bytes,exact,errors\n"
            "3,A B | C D,1.000000,2.000000,3.000000,1.5000,4,5,no,\"A: no, not; B: x\"\n");
  EXPECT_EQ(links_csv(report),
            "name,target_rtt_ms,measured_rtt_ms,target_bps,measured_bps,verdict\n"
            "A-B,10.000,10.200,1000000,1000000,holds\n"
            "C-D,10.000,20.000,1000000,1000000,C-D: its round trip is 20.000 ms instead of 10.000 ms\n");
}

}  // namespace
}  // namespace tombolo::testbed
