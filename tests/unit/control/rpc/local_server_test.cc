#include "control/rpc/local_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "control/rpc/local_client.h"
#include "tests/unit/control/temporary_folder.h"

namespace tombolo::control {
namespace {

class LocalServerTest : public testing::Test {
 protected:
  Result<std::unique_ptr<LocalServer>> start() {
    return LocalServer::start(socket_,
                              LocalHandlers{[] { return std::string(R"({"site":"LON"})"); },
                                            [](const std::string& link) -> Result<ProbeResult> {
                                              if (link != "NYC")
                                                return Error{ErrorCode::kNotFound, "no link " + link};
                                              return ProbeResult{67'296'000, 67'000'000, 1'000'000'000, 10};
                                            }});
  }

  TemporaryFolder folder_;
  std::string socket_ = folder_.file("edge.sock");
};

TEST_F(LocalServerTest, AnEdgeAnswers) {
  const auto server = start();
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_EQ(*ask_status(socket_), R"({"site":"LON"})");
  const auto probe = ask_probe(socket_, "NYC");
  ASSERT_TRUE(probe.ok()) << probe.error().message;
  EXPECT_EQ(probe->rtt_ns, 67'296'000u);
  EXPECT_EQ(probe->least_rtt_ns, 67'000'000u);
  EXPECT_EQ(probe->rate_bps, 1'000'000'000u);
  EXPECT_EQ(probe->answers, 10u);
  const auto unknown = ask_probe(socket_, "QQQ");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_NE(unknown.error().message.find("no link QQQ"), std::string::npos);
  const auto install = ask_install(socket_, {});
  ASSERT_FALSE(install.ok()) << "an edge installs nothing";
  EXPECT_EQ(install.error().code, ErrorCode::kNotSupported);
}

TEST_F(LocalServerTest, AControllerAnswersWithEveryOutcome) {
  ChangeOutcome outcome;
  InstallOrder asked;
  const auto server =
      LocalServer::start(socket_, OperatorHandlers{[] { return std::string("{}"); },
                                                   [&](const InstallOrder& order) -> Result<ChangeOutcome> {
                                                     asked = order;
                                                     return outcome;
                                                   }});
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_EQ(*ask_status(socket_), "{}");
  for (const auto kind : {ChangeOutcome::Kind::kInstalled, ChangeOutcome::Kind::kUnconfirmed,
                          ChangeOutcome::Kind::kAborted, ChangeOutcome::Kind::kSuperseded}) {
    outcome = {.kind = kind, .epoch = 7, .activating_round = 12, .problems = {{{4, "LON"}, "not connected"}}};
    const auto answer = ask_install(
        socket_,
        {.schedule_name = "grid", .schedule_yaml = "", .multicast = std::nullopt, .edge_aggregation = false});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(to_string(*answer), to_string(outcome));
    EXPECT_EQ(asked.schedule_name, "grid");
    EXPECT_EQ(asked.multicast, std::nullopt);
    EXPECT_EQ(asked.edge_aggregation, false);
  }
  EXPECT_EQ(ask_probe(socket_, "NYC").error().code, ErrorCode::kNotSupported);
}

TEST_F(LocalServerTest, OnlyItsUserMayOpenTheSocket) {
  const auto server = start();
  ASSERT_TRUE(server.ok());
  struct stat status {};
  ASSERT_EQ(::stat(socket_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(LocalServerTest, ALiveSocketIsNotTakenAndADeadOneIs) {
  {
    const auto first = start();
    ASSERT_TRUE(first.ok());
    const auto second = start();
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.error().message.find("another program listens there"), std::string::npos);
    EXPECT_TRUE(ask_status(socket_).ok()) << "the first one still answers";
  }
  EXPECT_TRUE(start().ok());
}

TEST_F(LocalServerTest, NobodyThereIsOneClearError) {
  const auto status = ask_status(socket_);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(status.error().message, "socket " + socket_ + ": nobody listens there; is the program running?");
  socket_ = folder_.file("missing/edge.sock");
  EXPECT_NE(start().error().message.find("is its folder missing"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::control
