#include "dataplane/port/dpdk/memif_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tombolo::dataplane {
namespace {

bool is_memif(const DeviceName& device) { return device.driver.rfind("net_memif", 0) == 0; }

/// Whether there is a socket at the path that nobody listens at.
bool is_dead(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  const bool refused =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  ::close(descriptor);
  return refused;
}

}  // namespace

bool is_memif_client(const DeviceName& device) {
  return is_memif(device) && device.argument("role") != "server";
}

void remove_dead_memif_socket(const DeviceName& device) {
  if (!is_memif(device) || is_memif_client(device) || device.argument("socket-abstract") != "no") return;
  const std::string path = device.argument("socket");
  if (is_dead(path)) ::unlink(path.c_str());
}

}  // namespace tombolo::dataplane
