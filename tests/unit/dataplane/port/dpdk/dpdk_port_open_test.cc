// A port that cannot start says why in one line, port first; and a port that was closed can be opened again.
#include <functional>

#include "dataplane/port/dpdk/device_check.h"
#include "tests/unit/dataplane/port/dpdk/port_harness.h"

namespace tombolo::dataplane {
namespace {

class PortOpenTest : public PortTest {
 protected:
  Error refusal(const std::function<void(DpdkPortConfig&)>& change) {
    DpdkPortConfig config = config_a();
    change(config);
    auto port = DpdkPort::create(config, *pool_);
    EXPECT_FALSE(port.ok());
    if (port.ok()) return {};
    const Error error = std::move(port).error();
    EXPECT_EQ(error.message.rfind("port wan0: ", 0), 0U) << error.message;
    EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
    return error;
  }
};

TEST_F(PortOpenTest, RefusesABadConfigurationByField) {
  struct Case {
    std::function<void(DpdkPortConfig&)> change;
    const char* says;
  };
  const std::vector<Case> cases{
      {[](auto& config) { config.lane_count = 0; }, "lane_count 0"},
      {[](auto& config) { config.address.base_port = 0; }, "base_port 0"},
      {[](auto& config) { config.address.base_port = 65533; }, "base_port 65533 with 4 lanes"},
      {[](auto& config) { config.mtu = 91; }, "mtu 91"},
      {[](auto& config) { config.mtu = 9601; }, "mtu 9601"},
      {[](auto& config) { config.mtu = 9300; }, "MTU 9300: frames of 9314 bytes do not fit the pool's 9216"},
      {[](auto& config) { config.mac = kBroadcastMac; }, "mac ff:ff:ff:ff:ff:ff"},
      {[](auto& config) { config.address.ipv4 = 0xe0000001; }, "address 224.0.0.1"},
      {[](auto& config) {
         config.neighbours.push_back({kEdgeA, {}});
       },
       "neighbour 10.0.0.1"},
      {[](auto& config) { config.queues = 2; }, "2 queues: the device has"},
      {[](auto& config) { config.device = ""; }, "device ''"},
      {[](auto& config) { config.device = "net_af_packet0"; }, "iface=INTERFACE is missing"},
  };
  for (const Case& one : cases) {
    const Error error = refusal(one.change);
    EXPECT_EQ(error.code, ErrorCode::kInvalidInput);
    EXPECT_NE(error.message.find(one.says), std::string::npos) << error.message;
  }
}

TEST_F(PortOpenTest, SaysWhatIsMissingAndHowToGetIt) {
  const Error interface =
      refusal([](auto& config) { config.device = af_packet_device("no-such-if", true, 1); });
  EXPECT_EQ(interface.code, ErrorCode::kNotFound) << interface.message;
  EXPECT_NE(interface.message.find("interface no-such-if does not exist"), std::string::npos)
      << interface.message;
  const Error driver = refusal([](auto& config) { config.device = "net_nonsense0"; });
  EXPECT_NE(driver.message.find("apt-get install"), std::string::npos) << driver.message;
  EXPECT_NE(driver.message.find("DPDK says: "), std::string::npos) << driver.message;
  const Error pci = refusal([](auto& config) { config.device = "ffff:1f:1f.7"; });
  EXPECT_NE(pci.message.find("no PCI device ffff:1f:1f.7"), std::string::npos) << pci.message;
  const Error argument = refusal([](auto& config) { config.device = "net_null9,nonsense=1"; });
  EXPECT_EQ(argument.code, ErrorCode::kUnavailable) << argument.message;
}

TEST_F(PortOpenTest, ADeviceCanBeOpenedAgain) {
  for (int i = 0; i < 3; ++i) {
    DpdkPortConfig config = config_a();
    config.device = "net_null8,size=128";
    auto port = open(config);
    ASSERT_NE(port, nullptr);
    EXPECT_TRUE(port->is_up());
    EXPECT_EQ(port->config().name, "wan0");
  }
  auto port = open(config_a());
  send_to_a(data_frame(0, kHeaderBytes));
  EXPECT_EQ(receive(*port, 0).size(), 1U);
}

TEST_F(PortOpenTest, APortWithoutAnAddressOfItsDevicesMakesOneUp) {
  DpdkPortConfig config = config_a();
  config.mac.reset();
  auto port = open(config);
  EXPECT_EQ(port->mac(), 0x02000a000001U);
}

TEST_F(PortOpenTest, TellsWhatMemoryItNeeds) {
  DpdkPortConfig config = config_a();
  config.tx_descriptors = 100;
  config.rx_descriptors = 200;
  // 150 and 64 of a burst in hand, 256 for control.
  EXPECT_EQ(DpdkPort::headers_needed(config), 470U);
  EXPECT_EQ(DpdkPort::buffers_needed(config), 520U);
  config.emulation =
      Emulation{{}, {.delay_ns = 80 * kMillisecond, .rate_bps = 100'000'000, .queue_bytes = 60'000}, 1};
  EXPECT_EQ(DpdkPort::headers_needed(config), 470U + 16'384);
  EXPECT_EQ(DpdkPort::buffers_needed(config), 520U + 10'032);
}

}  // namespace
}  // namespace tombolo::dataplane
