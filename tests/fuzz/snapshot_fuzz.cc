#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "control/rpc/install_order.h"
#include "control/store/plan_message.h"
#include "schedule/check_plan.h"
#include "schedule/compile.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

tombolo::schedule::Network pair_of_sites() {
  const auto topology = tombolo::schedule::parse_topology(
      "sites: [{id: A}, {id: B}]\nlinks: [{a: A, b: B, rtt_ms: 1}]\n"
      "profiles: {p: {core_gbps: 10, egress_gbps: 1, ingress_gbps: 1}}\n",
      "pair");
  return *tombolo::schedule::resolve(*topology, "p");
}

}  // namespace

/// What an edge and a controller would read from their disks: the same bytes mean the same to both, and what
/// is accepted comes back when it is written again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tombolo;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto snapshot = control::read_agent_snapshot(bytes);
  const auto state = control::read_controller_state(bytes);
  CHECK(snapshot.ok() == state.ok());
  if (!snapshot.ok()) {
    CHECK(snapshot.error().code == ErrorCode::kInvalidInput);
    CHECK(snapshot.error().message.starts_with("state: "));
    return 0;
  }
  if (const auto network = pair_of_sites(); !state->order.empty()) {
    const auto nominal =
        control::resume_order(state->order, {*schedule::full_schedule(network.islands), {}}, network);
    if (!nominal.ok()) CHECK(nominal.error().message.starts_with("stored order: "));
  }
  if (snapshot->plan) CHECK(schedule::check_plan(*snapshot->plan).ok());
  CHECK(snapshot->newest_epoch >= snapshot->committed_epoch());
  const std::string written = control::write_state(*snapshot);
  auto without_order = *state;
  without_order.order.clear();
  CHECK(written == control::write_state(without_order));
  CHECK(control::read_controller_state(control::write_state(*state))->order == state->order);
  const auto again = control::read_agent_snapshot(written);
  CHECK(again.ok());
  CHECK(again->term == snapshot->term && again->newest_epoch == snapshot->newest_epoch &&
        again->activating_round == snapshot->activating_round &&
        again->committed_epoch() == snapshot->committed_epoch());
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  const auto network = pair_of_sites();
  const control::Nominal nominal{*schedule::full_schedule(network.islands), {}};
  const auto ordered = control::apply_order(nominal,
                                            {.schedule_name = "",
                                             .schedule_yaml = "rounds: [[[A, B]]]",
                                             .multicast = false,
                                             .edge_aggregation = {}},
                                            nominal, network);
  CHECK(ordered.ok());
  auto plan = schedule::compile(network, nominal.schedule,
                                {.job = 1,
                                 .epoch = 5,
                                 .chunk_elements = 64,
                                 .lane_count = 2,
                                 .deadline_ns = 1'000'000'000,
                                 .update_bytes = 100'000});
  CHECK(plan.ok());
  plan->links[0].group = 0xefc00000;
  const auto shared = std::make_shared<const schedule::EpochPlan>(std::move(plan).value());
  return {control::write_state(
              control::AgentSnapshot{.term = 3, .newest_epoch = 4, .plan = nullptr, .activating_round = 0}),
          control::write_state(
              control::AgentSnapshot{.term = 3, .newest_epoch = 6, .plan = shared, .activating_round = 9}),
          control::write_state(control::ControllerState{
              .term = 3, .newest_epoch = 6, .plan = shared, .activating_round = 9, .order = ordered->order})};
}
