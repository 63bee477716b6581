#include "tools/island/program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/serial.h"
#include "control/epoch_tables.h"
#include "dataplane/edge/edge.h"
#include "schedule/compile.h"
#include "schedule/schedule.h"
#include "tools/testbed/workload.h"

namespace tombolo::tools {
namespace {

using Json = nlohmann::json;

constexpr std::uint16_t kLanes = 2;
constexpr std::uint64_t kUpdateBytes = 80'000;
constexpr Nanoseconds kIdleSleep = 200 * kMicrosecond;
/// Three islands at one site: a clique of two in every other round, the third rests there.
constexpr const char* kTopology = R"(
sites: [{id: A}, {id: B}]
links: [{a: A, b: B, rtt_ms: 1}]
islands: [{id: X, site: A}, {id: Y, site: A}, {id: Z, site: A}]
profiles: {p: {core_gbps: 0.4, egress_gbps: 0.4, ingress_gbps: 0.4}}
)";
constexpr const char* kSchedule = "rounds: [[[X, Y, Z]], [[X, Y]]]";

/// An edge on a UDP port, with a thread; islands are what is tested.
class Islands : public testing::Test {
 protected:
  void compile() {
    const auto topology = schedule::parse_topology(kTopology, "t");
    ASSERT_TRUE(topology.ok()) << topology.error().message;
    const schedule::Network network = *schedule::resolve(*topology, "p");
    schedule::CompileOptions options;
    options.job = 1;
    options.chunk_elements = 320;
    options.lane_count = kLanes;
    options.deadline_ns = deadline_ns_;
    options.update_bytes = kUpdateBytes;
    auto plan =
        schedule::compile(network, *schedule::parse_schedule(kSchedule, "s", network.islands), options);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    plan_ = std::move(plan).value();
    base_ = 0x7f000000U | (static_cast<std::uint32_t>(::getpid()) & 0x7fffU) << 8;
  }

  void TearDown() override {
    programs_.clear();
    stop_.store(true);
    if (thread_.joinable()) thread_.join();
  }

  /// The first base port at which all fit; ports of other tests may be in the way.
  void start() {
    compile();
    ASSERT_FALSE(HasFailure());
    for (std::uint32_t port = 20'000; port < 60'000; port += 997)
      if (try_start(static_cast<std::uint16_t>(port))) return;
    FAIL() << "no free port";
  }

  bool try_start(std::uint16_t base_port) {
    programs_.clear();
    events_.assign(3, {});
    for (std::uint16_t rank = 0; rank < 3; ++rank) {
      options_.name = std::string(1, static_cast<char>('X' + rank));
      options_.rank = rank;
      options_.listen = {base_ | (100U + rank), base_port};
      options_.edge = {base_ | 1U, base_port};
      options_.lanes = kLanes;
      options_.update_bytes = kUpdateBytes;
      options_.buffer_bytes = 64 + 1280;
      options_.buffers = 4096;
      auto program = IslandProgram::create(options_, 7, clock_, [this, rank](const std::string& event) {
        events_[rank].push_back(Json::parse(event));
      });
      if (!program) return false;
      programs_.push_back(std::move(program).value());
    }
    return start_edge(base_port);
  }

  bool start_edge(std::uint16_t base_port) {
    const control::EdgePlace place{0, {{false, 1}, {true, 0}, {true, 1}, {true, 2}}};
    const control::EdgeNeeds needs = control::edge_needs(plan_, place);
    pool_ = std::move(MemoryPool::create(static_cast<std::uint32_t>(needs.buffers()), PoolSharing::kShared,
                                         needs.buffer_bytes))
                .value();
    island::UdpPortConfig port;
    port.address = {base_ | 1U, base_port};
    port.lanes = kLanes;
    port.pool = pool_.get();
    auto opened = island::UdpPort::create(port);
    if (!opened) return false;
    port_ = std::move(opened).value();
    dataplane::EdgeConfig config;
    config.site = "A";
    config.jobs[0].job = 1;
    config.session = 1;
    config.lane_count = kLanes;
    config.jobs[0].pool_buffers = needs.buffers();
    for (std::size_t i = 0; i < place.links.size(); ++i) {
      dataplane::EdgeLink link;
      const bool is_island = place.links[i].is_island;
      link.address = {base_ | (is_island ? 100U + place.links[i].id : 2U), base_port};
      link.is_island = is_island;
      link.window_packets = needs.link_windows[i];
      config.jobs[0].links.push_back(link);
    }
    Port* const ports[] = {port_.get()};
    edge_ = std::move(dataplane::Edge::create(config, ports, *pool_)).value();
    EXPECT_TRUE(edge_->job().install(*control::make_epoch_table(plan_, place), 0).ok());
    thread_ = std::thread([this] {
      while (!stop_.load(std::memory_order_relaxed))
        if (edge_->worker(0).turn(clock_.now_ns()).received == 0) port_->wait(kIdleSleep, 0);
    });
    return true;
  }

  /// Looks at the islands until `done` holds. The rounds' deadline bounds what it can wait for.
  void look_until(const std::function<bool()>& done) {
    const Nanoseconds until_ns = clock_.now_ns() + 60 * kSecond;
    while (!done()) {
      ASSERT_LT(clock_.now_ns(), until_ns);
      for (const auto& program : programs_) program->look();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// The event of that name and round; null if it was not told.
  Json event(std::size_t rank, const std::string& name, std::uint32_t round) const {
    for (const Json& event : events_[rank])
      if (event["event"] == name && event.value("round", ~0U) == round) return event;
    return nullptr;
  }

  MonotonicClock clock_;
  Nanoseconds deadline_ns_ = 20 * kSecond;  ///< The epoch's.
  IslandOptions options_;
  std::uint32_t base_ = 0;
  schedule::EpochPlan plan_;
  std::unique_ptr<MemoryPool> pool_;
  std::unique_ptr<island::UdpPort> port_;
  std::unique_ptr<dataplane::Edge> edge_;
  std::vector<std::vector<Json>> events_;
  std::vector<std::unique_ptr<IslandProgram>> programs_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(IslandSession, GrowsWithTheClockAsASerialNumber) {
  EXPECT_TRUE(serial_before(session_from_wall_clock(1'000'000), session_from_wall_clock(1'000'001)));
  const std::uint64_t wraps = std::uint64_t{5} << 32;
  EXPECT_TRUE(serial_before(session_from_wall_clock(wraps - 1), session_from_wall_clock(wraps + 1)));
  EXPECT_NE(session_from_wall_clock(wraps), 0U);
}

TEST_F(Islands, RoundsAreToldAndCheckedToTheBit) {
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_NO_FATAL_FAILURE(look_until([&] {
    return programs_[0]->can_start(0) && programs_[1]->can_start(0) && programs_[2]->can_start(0);
  }));
  EXPECT_EQ(programs_[0]->first_round(), 0U);
  for (std::uint32_t round = 0; round < 2; ++round) {
    for (const auto& program : programs_) program->start(round);
    ASSERT_NO_FATAL_FAILURE(look_until([&] {
      return !event(0, "released", round).is_null() && !event(1, "released", round).is_null() &&
             !event(2, "released", round).is_null();
    }));
    for (std::size_t rank = 0; rank < 3; ++rank) {
      programs_[rank]->check(round);
      EXPECT_EQ(event(rank, "checked", round)["exact"], true) << rank;
      const Json ready = event(rank, "ready", round);
      const Json pair = Json::array({0, 1});
      const Json all = Json::array({0, 1, 2});
      EXPECT_EQ(ready["contributors"], round == 0 ? all : rank == 2 ? Json::array({2}) : pair);
      EXPECT_EQ(ready["contributors"], ready["clique"]);
      if (rank != 2 || round == 0) {
        EXPECT_GT(ready["ready_ns"].get<std::uint64_t>(), ready["first_send_ns"].get<std::uint64_t>());
      }
    }
  }
  // 20000 elements are 63 chunks of 1280 bytes but the last, each with 64 + 42 bytes round it; control comes
  // on top.
  const std::uint64_t least = 2 * (kUpdateBytes + 63 * 106);
  EXPECT_GE(event(0, "released", 1)["tx_bytes"].get<std::uint64_t>(), least);
  EXPECT_GE(event(0, "released", 1)["rx_bytes"].get<std::uint64_t>(), least);
  EXPECT_TRUE(programs_[0]->all_exact());
  programs_[0]->report_status();
  const Json status = events_[0].back();
  EXPECT_EQ(status["event"], "status");
  EXPECT_EQ(status["up"], true);
  EXPECT_EQ(status["epoch"], 1);
}

TEST_F(Islands, AWrongRoundIsAFailureThatIsTold) {
  ASSERT_NO_FATAL_FAILURE(start());
  programs_[0]->start(4);
  programs_[0]->start(4);  // The same again: refused at once.
  ASSERT_FALSE(event(0, "failed", 4).is_null());
  EXPECT_FALSE(programs_[0]->all_exact());
  programs_[0]->check(9);
  EXPECT_EQ(event(0, "checked", 9)["exact"], false);
  EXPECT_EQ(event(0, "checked", 9)["error"], "this round was not started, or is forgotten");
  programs_[0]->check(4);
  EXPECT_EQ(event(0, "checked", 4)["error"], "this round has no result");
}

TEST_F(Islands, ADeadlineNamesWhoIsMissing) {
  deadline_ns_ = 3 * kSecond;
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_NO_FATAL_FAILURE(
      look_until([&] { return programs_[0]->can_start(0) && programs_[1]->can_start(0); }));
  programs_[0]->start(0);
  programs_[1]->start(0);
  ASSERT_NO_FATAL_FAILURE(look_until([&] { return !event(0, "failed", 0).is_null(); }));
  EXPECT_EQ(event(0, "failed", 0)["missing"], Json::array({2}));
}

TEST_F(Islands, CommandsAreReadUntilTheEnd) {
  ASSERT_NO_FATAL_FAILURE(start());
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string lines = "status\nnonsense\nquit\nstatus\n";
  ASSERT_EQ(::write(ends[1], lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  options_.commands = true;
  const auto exact = run_island(
      *programs_[0], options_, ends[0], [] { return false; }, clock_);
  ASSERT_TRUE(exact.ok());
  EXPECT_TRUE(*exact);
  ASSERT_EQ(events_[0].size(), 2U);  // Nothing after quit.
  EXPECT_EQ(events_[0][0]["event"], "status");
  EXPECT_EQ(events_[0][1]["event"], "error");
  ::close(ends[1]);
  EXPECT_TRUE(run_island(
                  *programs_[0], options_, ends[0], [] { return false; }, clock_)
                  .ok());  // End of input.
  ::close(ends[0]);
}

TEST_F(Islands, RunsFreelyFromTheFirstRound) {
  ASSERT_NO_FATAL_FAILURE(start());
  std::vector<std::thread> threads;
  std::atomic<int> exact{0};
  for (const auto& program : programs_)
    threads.emplace_back([&, mine = program.get()] {
      IslandOptions options = options_;
      options.rounds = 4;
      const auto done = run_island(
          *mine, options, -1, [] { return false; }, clock_);
      if (done && *done) ++exact;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(exact.load(), 3);
  EXPECT_EQ(event(2, "checked", 3)["exact"], true);
}

}  // namespace
}  // namespace tombolo::tools
