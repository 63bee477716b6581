#include "control/rpc/agent_service.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "control/rpc/control_server.h"
#include "tests/unit/control/fake_edge.h"
#include "tests/unit/control/plans.h"
#include "tests/unit/control/rpc/log_book.h"
#include "tests/unit/control/rpc/wait.h"
#include "tests/unit/control/temporary_folder.h"

namespace tombolo::control {
namespace {

class SometimesFull final : public FileOperations {
 public:
  int fsync(int file) override {
    if (!full) return FileOperations::fsync(file);
    errno = ENOSPC;
    return -1;
  }
  bool full = false;
};

class AgentServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    Transport transport;
    transport.address = "127.0.0.1:0";
    transport.insecure = true;
    auto server = ControlServer::start(transport, nine_cities().site_names, book_.sink());
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(server).value();
    start_agent();
  }

  void start_agent() {
    AgentServiceConfig config;
    config.self = {kSite, ++session_};
    config.site_name = "LON";
    config.transport.address = "127.0.0.1:" + std::to_string(server_->port());
    config.transport.insecure = true;
    config.client.heartbeat_ns = 3600 * kSecond;  // Nothing is told twice unless something happens.
    config.links = [this] { return links_; };
    config.peer_epoch = [this] { return peer_; };
    auto created = AgentService::create(config, dataplane_, folder_, book_.sink(), &operations_);
    ASSERT_TRUE(created.ok()) << created.error().message;
    service_ = std::move(created).value();
  }

  /// What the controller's side has heard, as text.
  bool hear_until(const std::string& text) {
    return wait_until([&] { return std::count(heard_.begin(), heard_.end(), text) > 0; }, [&] { turn(); });
  }
  void turn() {
    service_->poll(clock_.now_ns());
    for (const ServerEvent& event : server_->take(std::chrono::milliseconds(1))) {
      if (std::holds_alternative<EdgeLeft>(event)) {
        heard_.push_back("left");
      } else if (const auto& said = std::get<EdgeSaid>(event);
                 std::holds_alternative<LinkReport>(said.message)) {
        std::string text = "links";
        for (const LinkState& link : std::get<LinkReport>(said.message).links)
          text += fmt::format(" {}{}{}", link.is_island ? "i" : "s", link.id, link.up ? "+" : "-");
        heard_.push_back(text);
      } else {
        heard_.push_back(to_text(std::get<ToController>(said.message)));
      }
    }
  }
  static constexpr schedule::SiteId kSite = 4;

  LogBook book_;
  TemporaryFolder temporary_;
  StateFolder folder_ = std::move(StateFolder::open(temporary_.path())).value();
  SometimesFull operations_;
  FakeDataplane dataplane_;
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<AgentService> service_;
  std::vector<LinkState> links_{{false, 5, true}, {true, 4, true}};
  AgentServiceConfig::PeerEpoch peer_;
  std::vector<std::string> heard_;
  MonotonicClock clock_;
  std::uint32_t session_ = 0;
};

TEST_F(AgentServiceTest, BeginsWithHelloAndLinksAndReportsEachChangeOnce) {
  ASSERT_TRUE(hear_until("links s5+ i4+"));
  EXPECT_EQ(heard_.front(), "HELLO term 0 committed 0 staged 0");
  links_[0].up = false;
  ASSERT_TRUE(hear_until("links s5- i4+"));
  for (int i = 0; i < 20; ++i) turn();
  EXPECT_EQ(heard_.size(), 3u) << "a change is reported once";
}

TEST_F(AgentServiceTest, StoresBeforeItAnswers) {
  ASSERT_TRUE(hear_until("links s5+ i4+"));
  server_->send(kSite, Stage{1, 3, nine_city_plan(3)});
  ASSERT_TRUE(hear_until("STAGE-ACK 3 opened 0"));
  operations_.full = true;
  server_->send(kSite, Commit{1, 3, 8});
  ASSERT_TRUE(wait_until([&] { return book_.count("state cannot be stored") > 0; }, [&] { turn(); }));
  for (int i = 0; i < 20; ++i) turn();
  EXPECT_EQ(std::count(heard_.begin(), heard_.end(), "COMMIT-ACK 3"), 0) << "the disk does not have it";
  EXPECT_EQ(AgentStore(folder_).load()->committed_epoch(), 0u);
  EXPECT_EQ(book_.count("state cannot be stored"), 1u) << "one line, not one per turn";
  operations_.full = false;
  server_->send(kSite, Commit{1, 3, 8});
  ASSERT_TRUE(hear_until("COMMIT-ACK 3"));
  EXPECT_EQ(AgentStore(folder_).load()->committed_epoch(), 3u);
  EXPECT_EQ(AgentStore(folder_).load()->activating_round, 8u);
}

TEST_F(AgentServiceTest, ANeighbourThatRunsTheStagedEpochCommitsIt) {
  ASSERT_TRUE(hear_until("links s5+ i4+"));
  server_->send(kSite, Stage{1, 3, nine_city_plan(3)});
  ASSERT_TRUE(hear_until("STAGE-ACK 3 opened 0"));
  peer_ = {.epoch = 3, .first_round = 11};
  ASSERT_TRUE(hear_until("COMMIT-ACK 3"));
  EXPECT_EQ(AgentStore(folder_).load()->activating_round, 11u);
  EXPECT_EQ(dataplane_.log, (std::vector<std::string>{"stage 3", "commit 3 from 11"}));
}

TEST_F(AgentServiceTest, AStoredEpochThatTheDataplaneRefusesIsSaidAndAskedForAgain) {
  ASSERT_TRUE(hear_until("links s5+ i4+"));
  server_->send(kSite, Stage{6, 3, nine_city_plan(3)});
  server_->send(kSite, Commit{6, 3, 8});
  ASSERT_TRUE(hear_until("COMMIT-ACK 3"));
  service_.reset();
  dataplane_.drain_before(4);
  dataplane_.refusal = "fewer buffers than before";
  start_agent();
  EXPECT_EQ(book_.count("stored epoch refused epoch=3"), 1u) << book_.all();
  ASSERT_TRUE(hear_until("HELLO term 6 committed 0 staged 0")) << "and the term is not forgotten";
}

TEST_F(AgentServiceTest, ADamagedFileStopsTheStart) {
  ASSERT_TRUE(DurableFile(folder_.file("agent.state"), {"other", ""}).write("x").ok());
  AgentServiceConfig config;
  config.transport.address = "127.0.0.1:1";
  config.transport.insecure = true;
  const auto created = AgentService::create(config, dataplane_, folder_, book_.sink());
  ASSERT_FALSE(created.ok());
  EXPECT_NE(created.error().message.find("agent.state: holds no agent state"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::control
