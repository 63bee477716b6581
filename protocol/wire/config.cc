#include "protocol/wire/config.h"

#include <bit>
#include <cmath>
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
  std::uint8_t flags;
  std::uint8_t self;
  Le64 deadline_ns;
  Le64 stream_rate_bps;
  Le32 window_chunks;
  std::uint8_t members;
  std::uint8_t send_tree_count;
  Le16 max_payload_bytes;
};
static_assert(sizeof(FixedPart) == kMinConfigBytes && alignof(FixedPart) == 1);
static_assert(kMaxConfigBytes <= 1280, "a CONFIG fits a standard packet");

/// Bits of the byte `flags`. The policy takes two.
constexpr std::uint8_t kFlagEdgeAggregation = 1;
constexpr std::uint8_t kFlagWeights = 2;
constexpr int kPolicyShift = 2;

std::size_t encoded_bytes(std::size_t members, std::size_t send_trees, bool has_weights) {
  return kMinConfigBytes + sizeof(Le16) * (2 * members + send_trees) +
         (has_weights ? sizeof(Le32) * members : 0);
}

std::uint8_t flags_of(const Config& config) {
  return static_cast<std::uint8_t>((config.edge_aggregation ? kFlagEdgeAggregation : 0) |
                                   (config.has_weights ? kFlagWeights : 0) |
                                   static_cast<int>(config.non_finite) << kPolicyShift);
}

bool members_are_sound(const Config& config) {
  if (config.members == 0) return config.self == 0 && config.send_tree_count == 0 && !config.has_weights;
  if (config.members < 2 || config.members > kMaxMembers || config.self >= config.members) return false;
  if (config.stream_rate_bps == 0 || config.window_chunks == 0) return false;
  if (config.send_tree_count > kMaxSendTrees) return false;
  for (std::size_t i = 0; i < config.members; ++i) {
    if (config.rank[i] == kNoRank || (i > 0 && config.rank[i] <= config.rank[i - 1])) return false;
  }
  for (std::size_t i = 0; i < config.send_tree_count; ++i) {
    if (config.send_tree[i] == kNoTree) return false;
  }
  for (std::size_t i = 0; config.has_weights && i < config.members; ++i) {
    if (!std::isnormal(config.weight[i]) || config.weight[i] < 0) return false;
  }
  return true;
}

bool is_sound(const Config& config) {
  return config.entry < config.entries && config.chunk_elements > 0 &&
         config.chunk_elements <= kMaxChunkElements && config.chunk_elements % kChunkElementStep == 0 &&
         config.max_payload_bytes > 0 && config.max_payload_bytes <= kMaxPayloadBytes &&
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
  const std::size_t bytes = encoded_bytes(config.members, config.send_tree_count, config.has_weights);
  CHECK(out.size() >= bytes);
  const FixedPart fixed{config.entry,
                        config.entries,
                        config.first_round,
                        config.chunk_elements,
                        config.lane_count,
                        flags_of(config),
                        config.self,
                        config.deadline_ns,
                        config.stream_rate_bps,
                        config.window_chunks,
                        config.members,
                        config.send_tree_count,
                        config.max_payload_bytes};
  std::memcpy(out.data(), &fixed, sizeof(fixed));
  std::byte* next = out.data() + sizeof(fixed);
  next = put(next, std::span(config.rank).first(config.members));
  next = put(next, std::span(config.receive_tree).first(config.members));
  next = put(next, std::span(config.send_tree).first(config.send_tree_count));
  for (std::size_t i = 0; config.has_weights && i < config.members; ++i) {
    const Le32 weight = std::bit_cast<std::uint32_t>(config.weight[i]);
    std::memcpy(next + i * sizeof(weight), &weight, sizeof(weight));
  }
  return bytes;
}

bool parse(std::span<const std::byte> payload, Config& config) {
  if (payload.size() < kMinConfigBytes) return false;
  FixedPart fixed;
  std::memcpy(&fixed, payload.data(), sizeof(fixed));
  // The counts are checked before anything is read or written by them.
  if (fixed.members > kMaxMembers || fixed.send_tree_count > kMaxSendTrees) return false;
  const bool has_weights = (fixed.flags & kFlagWeights) != 0;
  if (payload.size() != encoded_bytes(fixed.members, fixed.send_tree_count, has_weights)) return false;
  // A policy that is not known, and any other bit, is above the largest known value.
  if (fixed.flags >> kPolicyShift >= static_cast<int>(kNonFinitePolicies)) return false;
  config.entry = fixed.entry;
  config.entries = fixed.entries;
  config.first_round = fixed.first_round;
  config.chunk_elements = fixed.chunk_elements;
  config.lane_count = fixed.lane_count;
  config.edge_aggregation = (fixed.flags & kFlagEdgeAggregation) != 0;
  config.non_finite = static_cast<NonFinitePolicy>(fixed.flags >> kPolicyShift);
  config.has_weights = has_weights;
  config.max_payload_bytes = fixed.max_payload_bytes;
  config.self = fixed.self;
  config.deadline_ns = fixed.deadline_ns;
  config.stream_rate_bps = fixed.stream_rate_bps;
  config.window_chunks = fixed.window_chunks;
  config.members = fixed.members;
  config.send_tree_count = fixed.send_tree_count;
  const std::byte* next = payload.data() + sizeof(fixed);
  next = get(next, std::span(config.rank).first(config.members));
  next = get(next, std::span(config.receive_tree).first(config.members));
  next = get(next, std::span(config.send_tree).first(config.send_tree_count));
  for (std::size_t i = 0; has_weights && i < config.members; ++i) {
    Le32 weight;
    std::memcpy(&weight, next + i * sizeof(weight), sizeof(weight));
    config.weight[i] = std::bit_cast<float>(static_cast<std::uint32_t>(weight));
  }
  return is_sound(config);
}

}  // namespace tombolo::wire
