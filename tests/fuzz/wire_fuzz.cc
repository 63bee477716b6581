#include <array>
#include <cstring>
#include <span>

#include "base/check.h"
#include "protocol/wire/packet.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/unit/protocol/wire/sample_packets.h"

namespace tombolo::wire {
namespace {

/// What parses must be written again byte for byte. Returns whether it parsed.
template <typename Body>
bool survives_round_trip(std::span<const std::byte> bytes) {
  Body body;
  if (!parse(bytes, body)) return false;
  std::array<std::byte, kStandardPayloadBytes> again;
  const std::size_t written = encode(body, again);
  CHECK(written == bytes.size());
  CHECK(std::memcmp(again.data(), bytes.data(), written) == 0);
  return true;
}

/// What validate promises of a packet that it accepted.
void check_accepted(Bytes packet) {
  const Header header = read_header(packet);
  const auto payload = payload_of(packet);
  CHECK(header.payload_bytes == payload.size());
  CHECK(payload.size() <= kMaxPayloadBytes);
  switch (header.packet_type()) {
    case Type::kFeedback:
      CHECK(survives_round_trip<Feedback>(payload));
      break;
    case Type::kHello:
      CHECK(survives_round_trip<Hello>(payload));
      break;
    case Type::kConfig:
      CHECK(survives_round_trip<Config>(payload));
      break;
    default:
      break;
  }
  // One flipped bit, at a place that the packet itself picks, is always noticed.
  const std::size_t bit = header.header_crc % (packet.size() * 8);
  packet[bit / 8] ^= std::byte{static_cast<std::uint8_t>(1u << (bit % 8))};
  CHECK(validate(packet) != DropReason::kNone);
}

/// Random bytes hardly ever carry the right CRCs, so everything that guards the later checks is made good.
void check_with_guards_repaired(std::span<const std::byte> input) {
  if (input.size() < kHeaderBytes || input.size() > kMaxPacketBytes) return;
  Header header = read_header(input);
  header.magic = kMagic;
  header.version = kVersion;
  header.type = static_cast<std::uint8_t>(header.type % 12);
  header.flags = header.flags & kKnownFlags;
  header.key_id = 0;
  header.reserved = {};
  const auto payload = payload_of(input);
  const Bytes packet = make_packet(header, Bytes(payload.begin(), payload.end()));
  switch (validate(packet)) {
    case DropReason::kNone:
      check_accepted(packet);
      break;
    case DropReason::kBadType:
      CHECK(header.type == 0 || header.type == 11);
      break;
    case DropReason::kBadLength:
      break;
    case DropReason::kBadField:
      break;
    default:
      check_failed("a guard that was made good was refused", __FILE__, __LINE__);
  }
}

}  // namespace
}  // namespace tombolo::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tombolo::wire;
  const auto input = std::as_bytes(std::span(data, size));
  if (validate(input) == tombolo::DropReason::kNone) check_accepted(Bytes(input.begin(), input.end()));
  check_with_guards_repaired(input);
  survives_round_trip<Feedback>(input);
  survives_round_trip<Hello>(input);
  survives_round_trip<Config>(input);
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  std::vector<std::string> seeds;
  const auto add = [&seeds](const wire::Bytes& bytes) {
    std::string& seed = seeds.emplace_back(bytes.size(), '\0');
    if (!bytes.empty()) std::memcpy(seed.data(), bytes.data(), bytes.size());
  };
  for (const wire::Sample& sample : wire::sample_packets()) add(sample.packet);
  // The bodies alone too: the parsers are given the bare input.
  add(wire::body_bytes(wire::sample_feedback()));
  add(wire::body_bytes(wire::sample_hello()));
  add(wire::body_bytes(wire::sample_config()));
  add(wire::body_bytes(wire::resting_config()));
  return seeds;
}
