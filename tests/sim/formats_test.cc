// Every number format, operation and policy, right to the bit at every island, whoever folds.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/sim/run_config.h"
#include "tools/testbed/workload.h"

namespace tombolo::sim {
namespace {

using testbed::RunConfig;
using wire::Operation;

constexpr double kScale = 0.00005;  // 50 kB at 500 kbit/s.

RunConfig config_of(NumberFormat format, NumberFormat result, Operation operation, bool edge_aggregation) {
  RunConfig config = nine_city_config(kScale);
  config.schedule = grid(config.network);
  config.format = format;
  config.result_format = result;
  config.operation = operation;
  config.edge_aggregation = edge_aggregation;
  config.chunk_elements = chunk_elements_for(std::array{format, config.output_format()}, 1280);
  // An odd number of elements: the last block of Microscaling is padded.
  config.update_bytes = encoded_bytes(format, 9'001);
  for (std::size_t rank = 0; rank < config.network.islands.size(); ++rank)
    config.schedule.weights.push_back(0.1f + static_cast<float>(rank) / 3);
  return config;
}

using Case = std::tuple<NumberFormat, NumberFormat, Operation>;
class ExactFormats : public testing::TestWithParam<Case> {};

TEST_P(ExactFormats, AtEdgesAndAtIslands) {
  const auto& [format, result, operation] = GetParam();
  for (const bool edge_aggregation : {true, false}) {
    const auto report = run_or_fail(config_of(format, result, operation, edge_aggregation));
    EXPECT_EQ(complaints(report), "") << "aggregation " << edge_aggregation;
    EXPECT_EQ(report.rounds.size(), 2u);
  }
}

std::string case_name(const testing::TestParamInfo<Case>& param_info) {
  const auto& [format, result, operation] = param_info.param;
  return fmt::format("{}_to_{}_{}", name(format), name(result), testbed::operation_name(operation));
}

constexpr auto kOwn = NumberFormat::kNone;
INSTANTIATE_TEST_SUITE_P(NineCities, ExactFormats,
                         testing::Values(Case{NumberFormat::kFp32, kOwn, Operation::kWeighted},
                                         Case{NumberFormat::kFp32, NumberFormat::kBf16, Operation::kMean},
                                         Case{NumberFormat::kBf16, kOwn, Operation::kMean},
                                         Case{NumberFormat::kBf16, NumberFormat::kFp32, Operation::kWeighted},
                                         Case{NumberFormat::kFp16, kOwn, Operation::kSum},
                                         Case{NumberFormat::kFp16, kOwn, Operation::kMin},
                                         Case{NumberFormat::kInt32, kOwn, Operation::kSum},
                                         Case{NumberFormat::kInt32, kOwn, Operation::kMean},
                                         Case{NumberFormat::kInt32, kOwn, Operation::kMax},
                                         Case{NumberFormat::kMxInt8, kOwn, Operation::kMean},
                                         Case{NumberFormat::kMxInt8, NumberFormat::kBf16, Operation::kMean},
                                         Case{NumberFormat::kMxFp8E4M3, kOwn, Operation::kSum},
                                         Case{NumberFormat::kMxFp8E4M3, NumberFormat::kFp32, Operation::kMax},
                                         Case{NumberFormat::kMxFp8E5M2, kOwn, Operation::kWeighted}),
                         case_name);

class ExactPolicies : public testing::TestWithParam<NonFinitePolicy> {};

TEST_P(ExactPolicies, DecideAlikeEverywhere) {
  for (const bool edge_aggregation : {true, false})
    for (const auto& [format, operation] :
         {std::pair{NumberFormat::kFp32, Operation::kMean}, std::pair{NumberFormat::kBf16, Operation::kMax},
          std::pair{NumberFormat::kMxFp8E4M3, Operation::kWeighted}}) {
      RunConfig config = config_of(format, kOwn, operation, edge_aggregation);
      config.non_finite = GetParam();
      config.non_finite_share = 2e-4;
      EXPECT_EQ(complaints(run_or_fail(config)), "") << name(format);
    }
}

INSTANTIATE_TEST_SUITE_P(NineCities, ExactPolicies,
                         testing::Values(NonFinitePolicy::kPropagate, NonFinitePolicy::kZero,
                                         NonFinitePolicy::kReject),
                         [](const auto& param_info) { return std::string(name(param_info.param)); });

TEST(FormatsHarness, WouldSeeWhatEachPolicyDoes) {
  // The canary: the same updates give different results, and reject names somebody.
  testbed::Numbers numbers;
  numbers.non_finite_share = 1e-3;
  numbers.chunk_elements = 320;
  const std::vector<std::uint16_t> members{0, 1, 2};
  std::vector<testbed::Expected> all;
  for (const auto policy : {NonFinitePolicy::kPropagate, NonFinitePolicy::kZero, NonFinitePolicy::kReject}) {
    numbers.non_finite = policy;
    all.push_back(testbed::expected_output(numbers, 1, 0, members, {}, 5000));
  }
  EXPECT_NE(all[0].result, all[1].result);
  EXPECT_NE(all[1].result, all[2].result);
  EXPECT_EQ(all[0].contributors, members);
  EXPECT_EQ(all[1].contributors, members);
  EXPECT_LT(all[2].contributors.size(), members.size());
}

TEST(FormatsHarness, SaturatesInt32) {
  testbed::Numbers numbers;
  numbers.format = NumberFormat::kInt32;
  numbers.operation = Operation::kSum;
  const std::vector<std::uint16_t> members{0, 1, 2};
  const auto expected = testbed::expected_output(numbers, 1, 0, members, {}, 1000);
  std::size_t saturated = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    std::int32_t value = 0;
    std::memcpy(&value, expected.result.data() + 4 * i, sizeof(value));
    saturated += value == std::numeric_limits<std::int32_t>::max() ? 1 : 0;
  }
  EXPECT_GT(saturated, 50u);
}

TEST(Formats, WiderResultsAreInThePrediction) {
  RunConfig config = config_of(NumberFormat::kMxInt8, NumberFormat::kBf16, Operation::kMean, true);
  config.network = nine_cities(0.002);  // Slower links are filled by acknowledgements.
  config.schedule = grid(config.network);
  config.update_bytes = encoded_bytes(config.format, 1'000'000);
  const auto report = run_or_fail(config);
  EXPECT_EQ(complaints(report), "");
  for (const testbed::RoundReport& round : report.rounds)
    EXPECT_NEAR(round.measured_s / round.predicted_s, 1.0, 0.1);
  // Without the results' width the prediction would be of about half the time.
  config.result_format = kOwn;
  EXPECT_LT(testbed::start_round_report(config, 0, config.schedule.rounds[0])->predicted_s,
            0.7 * report.rounds[0].predicted_s);
}

TEST(Formats, OnTreesToo) {
  for (const auto& [format, result, operation] :
       {Case{NumberFormat::kBf16, kOwn, Operation::kMean},
        Case{NumberFormat::kMxInt8, NumberFormat::kBf16, Operation::kWeighted},
        Case{NumberFormat::kInt32, kOwn, Operation::kSum},
        Case{NumberFormat::kFp16, kOwn, Operation::kMax}}) {
    RunConfig config = config_of(format, result, operation, true);
    const std::vector<float> weights = config.schedule.weights;
    config.schedule = full(config.network);
    config.schedule.weights = weights;
    config.schedule.rounds[0].modes = {schedule::CliqueMode{schedule::Mode::kTree}};
    config.tree_aggregation = true;
    config.non_finite = NonFinitePolicy::kZero;
    config.non_finite_share = 2e-4;
    config.chunk_elements =
        chunk_elements_for(std::array{format, config.output_format(), testbed::partials(config)}, 1280);
    const auto plan = testbed::make_plan(config, 1);
    ASSERT_TRUE(plan.ok() && plan->has_trees());
    EXPECT_EQ(complaints(run_or_fail(config)), "") << name(format);
  }
}

TEST(Formats, WeightedNeedsWeights) {
  RunConfig config = config_of(NumberFormat::kFp32, kOwn, Operation::kWeighted, true);
  config.schedule.weights.clear();
  const auto report = testbed::run(config, nullptr);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message.find("weights"), std::string::npos) << report.error().message;
}

}  // namespace
}  // namespace tombolo::sim
