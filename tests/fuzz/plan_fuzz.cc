#include <string>
#include <string_view>

#include <plan.pb.h>

#include "base/check.h"
#include "control/store/plan_message.h"
#include "schedule/check_plan.h"
#include "schedule/compile.h"
#include "tests/fuzz/fuzz_target.h"

namespace tombolo::control {
namespace {

/// Four sites in a ring with a tail, small enough that mutations reach every field.
schedule::EpochPlan small_plan(bool multicast, bool edge_aggregation, bool tree_aggregation = false) {
  const auto topology = schedule::parse_topology(
      "sites: [{id: A}, {id: B}, {id: C}, {id: D}]\n"
      "links: [{a: A, b: B, rtt_ms: 1}, {a: B, b: C, rtt_ms: 2}, {a: A, b: C, rtt_ms: 3}, {a: C, b: D, "
      "rtt_ms: 1}]\n"
      "profiles: {p: {core_gbps: 10, egress_gbps: 1, ingress_gbps: 1}}\n",
      "ring");
  const auto network = schedule::resolve(*topology, "p");
  schedule::Schedule schedule{"s", {schedule::Round{{{0, 1, 3}}}, schedule::Round{{{0, 1}, {2, 3}}}}};
  if (tree_aggregation) schedule.rounds[0].modes = {schedule::CliqueMode{schedule::Mode::kTree, 1}};
  if (multicast) schedule.weights = {1, 0.5f, 2, 3};
  auto plan = schedule::compile(*network, schedule,
                                {.job = 1,
                                 .epoch = 5,
                                 .chunk_elements = 64,
                                 .lane_count = 2,
                                 .deadline_ns = 1'000'000'000,
                                 .update_bytes = 100'000,
                                 .multicast = multicast,
                                 .edge_aggregation = edge_aggregation,
                                 .format = multicast ? NumberFormat::kMxInt8 : NumberFormat::kFp32,
                                 .result_format = multicast ? NumberFormat::kBf16 : NumberFormat::kFp32,
                                 .non_finite = NonFinitePolicy::kZero,
                                 .tree_aggregation = tree_aggregation});
  CHECK(plan.ok());
  return std::move(plan).value();
}

}  // namespace
}  // namespace tombolo::control

/// What is accepted keeps the promises of check_plan and, written again, comes back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tombolo;
  control::v1::Plan message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto plan = control::read_plan(message);
  if (!plan.ok()) {
    CHECK(plan.error().code == ErrorCode::kInvalidInput);
    CHECK(plan.error().message.starts_with("plan: "));
    return 0;
  }
  CHECK(schedule::check_plan(**plan).ok());
  control::v1::Plan again;
  control::write_plan(**plan, again);
  const auto same = control::read_plan(again);
  CHECK(same.ok());
  control::v1::Plan third;
  control::write_plan(**same, third);
  CHECK(third.SerializeAsString() == again.SerializeAsString());
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  std::vector<std::string> seeds;
  for (const bool multicast : {false, true})
    for (const bool edge_aggregation : {false, true}) {
      control::v1::Plan message;
      control::write_plan(control::small_plan(multicast, edge_aggregation), message);
      seeds.push_back(message.SerializeAsString());
      message.mutable_links(0)->set_group(0xefc00000);
      message.mutable_links(1)->set_group(0xefc00001);
      seeds.push_back(message.SerializeAsString());
    }
  control::v1::Plan on_trees;
  control::write_plan(control::small_plan(true, true, true), on_trees);
  seeds.push_back(on_trees.SerializeAsString());
  return seeds;
}
