#include <string_view>

#include "base/check.h"
#include "schedule/topology.h"
#include "tests/fuzz/fuzz_target.h"

namespace tombolo::schedule {
namespace {

/// What an accepted topology promises to those who index into it.
void check_accepted(const Topology& topology) {
  CHECK(!topology.sites.empty() && topology.sites.size() <= kMaxSites);
  CHECK(topology.islands.size() <= kMaxIslands);
  // A connected graph has at least a tree's links.
  CHECK(topology.links.size() + 1 >= topology.sites.size());
  for (const Link& link : topology.links) {
    CHECK(link.a < topology.sites.size() && link.b < topology.sites.size() && link.a != link.b);
    CHECK(link.gbps_ab.has_value() == link.gbps_ba.has_value());
  }
  for (const Island& island : topology.islands) CHECK(island.site < topology.sites.size());
  for (const Profile& profile : topology.profiles) {
    const auto network = resolve(topology, profile.name, 1.0);
    if (!network.ok()) {
      // A capacity may still be too small to be one; anything else was checked when the file was read.
      CHECK(network.error().code == ErrorCode::kInvalidInput);
      continue;
    }
    CHECK(network->links.size() == 2 * topology.links.size());
    for (const DirectedLink& link : network->links) CHECK(link.capacity_bps > 0);
    for (const auto* const list : {&network->site_replicates, &network->site_aggregates})
      CHECK(list->empty() || list->size() == topology.sites.size());
  }
}

}  // namespace
}  // namespace tombolo::schedule

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tombolo;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto topology = schedule::parse_topology(text, "input.yaml");
  if (topology.ok()) {
    schedule::check_accepted(*topology);
  } else {
    CHECK(topology.error().code == ErrorCode::kInvalidInput);
    CHECK(topology.error().message.starts_with("input.yaml:"));
  }
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  return {
      "name: small\n"
      "sites:\n"
      "  - {id: A, lat: 1.5, lon: -2}\n"
      "  - {id: B, replicates: false, aggregates: true}\n"
      "links:\n"
      "  - {a: A, b: B, rtt_ms: 10, gbps: {ab: 1, ba: 2}, multicast: false}\n"
      "profiles:\n"
      "  p: {core_gbps: 1, egress_gbps: 1, ingress_gbps: 1}\n"};
}
