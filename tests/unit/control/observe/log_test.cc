#include "control/observe/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"

namespace tombolo::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// 2026-03-01T12:00:00.123Z, as `date -u -d ... +%s` counts it.
const LogTime kTime = LogTime(milliseconds(1772366400123));

std::string text(std::string_view event, std::vector<LogField> fields = {},
                 LogLevel level = LogLevel::kInfo) {
  return format_log_line(LogFormat::kText, kTime, level, "NYC", event, fields);
}

nlohmann::json json(std::string_view event, std::vector<LogField> fields = {},
                    std::string_view site = "NYC") {
  return nlohmann::json::parse(
      format_log_line(LogFormat::kJson, kTime, LogLevel::kInfo, site, event, fields));
}

/// A file that is gone with the test.
class LogFileTest : public testing::Test {
 protected:
  LogFileTest() {
    path_ = testing::TempDir() + "tombolo_log_XXXXXX";
    ::close(::mkstemp(path_.data()));
  }
  ~LogFileTest() override { ::unlink(path_.c_str()); }
  std::unique_ptr<Log> open(LogConfig config = {}) {
    config.site = "NYC";
    config.file = path_;
    config.now = [this] { return now_; };
    auto log = Log::create(config);
    EXPECT_TRUE(log.ok()) << log.error().message;
    return std::move(log).value();
  }
  std::vector<std::string> lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::string path_;
  LogTime now_ = kTime;
};

TEST(LogLineTest, TextIsOneLineWithTheFirstFieldsFirst) {
  EXPECT_EQ(
      text("epoch installed", {{"edge", "LON"}, {"reason", "asked for"}, {"round", 12}, {"epoch", 7U}}),
      R"(2026-03-01T12:00:00.123Z INFO NYC epoch installed epoch=7 round=12 reason="asked for" edge=LON)");
  EXPECT_EQ(text("started"), "2026-03-01T12:00:00.123Z INFO NYC started");
  EXPECT_EQ(text("gone", {{"up", false}, {"rtt_ms", 70.5}, {"delta", -3}}, LogLevel::kError),
            "2026-03-01T12:00:00.123Z ERROR NYC gone up=false rtt_ms=70.5 delta=-3");
}

TEST(LogLineTest, ValuesAreQuotedWhenTheyMustBe) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"plain-1.5:/x", "v=plain-1.5:/x"},
      {"", R"(v="")"},
      {"two words", R"(v="two words")"},
      {"a=b", R"(v="a=b")"},
      {"say \"no\"", R"(v="say \"no\"")"},
      {"back\\slash", R"(v="back\\slash")"},
      {"line\nend\tand", R"(v="line\nend\tand")"},
      {std::string("nul\0byte", 8), R"(v="nul\x00byte")"},
      {"\x1b[31mred", R"(v="\x1b[31mred")"},
      {"caf\xc3\xa9", "v=\"caf\xc3\xa9\""},
      {"\xc2\x9b"
       "31m",
       R"(v="\xc2\x9b31m")"},
      {"\xe2\x80\xae"
       "gnp",
       R"(v="\xe2\x80\xaegnp")"},
      {"\xff\xfe", R"(v="\xff\xfe")"},
      {"cut \xe2\x82", R"(v="cut \xe2\x82")"},
      {"\xf0\x9f\x8f\x9d", "v=\"\xf0\x9f\x8f\x9d\""},
      {"\xed\xa0\x80", R"(v="\xed\xa0\x80")"},
      {"\xc0\xaf", R"(v="\xc0\xaf")"},
      {"\x7f", R"(v="\x7f")"},
  };
  for (const auto& [value, expected] : cases)
    EXPECT_EQ(text("e", {{"v", value}}), "2026-03-01T12:00:00.123Z INFO NYC e " + expected);
}

TEST(LogLineTest, SiteEventAndNamesCannotForgeALine) {
  EXPECT_EQ(format_log_line(LogFormat::kText, kTime, LogLevel::kInfo, "N\nYC", "bad\r\nINFO", {}),
            R"(2026-03-01T12:00:00.123Z INFO N\nYC bad\x0d\nINFO)");
  EXPECT_EQ(format_log_line(LogFormat::kText, kTime, LogLevel::kInfo, "", "e", {}),
            "2026-03-01T12:00:00.123Z INFO - e");
  EXPECT_EQ(text("e", {{"a b\n", 1}, {"", 2}}), "2026-03-01T12:00:00.123Z INFO NYC e a_b_=1 _=2");
}

TEST(LogLineTest, JsonIsOneValidObject) {
  const nlohmann::json line = json("epoch installed", {{"round", 12}, {"epoch", 7U}, {"up", true}});
  EXPECT_EQ(line["time"], "2026-03-01T12:00:00.123Z");
  EXPECT_EQ(line["level"], "INFO");
  EXPECT_EQ(line["site"], "NYC");
  EXPECT_EQ(line["event"], "epoch installed");
  EXPECT_EQ(line["round"], 12);
  EXPECT_EQ(line["epoch"], 7);
  EXPECT_EQ(line["up"], true);
  EXPECT_EQ(line.size(), 7U);
}

TEST(LogLineTest, JsonKeepsItsOwnKeys) {
  const nlohmann::json line = json("e", {{"site", "forged"}, {"level", "forged"}});
  EXPECT_EQ(line["site"], "NYC");
  EXPECT_EQ(line["site_"], "forged");
  EXPECT_EQ(line["level"], "INFO");
}

TEST(LogLineTest, NumbersArriveWhole) {
  const auto most = std::numeric_limits<std::uint64_t>::max();
  const auto least = std::numeric_limits<std::int64_t>::min();
  const nlohmann::json line =
      json("e", {{"most", most}, {"least", least}, {"nan", std::nan("")}, {"half", 0.5}});
  EXPECT_EQ(line["most"], most);
  EXPECT_EQ(line["least"], least);
  EXPECT_TRUE(line["nan"].is_null()) << "JSON has no such number";
  EXPECT_EQ(line["half"], 0.5);
  EXPECT_EQ(text("e", {{"most", most}, {"least", least}}),
            "2026-03-01T12:00:00.123Z INFO NYC e most=18446744073709551615 least=-9223372036854775808");
}

TEST(LogLineTest, WhateverBytesComeItIsOneValidLine) {
  constexpr std::uint64_t kSeed = 20260301;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  const auto bytes = [&random] {
    std::string any(random.below(12), ' ');
    for (char& c : any) c = static_cast<char>(random.below(256));
    return any;
  };
  for (int i = 0; i < 5000; ++i) {
    const std::string site = bytes();
    const std::string event = bytes();
    const std::vector<LogField> fields{{bytes(), bytes()}, {"reason", bytes()}};
    const std::string object = format_log_line(LogFormat::kJson, kTime, LogLevel::kInfo, site, event, fields);
    ASSERT_TRUE(nlohmann::json::accept(object)) << object;
    ASSERT_EQ(object.find('\n'), std::string::npos);
    const std::string line = format_log_line(LogFormat::kText, kTime, LogLevel::kInfo, site, event, fields);
    for (const char c : line) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << line;
    // The JSON library takes valid UTF-8 only: an independent judge.
    ASSERT_NO_THROW(static_cast<void>(nlohmann::json(line).dump())) << line;
  }
}

TEST(LogWordsTest, FormatsAndLevelsAreReadByName) {
  EXPECT_EQ(*parse_log_format("json"), LogFormat::kJson);
  EXPECT_EQ(*parse_log_format("text"), LogFormat::kText);
  EXPECT_EQ(parse_log_format("xml").error().message, "'xml' is no log format; text or json");
  EXPECT_EQ(*parse_log_level("debug"), LogLevel::kDebug);
  EXPECT_EQ(*parse_log_level("warning"), LogLevel::kWarning);
  EXPECT_EQ(parse_log_level("loud").error().message, "'loud' is no log level; debug, info, warning or error");
}

TEST_F(LogFileTest, WhatIsBelowTheLevelIsNotWritten) {
  const auto log = open({.level = LogLevel::kWarning});
  log->debug("a");
  log->info("b");
  log->warning("c");
  log->error("d", {{"reason", "because"}});
  EXPECT_EQ(lines(), (std::vector<std::string>{"2026-03-01T12:00:00.123Z WARN NYC c",
                                               "2026-03-01T12:00:00.123Z ERROR NYC d reason=because"}));
}

TEST_F(LogFileTest, ARepeatedEventIsLimitedAndCounted) {
  const auto log = open({.most_lines_per_window = 3, .window = seconds(10)});
  for (int i = 0; i < 10; ++i) log->info("stranger", {{"i", i}});
  log->info("other");
  ASSERT_EQ(lines().size(), 4U) << "three of them, and the other one";
  now_ += seconds(10);
  log->info("stranger", {{"i", 10}});
  log->info("stranger", {{"i", 11}});
  ASSERT_EQ(lines().size(), 6U);
  EXPECT_EQ(lines()[4], "2026-03-01T12:00:10.123Z INFO NYC stranger i=10 left_out=7");
  EXPECT_EQ(lines()[5], "2026-03-01T12:00:10.123Z INFO NYC stranger i=11");
}

TEST_F(LogFileTest, TheLastOnesThatWereLeftOutAreToldAtTheEnd) {
  auto log = open({.most_lines_per_window = 1});
  for (int i = 0; i < 5; ++i) log->warning("stranger");
  log.reset();
  ASSERT_EQ(lines().size(), 2U);
  EXPECT_EQ(lines()[1], "2026-03-01T12:00:00.123Z WARN NYC stranger left_out=4");
}

TEST_F(LogFileTest, AClockThatIsSetBackDoesNotSilenceTheLog) {
  const auto log = open({.most_lines_per_window = 1});
  log->info("e");
  now_ -= seconds(3600);
  log->info("e");
  EXPECT_EQ(lines().size(), 2U);
}

TEST_F(LogFileTest, EventsWithoutEndDoNotFillTheMemoryAndAreWritten) {
  const auto log = open();
  for (int i = 0; i < 3000; ++i) log->info("event " + std::to_string(i));
  EXPECT_EQ(lines().size(), 3000U);
}

TEST_F(LogFileTest, LinesOfManyThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 250;
  const auto log = open({.format = LogFormat::kJson, .most_lines_per_window = kThreads * kLines});
  const LogSink sink = log->sink();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&sink, t] {
      for (int i = 0; i < kLines; ++i) {
        const std::vector<LogField> fields{{"id", t * kLines + i}};
        sink(LogLevel::kInfo, "line", fields);
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::set<int> ids;
  for (const std::string& line : lines()) ids.insert(nlohmann::json::parse(line)["id"].get<int>());
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(kThreads * kLines));
}

TEST(LogCreateTest, AFileThatCannotBeWrittenIsNamed) {
  LogConfig config;
  config.file = "/proc/no/such.log";
  const auto log = Log::create(config);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(log.error().message.find("/proc/no/such.log"), std::string::npos) << log.error().message;
}

}  // namespace
}  // namespace tombolo::control
