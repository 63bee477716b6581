#include "tests/unit/dataplane/edge/small_edge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "protocol/wire/packet.h"

namespace tombolo::dataplane {
namespace {

using wire::Type;

constexpr std::uint32_t kRxBuffers = 1 << 14;
constexpr std::size_t kTurnLimit = 100'000;
constexpr std::uint64_t kWestBit = 1U << kWest;
constexpr std::uint64_t kEastBit = 1U << kEast;

aggregation::MemberEntry members_of(std::vector<std::uint16_t> ranks, std::uint16_t first_tree,
                                    std::uint8_t self, std::uint32_t window_chunks) {
  aggregation::MemberEntry entry;
  entry.members = static_cast<std::uint8_t>(ranks.size());
  entry.self = self;
  entry.window_chunks = window_chunks;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    entry.ranks[i] = ranks[i];
    entry.receive_trees[i] = static_cast<std::uint16_t>(first_tree + ranks[i]);
  }
  return entry;
}

multicast::BranchSpec branch(std::uint16_t tree, std::uint16_t rank, std::uint32_t entry,
                             std::uint64_t child_links, std::uint64_t deliver) {
  multicast::BranchSpec spec;
  spec.tree = tree;
  spec.branch.rank = rank;
  spec.branch.parent_link = static_cast<std::uint8_t>(rank);
  spec.branch.entry = entry;
  spec.branch.child_links = child_links;
  spec.branch.deliver = deliver;
  return spec;
}

std::unique_ptr<MemoryPool> make_pool(std::uint32_t buffers) {
  auto pool = MemoryPool::create(buffers, PoolSharing::kShared);
  CHECK(pool.ok());
  return std::move(pool).value();
}

}  // namespace

EpochTable make_table(const EpochOptions& options, std::uint16_t lane_count) {
  const std::uint32_t window = options.slots_per_lane * lane_count;
  const std::uint64_t here = options.edge_aggregation ? 1 : 0;
  const std::uint64_t island = options.edge_aggregation ? 0 : std::uint64_t{1} << kIsland;
  EpochTable table;
  table.job = kJob;
  table.epoch = options.epoch;
  table.edge_aggregation = options.edge_aggregation;
  table.lane_count = lane_count;
  table.chunk_elements = options.chunk_elements;
  table.deadline_ns = kDeadline;
  table.period = options.pair_entry ? 2 : 1;
  table.non_finite = options.non_finite;
  LocalIsland local;
  local.rank = 1;
  local.link = kIsland;
  local.members.push_back(members_of({0, 1, 2}, 0, 1, window));
  local.members.back().has_weights = !options.weights.empty();
  std::copy(options.weights.begin(), options.weights.end(), local.members.back().weights.begin());
  local.sends.push_back({1'000'000, {1}});
  std::vector<multicast::BranchSpec> specs{branch(0, 0, 0, kEastBit | island, here),
                                           branch(1, 1, 0, kWestBit | kEastBit, here),
                                           branch(2, 2, 0, kWestBit | island, here)};
  if (options.pair_entry) {
    local.members.push_back(members_of({1, 2}, kPairTrees, 0, window));
    local.sends.push_back({2'000'000, {kPairTrees + 1}});
    specs.push_back(branch(kPairTrees + 1, 1, 1, kEastBit, here));
    specs.push_back(branch(kPairTrees + 2, 2, 1, island, here));
  }
  table.islands.push_back(local);
  auto forwarding = multicast::ForwardingTable::build(specs, kSides, 1);
  CHECK(forwarding.ok());
  table.forwarding = std::move(forwarding).value();
  return table;
}

std::vector<float> Update::input(std::uint16_t rank, std::uint32_t round, std::uint32_t chunk) const {
  const std::uint64_t begin = std::min(elements, std::uint64_t{chunk} * chunk_elements);
  const std::uint64_t count = std::min<std::uint64_t>(chunk_elements, elements - begin);
  Random random((std::uint64_t{round} << 40) + (std::uint64_t{rank} << 32) + chunk);
  std::vector<float> values;
  // Of different sizes, so that another order of folding gives other bits.
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(
        static_cast<float>((random.unit() - 0.5) * static_cast<double>(1ULL << random.below(24))));
  return values;
}

Bytes Update::mean(std::span<const std::uint16_t> ranks, std::uint32_t round, std::uint32_t chunk) const {
  std::vector<float> sum = input(ranks[0], round, chunk);
  for (const std::uint16_t rank : ranks.subspan(1)) {
    const std::vector<float> values = input(rank, round, chunk);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + values[i];
  }
  for (float& value : sum) value = value / static_cast<float>(ranks.size());
  return to_bytes(sum);
}

Bytes to_bytes(std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

Bytes sealed(wire::Header header, const Bytes& payload) {
  wire::set_payload(header, payload);
  wire::seal(header);
  Bytes packet(sizeof header + payload.size());
  std::memcpy(packet.data(), &header, sizeof header);
  std::copy(payload.begin(), payload.end(), packet.begin() + sizeof header);
  return packet;
}

SmallEdge::SmallEdge(const EdgeOptions& options)
    : options_(options),
      edge_pool_(make_pool(options.edge_buffers)),
      rx_pool_(make_pool(options.receive_buffers)),
      puppet_pool_(make_pool(kRxBuffers)) {
  EdgeConfig config;
  config.site = "MID";
  config.jobs[0].job = kJob;
  config.session = kEdgeSession;
  config.lane_count = options.lane_count;
  config.workers = options.workers;
  config.receive_queues = options.receive_queues;
  config.hello_interval_ns = options.hello_interval_ns;
  std::vector<Port*> ports;
  const Address own{0x0a0000ff, 4700};
  for (std::uint8_t side = 0; side < kSides; ++side) {
    auto ends = network_.connect({own, rx_pool_.get(), options.receive_queues},
                                 {address(side), puppet_pool_.get(), 1}, LinkConfig{}, LinkConfig{});
    CHECK(ends.ok());
    ports_.push_back(*ends);
    ports.push_back(ends->first);
    EdgeLink link;
    link.address = address(side);
    link.port = side;
    link.is_island = side == kIsland;
    link.window_packets = options.window_packets;
    config.jobs[0].links.push_back(link);
  }
  while (config.jobs.size() < options.jobs) {
    config.jobs.push_back(config.jobs[0]);
    config.jobs.back().job = static_cast<std::uint16_t>(kJob + config.jobs.size() - 1);
  }
  auto edge = Edge::create(config, ports, *edge_pool_);
  CHECK(edge.ok());
  edge_ = std::move(edge).value();
}

SmallEdge::~SmallEdge() {
  edge_.reset();
  EXPECT_EQ(edge_pool_->in_use(), 0U) << "an edge gives back all its buffers";
  EXPECT_EQ(rx_pool_->in_use(), 0U) << "and those that came from its ports";
}

Lane& SmallEdge::lane(std::uint16_t lane) {
  return *edge_->worker(lane % options_.workers).lanes()[lane / options_.workers];
}

void SmallEdge::bring_up() {
  turn();
  for (std::uint8_t side = 0; side < kSides; ++side) greet(static_cast<Side>(side));
  turn();
  ASSERT_TRUE(edge_->all_links_up());
  forget_received();
}

void SmallEdge::greet(Side side, std::uint32_t new_session, std::uint32_t committed, std::uint32_t round) {
  if (new_session != 0) session[side] = new_session;
  for (std::uint16_t lane = 0; lane < options_.lane_count; ++lane) {
    const std::uint32_t next = next_sequence[{side, lane}];
    const wire::Hello hello{kEdgeSession, next, next, 0, wire::kNoEcho};
    Bytes body(wire::kHelloBytes);
    wire::encode(hello, body);
    wire::Header greeting = header(side, Type::kHello);
    greeting.epoch = committed;
    greeting.round = round;
    greeting.lane = lane;
    put(side, greeting, body);
  }
}

void SmallEdge::install(const EpochOptions& options, std::uint32_t first_round) {
  const Status installed = try_install(options, first_round);
  ASSERT_TRUE(installed.ok()) << installed.error().message;
  turn();
}

void SmallEdge::install_table(EpochTable table, std::uint32_t first_round) {
  const Status installed =
      edge_->job().install(std::make_shared<const EpochTable>(std::move(table)), first_round);
  ASSERT_TRUE(installed.ok()) << installed.error().message;
  turn();
}

Status SmallEdge::try_install(const EpochOptions& options, std::uint32_t first_round) {
  return edge_->job().install(std::make_shared<const EpochTable>(make_table(options, options_.lane_count)),
                              first_round);
}

wire::Header SmallEdge::header(Side side, Type type) const {
  wire::Header header;
  header.type = static_cast<std::uint8_t>(type);
  header.job = job;
  header.session = session[side];
  return header;
}

wire::Header SmallEdge::grant(Side side, std::uint16_t tree, std::uint32_t round, std::uint32_t up_to) const {
  wire::Header grant = header(side, Type::kGrant);
  grant.epoch = epoch;
  grant.round = round;
  grant.tree = tree;
  grant.rank = static_cast<std::uint16_t>(tree % kPairTrees);
  grant.chunk = up_to;
  return grant;
}

wire::Header SmallEdge::round_end(Side side, std::uint16_t tree, std::uint32_t round,
                                  wire::RoundOutcome outcome, std::uint64_t missing) const {
  wire::Header end = header(side, Type::kRoundEnd);
  end.epoch = epoch;
  end.round = round;
  end.tree = tree;
  end.rank = static_cast<std::uint16_t>(tree == wire::kNoTree ? 1 : tree % kPairTrees);
  end.chunk = static_cast<std::uint32_t>(outcome);
  end.specific = missing;
  return end;
}

wire::Header SmallEdge::contribution(std::uint16_t rank, std::uint32_t round, std::uint32_t chunk) const {
  wire::Header header = this->header(side_of(rank), Type::kContribution);
  header.epoch = epoch;
  header.round = round;
  header.tree = rank;
  header.rank = rank;
  header.chunk = chunk;
  header.lane = static_cast<std::uint16_t>(chunk % options_.lane_count);
  header.specific = update.elements;
  header.format = static_cast<std::uint8_t>(wire::Format::kFp32);
  header.operation = static_cast<std::uint8_t>(wire::Operation::kMean);
  return header;
}

Bytes SmallEdge::payload(std::uint16_t rank, std::uint32_t round, std::uint32_t chunk) const {
  return to_bytes(update.input(rank, round, chunk));
}

Bytes SmallEdge::put(Side side, wire::Header header, const Bytes& payload) {
  if (wire::is_sequenced(header.packet_type())) header.link_sequence = next_sequence[{side, header.lane}]++;
  Bytes packet = sealed(header, payload);
  put_raw(side, address(side), header.lane, packet);
  return packet;
}

void SmallEdge::put_raw(Side side, const Address& from, std::uint16_t lane, const Bytes& bytes) {
  ports_[side].first->inject(from, lane, bytes, now_ns_);
}

Bytes SmallEdge::send(Side side, const wire::Header& header, const Bytes& payload) {
  Bytes packet = put(side, header, payload);
  turn();
  return packet;
}

void SmallEdge::contribute(std::uint16_t rank, std::uint32_t round, std::uint32_t chunk) {
  put(side_of(rank), contribution(rank, round, chunk), payload(rank, round, chunk));
}

void SmallEdge::contribute_all(std::uint32_t round, Random& random) {
  const std::uint32_t ahead = 7 * options_.lane_count;  // Below the window of 8 slots in each lane.
  std::array<std::uint32_t, kRanks.size()> next{};
  std::uint32_t slowest = 0;  // As the edge knows it: it has not seen what was put since its last turn.
  for (std::uint32_t left = update.chunks() * kRanks.size(); left > 0;) {
    const auto rank = static_cast<std::uint16_t>(random.below(kRanks.size()));
    if (next[rank] < std::min(update.chunks(), slowest + ahead)) {
      contribute(rank, round, next[rank]++);
      --left;
    }
    if (!random.chance(0.3)) continue;
    turn();
    slowest = *std::min_element(next.begin(), next.end());
  }
  turn();
}

void SmallEdge::grant_all(std::uint32_t round) {
  for (std::uint16_t lane = 0; lane < options_.lane_count; ++lane)
    for (const auto& [side, tree] : {std::pair{kWest, 1}, {kWest, 2}, {kEast, 0}, {kEast, 1}}) {
      wire::Header granted = grant(side, static_cast<std::uint16_t>(tree), round, wire::kAllChunks);
      granted.lane = lane;
      put(side, granted);
    }
  turn();
}

void SmallEdge::end_elsewhere(std::uint32_t round, wire::RoundOutcome outcome) {
  for (std::uint16_t lane = 0; lane < options_.lane_count; ++lane)
    for (const auto& [side, tree] : {std::pair{kWest, 1}, {kWest, 2}, {kEast, 0}, {kEast, 1}}) {
      wire::Header end = round_end(side, static_cast<std::uint16_t>(tree), round, outcome);
      end.lane = lane;
      put(side, end);
    }
  turn();
}

void SmallEdge::put_acknowledgement(Side side) {
  for (std::uint16_t lane = 0; lane < options_.lane_count; ++lane) {
    wire::Feedback feedback;
    feedback.peer_session = kEdgeSession;
    feedback.cumulative = feedback.highest = expected_[{job, side, lane}];
    Bytes body(wire::kMaxFeedbackBytes);
    body.resize(wire::encode(feedback, body));
    wire::Header told = header(side, Type::kFeedback);
    told.lane = lane;
    put(side, told, body);
  }
}

void SmallEdge::acknowledge(Side side) {
  put_acknowledgement(side);
  turn();
}

void SmallEdge::acknowledge_everywhere() {
  for (const Side side : kAllSides) acknowledge(side);
}

void SmallEdge::turn() {
  for (std::size_t n = 0; n < kTurnLimit; ++n) {
    bool more = false;
    for (std::size_t i = 0; i < edge_->workers(); ++i) {
      const Worker::Turn turn = edge_->worker(i).turn(now_ns_);
      more = more || turn.received > 0 || turn.next_ns <= now_ns_;
    }
    if (!more) {
      collect();
      return;
    }
  }
  FAIL() << "the edge finds no rest";
}

std::size_t SmallEdge::collect() {
  std::size_t total = 0;
  for (std::uint8_t side = 0; side < kSides; ++side) {
    std::array<RxPacket, kBurst> burst;
    while (const std::size_t count = ports_[side].second->receive(0, burst, now_ns_)) {
      for (std::size_t i = 0; i < count; ++i) take_in(side, burst[i]);
      total += count;
    }
  }
  return total;
}

void SmallEdge::take_in(std::uint8_t side, RxPacket& packet) {
  const std::span<const std::byte> bytes(packet.buffer.data(), packet.bytes);
  ASSERT_EQ(wire::validate(bytes), DropReason::kNone);
  const wire::Header header = wire::read_header(bytes);
  EXPECT_EQ(header.session, kEdgeSession);
  EXPECT_LT(header.job - kJob, options_.jobs);
  EXPECT_EQ(header.lane, packet.lane);
  const bool repair = (header.flags & wire::kFlagRepair) != 0;
  if (wire::is_sequenced(header.packet_type()) && !repair) {
    EXPECT_EQ(header.link_sequence, (expected_[{header.job, side, packet.lane}]++)) << "side " << int{side};
  }
  const auto payload = wire::payload_of(bytes);
  received_[side].push_back({header, Bytes(payload.begin(), payload.end())});
  packet.buffer.reset();
}

std::vector<Received> SmallEdge::take(Side side, Type type) {
  std::vector<Received>& all = received_[side];
  std::vector<Received> taken;
  const auto is_type = [type](const Received& received) { return received.header.packet_type() == type; };
  std::copy_if(all.begin(), all.end(), std::back_inserter(taken), is_type);
  all.erase(std::remove_if(all.begin(), all.end(), is_type), all.end());
  return taken;
}

std::size_t SmallEdge::waiting(Side side, Type type) const {
  return static_cast<std::size_t>(
      std::count_if(received_[side].begin(), received_[side].end(),
                    [type](const Received& received) { return received.header.packet_type() == type; }));
}

void SmallEdge::forget_received() {
  for (auto& received : received_) received.clear();
}

std::uint64_t SmallEdge::drops(DropReason reason) const {
  return edge_->totals().drops[static_cast<std::size_t>(reason)];
}

std::uint64_t SmallEdge::all_drops() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : edge_->totals().drops) sum += count;
  return sum;
}

std::vector<std::uint64_t> SmallEdge::counters() const {
  const EdgeTotals totals = edge_->totals();
  std::vector<std::uint64_t> all(totals.drops.begin(), totals.drops.end());
  all.insert(all.end(), {totals.contributions, totals.folds, totals.copies, totals.payload_bytes_saved,
                         totals.repairs, totals.rounds_complete, totals.rounds_failed, totals.handed_over});
  return all;
}

}  // namespace tombolo::dataplane
