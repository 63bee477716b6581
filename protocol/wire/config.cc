#include "protocol/wire/config.h"

#include <cstring>

#include "base/check.h"
#include "protocol/wire/header.h"

namespace tombolo::wire {
namespace {

struct FixedPart {
  Le32 entry;
  Le32 entries;
  Le32 first_round;
  Le32 chunk_elements;
  Le16 lane_count;
  std::uint8_t edge_aggregation;
  std::uint8_t self;
  Le64 deadline_ns;
  Le64 stream_rate_bps;
  Le32 window_chunks;
  std::uint8_t members;
  std::uint8_t send_tree_count;
};
static_assert(sizeof(FixedPart) == kMinConfigBytes && alignof(FixedPart) == 1);
static_assert(kMaxConfigBytes <= 1280, "a CONFIG fits a standard packet");

std::size_t encoded_bytes(std::size_t members, std::size_t send_trees) {
  return kMinConfigBytes + sizeof(Le16) * (2 * members + send_trees);
}

bool members_are_sound(const Config& config) {
  if (config.members == 0) return config.self == 0 && config.send_tree_count == 0;
  if (config.members < 2 || config.members > kMaxMembers || config.self >= config.members) return false;
  if (config.stream_rate_bps == 0 || config.window_chunks == 0) return false;
  if (config.send_tree_count > kMaxSendTrees) return false;
  for (std::size_t i = 0; i < config.members; ++i) {
    if (config.rank[i] == kNoRank || (i > 0 && config.rank[i] <= config.rank[i - 1])) return false;
  }
  for (std::size_t i = 0; i < config.send_tree_count; ++i) {
    if (config.send_tree[i] == kNoTree) return false;
  }
  return true;
}

bool is_sound(const Config& config) {
  return config.entry < config.entries && config.chunk_elements > 0 &&
         config.chunk_elements <= kMaxChunkElements && config.chunk_elements % kChunkElementsStep == 0 &&
         config.lane_count > 0 && config.deadline_ns > 0 && members_are_sound(config);
}

std::byte* put(std::byte* to, std::span<const std::uint16_t> values) {
  for (const std::uint16_t value : values) {
    const Le16 wire = value;
    std::memcpy(to, &wire, sizeof(wire));
    to += sizeof(wire);
  }
  return to;
}

const std::byte* get(const std::byte* from, std::span<std::uint16_t> values) {
  for (std::uint16_t& value : values) {
    Le16 wire;
    std::memcpy(&wire, from, sizeof(wire));
    value = wire;
    from += sizeof(wire);
  }
  return from;
}

}  // namespace

std::size_t encode(const Config& config, std::span<std::byte> out) {
  CHECK(is_sound(config));
  const std::size_t bytes = encoded_bytes(config.members, config.send_tree_count);
  CHECK(out.size() >= bytes);
  const FixedPart fixed{
      config.entry,          config.entries,     config.first_round,
      config.chunk_elements, config.lane_count,  static_cast<std::uint8_t>(config.edge_aggregation ? 1 : 0),
      config.self,           config.deadline_ns, config.stream_rate_bps,
      config.window_chunks,  config.members,     config.send_tree_count};
  std::memcpy(out.data(), &fixed, sizeof(fixed));
  std::byte* next = out.data() + sizeof(fixed);
  next = put(next, std::span(config.rank).first(config.members));
  next = put(next, std::span(config.receive_tree).first(config.members));
  put(next, std::span(config.send_tree).first(config.send_tree_count));
  return bytes;
}

bool parse(std::span<const std::byte> payload, Config& config) {
  if (payload.size() < kMinConfigBytes) return false;
  FixedPart fixed;
  std::memcpy(&fixed, payload.data(), sizeof(fixed));
  // The counts are checked before anything is read or written by them.
  if (fixed.members > kMaxMembers || fixed.send_tree_count > kMaxSendTrees) return false;
  if (payload.size() != encoded_bytes(fixed.members, fixed.send_tree_count)) return false;
  if (fixed.edge_aggregation > 1) return false;
  config.entry = fixed.entry;
  config.entries = fixed.entries;
  config.first_round = fixed.first_round;
  config.chunk_elements = fixed.chunk_elements;
  config.lane_count = fixed.lane_count;
  config.edge_aggregation = fixed.edge_aggregation == 1;
  config.self = fixed.self;
  config.deadline_ns = fixed.deadline_ns;
  config.stream_rate_bps = fixed.stream_rate_bps;
  config.window_chunks = fixed.window_chunks;
  config.members = fixed.members;
  config.send_tree_count = fixed.send_tree_count;
  const std::byte* next = payload.data() + sizeof(fixed);
  next = get(next, std::span(config.rank).first(config.members));
  next = get(next, std::span(config.receive_tree).first(config.members));
  get(next, std::span(config.send_tree).first(config.send_tree_count));
  return is_sound(config);
}

}  // namespace tombolo::wire
