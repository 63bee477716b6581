#include "tools/testbed/netns/namespaces.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tools/testbed/netns/addresses.h"
#include "tools/testbed/netns/process.h"
#include "tools/testbed/netns/subprocess.h"

namespace tombolo::testbed {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& name) { return fs::exists("/run/netns/" + name); }

/// Two namespaces of this process, joined by a veth; the second end has an address.
NamespacePlan small_plan() {
  const std::string prefix = std::string(kNamespacePrefix) + std::to_string(::getpid());
  NamespacePlan plan;
  plan.namespaces = {prefix + "-a", prefix + "-b"};
  plan.bridges = {{prefix + "-a", "br", 0x0a630001, 16}};
  Veth veth;
  veth.a = {prefix + "-a", "left", 0, 30, false, "br"};
  veth.b = {prefix + "-b", "right", 0x0a020002, 30, true, ""};
  veth.mtu = 9018;
  plan.veths = {veth};
  return plan;
}

class RealNamespaces : public testing::Test {
 protected:
  void SetUp() override {
    const Status possible = check_namespaces_possible();
    if (!possible) GTEST_SKIP() << possible.error().message;
    folder_ = (fs::temp_directory_path() / ("tombolo-ns-" + std::to_string(::getpid()))).string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string folder_;
};

TEST(Namespaces, OneBatchMakesAllAndOneConfiguresEach) {
  NamespacePlan plan;
  plan.namespaces = {"tbl-1-a", "tbl-1-b"};
  plan.bridges = {{"tbl-1-a", "br", 0x0a630001, 16}};
  Veth veth;
  veth.a = {"tbl-1-a", "left", 0, 30, false, "br"};
  veth.b = {"tbl-1-b", "right", 0x0a020002, 30, true, ""};
  veth.mtu = 1500;
  plan.veths = {veth};
  EXPECT_EQ(creation_batch(plan),
            "netns add tbl-1-a\nnetns add tbl-1-b\n"
            "link add name br netns tbl-1-a type bridge\n"
            "link add name left mtu 1500 netns tbl-1-a type veth peer name right mtu 1500 netns tbl-1-b\n");
  EXPECT_EQ(configuration_batch(plan, "tbl-1-a"),
            "link set dev lo up\naddr add 10.99.0.1/16 dev br\nlink set dev br up\n"
            "link set dev left master br\nlink set dev left up\n");
  EXPECT_EQ(configuration_batch(plan, "tbl-1-b"),
            "link set dev lo up\naddr add 10.2.0.2/30 dev right\nlink set dev right up\n");
}

TEST_F(RealNamespaces, AreMadeAsAskedAndRemoved) {
  const NamespacePlan plan = small_plan();
  auto record = RunRecord::create(folder_);
  ASSERT_TRUE(record.ok()) << record.error().message;
  {
    auto made = Namespaces::create(plan, **record);
    ASSERT_TRUE(made.ok()) << made.error().message;
    ASSERT_TRUE(exists(plan.namespaces[0]));
    // What the kernel says is there, not what was written to `ip`.
    const auto in = [&](const std::string& name, const std::string& script) {
      return run_with_input({"ip", "netns", "exec", name, "sh", "-c", script}, "");
    };
    const std::string& b = plan.namespaces[1];
    EXPECT_TRUE(in(b,
                   "test $(cat /sys/class/net/right/mtu 2>/dev/null || ip -o link show right | "
                   "sed 's/.*mtu \\([0-9]*\\).*/\\1/') = 9018")
                    .ok());
    EXPECT_TRUE(in(b, "ip -o -4 addr show right | grep -q 10.2.0.2/30").ok());
    EXPECT_TRUE(in(b, "test -z \"$(ip -o -6 addr show right)\"").ok());
    EXPECT_TRUE(in(b, "test $(cat /proc/sys/net/ipv6/conf/right/disable_ipv6) = 1").ok());
    EXPECT_TRUE(in(plan.namespaces[0], "ip -o link show left | grep -q 'master br.*state UP'").ok());
    EXPECT_TRUE(
        in(plan.namespaces[0], "ping -c 1 -W 5 127.0.0.1 > /dev/null || ip -o link show lo | grep -q UP")
            .ok());
  }
  EXPECT_FALSE(exists(plan.namespaces[0]));
  EXPECT_FALSE(exists(plan.namespaces[1]));
}

TEST_F(RealNamespaces, WhatFailsHalfwayIsRemoved) {
  NamespacePlan plan = small_plan();
  plan.veths[0].b.network_namespace = "tbl-none";
  auto record = RunRecord::create(folder_);
  ASSERT_TRUE(record.ok());
  const auto made = Namespaces::create(plan, **record);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(made.error().message.find("tbl-none"), std::string::npos) << made.error().message;
  EXPECT_FALSE(exists(plan.namespaces[0]));
}

TEST_F(RealNamespaces, WhatAKilledRunLeftIsRemovedByTheNext) {
  const NamespacePlan plan = small_plan();
  // A process that is killed: its record names the namespaces and a process of its own.
  ProcessOptions options;
  options.name = "owner";
  options.argument = {"/bin/sh", "-c", "exec sleep 600"};
  auto owner = Process::spawn(options);
  auto orphan = Process::spawn(options);
  ASSERT_TRUE(owner.ok() && orphan.ok());
  RecordedRun run;
  run.owner = mark_of((*owner)->pid());
  run.namespaces = plan.namespaces;
  run.processes = {mark_of((*orphan)->pid()), {::getpid(), 1}};  // The second is another process by now.
  ASSERT_TRUE(run_with_input({"ip", "netns", "add", plan.namespaces[0]}, "").ok());
  fs::create_directories(folder_);
  const std::string path = folder_ + "/testbed-1.json";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(write_recorded_run(run).c_str(), file);
  std::fclose(file);

  EXPECT_TRUE(clean_up_dead_runs(folder_).empty());  // The owner lives.
  EXPECT_TRUE(exists(plan.namespaces[0]));
  (*owner)->signal(SIGKILL);
  while ((*owner)->running()) ::usleep(1000);
  const auto told = clean_up_dead_runs(folder_);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("1 namespaces and 1 processes"), std::string::npos) << told[0];
  EXPECT_FALSE(exists(plan.namespaces[0]));
  EXPECT_FALSE(fs::exists(path));
  while ((*orphan)->running()) ::usleep(1000);
}

}  // namespace
}  // namespace tombolo::testbed
