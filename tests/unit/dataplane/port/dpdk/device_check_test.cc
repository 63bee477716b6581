#include "dataplane/port/dpdk/device_check.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tombolo::dataplane {
namespace {

TEST(ParseDevice, ReadsNameDriverAndArguments) {
  const auto device = parse_device("net_af_packet12,iface=wan0,qpairs=2");
  ASSERT_TRUE(device.ok());
  EXPECT_EQ(device->name, "net_af_packet12");
  EXPECT_EQ(device->driver, "net_af_packet");
  EXPECT_EQ(device->argument("iface"), "wan0");
  EXPECT_EQ(device->argument("qpairs"), "2");
  EXPECT_EQ(device->argument("framesz"), "");
  const auto pci = parse_device("0000:01:00.0");
  ASSERT_TRUE(pci.ok());
  EXPECT_TRUE(pci->is_pci());
}

TEST(ParseDevice, RefusesWhatDpdkWouldReadOtherwise) {
  for (const char* text :
       {"", ",iface=x", "net_null0,", "net_null0,x", "net_null0,=1", "net_null0,a=1,a=2", "net null0",
        "net_null0,a=\n", "net_null0,a=\"b", "/dev/x", "1:2", "0", "net_null\xc3\xa4"}) {
    const auto device = parse_device(text);
    ASSERT_FALSE(device.ok()) << text;
    EXPECT_EQ(device.error().message.rfind("device '", 0), 0U) << device.error().message;
  }
}

TEST(AfPacketDevice, HasRingsThatTheKernelTakes) {
  for (const bool jumbo : {false, true}) {
    const auto device = parse_device(af_packet_device("wan0", jumbo, 3));
    ASSERT_TRUE(device.ok());
    EXPECT_EQ(device->driver.rfind("net_af_packet", 0), 0U);
    EXPECT_EQ(device->argument("qpairs"), "3");
    const int frame = std::stoi(device->argument("framesz"));
    const int block = std::stoi(device->argument("blocksz"));
    const int count = std::stoi(device->argument("framecnt"));
    // packet_mmap(7): frames of a multiple of 16 bytes, blocks of whole pages, and whole blocks of frames.
    EXPECT_EQ(frame % 16, 0);
    EXPECT_EQ(block % 4096, 0);
    EXPECT_EQ(count % (block / frame), 0);
    // 42 + 64 + 8192 bytes (1408 for standard packets), behind up to 66 of the kernel's.
    EXPECT_GE(frame, (jumbo ? 8298 : 1514) + 66);
  }
}

TEST(CheckDevice, AnotherNumberOfQueuesWouldLosePackets) {
  const auto device = parse_device("net_af_packet0,iface=lo,qpairs=2");
  const Status status = check_device(*device, 1500, 1);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("must say qpairs=1"), std::string::npos) << status.error().message;
  EXPECT_FALSE(check_device(*parse_device("net_null0"), 1500, 0).ok());
  EXPECT_FALSE(check_device(*parse_device("net_null0"), 1500, 17).ok());
  EXPECT_TRUE(check_device(*parse_device("net_null0"), 1500, 2).ok());
}

TEST(CheckDevice, WithoutTheRightItNamesTheCommand) {
  const auto device = parse_device("net_af_packet0,iface=lo");
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    const Status status = check_device(*device, 1500, 1);
    const bool good = !status.ok() && status.error().code == ErrorCode::kUnavailable &&
                      status.error().message.find("setcap cap_net_raw") != std::string::npos;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tombolo::dataplane
