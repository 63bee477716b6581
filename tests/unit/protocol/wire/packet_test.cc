#include "protocol/wire/packet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "base/random.h"
#include "protocol/wire/crc.h"
#include "tests/unit/protocol/wire/sample_packets.h"

namespace tombolo::wire {
namespace {

using Change = std::function<void(Header&, Bytes&)>;

/// The packet with its header and payload changed and all lengths and CRCs made good again, as a sender with
/// a mistake would send it.
Bytes changed(const Bytes& packet, const Change& change) {
  Header header = read_header(packet);
  Bytes payload(packet.begin() + kHeaderBytes, packet.end());
  change(header, payload);
  return make_packet(header, payload);
}

Bytes sample(const std::string& name) {
  for (Sample& candidate : sample_packets())
    if (candidate.name == name) return candidate.packet;
  ADD_FAILURE() << "no sample " << name;
  return {};
}

TEST(Validate, AcceptsEverySampleAndTheyCoverEveryType) {
  std::set<std::uint8_t> types;
  for (const Sample& sample : sample_packets()) {
    EXPECT_EQ(name(validate(sample.packet)), name(DropReason::kNone)) << sample.name;
    types.insert(read_header(sample.packet).type);
  }
  EXPECT_EQ(types, (std::set<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(Validate, AnySingleFlippedBitIsRefused) {
  for (const Sample& sample : sample_packets()) {
    Bytes packet = sample.packet;
    for (std::size_t bit = 0; bit < packet.size() * 8; ++bit) {
      const std::byte mask{static_cast<std::uint8_t>(1u << (bit % 8))};
      packet[bit / 8] ^= mask;
      const DropReason reason = validate(packet);
      packet[bit / 8] ^= mask;
      DropReason expected = DropReason::kBadHeaderCrc;
      if (bit < 16) expected = DropReason::kBadMagic;
      if (bit >= 16 && bit < 24) expected = DropReason::kBadVersion;
      if (bit >= 64 * 8) expected = DropReason::kBadPayloadCrc;
      ASSERT_EQ(name(reason), name(expected)) << sample.name << ", bit " << bit;
    }
  }
}

TEST(Validate, AnyOtherLengthIsRefused) {
  for (const Sample& sample : sample_packets()) {
    for (std::size_t length = 0; length < sample.packet.size(); ++length) {
      const DropReason reason = validate(std::span(sample.packet).first(length));
      ASSERT_EQ(name(reason), name(length < 64 ? DropReason::kTruncated : DropReason::kBadLength))
          << sample.name << " cut to " << length;
    }
    Bytes longer = sample.packet;
    longer.push_back(std::byte{0});
    EXPECT_EQ(name(validate(longer)), name(DropReason::kBadLength)) << sample.name;
  }
}

struct WrongPacket {
  const char* what;
  const char* sample;
  DropReason expected;
  Change change;
};

std::vector<WrongPacket> wrong_frames_and_formats() {
  using D = DropReason;
  return {
      {"foreign magic", "grant", D::kBadMagic, [](Header& h, Bytes&) { h.magic = 0x4255; }},
      {"next version", "grant", D::kBadVersion, [](Header& h, Bytes&) { h.version = 2; }},
      {"type 0", "grant", D::kBadType, [](Header& h, Bytes&) { h.type = 0; }},
      {"type 11", "grant", D::kBadType, [](Header& h, Bytes&) { h.type = 11; }},
      {"type 255", "grant", D::kBadType, [](Header& h, Bytes&) { h.type = 255; }},
      {"repair flag", "grant", D::kNone, [](Header& h, Bytes&) { h.flags = 1; }},
      {"unknown flag", "grant", D::kBadFlags, [](Header& h, Bytes&) { h.flags = 2; }},
      {"highest flag", "grant", D::kBadFlags, [](Header& h, Bytes&) { h.flags = 0x8001; }},
      {"reserved byte", "grant", D::kReservedNotZero, [](Header& h, Bytes&) { h.reserved[1] = 1; }},
      {"key id", "grant", D::kReservedNotZero, [](Header& h, Bytes&) { h.key_id = 1; }},
      {"grant with payload", "grant", D::kBadLength, [](Header&, Bytes& p) { p.resize(4); }},
      {"round end with payload", "round end", D::kBadLength, [](Header&, Bytes& p) { p.resize(4); }},
      {"join with payload", "join", D::kBadLength, [](Header&, Bytes& p) { p.resize(1); }},
      {"half an element", "contribution", D::kBadLength, [](Header&, Bytes& p) { p.resize(1278); }},
      {"half a block", "contribution, blocks, padded", D::kBadLength,
       [](Header&, Bytes& p) { p.resize(64); }},
      {"parity without identity", "parity", D::kBadLength, [](Header&, Bytes& p) { p.resize(23); }},
      {"parity of empty packets", "parity", D::kNone, [](Header&, Bytes& p) { p.resize(24); }},
      {"feedback with half a range", "feedback", D::kBadLength, [](Header&, Bytes& p) { p.resize(32); }},
      {"feedback with 65 ranges", "feedback", D::kBadLength,
       [](Header&, Bytes& p) { p.resize(20 + 65 * 8); }},
      {"short hello", "hello", D::kBadLength, [](Header&, Bytes& p) { p.resize(16); }},
      {"config with an odd byte", "config", D::kBadLength, [](Header&, Bytes& p) { p.resize(59); }},
      {"config too long", "config", D::kBadLength, [](Header&, Bytes& p) { p.resize(684); }},
      {"no session", "join", D::kBadField, [](Header& h, Bytes&) { h.session = 0; }},
      {"no format", "contribution", D::kBadField, [](Header& h, Bytes&) { h.format = 0; }},
      {"unknown format", "partial", D::kBadField, [](Header& h, Bytes&) { h.format = 8; }},
      {"no operation", "result, jumbo", D::kBadField, [](Header& h, Bytes&) { h.operation = 0; }},
      {"unknown operation", "contribution", D::kBadField, [](Header& h, Bytes&) { h.operation = 6; }},
      {"result format", "contribution", D::kNone, [](Header& h, Bytes&) { h.result_format = 2; }},
      {"result format of a partial", "partial", D::kNone, [](Header& h, Bytes&) { h.result_format = 5; }},
      {"own format of a partial by name", "partial", D::kBadField,
       [](Header& h, Bytes&) { h.result_format = 2; }},
      {"a partial's format as its result's", "partial", D::kNone,
       [](Header& h, Bytes&) { h.result_format = 1; }},
      {"partial of no format", "partial", D::kBadField, [](Header& h, Bytes&) { h.update_format = 0; }},
      {"partial of an unknown format", "partial", D::kBadField,
       [](Header& h, Bytes&) { h.update_format = 8; }},
      {"partial that is too long", "partial", D::kBadField, [](Header& h, Bytes&) { h.specific = 3199; }},
      {"update format of a contribution", "contribution", D::kBadField,
       [](Header& h, Bytes&) { h.update_format = 2; }},
      {"own format by name", "contribution", D::kBadField, [](Header& h, Bytes&) { h.result_format = 1; }},
      {"unknown result format", "contribution", D::kBadField, [](Header& h, Bytes&) { h.result_format = 8; }},
      {"result format of a result", "result, jumbo", D::kBadField,
       [](Header& h, Bytes&) { h.result_format = 2; }},
      {"result format of a grant", "grant", D::kBadField, [](Header& h, Bytes&) { h.result_format = 1; }},
      {"format of a grant", "grant", D::kBadField, [](Header& h, Bytes&) { h.format = 1; }},
      {"operation of a hello", "hello", D::kBadField, [](Header& h, Bytes&) { h.operation = 1; }},
  };
}

std::vector<WrongPacket> wrong_fields() {
  using D = DropReason;
  return {
      {"contribution without epoch", "contribution", D::kBadField, [](Header& h, Bytes&) { h.epoch = 0; }},
      {"config without epoch", "config", D::kBadField, [](Header& h, Bytes&) { h.epoch = 0; }},
      {"join without epoch", "join", D::kNone, [](Header& h, Bytes&) { h.epoch = 0; }},
      {"hello without epoch", "hello", D::kNone, [](Header& h, Bytes&) { h.epoch = 0; }},
      {"contribution without rank", "contribution", D::kBadField,
       [](Header& h, Bytes&) { h.rank = kNoRank; }},
      {"result for all", "result, jumbo", D::kNone, [](Header& h, Bytes&) { h.rank = kNoRank; }},
      {"result for nobody", "result, jumbo", D::kBadField,
       [](Header& h, Bytes&) { h.rank = h.tree = kNoRank; }},
      {"grant to a site", "grant", D::kNone, [](Header& h, Bytes&) { h.rank = kNoRank; }},
      {"end of a site's round", "round end", D::kNone,
       [](Header& h, Bytes&) { h.rank = kNoRank, h.tree = 17; }},
      {"end of nobody's round", "round end", D::kBadField,
       [](Header& h, Bytes&) { h.rank = h.tree = kNoRank; }},
      {"contribution without tree", "contribution", D::kBadField,
       [](Header& h, Bytes&) { h.tree = kNoTree; }},
      {"grant without tree", "grant", D::kBadField, [](Header& h, Bytes&) { h.tree = kNoTree; }},
      {"result without tree", "result, jumbo", D::kNone, [](Header& h, Bytes&) { h.tree = kNoTree; }},
      {"result of nobody", "result, jumbo", D::kNone, [](Header& h, Bytes&) { h.specific = 0; }},
      {"partial of nobody", "partial", D::kBadField, [](Header& h, Bytes&) { h.specific = 0; }},
      {"parity over nothing", "parity", D::kBadField, [](Header& h, Bytes&) { h.specific = 0; }},
      {"grant without late members", "grant", D::kNone, [](Header& h, Bytes&) { h.specific = 0; }},
      {"hello with specific", "hello", D::kBadField, [](Header& h, Bytes&) { h.specific = 1; }},
      {"join with specific", "join", D::kBadField, [](Header& h, Bytes&) { h.specific = 1; }},
      {"unknown outcome", "round end", D::kBadField, [](Header& h, Bytes&) { h.chunk = 5; }},
      {"complete, yet missing", "round end", D::kBadField, [](Header& h, Bytes&) { h.chunk = 0; }},
      {"complete, so many results", "round end", D::kNone,
       [](Header& h, Bytes&) { h.chunk = 0, h.rank = kNoRank, h.tree = 17; }},
      {"gap past highest", "feedback", D::kBadField, [](Header&, Bytes& p) { p[40] = std::byte{2}; }},
      {"hello that repairs the future", "hello", D::kBadField,
       [](Header&, Bytes& p) { p[9] = std::byte{2}; }},
      {"config without members", "config", D::kBadField, [](Header&, Bytes& p) { p[40] = std::byte{0}; }},
  };
}

TEST(Validate, NamesItsReason) {
  std::vector<WrongPacket> cases = wrong_frames_and_formats();
  for (WrongPacket& wrong : wrong_fields()) cases.push_back(std::move(wrong));
  for (const WrongPacket& c : cases) {
    EXPECT_EQ(name(validate(changed(sample(c.sample), c.change))), name(c.expected)) << c.what;
  }
}

TEST(Validate, PayloadLimitsOfChunks) {
  const auto verdict = [](Type type, std::size_t bytes) {
    return name(validate(make_packet(chunk_header(type, Format::kFp32, 0, 2048), counting_bytes(bytes))));
  };
  EXPECT_EQ(verdict(Type::kContribution, 8192), name(DropReason::kNone));
  EXPECT_EQ(verdict(Type::kResult, 4), name(DropReason::kNone));
  // One element more than the limit cannot be made with set_payload; a stranger can make it.
  Header header = chunk_header(Type::kResult, Format::kFp32, 0, 1);
  const Bytes payload = counting_bytes(8196);
  header.payload_bytes = 8196;
  header.payload_crc = crc32c(payload);
  seal(header);
  Bytes packet(kHeaderBytes);
  std::memcpy(packet.data(), &header, sizeof(header));
  packet.insert(packet.end(), payload.begin(), payload.end());
  EXPECT_EQ(name(validate(packet)), name(DropReason::kBadLength));
}

TEST(Validate, TheSumOfTwoReasonsIsTheFirst) {
  // Bad version and bad type and bad flags at once: the order is part of the protocol.
  Header header = header_of(Type::kGrant);
  header.type = 99;
  header.flags = 0x8000;
  header.reserved[0] = 1;
  EXPECT_EQ(name(validate(make_packet(header, {}))), name(DropReason::kBadType));
  header.type = static_cast<std::uint8_t>(Type::kGrant);
  EXPECT_EQ(name(validate(make_packet(header, Bytes(4)))), name(DropReason::kBadFlags));
  header.flags = 0;
  EXPECT_EQ(name(validate(make_packet(header, Bytes(4)))), name(DropReason::kReservedNotZero));
  header.reserved[0] = 0;
  header.session = 0;
  EXPECT_EQ(name(validate(make_packet(header, Bytes(4)))), name(DropReason::kBadLength));
  EXPECT_EQ(name(validate(make_packet(header, {}))), name(DropReason::kBadField));
  // A damaged body that would also be unsound is damage first.
  Bytes packet = sample("feedback");
  packet[kHeaderBytes + 40] = std::byte{2};
  EXPECT_EQ(name(validate(packet)), name(DropReason::kBadPayloadCrc));
}

TEST(Validate, ChunkAndPayloadMustExplainTheUpdate) {
  struct Case {
    std::uint64_t update_elements;
    std::uint32_t chunk;
    std::size_t payload_bytes;
    bool fits;
  };
  for (const Case& c : std::vector<Case>{
           {0, 0, 4, false},       // An update of nothing.
           {320, 0, 1280, true},   // Exactly one chunk.
           {319, 0, 1280, false},  // Longer than the update.
           {321, 0, 1280, true},   // One element remains.
           {321, 1, 4, true},      // And here it is.
           {321, 1, 8, false},     // But it is alone.
           {321, 2, 4, true},      // Or this is, after two chunks of 160.
           {321, 3, 4, false},     // 320 does not divide by 3,
           {321, 4, 4, false},     // and 80 is no multiple of 32.
           {640, 1, 1280, true},
           {640, 2, 1280, false},  // Chunk 2 would start at the end.
           {5, 0, 20, true},       // A short update is one odd chunk.
           {6, 0, 20, false},      // An odd chunk that is not the last.
           {std::uint64_t{1} << 45, 0xffffffff, 8192, true},
           {(std::uint64_t{1} << 45) + 1, 0xffffffff, 8192, false},
           {~std::uint64_t{0}, 0, 4, false},
       }) {
    const Bytes packet =
        make_packet(chunk_header(Type::kContribution, Format::kFp32, c.chunk, c.update_elements),
                    counting_bytes(c.payload_bytes));
    EXPECT_EQ(validate(packet) == DropReason::kNone, c.fits)
        << c.update_elements << " elements, chunk " << c.chunk << ", " << c.payload_bytes << " bytes";
  }
}

TEST(Validate, EveryChunkOfEveryUpdateSizeIsAccepted) {
  struct Case {
    Format format;
    std::uint64_t element_bytes;
  };
  for (const Case& c : {Case{Format::kFp32, 4}, Case{Format::kBf16, 2}}) {
    for (const std::uint32_t chunk_elements : {32u, 320u, 2048u}) {
      for (std::uint64_t update = 1; update < 5000; update += 37) {
        std::uint32_t chunk = 0;
        for (std::uint64_t start = 0; start < update; start += chunk_elements, ++chunk) {
          const std::uint64_t bytes =
              c.element_bytes * std::min<std::uint64_t>(chunk_elements, update - start);
          const Bytes packet =
              make_packet(chunk_header(Type::kContribution, c.format, chunk, update), Bytes(bytes));
          ASSERT_EQ(name(validate(packet)), name(DropReason::kNone))
              << chunk_elements << " " << update << " " << chunk;
        }
      }
    }
  }
}

TEST(Validate, AnEmptyChunkLiesBehindTheUpdate) {
  struct Case {
    std::uint32_t chunk;
    std::uint64_t update_elements;
    bool fits;
  };
  for (const Case& c : {Case{1, 32, true},
                        {3, 1, true},
                        {0, 32, false},
                        {1, 2048, true},
                        {1, 2049, false},
                        {2, 4096, true},
                        {2, 4097, false}}) {
    const Bytes packet =
        make_packet(chunk_header(Type::kContribution, Format::kFp32, c.chunk, c.update_elements), Bytes{});
    EXPECT_EQ(validate(packet) == DropReason::kNone, c.fits) << c.chunk << " " << c.update_elements;
  }
}

TEST(Validate, RandomChangesNeverPassUnlessTheyChangeNothing) {
  constexpr std::uint64_t kSeed = 42;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  const std::vector<Sample> samples = sample_packets();
  for (int i = 0; i < 20000; ++i) {
    const Bytes& original = samples[random.below(samples.size())].packet;
    Bytes packet = original;
    const std::uint64_t changes = 1 + random.below(4);
    for (std::uint64_t c = 0; c < changes; ++c)
      packet[random.below(packet.size())] = static_cast<std::byte>(random.bits());
    if (random.chance(0.2)) packet.resize(random.below(packet.size() + 50));
    // A 32-bit CRC finds all errors of up to three bytes in these lengths with odds of 2^-32 at worst.
    ASSERT_EQ(validate(packet) == DropReason::kNone, packet == original) << "change " << i;
  }
}

TEST(Seal, CoversWhatValidateChecks) {
  Header header = header_of(Type::kHello);
  const Bytes payload = body_bytes(sample_hello());
  set_payload(header, payload);
  EXPECT_EQ(header.payload_bytes, 20);
  EXPECT_EQ(header.payload_crc, crc32c(payload));
  seal(header);
  EXPECT_EQ(header.header_crc, crc32c(std::as_bytes(std::span(&header, 1)).first(60)));
  Header copy = header;
  copy.link_sequence = header.link_sequence + 1;
  seal(copy);
  EXPECT_EQ(copy.payload_crc, header.payload_crc);
  EXPECT_NE(copy.header_crc, header.header_crc);
}

TEST(Seal, PayloadOfIsWhatFollowsTheHeader) {
  const Bytes packet = sample("contribution, last");
  const auto payload = payload_of(packet);
  EXPECT_EQ(payload.data(), packet.data() + 64);
  EXPECT_EQ(payload.size(), 12u);
  EXPECT_TRUE(payload_of(sample("grant")).empty());
}

TEST(SealDeathTest, LimitsAreInvariantsOfTheSender) {
  Header header;
  const Bytes payload(kMaxPayloadBytes + 1);
  EXPECT_DEATH(set_payload(header, payload), "broken invariant");
  EXPECT_DEATH(read_header(std::span(payload).first(63)), "broken invariant");
  EXPECT_DEATH(payload_of(std::span(payload).first(63)), "broken invariant");
}

TEST(Seal, WritesEveryByteOfTheHeaderWithTheSameSeal) {
  constexpr std::uint64_t kSeed = 1;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 1000; ++i) {
    Bytes bytes(kHeaderBytes);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits());
    Header header = read_header(bytes);
    std::array<std::byte, kHeaderBytes> out{};
    seal(header, out);
    EXPECT_TRUE(std::equal(out.begin(), out.end() - 4, bytes.begin()));
    Header alone = read_header(bytes);
    seal(alone);
    EXPECT_EQ(read_header(out).header_crc, alone.header_crc);
    EXPECT_EQ(header.header_crc, alone.header_crc);
    EXPECT_EQ(alone.header_crc, crc32c(std::span(bytes).first(kHeaderBytes - 4)));
  }
}

}  // namespace
}  // namespace tombolo::wire
