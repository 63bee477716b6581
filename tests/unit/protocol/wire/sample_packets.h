#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "protocol/wire/config.h"
#include "protocol/wire/feedback.h"
#include "protocol/wire/header.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/packet.h"

namespace tombolo::wire {

using Bytes = std::vector<std::byte>;

/// A valid packet and what it is, for tests that change it or send it on.
struct Sample {
  std::string name;
  Bytes packet;
};

/// Header and payload as one datagram, lengths and CRCs made good.
inline Bytes make_packet(Header header, const Bytes& payload) {
  set_payload(header, payload);
  seal(header);
  Bytes packet(sizeof(header) + payload.size());
  std::memcpy(packet.data(), &header, sizeof(header));
  std::copy(payload.begin(), payload.end(), packet.begin() + sizeof(header));
  return packet;
}

inline Header header_of(Type type) {
  Header header;
  header.type = static_cast<std::uint8_t>(type);
  header.job = 3;
  header.rank = 2;
  header.tree = 17;
  header.lane = 1;
  header.epoch = 5;
  header.round = 40;
  header.session = 9;
  header.link_sequence = 1000;
  header.timestamp_us = 123456;
  return header;
}

/// A chunk of a type that carries elements.
inline Header chunk_header(Type type, Format format, std::uint32_t chunk, std::uint64_t specific) {
  Header header = header_of(type);
  header.format = static_cast<std::uint8_t>(format);
  header.operation = static_cast<std::uint8_t>(Operation::kMean);
  header.chunk = chunk;
  header.specific = specific;
  return header;
}

inline Header with_result(Header header, Format format) {
  header.result_format = static_cast<std::uint8_t>(format);
  return header;
}

/// A chunk of fp32 that is a fold of bf16 contributions, as a site makes it.
inline Header partial_header(std::uint32_t chunk, std::uint64_t update_elements) {
  Header header = chunk_header(Type::kPartial, Format::kFp32, chunk, update_elements);
  header.rank = kNoRank;
  header.update_format = static_cast<std::uint8_t>(Format::kBf16);
  return header;
}

inline Bytes counting_bytes(std::size_t bytes) {
  Bytes payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::byte>(i * 7 + 1);
  return payload;
}

template <typename Body>
Bytes body_bytes(const Body& body) {
  Bytes bytes(kStandardPayloadBytes);
  bytes.resize(encode(body, bytes));
  return bytes;
}

inline Feedback sample_feedback() {
  Feedback feedback;
  feedback.peer_session = 77;
  feedback.cumulative = 0xfffffff0;
  feedback.highest = 0x20;
  feedback.echo_timestamp_us = 5000;
  feedback.echo_delay_us = 12;
  feedback.range_count = 3;
  feedback.ranges[0] = {0xfffffff0, 1};
  feedback.ranges[1] = {0xfffffffe, 5};  // Crosses the wrap.
  feedback.ranges[2] = {0x1f, 1};
  return feedback;
}

inline Hello sample_hello() { return {77, 500, 300, 5000, 12}; }

inline Config sample_config() {
  Config config;
  config.entry = 1;
  config.entries = 6;
  config.first_round = 36;
  config.chunk_elements = 320;
  config.lane_count = 4;
  config.edge_aggregation = true;
  config.self = 1;
  config.deadline_ns = 30'000'000'000;
  config.stream_rate_bps = 9'700'000'000;
  config.window_chunks = 4096;
  config.members = 3;
  config.send_tree_count = 1;
  config.rank = {0, 2, 7};
  config.receive_tree = {15, 17, kNoTree};
  config.send_tree = {17};
  return config;
}

inline Config largest_config() {
  Config config = sample_config();
  config.members = kMaxMembers;
  config.self = kMaxMembers - 1;
  config.send_tree_count = kMaxSendTrees;
  for (std::size_t i = 0; i < kMaxMembers; ++i) {
    config.rank[i] = static_cast<std::uint16_t>(1000 + i);
    config.receive_tree[i] = static_cast<std::uint16_t>(2000 + i);
  }
  for (std::size_t i = 0; i < kMaxSendTrees; ++i) config.send_tree[i] = static_cast<std::uint16_t>(3000 + i);
  config.non_finite = NonFinitePolicy::kReject;
  config.has_weights = true;
  for (std::size_t i = 0; i < kMaxMembers; ++i) config.weight[i] = 0.5f + static_cast<float>(i);
  return config;
}

inline Config resting_config() {
  Config config = sample_config();
  config.members = 0;
  config.self = 0;
  config.send_tree_count = 0;
  config.stream_rate_bps = 0;
  config.window_chunks = 0;
  return config;
}

/// At least one valid packet of every type, and the edges of their sizes.
inline std::vector<Sample> sample_packets() {
  Header round_end = header_of(Type::kRoundEnd);
  round_end.chunk = static_cast<std::uint32_t>(RoundOutcome::kDeadline);
  round_end.specific = 0b101;
  round_end.tree = kNoTree;
  Header grant = header_of(Type::kGrant);
  grant.chunk = 512;
  Header parity = header_of(Type::kParity);
  parity.specific = 0xff;
  return {
      {"contribution",
       make_packet(chunk_header(Type::kContribution, Format::kFp32, 4, 3200), counting_bytes(1280))},
      {"contribution, last",
       make_packet(chunk_header(Type::kContribution, Format::kFp32, 4, 1283), counting_bytes(12))},
      {"contribution, one element",
       make_packet(chunk_header(Type::kContribution, Format::kInt32, 0, 1), counting_bytes(4))},
      {"contribution, blocks, padded",
       make_packet(chunk_header(Type::kContribution, Format::kMxInt8, 2, 2090), counting_bytes(33 * 2))},
      {"contribution, another result",
       make_packet(with_result(chunk_header(Type::kContribution, Format::kMxInt8, 0, 7936), Format::kBf16),
                   counting_bytes(33 * 248))},
      {"partial", make_packet(partial_header(9, 3200), counting_bytes(1280))},
      {"result, jumbo",
       make_packet(chunk_header(Type::kResult, Format::kFp32, 9, ~std::uint64_t{0}), counting_bytes(8192))},
      {"parity", make_packet(parity, counting_bytes(24 + 1280))},
      {"feedback", make_packet(header_of(Type::kFeedback), body_bytes(sample_feedback()))},
      {"grant", make_packet(grant, {})},
      {"round end", make_packet(round_end, {})},
      {"hello", make_packet(header_of(Type::kHello), body_bytes(sample_hello()))},
      {"join", make_packet(header_of(Type::kJoin), {})},
      {"config", make_packet(header_of(Type::kConfig), body_bytes(sample_config()))},
      {"config, largest", make_packet(header_of(Type::kConfig), body_bytes(largest_config()))},
      {"config, resting", make_packet(header_of(Type::kConfig), body_bytes(resting_config()))},
  };
}

}  // namespace tombolo::wire
