#include "dataplane/port/dpdk/eal_arguments.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tombolo::dataplane {
namespace {

const MachineState kTwoCpus{{0, 1}, 0, std::uint64_t{8} << 30};
const MachineState kWithPages{{0, 1, 2, 3}, std::uint64_t{512} << 20, std::uint64_t{8} << 30};

bool has(const EalPlan& plan, const std::string& argument) {
  return std::find(plan.arguments.begin(), plan.arguments.end(), argument) != plan.arguments.end();
}

TEST(PlanEal, TakesHugePagesOnlyIfThereAreEnough) {
  EalOptions options;
  options.memory_mb = 512;
  auto plan = plan_eal(options, kWithPages);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->hugepages);
  EXPECT_TRUE(has(*plan, "--in-memory"));
  EXPECT_FALSE(has(*plan, "--no-huge"));
  EXPECT_EQ(plan->summary, "huge pages, 512 MB; 1 worker on any CPU");

  options.memory_mb = 513;
  plan = plan_eal(options, kWithPages);
  ASSERT_TRUE(plan.ok());
  EXPECT_FALSE(plan->hugepages);
  // Rejected together.
  EXPECT_FALSE(has(*plan, "--in-memory"));
  EXPECT_TRUE(has(*plan, "--no-huge"));
  EXPECT_EQ(plan->summary, "no huge pages (512 MB free), 513 MB of ordinary memory; 1 worker on any CPU");

  options.hugepages = Hugepages::kRequired;
  plan = plan_eal(options, kWithPages);
  ASSERT_FALSE(plan.ok());
  // One page of 2 MB is missing.
  EXPECT_EQ(plan.error().message,
            "513 MB of huge pages are needed and 512 MB are free; reserve them with: echo $(($(cat "
            "/proc/sys/vm/nr_hugepages) + 1)) > /proc/sys/vm/nr_hugepages");
  options.memory_mb = 100;
  options.hugepages = Hugepages::kOff;
  EXPECT_FALSE(plan_eal(options, kWithPages)->hugepages);
}

TEST(PlanEal, WorkersFloatUnlessTheyArePinned) {
  EalOptions options;
  options.workers = 2;
  EXPECT_TRUE(has(*plan_eal(options, kTwoCpus), "--lcores=0@(0,1),1@(0,1),2@(0,1)"));
  options.cpus = {3, 1};
  const auto plan = plan_eal(options, kWithPages);
  EXPECT_TRUE(has(*plan, "--lcores=0@(0,1,2,3),1@3,2@1"));
  EXPECT_NE(plan->summary.find("2 workers on CPUs 3, 1"), std::string::npos) << plan->summary;
  EXPECT_EQ(plan_eal(options, kTwoCpus).error().code, ErrorCode::kUnavailable);
}

TEST(PlanEal, OnlyNamedPciDevicesAreTaken) {
  EalOptions options;
  options.devices = {"net_null0", "0000:01:00.0", "02:00.1,key=1"};
  auto plan = plan_eal(options, kTwoCpus);
  EXPECT_TRUE(has(*plan, "0000:01:00.0"));
  EXPECT_TRUE(has(*plan, "02:00.1,key=1"));
  EXPECT_FALSE(has(*plan, "net_null0"));
  EXPECT_FALSE(has(*plan, "--no-pci"));
  options.devices = {"net_memif0,role=client"};
  options.memory_mb = 1;
  plan = plan_eal(options, kWithPages);
  EXPECT_TRUE(has(*plan, "--no-pci"));
  EXPECT_TRUE(has(*plan, "--single-file-segments"));
  EXPECT_TRUE(has(*plan, "--no-telemetry"));
}

TEST(PlanEal, RefusesByOption) {
  struct Case {
    EalOptions options;
    const char* says;
  };
  const auto with = [](auto change) {
    EalOptions options;
    change(options);
    return options;
  };
  const std::vector<Case> cases{
      {with([](auto& options) { options.workers = 0; }), "workers 0"},
      {with([](auto& options) { options.workers = 127; }), "workers 127"},
      {with([](auto& options) { options.name = "a b"; }), "name 'a b'"},
      {with([](auto& options) { options.name = ""; }), "name ''"},
      {with([](auto& options) { options.memory_mb = 0; }), "memory_mb 0"},
      {with([](auto& options) { options.memory_mb = 9000; }), "memory_mb 9000: 8192 MB are available"},
      {with([](auto& options) { options.log_level = 9; }), "log_level 9"},
      {with([](auto& options) {
         options.cpus = {0, 1};
       }),
       "cpus: 2 for 1 workers"},
      {with([](auto& options) { options.cpus = {7}; }), "CPU 7, only on 0,1"},
      {with([](auto& options) {
         options.workers = 2;
         options.cpus = {1, 1};
       }),
       "cpus: 1 is named twice"},
  };
  for (const Case& one : cases) {
    const auto plan = plan_eal(one.options, kTwoCpus);
    ASSERT_FALSE(plan.ok()) << one.says;
    EXPECT_NE(plan.error().message.find(one.says), std::string::npos) << plan.error().message;
  }
}

TEST(ReadMachine, AddsUpTheFreePagesOfAllSizes) {
  char folder[] = "/tmp/machine-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::filesystem::path root = folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  };
  write("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "3\n");
  write("sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "2\n");
  write("sys/kernel/mm/hugepages/other/free_hugepages", "9\n");
  write("proc/meminfo", "MemTotal:       24000000 kB\nMemAvailable:    1000 kB\n");
  const MachineState state = read_machine(root);
  EXPECT_EQ(state.free_hugepage_bytes, 3 * (std::uint64_t{2} << 20) + 2 * (std::uint64_t{1} << 30));
  EXPECT_EQ(state.available_bytes, 1'024'000U);
  EXPECT_FALSE(state.cpus.empty());
  std::filesystem::remove_all(root);
  EXPECT_EQ(read_machine(root).free_hugepage_bytes, 0U);
  EXPECT_EQ(read_machine(root).available_bytes, 0U);
}

TEST(PciAddress, IsToldFromANameOfADevice) {
  for (const char* good : {"0000:01:00.0", "01:00.7", "0000:aF:1f.0", "10000:01:00.0"})
    EXPECT_TRUE(is_pci_address(good));
  for (const char* bad : {"", "01:00", "01:00.8", "net_null0", "0000:01:00.0,x=1", "1:00.0"})
    EXPECT_FALSE(is_pci_address(bad)) << bad;
}

}  // namespace
}  // namespace tombolo::dataplane
