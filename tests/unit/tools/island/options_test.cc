#include "tools/island/options.h"

#include <gtest/gtest.h>

#include <vector>

namespace tombolo::tools {
namespace {

using Words = std::vector<const char*>;

const Words kSound{"tombolo-island", "--name", "NYC",           "--rank",  "5", "--listen",
                   "10.2.0.2:4700",  "--edge", "10.2.0.1:4700", "--bytes", "2M"};

ParsedIsland parse(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return parse_island_options(static_cast<int>(words.size()), words.data());
}

TEST(IslandOptions, AllOfThem) {
  const ParsedIsland parsed = parse(
      kSound, {"--lanes",    "8",   "--job",          "3",           "--seed",   "9",  "--operation", "sum",
               "--buffers",  "100", "--buffer-bytes", "1344",        "--window", "64", "--rtt-ms",    "0.5",
               "--deadline", "2.5", "--metrics",      "127.0.0.1:0", "--rounds", "4",  "--from",      "7"});
  ASSERT_FALSE(parsed.exit_code.has_value());
  const IslandOptions& options = parsed.options;
  EXPECT_EQ(options.rank, 5);
  EXPECT_EQ(options.listen, (Address{0x0a020002, 4700}));
  EXPECT_EQ(options.edge, (Address{0x0a020001, 4700}));
  EXPECT_EQ(options.update_bytes, 2'000'000U);
  EXPECT_EQ(options.numbers.operation, wire::Operation::kSum);
  EXPECT_EQ(options.window, 64U);
  EXPECT_EQ(options.rounds, 4U);
  EXPECT_EQ(options.from, 7U);
  EXPECT_FALSE(options.commands);
  EXPECT_EQ(options.hello_interval_ms, 200U);
  EXPECT_EQ(parse(kSound, {"--commands", "--hello-ms", "1500"}).options.hello_interval_ms, 1500U);
  EXPECT_TRUE(parse(kSound, {"--commands"}).options.commands);
}

TEST(IslandOptions, Numbers) {
  Words words = kSound;
  words.back() = "66";
  const Words narrow{"--commands", "--format",     "mxint8", "--result-format",    "bf16", "--operation",
                     "weighted",   "--non-finite", "reject", "--non-finite-share", "0.5"};
  const ParsedIsland parsed = parse(words, narrow);
  ASSERT_FALSE(parsed.exit_code.has_value());
  const testbed::Numbers& numbers = parsed.options.numbers;
  EXPECT_EQ(numbers.format, NumberFormat::kMxInt8);
  EXPECT_EQ(numbers.result_format, NumberFormat::kBf16);
  EXPECT_EQ(numbers.operation, wire::Operation::kWeighted);
  EXPECT_EQ(numbers.non_finite, NonFinitePolicy::kReject);
  EXPECT_EQ(numbers.non_finite_share, 0.5);
  EXPECT_EQ(parsed.options.update_bytes, 66u);
  EXPECT_EQ(parse(kSound, {"--commands"}).options.numbers.output(), NumberFormat::kFp32);
  words.back() = "68";  // No whole blocks.
  EXPECT_EQ(parse(words, narrow).exit_code, 2);
  for (const Words& wrong :
       {Words{"--commands", "--format", "fp64"}, Words{"--commands", "--format", "none"},
        Words{"--commands", "--non-finite", "drop"}, Words{"--commands", "--non-finite-share", "1.5"}})
    EXPECT_EQ(parse(kSound, wrong).exit_code, 2) << wrong[2];
}

TEST(IslandOptions, AMistakeIsExitCode2) {
  const Words wrong[] = {{},  // Neither rounds nor commands.
                         {"--rounds", "0"},
                         {"--rounds", "2", "--commands"},
                         {"--commands", "--from", "2"},
                         {"--commands", "--rank", "65535"},
                         {"--commands", "--hello-ms", "0"},
                         {"--commands", "--lanes", "0"},
                         {"--commands", "--operation", "median"},
                         {"--commands", "--colour", "red"},
                         {"--commands", "--deadline", "-1"},
                         {"--commands", "--rtt-ms", "nan"}};
  for (const Words& words : wrong) EXPECT_EQ(parse(kSound, words).exit_code, 2) << words.size();
  for (const char* bytes : {"0", "3", "many", "5G"}) {
    Words words = kSound;
    words.back() = bytes;
    EXPECT_EQ(parse(words, {"--commands"}).exit_code, 2) << bytes;
  }
  EXPECT_EQ(parse({"tombolo-island", "--help"}, {}).exit_code, 0);
}

TEST(IslandOptions, AnAddressIsIpv4AndPort) {
  EXPECT_TRUE(parse_address("127.0.0.1:65535").ok());
  for (const char* text : {"", ":", "10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0:4700",
                           "host:4700", "10.0.0.1:47x", "10.0.0.1:-1", "[::1]:4700"})
    EXPECT_FALSE(parse_address(text).ok()) << text;
}

}  // namespace
}  // namespace tombolo::tools
