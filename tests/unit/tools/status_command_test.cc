#include "tools/status_command.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "control/observe/status_json.h"
#include "control/rpc/local_server.h"
#include "tests/unit/control/observe/full_sample.h"
#include "tests/unit/tools/run_verb.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

VerbRun run(std::vector<std::string> arguments) { return run_verb(add_status_command, std::move(arguments)); }

/// A socket in a folder of its own, and a real server behind it.
class StatusCommandTest : public testing::Test {
 protected:
  StatusCommandTest() {
    folder_ = testing::TempDir() + "status_XXXXXX";
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    socket_ = folder_ + "/local.sock";
  }
  ~StatusCommandTest() override {
    server_.reset();
    ::unlink(socket_.c_str());
    ::rmdir(folder_.c_str());
  }
  template <typename Handlers>
  void serve(Handlers handlers) {
    auto server = control::LocalServer::start(socket_, std::move(handlers));
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(server).value();
  }
  void serve_edge(const std::string& answer) {
    control::LocalHandlers handlers;
    handlers.status_json = [answer] { return answer; };
    serve(std::move(handlers));
  }

  std::string folder_;
  std::string socket_;
  std::unique_ptr<control::LocalServer> server_;
};

TEST_F(StatusCommandTest, AnEdgeAnswersWithTables) {
  serve_edge(control::dump_status(control::status_json(control::full_edge_sample())));
  const VerbRun ran = run({"status", socket_});
  EXPECT_EQ(ran.exit_code, kExitOk) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out.rfind("edge NYC, session 101", 0), 0U) << ran.out;
}

TEST_F(StatusCommandTest, JsonOnStandardOutputIsAlone) {
  serve_edge(control::dump_status(control::status_json(control::full_edge_sample())));
  const VerbRun ran = run({"status", socket_, "--json", "-"});
  EXPECT_EQ(ran.exit_code, kExitOk) << ran.err;
  const nlohmann::json report = nlohmann::json::parse(ran.out);
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["command"], "status");
  EXPECT_EQ(report["socket"], socket_);
  EXPECT_EQ(report["program"], "edge");
  EXPECT_EQ(report["jobs"][0]["rounds"][0]["late"][0], "TYO");
}

TEST_F(StatusCommandTest, AControllerAnswersToo) {
  control::OperatorHandlers handlers;
  handlers.status_json = [] { return control::to_json(control::full_controller_status()); };
  serve(std::move(handlers));
  const VerbRun ran = run({"status", socket_});
  EXPECT_EQ(ran.exit_code, kExitOk) << ran.err;
  EXPECT_EQ(ran.out.rfind("controller, term 12, committing", 0), 0U) << ran.out;
}

TEST_F(StatusCommandTest, WhenNobodyListensThereIsOneClearError) {
  const VerbRun ran = run({"status", socket_});
  EXPECT_EQ(ran.exit_code, kExitFailed);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "tombolo: socket " + socket_ + ": nobody listens there; is the program running?\n");
}

TEST_F(StatusCommandTest, AnAnswerThatIsNoneIsOneClearError) {
  serve_edge("<html>");
  const VerbRun ran = run({"status", socket_, "--json", "-"});
  EXPECT_EQ(ran.exit_code, kExitFailed);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "tombolo: socket " + socket_ + ": the answer is not the status of an edge or a controller\n");
}

TEST_F(StatusCommandTest, AFileThatCannotBeWrittenIsNamed) {
  serve_edge(control::dump_status(control::status_json(control::full_edge_sample())));
  const VerbRun ran = run({"status", socket_, "--json", "/proc/no/such"});
  EXPECT_EQ(ran.exit_code, kExitFailed);
  EXPECT_EQ(ran.err, "tombolo: --json /proc/no/such: No such file or directory\n");
}

}  // namespace
}  // namespace tombolo::tools
