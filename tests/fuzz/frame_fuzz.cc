#include <cstring>
#include <span>

#include "base/check.h"
#include "dataplane/port/dpdk/big_endian.h"
#include "dataplane/port/dpdk/control_frame.h"
#include "dataplane/port/dpdk/frame.h"
#include "dataplane/port/dpdk/group_table.h"
#include "tests/fuzz/fuzz_target.h"

namespace tombolo::dataplane {
namespace {

constexpr Mac kOurs = 0x020000000001;
constexpr Mac kTheirs = 0x020000000002;
constexpr std::uint16_t kLanes = 8;
constexpr Address kOwn{0x0a000001, 4700};
constexpr Address kPeer{0x0a000002, 4800};

using Bytes = std::vector<std::byte>;

FrameFilter filter() {
  static const GroupTable groups = [] {
    GroupTable table({kPeer.ipv4});
    table.set(0, {0, {0xef000001, 0}});
    return table;
  }();
  return {kOurs, kOwn, kLanes, &groups};
}

/// What parse_frame promises of a packet.
void check_data(std::span<const std::byte> frame, const ParsedFrame& parsed) {
  CHECK(parsed.lane < kLanes);
  CHECK(kFramingBytes + parsed.payload_bytes <= frame.size());
  const std::uint32_t to = get32(&frame[30]);
  CHECK(to == kOwn.ipv4 || (to == 0xef000001 && parsed.from.ipv4 == kPeer.ipv4));
  CHECK(parsed.from.ipv4 != 0 && parsed.from.ipv4 != kOwn.ipv4 && !is_multicast(parsed.from.ipv4));
  CHECK(get16(&frame[36]) == kOwn.base_port + parsed.lane);
  CHECK(get16(&frame[34]) == parsed.from.base_port + parsed.lane);
}

/// An answer to an echo must itself be a valid echo, for whoever asked.
void check_echo(std::span<const std::byte> frame) {
  const EchoFields echo = read_echo(frame);
  if (!echo.is_request) return;
  Bytes answer(frame.begin(), frame.end());
  turn_into_echo_reply(answer, kOurs);
  const FrameFilter asker{get48(&frame[6]), {echo.from_ipv4, 1}, 1, nullptr};
  const ParsedFrame parsed = parse_frame(answer, asker);
  CHECK(parsed.kind == ParsedFrame::Kind::kEcho);
  CHECK(!read_echo(answer).is_request);
  CHECK(read_echo(answer).from_ipv4 == kOwn.ipv4);
}

void check_arp(std::span<const std::byte> frame) {
  const auto message = parse_arp(frame);
  if (!message) return;
  CHECK(!is_group_mac(message->sender_mac) && message->sender_mac != 0);
  Bytes again(kArpFrameBytes);
  write_arp(again.data(), *message);
  CHECK(std::memcmp(&again[14], &frame[14], 28) == 0);
}

void check_frame(std::span<const std::byte> frame) {
  const ParsedFrame parsed = parse_frame(frame, filter());
  switch (parsed.kind) {
    case ParsedFrame::Kind::kDropped:
      CHECK(parsed.drop != FrameDrop::kNone && parsed.drop < FrameDrop::kUnknownNeighbour);
      break;
    case ParsedFrame::Kind::kData:
      check_data(frame, parsed);
      break;
    case ParsedFrame::Kind::kArp:
      check_arp(frame);
      break;
    case ParsedFrame::Kind::kEcho:
      check_echo(frame);
      break;
  }
}

/// Random changes hardly ever leave the checksums right, so they are made right, and the rest is checked.
void check_with_checksums_repaired(std::span<const std::byte> input) {
  if (input.size() < kFramingBytes) return;
  Bytes frame(input.begin(), input.end());
  put48(frame.data(), kOurs);
  put16(&frame[24], 0);
  put16(&frame[24], internet_checksum(std::span(frame).subspan(14, 20)));
  const std::size_t total = get16(&frame[16]);
  if (total >= 28 && 14 + total <= frame.size() && frame[23] == std::byte{kProtocolIcmp}) {
    put16(&frame[36], 0);
    put16(&frame[36], internet_checksum(std::span(frame).subspan(34, total - 20)));
  }
  check_frame(frame);
}

}  // namespace
}  // namespace tombolo::dataplane

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  tombolo::dataplane::check_frame(input);
  tombolo::dataplane::check_arp(input);
  tombolo::dataplane::check_with_checksums_repaired(input);
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  using namespace tombolo::dataplane;
  std::vector<std::string> seeds;
  const auto add = [&seeds](const Bytes& bytes) {
    std::string& seed = seeds.emplace_back(bytes.size(), '\0');
    std::memcpy(seed.data(), bytes.data(), bytes.size());
  };
  Bytes packet(kFramingBytes + kHeaderBytes + 32);
  write_framing(packet.data(), {kOurs, kTheirs, kPeer.ipv4, kOwn.ipv4, 4803, 4703}, kHeaderBytes + 32);
  add(packet);
  write_framing(packet.data(), {group_mac(0xef000001), kTheirs, kPeer.ipv4, 0xef000001, 4803, 4703},
                kHeaderBytes + 32);
  add(packet);
  Bytes arp(kArpFrameBytes);
  write_arp(arp.data(), {ArpMessage::kRequest, kTheirs, kPeer.ipv4, 0, kOwn.ipv4});
  add(arp);
  Bytes echo(98);
  write_echo_request(echo, {kOurs, kTheirs, kPeer.ipv4, kOwn.ipv4, 1, 2});
  add(echo);
  return seeds;
}
