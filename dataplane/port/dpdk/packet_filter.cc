#include "dataplane/port/dpdk/packet_filter.h"

#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace tombolo::dataplane {
namespace {

/// Whether it is a packet socket bound to that interface.
bool is_packet_socket(int descriptor, unsigned interface_index) {
  sockaddr_ll address{};
  socklen_t length = sizeof address;
  return ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0 &&
         address.sll_family == AF_PACKET && address.sll_ifindex == static_cast<int>(interface_index);
}

bool attach_filter(int descriptor) {
  // Of a frame that is on its way out nothing is taken, of any other the whole.
  std::array<sock_filter, 4> code{
      sock_filter{BPF_LD | BPF_B | BPF_ABS, 0, 0, static_cast<__u32>(SKF_AD_OFF + SKF_AD_PKTTYPE)},
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PACKET_OUTGOING},
      sock_filter{BPF_RET | BPF_K, 0, 0, 0},
      sock_filter{BPF_RET | BPF_K, 0, 0, 0xffffffff},
  };
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return ::setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

}  // namespace

std::size_t ignore_outgoing(const std::string& interface) {
  const unsigned index = ::if_nametoindex(interface.c_str());
  if (index == 0) return 0;
  std::size_t count = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (is_packet_socket(descriptor, index) && attach_filter(descriptor)) ++count;
  }
  return count;
}

}  // namespace tombolo::dataplane
