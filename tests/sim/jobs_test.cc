#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "protocol/wire/hello.h"
#include "protocol/wire/packet.h"
#include "tests/sim/scenario.h"
#include "tools/testbed/network.h"

namespace tombolo::sim {
namespace {

using schedule::Rank;

constexpr double kScale = 1e-4;
constexpr std::uint64_t kUpdate = 100'000;
constexpr std::uint32_t kRounds = 4;

/// Two jobs on the nine cities, each with half of every link between sites.
struct TwoJobs {
  explicit TwoJobs(double quota = 1.0) : network(nine_cities(kScale)) {
    ScenarioOptions options;
    options.update_bytes = kUpdate;
    options.share = 0.5;
    options.deadline_ns = 8 * kSecond;
    options.network.jobs = 2;
    options.network.quota = quota;
    first = Scenario::create(network, options, {full(network), grid(network)});
    if (first) second = Scenario::beside(*first, 1);
  }

  /// Each its schedule; the first rounds are noted.
  bool install(const schedule::Schedule& of_first, const schedule::Schedule& of_second) {
    if (!first || !second) return false;
    const auto one = first->install(of_first), other = second->install(of_second);
    if (!one || !other) return false;
    first_round = *one;
    second_round = *other;
    return true;
  }
  bool finished() const { return first->finished() && second->finished(); }
  bool finish() {
    return first->run_until([this] { return finished(); }, 600 * kSecond);
  }

  schedule::Network network;
  std::unique_ptr<Scenario> first;
  std::unique_ptr<Scenario> second;
  std::uint32_t first_round = 0;
  std::uint32_t second_round = 0;
};

TEST(Jobs, TwoRunBesideEachOtherAndBothAreExact) {
  TwoJobs jobs;
  ASSERT_TRUE(jobs.install(full(jobs.network), grid(jobs.network)));
  jobs.first->play_all(jobs.first_round, jobs.first_round + kRounds);
  jobs.second->play_all(jobs.second_round, jobs.second_round + kRounds);
  ASSERT_TRUE(jobs.finish()) << jobs.first->unfinished() << jobs.second->unfinished();
  EXPECT_EQ(jobs.first->judge(), "");
  EXPECT_EQ(jobs.second->judge(), "");
  EXPECT_EQ(jobs.first->totals().rounds_failed + jobs.second->totals().rounds_failed, 0U);
  EXPECT_EQ(jobs.first->drops(DropReason::kUnknownJob), 0U);
}

TEST(Jobs, AnEpochOfOneIsNoneOfTheOther) {
  TwoJobs jobs;
  ASSERT_TRUE(jobs.install(full(jobs.network), full(jobs.network)));
  jobs.first->play_all(jobs.first_round, jobs.first_round + 6);
  jobs.second->play_all(jobs.second_round, jobs.second_round + 6);
  jobs.first->run_for(kSecond);
  ASSERT_TRUE(jobs.second->propose(grid(jobs.network)));
  ASSERT_TRUE(jobs.finish()) << jobs.first->unfinished() << jobs.second->unfinished();
  EXPECT_EQ(jobs.first->judge(), "");
  EXPECT_EQ(jobs.second->judge(), "");
  for (const testbed::EdgeNode& node : jobs.first->testbed().edges()) {
    EXPECT_EQ(node.edge->job(0).live_epochs()[0].table->epoch, 1U);
    EXPECT_EQ(node.edge->job(1).live_epochs()[0].table->epoch, 2U);
  }
}

/// An island of the second job that has gone mad: it sends chunks far beyond its grant, as fast as it can.
class Flood {
 public:
  Flood(TwoJobs& jobs, Rank rank, std::uint32_t round)
      : scenario_(*jobs.second),
        node_(scenario_.testbed().islands(1)[rank]),
        site_(jobs.network.islands[rank].site) {
    const dataplane::EdgeJob& job = scenario_.testbed().edges()[site_].edge->job(1);
    table_ = job.live_epochs()[0].table;
    for (const dataplane::LocalIsland& island : table_->islands)
      if (island.rank == rank) tree_ = island.sends[0].send_trees[0];
    header_.job = table_->job;
    header_.rank = rank;
    header_.session = kSession;
    header_.epoch = table_->epoch;
    header_.round = round;
    header_.tree = tree_;
    wire::Hello hello{1, 0, 0, 0, wire::kNoEcho};
    std::vector<std::byte> body(wire::kHelloBytes);
    wire::encode(hello, body);
    for (std::uint16_t lane = 0; lane < table_->lane_count; ++lane) {
      wire::Header greeting = header_;
      greeting.type = static_cast<std::uint8_t>(wire::Type::kHello);
      greeting.lane = lane;
      greeting.tree = wire::kNoTree;
      greeting.round = 0;
      put(greeting, body);
    }
  }

  /// Sends so many chunks, the first `ahead` chunks from the update's beginning.
  void send(std::uint32_t count, std::uint32_t ahead) {
    const std::vector<std::byte> payload(std::size_t{table_->chunk_elements} * sizeof(float));
    for (std::uint32_t i = 0; i < count; ++i) {
      wire::Header header = header_;
      header.type = static_cast<std::uint8_t>(wire::Type::kContribution);
      header.chunk = ahead + i;
      header.lane = static_cast<std::uint16_t>(header.chunk % table_->lane_count);
      header.link_sequence = next_sequence_[header.lane]++;
      header.specific = std::uint64_t{1}
                        << 30;  // Elements of an update with more chunks than anybody grants.
      header.format = static_cast<std::uint8_t>(wire::Format::kFp32);
      header.operation = static_cast<std::uint8_t>(wire::Operation::kMean);
      put(header, payload);
    }
  }

 private:
  static constexpr std::uint32_t kSession = 99;

  void put(wire::Header& header, std::span<const std::byte> payload) {
    wire::set_payload(header, payload);
    TxPacket packet;
    wire::seal(header, packet.header);
    packet.to = node_.port->peer();
    packet.lane = header.lane;
    BufferRef keep = BufferRef::adopt(node_.pool->allocate());
    if (!keep) return;
    std::copy(payload.begin(), payload.end(), keep.data());
    packet.payload = keep.data();
    packet.payload_bytes = static_cast<std::uint32_t>(payload.size());
    packet.keep = std::move(keep);
    node_.port->transmit(0, std::span(&packet, 1), scenario_.now_ns());
  }

  Scenario& scenario_;
  testbed::IslandNode& node_;
  schedule::SiteId site_;
  std::shared_ptr<const dataplane::EpochTable> table_;
  std::uint16_t tree_ = 0;
  wire::Header header_;
  std::array<std::uint32_t, 256> next_sequence_{};
};

TEST(Jobs, TheFloodOfOneTakesNothingOfTheOther) {
  TwoJobs jobs;
  ASSERT_TRUE(jobs.install(full(jobs.network), full(jobs.network)));
  const Rank mad = rank_of(jobs.network, "LON");
  jobs.second->stop_island(mad);
  jobs.first->play_all(jobs.first_round, jobs.first_round + kRounds);
  jobs.second->play_all(jobs.second_round, jobs.second_round);
  jobs.first->run_for(100 * kMillisecond);
  Flood flood(jobs, mad, jobs.second_round);
  jobs.first->run_for(100 * kMillisecond);
  constexpr std::uint32_t kBurst = 200;
  std::uint32_t sent = 0;
  while (!jobs.finished() && sent < 400 * kBurst) {
    flood.send(kBurst, 1'000'000 + sent);
    sent += kBurst;
    jobs.first->run_for(100 * kMillisecond);
  }
  ASSERT_TRUE(jobs.finished()) << jobs.first->unfinished() << jobs.second->unfinished();
  EXPECT_EQ(jobs.first->judge(), "") << "exact, all of them";
  EXPECT_EQ(jobs.first->totals().rounds_failed, 0U);
  const EdgeTotals second = jobs.second->totals();
  EXPECT_GT(second.drops[static_cast<std::size_t>(DropReason::kBeyondGrant)], 200U) << "dropped and counted";
  EXPECT_EQ(jobs.first->totals().drops[static_cast<std::size_t>(DropReason::kBeyondGrant)], 0U);
  EXPECT_EQ(jobs.first->totals().drops[static_cast<std::size_t>(DropReason::kNoBuffer)], 0U)
      << "its buffers are its own";
  // The last rung: the flooded job's round fails and names who did not keep to the rules.
  for (Rank rank = 0; rank < jobs.network.islands.size(); ++rank) {
    if (rank == mad) continue;
    const Part* const part = jobs.second->part(rank, jobs.second_round);
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(part->outcome.stage, island::Stage::kFailed);
    EXPECT_EQ(part->outcome.missing, std::vector<Rank>{mad}) << part->outcome.error.message;
  }
}

TEST(Jobs, TheStallOfOneTakesNothingOfTheOther) {
  TwoJobs jobs;
  ASSERT_TRUE(jobs.install(grid(jobs.network), full(jobs.network)));
  const Rank stalled = rank_of(jobs.network, "SIN");
  jobs.first->play_all(jobs.first_round, jobs.first_round + 2 * kRounds);
  jobs.second->play_all(jobs.second_round, jobs.second_round + 1);
  jobs.first->run_for(50 * kMillisecond);
  jobs.second->stop_island(stalled);
  ASSERT_TRUE(jobs.finish()) << jobs.first->unfinished() << jobs.second->unfinished();
  EXPECT_EQ(jobs.first->judge(), "");
  EXPECT_EQ(jobs.first->totals().rounds_failed, 0U);
  EXPECT_GT(jobs.second->totals().rounds_failed, 0U);
  EXPECT_EQ(jobs.first->totals().drops[static_cast<std::size_t>(DropReason::kNoBuffer)], 0U);
}

/// The first rung: memory for a quarter of what the plan's windows hold.
TEST(Jobs, GrantsShrinkToTheQuotaAndNothingElseChanges) {
  TwoJobs jobs(0.25);
  ASSERT_TRUE(jobs.install(full(jobs.network), grid(jobs.network)));
  bool cut = false;
  for (const testbed::EdgeNode& node : jobs.first->testbed().edges()) {
    const auto& windows = jobs.first->control().windows(node.place.site);
    cut = cut || windows.is_cut();
    if (windows.planned_chunks == 0) continue;
    EXPECT_LE(windows.chunks, windows.planned_chunks);
    std::uint64_t arena = 0;
    for (const dataplane::Lane* const lane : node.edge->job(0).lanes())
      arena += lane->counters().arena_bytes.get();
    EXPECT_LE(arena, node.edge->job(0).config().arena_bytes) << node.site;
  }
  EXPECT_TRUE(cut);
  jobs.first->play_all(jobs.first_round, jobs.first_round + 2);
  jobs.second->play_all(jobs.second_round, jobs.second_round + 2);
  ASSERT_TRUE(jobs.finish()) << jobs.first->unfinished() << jobs.second->unfinished();
  EXPECT_EQ(jobs.first->judge(), "");
  EXPECT_EQ(jobs.second->judge(), "");
  EXPECT_EQ(jobs.first->drops(DropReason::kBeyondGrant), 0U) << "islands keep to their grants, however small";
}

TEST(Jobs, AQuotaThatHoldsNotEvenTheSmallestWindowsIsRefusedByName) {
  TwoJobs jobs(0.001);
  ASSERT_TRUE(jobs.first && jobs.second);
  ASSERT_TRUE(jobs.first->propose(full(jobs.network)));
  ASSERT_TRUE(
      jobs.first->run_until([&] { return jobs.first->control().outcome().has_value(); }, 60 * kSecond));
  const control::ChangeOutcome outcome = *jobs.first->control().outcome();
  EXPECT_EQ(outcome.kind, control::ChangeOutcome::Kind::kAborted);
  EXPECT_NE(control::to_string(outcome).find("the job's quota is"), std::string::npos)
      << control::to_string(outcome);
}

}  // namespace
}  // namespace tombolo::sim
