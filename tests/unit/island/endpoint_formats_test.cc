#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#include "tests/unit/island/scripted_edge.h"

namespace tombolo::island {
namespace {

using wire::Format;
using wire::Operation;

constexpr std::uint32_t kAll = 0xffffffff;

/// 70 elements in chunks of 32: two whole blocks and one that is padded.
class EndpointFormats : public testing::Test {
 protected:
  static constexpr std::size_t kCount = 70;
  static constexpr std::size_t kMxBytes = 3 * 33;

  /// An update whose byte at i is i: its elements lie before byte 96, its three scales behind.
  EndpointFormats() : input_(kMxBytes), output_(kCount * 4) {
    for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = static_cast<std::byte>(i);
  }
  Allreduce request(Format format, Format result = Format::kNone) {
    Allreduce request;
    request.input = input_.data();
    request.output = output_.data();
    request.count = kCount;
    request.format = format;
    request.result_format = result;
    return request;
  }
  void start(const Allreduce& request, wire::Config config = ScriptedEdge::clique()) {
    edge_.join({config});
    const auto handle = edge_.island->allreduce_async(request, edge_.now_ns);
    ASSERT_TRUE(handle.ok()) << handle.error().message;
    handle_ = *handle;
    edge_.grant(0, kAll);
    edge_.run(kMillisecond);
  }
  void result(std::uint32_t chunk, Format format, const std::vector<std::byte>& payload,
              std::uint64_t contributors = 0b111, Operation operation = Operation::kMean) {
    wire::Header header = edge_.make_header(wire::Type::kResult, static_cast<std::uint16_t>(chunk % 2));
    header.rank = ScriptedEdge::kRank;
    header.epoch = 1;
    header.chunk = chunk;
    header.specific = contributors;
    header.format = static_cast<std::uint8_t>(format);
    header.operation = static_cast<std::uint8_t>(operation);
    edge_.send_numbered(header, payload);
    edge_.run(kMillisecond);
  }
  const Outcome& outcome() { return *edge_.island->poll(handle_); }

  ScriptedEdge edge_;
  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
  Handle handle_ = 0;
};

TEST_F(EndpointFormats, AMicroscalingChunkCarriesItsOwnScales) {
  start(request(Format::kMxInt8));
  const auto sent = edge_.sent(wire::Type::kContribution);
  ASSERT_EQ(sent.size(), 3u);
  for (const Sent& packet : sent) {
    const std::size_t block = packet.header.chunk;
    EXPECT_EQ(packet.header.specific, kCount);
    EXPECT_EQ(packet.header.format, static_cast<std::uint8_t>(Format::kMxInt8));
    EXPECT_EQ(packet.header.result_format, 0);
    ASSERT_EQ(packet.payload.size(), 33u);
    for (std::size_t i = 0; i < 32; ++i)
      EXPECT_EQ(packet.payload[i], static_cast<std::byte>(block * 32 + i)) << block;
    EXPECT_EQ(packet.payload[32], static_cast<std::byte>(96 + block));
  }
}

TEST_F(EndpointFormats, AMicroscalingResultIsPutBackWhereItBelongs) {
  start(request(Format::kMxInt8));
  for (std::uint32_t block = 0; block < 3; ++block) {
    std::vector<std::byte> payload(33, static_cast<std::byte>(block + 1));
    payload[32] = static_cast<std::byte>(block + 101);
    result(block, Format::kMxInt8, payload);
  }
  EXPECT_EQ(outcome().stage, Stage::kReady);
  EXPECT_EQ(outcome().contributors, (std::vector<std::uint16_t>{1, 2, 5}));
  for (std::size_t i = 0; i < 96; ++i) EXPECT_EQ(output_[i], static_cast<std::byte>(i / 32 + 1)) << i;
  for (std::size_t block = 0; block < 3; ++block)
    EXPECT_EQ(output_[96 + block], static_cast<std::byte>(block + 101));
  EXPECT_EQ(output_[99], std::byte{0}) << "nothing behind the output is written";
}

TEST_F(EndpointFormats, MicroscalingInPlaceIsSentAsItWas) {
  Allreduce in_place = request(Format::kMxFp8E5M2);
  in_place.output = input_.data();
  edge_.join({ScriptedEdge::clique()});
  handle_ = *edge_.island->allreduce_async(in_place, edge_.now_ns);
  edge_.run(kMillisecond);
  // A result overtakes the last chunks: it must not be what is sent.
  result(2, Format::kMxFp8E5M2, std::vector<std::byte>(33, std::byte{0xee}));
  edge_.grant(0, kAll);
  edge_.run(kMillisecond);
  const auto sent = edge_.sent(wire::Type::kContribution);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[2].payload[0], static_cast<std::byte>(64));
  EXPECT_EQ(input_[64], std::byte{0xee});
}

TEST_F(EndpointFormats, TheResultHasTheFormatThatWasAskedFor) {
  start(request(Format::kMxInt8, Format::kBf16));
  for (const Sent& packet : edge_.sent(wire::Type::kContribution))
    EXPECT_EQ(packet.header.result_format, static_cast<std::uint8_t>(Format::kBf16));
  result(0, Format::kMxInt8, std::vector<std::byte>(33));
  result(0, Format::kBf16, std::vector<std::byte>(62));
  EXPECT_EQ(edge_.drops(DropReason::kMismatch), 2u) << "another format, another length";
  for (std::uint32_t chunk = 0; chunk < 3; ++chunk)
    result(chunk, Format::kBf16, std::vector<std::byte>(chunk == 2 ? 12 : 64, static_cast<std::byte>(7)));
  EXPECT_EQ(outcome().stage, Stage::kReady);
  EXPECT_EQ(output_[kCount * 2 - 1], std::byte{7});
  EXPECT_EQ(output_[kCount * 2], std::byte{0});
}

TEST_F(EndpointFormats, AFormatByNameIsSentAsNone) {
  std::vector<std::byte> values(kCount * 4);
  Allreduce named = request(Format::kFp32, Format::kFp32);
  named.input = values.data();
  start(named);
  ASSERT_FALSE(edge_.sent(wire::Type::kContribution).empty());
  for (const Sent& packet : edge_.sent(wire::Type::kContribution)) EXPECT_EQ(packet.header.result_format, 0);
}

TEST_F(EndpointFormats, WhatDoesNotFitThePacketsOfTheEpochFailsByName) {
  wire::Config small = ScriptedEdge::clique();
  small.max_payload_bytes = 63;
  start(request(Format::kMxInt8, Format::kBf16), small);
  EXPECT_EQ(outcome().stage, Stage::kFailed);
  EXPECT_EQ(outcome().error.message,
            "round 0: a chunk of 32 elements in bf16 takes 64 bytes; the epoch's packets carry 63");
}

TEST_F(EndpointFormats, WeightedNeedsWeightsAndDeliversTheirSum) {
  Allreduce weighted = request(Format::kMxInt8);
  weighted.operation = Operation::kWeighted;
  start(weighted);
  EXPECT_EQ(outcome().error.message, "round 0: the schedule gives no weights");

  ScriptedEdge other;
  wire::Config config = ScriptedEdge::clique();
  config.has_weights = true;
  config.weight = {0.5f, 2, 0.25f};
  other.join({config});
  handle_ = *other.island->allreduce_async(weighted, other.now_ns);
  other.grant(0, kAll);
  other.run(kMillisecond);
  EXPECT_EQ(other.island->poll(handle_)->weight_sum, 2.75f);
  EXPECT_EQ(other.island->poll(handle_)->weights, (std::vector<float>{0.5f, 2, 0.25f}));
}

TEST_F(EndpointFormats, ARejectedChunkIsNamedWithWhoIsInIt) {
  wire::Config config = ScriptedEdge::clique();
  config.has_weights = true;
  config.weight = {0.5f, 2, 0.25f};
  Allreduce weighted = request(Format::kMxInt8);
  weighted.operation = Operation::kWeighted;
  start(weighted, config);
  const std::vector<std::byte> payload(33);
  result(0, Format::kMxInt8, payload, 0b111, Operation::kWeighted);
  result(1, Format::kMxInt8, payload, 0b101, Operation::kWeighted);
  result(2, Format::kMxInt8, payload, 0, Operation::kWeighted);
  EXPECT_EQ(outcome().stage, Stage::kReady);
  EXPECT_TRUE(outcome().contributors.empty()) << "nobody's whole update is in it";
  EXPECT_EQ(outcome().rejected, (std::vector<std::uint16_t>{1, 2, 5}));
  ASSERT_EQ(outcome().rejections.size(), 2u);
  EXPECT_EQ(outcome().rejections[0].first_element, 32u);
  EXPECT_EQ(outcome().rejections[0].elements, 32u);
  EXPECT_EQ(outcome().rejections[0].contributors, 0b101u);
  EXPECT_EQ(outcome().rejections[0].weight_sum, 0.75f);
  EXPECT_EQ(outcome().rejections[1].first_element, 64u);
  EXPECT_EQ(outcome().rejections[1].elements, 6u);
  EXPECT_EQ(outcome().rejections[1].weight_sum, 0);
}

TEST_F(EndpointFormats, ARestingIslandGetsItsUpdateInTheResultsFormat) {
  wire::Config config;
  config.entries = 1;
  config.chunk_elements = 32;
  config.lane_count = 2;
  config.edge_aggregation = true;
  config.deadline_ns = kSecond;
  const std::vector<float> values{1.5f, -2, 0.25f, 1e-3f};
  std::vector<std::uint16_t> narrow(values.size());
  Allreduce rests = request(Format::kFp32, Format::kBf16);
  rests.input = reinterpret_cast<const std::byte*>(values.data());
  rests.output = reinterpret_cast<std::byte*>(narrow.data());
  rests.count = values.size();
  start(rests, config);
  EXPECT_EQ(outcome().stage, Stage::kReleased);
  // 1e-3 is 0x3a83126f: 0x126f is less than half.
  EXPECT_EQ(narrow, (std::vector<std::uint16_t>{0x3fc0, 0xc000, 0x3e80, 0x3a83}));
}

}  // namespace
}  // namespace tombolo::island
