#include "protocol/wire/config.h"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/unit/protocol/wire/sample_packets.h"

namespace tombolo::wire {
namespace {

TEST(Config, BytesByHand) {
  // The 64-bit values are split here, so that the offsets stay readable.
  const auto byte_of = [](std::uint64_t value, int i) { return static_cast<std::uint8_t>(value >> (8 * i)); };
  std::vector<std::uint8_t> by_hand{
      1,    0,    0, 0,  // 0 entry
      6,    0,    0, 0,  // 4 entries
      36,   0,    0, 0,  // 8 first round
      0x40, 0x01, 0, 0,  // 12 chunk elements 320
      4,    0,           // 16 lane count
      1,                 // 18 edge aggregation
      1,                 // 19 self
  };
  for (int i = 0; i < 8; ++i) by_hand.push_back(byte_of(30'000'000'000, i));  // 20 deadline
  for (int i = 0; i < 8; ++i) by_hand.push_back(byte_of(9'700'000'000, i));   // 28 stream rate
  by_hand.insert(by_hand.end(), {
                                    0,  0x10, 0,  0,              // 36 window chunks 4096
                                    3,                            // 40 members
                                    1,                            // 41 send trees
                                    0,  0x20,                     // 42 largest payload 8192
                                    0,  0,    2,  0, 7,    0,     // 44 ranks
                                    15, 0,    17, 0, 0xff, 0xff,  // 50 receive trees
                                    17, 0,                        // 56 send tree
                                });
  const auto bytes = std::as_bytes(std::span(by_hand));
  EXPECT_EQ(body_bytes(sample_config()), Bytes(bytes.begin(), bytes.end()));
  Config config;
  ASSERT_TRUE(parse(bytes, config));
  EXPECT_EQ(config.entry, 1u);
  EXPECT_EQ(config.entries, 6u);
  EXPECT_EQ(config.first_round, 36u);
  EXPECT_EQ(config.chunk_elements, 320u);
  EXPECT_EQ(config.lane_count, 4);
  EXPECT_TRUE(config.edge_aggregation);
  EXPECT_EQ(config.self, 1);
  EXPECT_EQ(config.deadline_ns, 30'000'000'000u);
  EXPECT_EQ(config.stream_rate_bps, 9'700'000'000u);
  EXPECT_EQ(config.window_chunks, 4096u);
  EXPECT_EQ(config.members, 3);
  EXPECT_EQ(config.send_tree_count, 1);
  EXPECT_EQ(config.rank[2], 7);
  EXPECT_EQ(config.receive_tree[1], 17);
  EXPECT_EQ(config.receive_tree[2], kNoTree);
  EXPECT_EQ(config.send_tree[0], 17);
}

TEST(Config, LargestAndRestingSurviveTheRoundTrip) {
  for (const Config& config : {largest_config(), resting_config()}) {
    const Bytes bytes = body_bytes(config);
    Config again;
    ASSERT_TRUE(parse(bytes, again));
    EXPECT_EQ(again.members, config.members);
    EXPECT_EQ(again.rank, config.members == 0 ? decltype(config.rank){} : config.rank);
    EXPECT_EQ(body_bytes(again), bytes);
    EXPECT_EQ(again.non_finite, config.non_finite);
    EXPECT_EQ(again.has_weights, config.has_weights);
    EXPECT_EQ(again.weight, config.weight);
  }
  EXPECT_EQ(body_bytes(largest_config()).size(), 44u + 2 * (64 + 64 + 63) + 4 * 64);
  EXPECT_EQ(body_bytes(resting_config()).size(), 44u);
}

TEST(Config, EveryOtherLengthIsRefused) {
  Bytes bytes = body_bytes(largest_config());
  const std::size_t whole = bytes.size();
  bytes.resize(whole + 8);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    Config config;
    EXPECT_EQ(parse(std::span(bytes).first(length), config), length == whole) << length;
  }
}

TEST(Config, UnsoundValuesAreRefused) {
  struct Case {
    const char* name;
    std::size_t offset;
    std::uint8_t value;
  };
  // Each changes one byte of the sample body, whose bytes are spelled out above.
  for (const Case& c : {
           Case{"entry is entries", 0, 6},
           {"no entries", 4, 0},
           {"chunk not a multiple of 32", 12, 0x41},
           {"chunk larger than a packet", 14, 1},
           {"weights that do not follow", 18, 3},
           {"no policy", 18, 1 | 3 << 2},
           {"a bit without a meaning", 18, 1 | 1 << 4},
           {"self is no member", 19, 3},
           {"one member", 40, 1},
           {"more members than bytes", 40, 4},
           {"65 members", 40, 65},
           {"more send trees than bytes", 41, 2},
           {"64 send trees", 41, 64},
           {"payload larger than a packet's", 42, 1},
           {"ranks descend", 48, 1},
           {"rank twice", 48, 2},
       }) {
    Bytes bytes = body_bytes(sample_config());
    bytes[c.offset] = static_cast<std::byte>(c.value);
    Config config;
    EXPECT_FALSE(parse(bytes, config)) << c.name;
  }
  // And these a whole field.
  for (const auto& [offset, count, value] :
       std::vector<std::tuple<std::size_t, std::size_t, std::uint8_t>>{{12, 4, 0},
                                                                       {16, 2, 0},
                                                                       {20, 8, 0},
                                                                       {28, 8, 0},
                                                                       {36, 4, 0},
                                                                       {42, 2, 0},
                                                                       {48, 2, 0xff},
                                                                       {56, 2, 0xff}}) {
    Bytes bytes = body_bytes(sample_config());
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, static_cast<std::byte>(value));
    Config config;
    EXPECT_FALSE(parse(bytes, config)) << "field at " << offset;
  }
  // Resting islands have no index and no trees.
  Bytes resting = body_bytes(resting_config());
  resting[19] = std::byte{1};
  Config config;
  EXPECT_FALSE(parse(resting, config));
  resting[19] = std::byte{0};
  resting[41] = std::byte{1};
  resting.resize(46);
  EXPECT_FALSE(parse(resting, config));
}

TEST(Config, AWeightIsANormalNumberAboveZero) {
  Config weighted = sample_config();
  weighted.has_weights = true;
  weighted.weight = {1, 0.25f, 3e20f};
  const Bytes sound = body_bytes(weighted);
  ASSERT_EQ(sound.size(), 58u + 3 * 4);
  Config again;
  ASSERT_TRUE(parse(sound, again));
  EXPECT_EQ(again.weight[2], 3e20f);
  // Zero, minus one, the largest subnormal, infinity, a NaN.
  for (const std::uint32_t bits : {0u, 0xbf800000u, 0x007fffffu, 0x7f800000u, 0x7fc00000u}) {
    Bytes bytes = sound;
    std::memcpy(bytes.data() + 62, &bits, sizeof(bits));
    EXPECT_FALSE(parse(bytes, again)) << std::hex << bits;
  }
}

TEST(ConfigDeathTest, EncodingWhatIsUnsoundIsABrokenInvariant) {
  Config config = sample_config();
  config.self = 3;
  Bytes room(kMaxConfigBytes);
  EXPECT_DEATH(encode(config, room), "broken invariant");
  EXPECT_DEATH(encode(sample_config(), std::span(room).first(57)), "broken invariant");
}

}  // namespace
}  // namespace tombolo::wire
