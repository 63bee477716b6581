#include "tools/report_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/tools/report/test_summary.h"
#include "tests/unit/tools/run_verb.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

class ReportCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::path(testing::TempDir()) / "report_command_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write_summary(const std::string& text) { std::ofstream(folder_ / "summary.json") << text; }

  /// Runs `tombolo report FOLDER`.
  static VerbRun run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    return run_verb(add_report_command, std::move(arguments));
  }

  std::filesystem::path folder_;
};

TEST_F(ReportCommand, MakesThePageAndNamesIt) {
  write_summary(report::full_summary().dump());
  const VerbRun made = run({folder_.string()});
  EXPECT_EQ(made.exit_code, kExitOk) << made.err;
  EXPECT_EQ(made.out, (folder_ / "report.html").string() + "\n");
  std::ifstream file(folder_ / "report.html");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(text.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(text.find("four-city"), std::string::npos);
}

TEST_F(ReportCommand, BadInputIsOneErrorThatNamesTheFile) {
  const std::string path = (folder_ / "summary.json").string();
  const auto expect_refused = [&](const std::string& error) {
    const VerbRun refused = run({folder_.string()});
    EXPECT_EQ(refused.exit_code, kExitBadInput);
    EXPECT_TRUE(refused.err.starts_with("tombolo: " + path + ": " + error)) << refused.err;
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  };
  expect_refused("");
  write_summary("{");
  expect_refused("is not JSON\n");
  write_summary(R"({"rounds": [{"measured_s": true}]})");
  expect_refused("rounds[0].measured_s: is not a number\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report.html"));
  EXPECT_EQ(run({}).exit_code, -1);
}

TEST_F(ReportCommand, AFolderThatCannotBeWrittenIsAFailure) {
  write_summary("{}");
  std::filesystem::create_directory(folder_ / "report.html");  // Where the page should go.
  const VerbRun failed = run({folder_.string()});
  EXPECT_EQ(failed.exit_code, kExitFailed);
  EXPECT_NE(failed.err.find("report.html"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::tools
