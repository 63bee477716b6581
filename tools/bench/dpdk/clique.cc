#include "tools/bench/dpdk/clique.h"

#include <algorithm>
#include <utility>

#include "aggregation/fold/format.h"
#include "base/check.h"
#include "tools/bench/payloads.h"

namespace tombolo::bench {

std::size_t Clique::elements() const { return elements_in(format, chunk_bytes); }

std::uint32_t Clique::payload_bytes() const {
  return static_cast<std::uint32_t>(fold::payload_bytes(format, elements()));
}

std::uint32_t Clique::step_chunks() const {
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(kBurst) / std::max(1U, k - 1));
}

std::uint32_t Clique::window_chunks() const {
  // Grants are renewed by eighths of the window, and the edge's answer comes a step later.
  const std::uint32_t in_flight = (k - 1) * skew_chunks + 4 * step_chunks();
  return in_flight + in_flight / 4 + 64;
}

std::uint32_t Clique::warm_up_steps() const { return 2 * window_chunks() / step_chunks() + 16; }

std::uint64_t Clique::distance_bytes() const {
  const std::uint64_t apart = std::uint64_t{k - 1} * payload_bytes();
  return skew_chunks == 0 ? apart : apart * skew_chunks * k;
}

std::uint64_t Clique::waiting_packets() const {
  return std::uint64_t{skew_chunks} * k * (k - 1) / 2 + std::uint64_t{k} * step_chunks();
}

std::uint64_t Clique::held_packets() const {
  if (held_bytes == aggregation::kHoldAll) return waiting_packets();
  return std::min<std::uint64_t>(waiting_packets(), aggregation::held_buffers(held_bytes, payload_bytes()));
}

/// Nobody gets so far.
std::uint64_t Clique::update_elements() const { return std::uint64_t{elements()} << 30; }

std::uint32_t skew_for(const Clique& clique, std::uint64_t distance) {
  const std::uint64_t per_chunk = std::uint64_t{clique.k - 1} * clique.k * clique.payload_bytes();
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, distance / std::max<std::uint64_t>(1, per_chunk)));
}

Address port_address(bool lan) { return {lan ? 0x0a000101U : 0x0a000001U, 4700}; }

Address peer_address(std::uint32_t member) {
  return {member == 0 ? 0x0a00010aU : 0x0a00000aU + member, 4700};
}

dataplane::Mac port_mac(bool lan) { return dataplane::Mac{0x020000000000} | port_address(lan).ipv4; }

dataplane::Mac peer_mac(std::uint32_t member) {
  return dataplane::Mac{0x020000000000} | peer_address(member).ipv4;
}

dataplane::DpdkPortConfig port_config(const Clique& clique, bool lan, const std::string& device) {
  dataplane::DpdkPortConfig config;
  config.name = lan ? "lan" : "wan";
  config.device = device;
  config.mac = port_mac(lan);
  config.address = port_address(lan);
  config.mtu = 9000;
  if (clique.payload_bytes() + kFramingBytes + kHeaderBytes <= 1500) config.mtu = 1500;
  for (std::uint32_t member = lan ? 0 : 1; member < (lan ? 1 : clique.k); ++member)
    config.neighbours.push_back({peer_address(member), peer_mac(member)});
  return config;
}

aggregation::MemberEntry member_entry(const Clique& clique) {
  aggregation::MemberEntry entry;
  entry.members = static_cast<std::uint8_t>(clique.k);
  entry.self = 0;
  entry.window_chunks = clique.window_chunks();
  for (std::uint16_t member = 0; member < clique.k; ++member) {
    entry.ranks[member] = member;
    entry.receive_trees[member] = member;
  }
  return entry;
}

std::shared_ptr<const dataplane::EpochTable> epoch_table(const Clique& clique) {
  auto table = std::make_shared<dataplane::EpochTable>();
  table->job = kJob;
  table->epoch = kEpoch;
  table->lane_count = 1;
  table->chunk_elements = static_cast<std::uint32_t>(clique.elements());
  table->max_payload_bytes = clique.payload_bytes();
  table->deadline_ns = 1'000'000 * kSecond;
  table->period = 1;
  dataplane::LocalIsland island;
  island.rank = 0;
  island.link = 0;
  island.members.push_back(member_entry(clique));
  island.sends.push_back({1'000'000, {0}});
  table->islands.push_back(std::move(island));
  std::vector<multicast::BranchSpec> specs(clique.k);
  for (std::uint16_t member = 0; member < clique.k; ++member) {
    specs[member].tree = member;
    specs[member].branch.rank = member;
    specs[member].branch.parent_link = static_cast<std::uint8_t>(member);
    specs[member].branch.deliver = 1;
  }
  auto forwarding = multicast::ForwardingTable::build(specs, clique.k, 1);
  CHECK(forwarding.ok());
  table->forwarding = std::move(forwarding).value();
  return table;
}

fold::Kind kind_of(const Clique& clique) {
  fold::Kind kind;
  kind.input = clique.format;
  kind.operation = clique.operation;
  return kind;
}

std::string isa_of(const Clique& clique) {
  const auto set = fold::choose_instruction_set(clique.isa);
  return std::string(fold::name_of(set ? *set : fold::InstructionSet::kScalar));
}

}  // namespace tombolo::bench
