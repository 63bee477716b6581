// lint-file: set-up, runs before the first packet
#include "dataplane/port/dpdk/device_check.h"

#include <fmt/format.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "dataplane/port/dpdk/eal_arguments.h"

namespace tombolo::dataplane {
namespace {

constexpr std::uint32_t kMaxQueues = 16;

Error unavailable(std::string message) { return {ErrorCode::kUnavailable, std::move(message)}; }

/// A socket to ask the kernel about interfaces; closed at the end.
class Socket {
 public:
  Socket(int domain, int type, int protocol) : descriptor_(::socket(domain, type | SOCK_CLOEXEC, protocol)) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Status check_packet_socket() {
  // Protocol 0 receives nothing.
  const Socket socket(AF_PACKET, SOCK_RAW, 0);
  if (socket.get() >= 0) return ok_status();
  if (errno == EPERM || errno == EACCES)
    return unavailable(
        "no permission for packet sockets; run as root, or once: setcap "
        "cap_net_raw,cap_net_admin+ep $(command -v tombolo-edge)");
  return unavailable(std::string("no packet socket: ") + std::strerror(errno) +
                     "; the kernel needs CONFIG_PACKET");
}

Status check_interface(const std::string& name, std::uint32_t mtu) {
  if (name.size() >= IFNAMSIZ)
    return invalid_input(fmt::format("interface '{}': a name has at most {} characters", name, IFNAMSIZ - 1));
  if (::if_nametoindex(name.c_str()) == 0)
    return Error{
        ErrorCode::kNotFound,
        fmt::format("interface {} does not exist; list those of this namespace with: ip link", name)};
  const Socket socket(AF_INET, SOCK_DGRAM, 0);
  ifreq request{};
  std::memcpy(request.ifr_name, name.c_str(), name.size() + 1);
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_UP) == 0)
    return unavailable(fmt::format("interface {0} is down; run: ip link set dev {0} up", name));
  if (::ioctl(socket.get(), SIOCGIFMTU, &request) == 0 && request.ifr_mtu < static_cast<int>(mtu))
    return unavailable(
        fmt::format("interface {0} has MTU {1}, the port needs {2}; run: ip link set dev {0} mtu {2}", name,
                    request.ifr_mtu, mtu));
  return ok_status();
}

Status check_af_packet(const DeviceName& device, std::uint32_t mtu, std::uint32_t queues) {
  const std::string interface = device.argument("iface");
  if (interface.empty()) return invalid_input("iface=INTERFACE is missing");
  const std::string pairs = device.argument("qpairs");
  if ((pairs.empty() ? "1" : pairs) != std::to_string(queues))
    return invalid_input(
        fmt::format("the port has {0} queue{1}; the device must say qpairs={0}, or what the kernel "
                    "puts on the others is lost",
                    queues, queues == 1 ? "" : "s"));
  if (Status status = check_packet_socket(); !status.ok()) return status;
  return check_interface(interface, mtu);
}

Status check_pci(const DeviceName& device) {
  const std::string address = device.name.size() < 12 ? "0000:" + device.name : device.name;
  const std::filesystem::path folder = "/sys/bus/pci/devices/" + address;
  std::error_code error;
  if (!std::filesystem::exists(folder, error))
    return Error{ErrorCode::kNotFound, fmt::format("no PCI device {}; list them with: lspci -D", address)};
  const auto driver = std::filesystem::read_symlink(folder / "driver", error).filename().string();
  // Mellanox's drivers work beside the kernel's.
  if (driver == "mlx5_core" || driver == "mlx4_core" || driver == "vfio-pci" || driver == "igb_uio" ||
      driver == "uio_pci_generic")
    return ok_status();
  return unavailable(
      fmt::format("PCI device {0} is bound to {1}; run: modprobe vfio-pci && dpdk-devbind.py "
                  "--bind=vfio-pci {0}",
                  address, driver.empty() ? "no driver" : driver));
}

}  // namespace

std::string DeviceName::argument(const std::string& key) const {
  for (const auto& [name_, value] : arguments)
    if (name_ == key) return value;
  return "";
}

Result<DeviceName> parse_device(const std::string& device) {
  DeviceName result;
  for (const char c : device)
    if (static_cast<unsigned char>(c) <= 0x20 || c == '"' || static_cast<unsigned char>(c) >= 0x7f)
      return invalid_input("device '" + device +
                           "': contains a blank, a quote or a character that is not ASCII");
  std::size_t start = device.find(',');
  result.name = device.substr(0, start);
  if (result.name.empty()) return invalid_input("device '" + device + "': begins with no name");
  while (start != std::string::npos) {
    const std::size_t end = device.find(',', start + 1);
    const std::string part = device.substr(start + 1, end == std::string::npos ? end : end - start - 1);
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos)
      return invalid_input(fmt::format("device '{}': '{}' is not key=value", device, part));
    const std::string key = part.substr(0, equals);
    for (const auto& [other, value] : result.arguments)
      if (other == key) return invalid_input(fmt::format("device '{}': {} is there twice", device, key));
    result.arguments.emplace_back(key, part.substr(equals + 1));
    start = end;
  }
  if (is_pci_address(result.name)) return result;
  if (result.name.find_first_of(":/") != std::string::npos)
    return invalid_input("device '" + device +
                         "': neither a PCI address like 0000:01:00.0 nor a name like net_af_packet0");
  result.driver = result.name.substr(0, result.name.find_last_not_of("0123456789") + 1);
  if (result.driver.empty()) return invalid_input("device '" + device + "': a name has a letter");
  return result;
}

std::string af_packet_device(const std::string& interface, bool jumbo, std::uint32_t queues) {
  // A block is a whole number of pages and of frames; the kernel allocates it in one piece.
  const char* const rings =
      jumbo ? "framesz=9216,blocksz=36864,framecnt=512" : "framesz=2048,blocksz=16384,framecnt=2048";
  return fmt::format("net_af_packet_{0},iface={0},{1},qpairs={2}", interface, rings, queues);
}

Status check_device(const DeviceName& device, std::uint32_t mtu, std::uint32_t queues) {
  if (queues < 1 || queues > kMaxQueues)
    return invalid_input(fmt::format("{} queues: must be 1 to {}", queues, kMaxQueues));
  if (device.is_pci()) return check_pci(device);
  if (device.driver.rfind("net_af_packet", 0) == 0) return check_af_packet(device, mtu, queues);
  if (device.driver.rfind("net_af_xdp", 0) == 0) {
    if (device.argument("iface").empty()) return invalid_input("iface=INTERFACE is missing");
    return check_interface(device.argument("iface"), mtu);
  }
  return ok_status();
}

}  // namespace tombolo::dataplane
