#include "tools/report_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/unit/tools/report/test_summary.h"
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

  /// Runs `tombolo report FOLDER`; -1 means that the command line was refused.
  int run(std::vector<std::string> arguments) {
    CLI::App app;
    int exit_code = -1;
    add_report_command(app, exit_code);
    arguments.insert(arguments.begin(), "report");
    std::reverse(arguments.begin(), arguments.end());  // As CLI11 takes a vector.
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      app.parse(arguments);
    } catch (const CLI::ParseError&) {
      exit_code = -1;
    }
    out_ = testing::internal::GetCapturedStdout();
    error_ = testing::internal::GetCapturedStderr();
    return exit_code;
  }

  std::filesystem::path folder_;
  std::string out_;
  std::string error_;
};

TEST_F(ReportCommand, MakesThePageAndNamesIt) {
  write_summary(report::full_summary().dump());
  EXPECT_EQ(run({folder_.string()}), kExitOk) << error_;
  EXPECT_EQ(out_, (folder_ / "report.html").string() + "\n");
  std::ifstream file(folder_ / "report.html");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(text.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(text.find("four-city"), std::string::npos);
}

TEST_F(ReportCommand, BadInputIsOneErrorThatNamesTheFile) {
  const std::string path = (folder_ / "summary.json").string();
  EXPECT_EQ(run({folder_.string()}), kExitBadInput);
  EXPECT_TRUE(error_.starts_with("tombolo: " + path + ": ")) << error_;
  write_summary("{");
  EXPECT_EQ(run({folder_.string()}), kExitBadInput);
  EXPECT_EQ(error_, "tombolo: " + path + ": is not JSON\n");
  write_summary(R"({"rounds": [{"measured_s": true}]})");
  EXPECT_EQ(run({folder_.string()}), kExitBadInput);
  EXPECT_EQ(error_, "tombolo: " + path + ": rounds[0].measured_s: is not a number\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report.html"));
  EXPECT_EQ(run({}), -1);
}

TEST_F(ReportCommand, AFolderThatCannotBeWrittenIsAFailure) {
  write_summary("{}");
  std::filesystem::create_directory(folder_ / "report.html");  // Where the page should go.
  EXPECT_EQ(run({folder_.string()}), kExitFailed);
  EXPECT_NE(error_.find("report.html"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::tools
