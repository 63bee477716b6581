#include "control/node/edge_memory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace tombolo::control {
namespace {

constexpr std::uint64_t kMebi = 1U << 20;

/// An edge with one port for each device.
EdgeFile with_devices(const std::vector<std::string>& devices) {
  EdgeFile file;
  file.path = "A.yaml";
  file.jobs.resize(1);
  file.jobs[0].buffers = 1000;
  file.buffer_bytes = 8256;
  for (const std::string& device : devices) {
    EdgePortConfig port;
    port.name = device;
    port.device = device;
    port.mtu = 9000;
    file.ports.push_back(port);
  }
  return file;
}

EdgeMemory::Part rings(const EdgeFile& file) {
  const EdgeMemory memory = edge_memory(file);
  const auto part = std::find_if(memory.parts.begin(), memory.parts.end(),
                                 [](const auto& one) { return one.name == "rings shared with others"; });
  return part == memory.parts.end() ? EdgeMemory::Part{} : *part;
}

TEST(EdgeMemory, CountsRingsByWhatTheirDeviceSays) {
  EXPECT_EQ(rings(with_devices({"net_null0"})).bytes, 0U);
  // 512 jumbo frames each way.
  EXPECT_EQ(rings(with_devices({"net_af_packet0,iface=wan0"})).bytes, 2 * 512 * 9216U);
  // 2^8 buffers of 9216 bytes each way; and as the driver has it.
  EXPECT_EQ(rings(with_devices({"net_memif0,rsize=8,bsize=9216"})).bytes, 2 * 256 * 9216U);
  EXPECT_EQ(rings(with_devices({"net_memif0"})).bytes, 2 * 1024 * 2048U);
  EdgeFile file = with_devices({"net_memif0", "net_memif1,bsize=9216", "net_null0"});
  file.workers = 2;
  EXPECT_EQ(rings(file).count, 4U);
  EXPECT_EQ(rings(file).bytes, 2U * (2 * 1024 * 2048 + 2 * 1024 * 9216));
  const EdgeMemory memory = edge_memory(file);
  EXPECT_EQ(memory.bytes,
            std::accumulate(memory.parts.begin(), memory.parts.end(), std::uint64_t{0},
                            [](std::uint64_t sum, const auto& part) { return sum + part.bytes; }));
}

TEST(CheckMemory, HugePagesNeedOnlyHoldWhatDpdkTakes) {
  EdgeFile file = with_devices({"net_af_packet0,iface=wan0"});
  file.hugepages = HugepageUse::kRequired;
  const EdgeMemory memory = edge_memory(file);
  ASSERT_GT(memory.bytes, memory.eal_mb * kMebi);
  EXPECT_TRUE(check_memory(file, memory, memory.eal_mb * kMebi).ok());
  const Status refused = check_memory(file, memory, (memory.eal_mb - 5) * kMebi);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  // 5 MiB are missing: 3 pages of 2.
  EXPECT_NE(refused.error().message.find("echo $(($(cat /proc/sys/vm/nr_hugepages) + 3)) > "),
            std::string::npos)
      << refused.error().message;
}

TEST(CheckMemory, OrdinaryMemoryMustHoldAll) {
  EdgeFile file = with_devices({"net_af_packet0,iface=wan0"});
  const EdgeMemory memory = edge_memory(file);
  EXPECT_TRUE(check_memory(file, memory, memory.bytes).ok());
  EXPECT_FALSE(check_memory(file, memory, memory.bytes - 1).ok());
  file.memory_limit_bytes = memory.bytes - 1;
  EXPECT_FALSE(check_memory(file, memory, 2 * memory.bytes).ok());
  file.memory_limit_bytes = memory.bytes;
  EXPECT_TRUE(check_memory(file, memory, 2 * memory.bytes).ok());
}

TEST(AvailableMemory, IsThatOfTheKindThatIsAskedFor) {
  char folder[] = "/tmp/memory-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::filesystem::path root = folder;
  const std::filesystem::path pages = root / "sys/kernel/mm/hugepages/hugepages-2048kB";
  std::filesystem::create_directories(pages);
  std::filesystem::create_directories(root / "proc");
  std::ofstream(pages / "free_hugepages") << "7\n";
  std::ofstream(root / "proc/meminfo") << "MemFree: 1 kB\nMemAvailable:  5000 kB\n";
  EXPECT_EQ(available_memory(HugepageUse::kRequired, root), 14 * kMebi);
  EXPECT_EQ(available_memory(HugepageUse::kAuto, root), 5'120'000U);
  EXPECT_EQ(available_memory(HugepageUse::kOff, root), 5'120'000U);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace tombolo::control
