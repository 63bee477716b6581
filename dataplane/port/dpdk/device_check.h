#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tombolo::dataplane {

/// A device by one string, as DPDK takes it: "net_af_packet0,iface=wan0,framesz=9216", "0000:01:00.0".
struct DeviceName {
  std::string name;    ///< Up to the first comma.
  std::string driver;  ///< The name without its number ("net_af_packet"); "" for a PCI device.
  std::vector<std::pair<std::string, std::string>> arguments;

  bool is_pci() const { return driver.empty(); }
  /// The argument's value; "" without one.
  std::string argument(const std::string& key) const;
};
/// Errors: kInvalidInput, naming the device: empty, an argument that is not key=value or twice there,
/// characters that DPDK would read otherwise.
Result<DeviceName> parse_device(const std::string& device);

/// The string for a kernel interface through AF_PACKET: rings of 512 jumbo frames (2,048 standard ones) per
/// queue and direction. Queues are taken by flow.
std::string af_packet_device(const std::string& interface, bool jumbo, std::uint32_t queues);

/// Looks at what the device needs, before DPDK tries: the interface exists, is up, and its MTU is at least
/// `mtu`; the process may open packet sockets; the PCI device exists and is bound to a driver for user space.
/// Errors: kNotFound, kUnavailable, kInvalidInput; the message ends with the command that mends it.
Status check_device(const DeviceName& device, std::uint32_t mtu, std::uint32_t queues);

}  // namespace tombolo::dataplane
