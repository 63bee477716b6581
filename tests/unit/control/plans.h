#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "control/rpc/wanted_plan.h"
#include "schedule/compile.h"
#include "schedule/schedule.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::control {

inline schedule::Network nine_cities() {
  return schedule::shipped_network("nine-city.yaml", "access-limited", 0.01);
}

inline schedule::CompileOptions nine_city_options(std::uint32_t epoch) {
  return {.job = 1,
          .epoch = epoch,
          .chunk_elements = 256,
          .lane_count = 4,
          .deadline_ns = 1'000'000'000,
          .update_bytes = 10'000'000};
}

inline Nominal nine_city_grid() {
  return {*schedule::grid_schedule(nine_cities().islands), nine_city_options(1)};
}

/// The nine cities' grid.
inline std::shared_ptr<const schedule::EpochPlan> nine_city_plan(std::uint32_t epoch) {
  auto plan = make_wanted_plan(nine_cities(), nine_city_grid(), {}, epoch);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return std::make_shared<const schedule::EpochPlan>(std::move(plan).value());
}

/// The same when Singapore (site and rank 7) is lost.
inline schedule::EpochPlan nine_city_plan_without_sin(std::uint32_t epoch) {
  auto plan = make_wanted_plan(
      nine_cities(), nine_city_grid(),
      {.lost_links = {{7, 8}, {4, 7}, {3, 7}}, .dead_sites = {7}, .lost_islands = {7}}, epoch);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return std::move(plan).value();
}

}  // namespace tombolo::control
