#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "island/endpoint.h"
#include "protocol/memory_pool.h"
#include "protocol/wire/config.h"
#include "protocol/wire/feedback.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/packet.h"

namespace tombolo::island {

/// A datagram that the island sent.
struct Sent {
  wire::Header header;
  std::vector<std::byte> payload;
  Nanoseconds at_ns = 0;

  wire::Type type() const { return header.packet_type(); }
};

/// A port whose other end is the test. What is sent is copied at once, so that a payload which the island no
/// longer may touch is seen by the address sanitizer.
class FakePort final : public Port {
 public:
  explicit FakePort(BufferPool& pool) : pool_(pool) {}

  std::size_t receive(std::uint32_t /*queue*/, std::span<RxPacket> out, Nanoseconds /*now_ns*/) override {
    std::size_t count = 0;
    for (; count < out.size() && !arrivals.empty(); ++count) {
      Arrival& arrival = arrivals.front();
      BufferRef buffer = BufferRef::adopt(pool_.allocate());
      EXPECT_TRUE(static_cast<bool>(buffer)) << "the island keeps buffers that it has no use for";
      if (!buffer) return count;
      std::memcpy(buffer.data(), arrival.bytes.data(), arrival.bytes.size());
      out[count] = {arrival.from, arrival.lane, static_cast<std::uint32_t>(arrival.bytes.size()),
                    std::move(buffer)};
      arrivals.pop_front();
    }
    return count;
  }

  std::size_t transmit(std::uint32_t /*queue*/, std::span<TxPacket> packets, Nanoseconds now_ns) override {
    for (const TxPacket& packet : packets) {
      std::vector<std::byte> bytes(kHeaderBytes + packet.payload_bytes);
      std::memcpy(bytes.data(), packet.header.data(), kHeaderBytes);
      if (packet.payload_bytes > 0)
        std::memcpy(bytes.data() + kHeaderBytes, packet.payload, packet.payload_bytes);
      EXPECT_EQ(wire::validate(bytes), DropReason::kNone);
      Sent gone{wire::read_header(bytes), {bytes.begin() + kHeaderBytes, bytes.end()}, now_ns};
      EXPECT_EQ(gone.header.lane, packet.lane);
      sent.push_back(std::move(gone));
    }
    return packets.size();
  }

  struct Arrival {
    std::vector<std::byte> bytes;
    Address from;
    std::uint16_t lane = 0;
  };
  std::deque<Arrival> arrivals;
  std::vector<Sent> sent;

 private:
  BufferPool& pool_;
};

/// An edge that a test plays: it answers HELLOs, JOINs and data by itself unless told not to, and says
/// everything else when the test says so. It speaks the wire and knows nothing of the island's inside.
class ScriptedEdge {
 public:
  static constexpr std::uint16_t kJob = 7;
  static constexpr std::uint16_t kRank = 2;
  static constexpr std::uint32_t kIslandSession = 11;
  static constexpr Address kAddress{0x0a000001, 4700};
  static constexpr std::uint16_t kLanes = 2;
  static constexpr std::uint32_t kChunk = 32;  ///< Elements.
  static constexpr std::uint32_t kBuffers = 1024;

  static EndpointConfig island_config() {
    EndpointConfig config;
    config.job = kJob;
    config.rank = kRank;
    config.session = kIslandSession;
    config.edge = kAddress;
    config.lane_count = kLanes;
    config.window_packets = 256;
    return config;
  }

  /// A clique of the ranks 1, 2 and 5, of which the island is the second; every round is the same.
  static wire::Config clique() {
    wire::Config config;
    config.entries = 1;
    config.chunk_elements = kChunk;
    config.lane_count = kLanes;
    config.edge_aggregation = true;
    config.self = 1;
    config.deadline_ns = kSecond;
    config.stream_rate_bps = 1'000'000'000;
    config.window_chunks = 64;
    config.members = 3;
    config.rank = {1, 2, 5};
    config.receive_tree = {3, 4, 6};
    config.send_tree_count = 1;
    config.send_tree[0] = 4;
    return config;
  }

  explicit ScriptedEdge(const EndpointConfig& config = island_config())
      : pool(std::move(MemoryPool::create(kBuffers, PoolSharing::kSingleOwner)).value()),
        port(*pool),
        next_(config.lane_count, 1000),
        arrived_(config.lane_count),
        cumulative_(config.lane_count, 0) {
    auto created = Endpoint::create(config, port, *pool);
    EXPECT_TRUE(created.ok()) << created.error().message;
    island = std::move(created).value();
  }

  /// Lets time pass; the island gets its turns and this edge answers.
  void run(Nanoseconds duration_ns) {
    const Nanoseconds end_ns = now_ns + duration_ns;
    while (true) {
      Nanoseconds next_ns = island->turn(now_ns);
      answer();
      if (!port.arrivals.empty()) next_ns = now_ns + 10 * kMicrosecond;
      next_ns = std::max(next_ns, now_ns + 1);
      if (next_ns >= end_ns) break;
      now_ns = next_ns;
    }
    now_ns = end_ns;
  }

  /// Joins the island to a schedule with these entries.
  void join(const std::vector<wire::Config>& entries, std::uint32_t of_epoch = 1) {
    configs = entries;
    epoch = of_epoch;
    for (std::uint16_t lane = 0; lane < next_.size(); ++lane) hello(lane);
    run(20 * kMillisecond);
    ASSERT_EQ(island->epoch(), of_epoch);
    ASSERT_TRUE(island->connected());
  }

  void hello(std::uint16_t lane) {
    wire::Header header = make_header(wire::Type::kHello, lane);
    header.epoch = epoch;
    header.round = epoch == 0 || configs.empty() ? 0 : configs[0].first_round;
    wire::Hello body;
    body.peer_session = kIslandSession;
    body.next_sequence = body.first_sequence = next_[lane];
    std::vector<std::byte> bytes(wire::kHelloBytes);
    wire::encode(body, bytes);
    send(header, bytes);
  }

  void config(const wire::Config& body, std::uint16_t rank = kRank) {
    wire::Header header = make_header(wire::Type::kConfig, 0);
    header.rank = rank;
    header.epoch = epoch;
    std::vector<std::byte> bytes(wire::kMaxConfigBytes);
    bytes.resize(wire::encode(body, bytes));
    send(header, bytes);
  }

  /// In all lanes.
  void grant(std::uint32_t round, std::uint32_t up_to, std::uint16_t tree = 4, std::uint64_t late = 0) {
    for (std::uint16_t lane = 0; lane < next_.size(); ++lane) grant_lane(lane, round, up_to, tree, late);
  }
  void grant_lane(std::uint16_t lane, std::uint32_t round, std::uint32_t up_to, std::uint16_t tree = 4,
                  std::uint64_t late = 0) {
    wire::Header header = make_header(wire::Type::kGrant, lane);
    header.rank = kRank;
    header.tree = tree;
    header.epoch = epoch;
    header.round = round;
    header.chunk = up_to;
    header.specific = late;
    send_numbered(header, {});
  }

  void result(std::uint32_t round, std::uint32_t chunk, const std::vector<float>& values,
              std::uint64_t contributors = 0b111) {
    wire::Header header = make_header(wire::Type::kResult, static_cast<std::uint16_t>(chunk % next_.size()));
    header.rank = kRank;
    header.epoch = epoch;
    header.round = round;
    header.chunk = chunk;
    header.specific = contributors;
    header.format = static_cast<std::uint8_t>(wire::Format::kFp32);
    header.operation = static_cast<std::uint8_t>(wire::Operation::kMean);
    send_numbered(header, as_bytes(values));
  }

  /// A round's end in one lane: of a tree, or on the access link (kNoTree).
  void round_end(std::uint16_t lane, std::uint32_t round, std::uint16_t tree, wire::RoundOutcome outcome,
                 std::uint64_t missing = 0) {
    wire::Header header = make_header(wire::Type::kRoundEnd, lane);
    header.rank = kRank;
    header.tree = tree;
    header.epoch = epoch;
    header.round = round;
    header.chunk = static_cast<std::uint32_t>(outcome);
    header.specific = missing;
    send_numbered(header, {});
  }
  void release(std::uint32_t round, std::uint16_t tree = 4) {
    for (std::uint16_t lane = 0; lane < next_.size(); ++lane)
      round_end(lane, round, tree, wire::RoundOutcome::kComplete);
  }

  void feedback(std::uint16_t lane, std::uint32_t cumulative, std::uint32_t highest,
                const std::vector<wire::SequenceRange>& missing = {}) {
    wire::Feedback body;
    body.peer_session = kIslandSession;
    body.cumulative = cumulative;
    body.highest = highest;
    body.range_count = static_cast<std::uint32_t>(missing.size());
    std::copy(missing.begin(), missing.end(), body.ranges.begin());
    std::vector<std::byte> bytes(wire::kMaxFeedbackBytes);
    bytes.resize(wire::encode(body, bytes));
    send(make_header(wire::Type::kFeedback, lane), bytes);
  }

  /// Acknowledges what has arrived, for a test that had switched that off.
  void acknowledge(std::uint16_t lane) { feedback(lane, cumulative_[lane], cumulative_[lane]); }

  wire::Header make_header(wire::Type type, std::uint16_t lane) const {
    wire::Header header;
    header.type = static_cast<std::uint8_t>(type);
    header.job = kJob;
    header.lane = lane;
    header.session = session;
    header.timestamp_us = static_cast<std::uint32_t>(now_ns / kMicrosecond);
    return header;
  }
  void send_numbered(wire::Header header, const std::vector<std::byte>& payload) {
    header.link_sequence = next_[header.lane]++;
    send(header, payload);
  }
  void send(wire::Header header, const std::vector<std::byte>& payload) {
    wire::set_payload(header, payload);
    wire::seal(header);
    std::vector<std::byte> bytes(kHeaderBytes + payload.size());
    std::memcpy(bytes.data(), &header, kHeaderBytes);
    std::copy(payload.begin(), payload.end(), bytes.begin() + kHeaderBytes);
    port.arrivals.push_back({std::move(bytes), kAddress, header.lane});
  }

  /// What the island sent of a type, in the order of sending; repairs too.
  std::vector<Sent> sent(wire::Type type) const {
    std::vector<Sent> some;
    std::copy_if(log.begin(), log.end(), std::back_inserter(some),
                 [type](const Sent& packet) { return packet.type() == type; });
    return some;
  }
  std::vector<std::uint32_t> chunks_sent(std::uint32_t round) const {
    std::vector<std::uint32_t> chunks;
    for (const Sent& packet : sent(wire::Type::kContribution))
      if (packet.header.round == round) chunks.push_back(packet.header.chunk);
    return chunks;
  }
  std::uint64_t drops(DropReason reason) const { return island->counters().drops.get(reason); }
  std::uint64_t all_drops() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kDropReasons; ++i) sum += drops(static_cast<DropReason>(i));
    return sum;
  }

  static std::vector<std::byte> as_bytes(const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }

  std::unique_ptr<MemoryPool> pool;
  FakePort port;
  std::unique_ptr<Endpoint> island;
  Nanoseconds now_ns = 5 * kSecond;
  std::uint32_t session = 100;
  std::uint32_t epoch = 0;
  std::vector<wire::Config> configs;  ///< Answered to JOINs.
  bool answers = true;                ///< HELLO and JOIN.
  bool acknowledges = true;
  std::vector<Sent> log;

 private:
  void answer() {
    std::set<std::uint16_t> news;
    for (Sent& packet : std::exchange(port.sent, {})) {
      const std::uint16_t lane = packet.header.lane;
      if (answers && packet.type() == wire::Type::kHello) hello(lane);
      if (answers && packet.type() == wire::Type::kJoin)
        for (std::uint32_t i = 0; i < wire::kConfigsPerAnswer && packet.header.chunk + i < configs.size();
             ++i)
          config(configs[packet.header.chunk + i]);
      if (wire::is_sequenced(packet.type())) {
        arrived_[lane].insert(packet.header.link_sequence);
        news.insert(lane);
      }
      log.push_back(std::move(packet));
    }
    for (const std::uint16_t lane : news) {
      while (arrived_[lane].count(cumulative_[lane]) > 0) ++cumulative_[lane];
      if (acknowledges) feedback(lane, cumulative_[lane], cumulative_[lane]);
    }
  }

  std::vector<std::uint32_t> next_;  ///< Of this edge's own sequence, by lane.
  std::vector<std::set<std::uint32_t>> arrived_;
  std::vector<std::uint32_t> cumulative_;
};

/// An update and the room for its result, as a caller holds them.
struct Buffers {
  explicit Buffers(std::size_t count) : input(count), output(count, -1.0F) {
    for (std::size_t i = 0; i < count; ++i) input[i] = static_cast<float>(i) + 0.25F;
  }
  Allreduce request(std::uint32_t round) {
    Allreduce request;
    request.round = round;
    request.input = reinterpret_cast<const std::byte*>(input.data());
    request.output = reinterpret_cast<std::byte*>(output.data());
    request.count = input.size();
    return request;
  }
  /// The chunk as it lies in the input.
  std::vector<float> chunk(std::size_t index, std::size_t elements = ScriptedEdge::kChunk) const {
    const std::size_t first = std::min(index * elements, input.size());
    const std::size_t last = std::min(first + elements, input.size());
    return {input.begin() + static_cast<std::ptrdiff_t>(first),
            input.begin() + static_cast<std::ptrdiff_t>(last)};
  }

  std::vector<float> input;
  std::vector<float> output;
};

}  // namespace tombolo::island
