#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/sim/scenario.h"
#include "tools/testbed/run.h"

namespace tombolo::sim {

/// The nine cities; `update_bytes` and capacities are those of 1 GB at full scale, times `scale`.
inline testbed::RunConfig nine_city_config(double scale) {
  testbed::RunConfig config;
  config.network = nine_cities(scale);
  config.schedule = full(config.network);
  config.update_bytes = static_cast<std::uint64_t>(1e9 * scale) / sizeof(float) * sizeof(float);
  return config;
}

/// Runs it; an error fails the test and gives an empty report.
inline testbed::RunReport run_or_fail(const testbed::RunConfig& config) {
  auto report = testbed::run(config, nullptr);
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report ? std::move(report).value() : testbed::RunReport{};
}

/// What went wrong in a run's rounds; empty if all is exact.
inline std::string complaints(const testbed::RunReport& report) {
  std::string text = report.exact ? "" : "not exact\n";
  for (const testbed::RoundReport& round : report.rounds)
    for (const std::string& error : round.errors)
      text += "round " + std::to_string(round.round) + ": " + error + "\n";
  return text;
}

}  // namespace tombolo::sim
