#include "island/udp_port.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "base/check.h"

namespace tombolo::island {
namespace {

constexpr std::uint32_t kMaxPort = 65535;
/// Room for the one control message that is asked for: the socket's count of drops.
constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(std::uint32_t));

sockaddr_in socket_address(std::uint32_t ipv4, std::uint32_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(ipv4);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

Error refused(const Address& address, std::uint16_t lane, const char* call) {
  const int code = errno;
  return Error{ErrorCode::kUnavailable, fmt::format("UDP {} lane {}: {}: {} (errno {})", to_string(address),
                                                    lane, call, std::generic_category().message(code), code)};
}

bool set_option(int fd, int level, int option, int value) {
  return ::setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

/// The cumulative number of datagrams that the kernel dropped at this socket, or `otherwise` if it is not
/// told.
std::uint32_t kernel_drops(msghdr& message, std::uint32_t otherwise) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SO_RXQ_OVFL) {
      std::uint32_t drops = 0;
      std::memcpy(&drops, CMSG_DATA(control), sizeof(drops));
      return drops;
    }
  }
  return otherwise;
}

/// What recvmmsg needs for one burst.
struct RxMessages {
  std::array<mmsghdr, kBurst> messages{};
  std::array<iovec, kBurst> pieces{};
  std::array<sockaddr_in, kBurst> from{};
  struct alignas(cmsghdr) Control {
    std::array<std::byte, kControlBytes> bytes;
  };
  std::array<Control, kBurst> control{};

  void set(std::size_t i, std::byte* data, std::size_t capacity) {
    pieces[i] = {data, capacity};
    msghdr& header = messages[i].msg_hdr;
    header = {};
    header.msg_name = &from[i];
    header.msg_namelen = sizeof(from[i]);
    header.msg_iov = &pieces[i];
    header.msg_iovlen = 1;
    header.msg_control = control[i].bytes.data();
    header.msg_controllen = kControlBytes;
  }
};

}  // namespace

struct UdpPort::Lane {
  explicit Lane(std::uint16_t lane_number) : number(lane_number) {}
  Lane(Lane&& other) noexcept
      : number(other.number), fd(std::exchange(other.fd, -1)), kernel_drops_seen(other.kernel_drops_seen) {}
  Lane(const Lane&) = delete;
  ~Lane() {
    if (fd >= 0) ::close(fd);
  }

  std::uint16_t number = 0;
  int fd = -1;
  std::uint32_t kernel_drops_seen = 0;  ///< The kernel's count wraps at 2^32.
};

struct alignas(64) UdpPort::Queue {
  std::vector<std::uint16_t> lanes;
  std::vector<pollfd> polls;     ///< Beside `lanes`.
  std::size_t first_polled = 0;  ///< Rotates, so that no lane starves another.
  std::vector<BufferRef> spare;  ///< Buffers that wait for packets; capacity kBurst.
  UdpCounters counters;
};

Result<std::unique_ptr<UdpPort>> UdpPort::create(const UdpPortConfig& config) {
  const std::string name = to_string(config.address);
  if (config.pool == nullptr) return invalid_input(fmt::format("UDP {}: no buffer pool", name));
  if (config.lanes == 0 || config.queues == 0 || config.queues > config.lanes)
    return invalid_input(fmt::format("UDP {}: {} queues for {} lanes: must be 1 to the number of lanes", name,
                                     config.queues, config.lanes));
  if (config.address.base_port == 0 || config.address.base_port + config.lanes - 1U > kMaxPort)
    return invalid_input(
        fmt::format("UDP {}: {} lanes do not fit in the ports 1 to {}", name, config.lanes, kMaxPort));
  std::unique_ptr<UdpPort> port(new UdpPort(config));
  for (std::uint16_t lane = 0; lane < config.lanes; ++lane)
    if (Status status = port->open_lane(lane); !status.ok()) return std::move(status).error();
  return port;
}

UdpPort::UdpPort(const UdpPortConfig& config) : config_(config), queues_(config.queues) {
  lanes_.reserve(config.lanes);
  for (Queue& queue : queues_) queue.spare.reserve(kBurst);
}

UdpPort::~UdpPort() = default;

Status UdpPort::open_lane(std::uint16_t lane) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return refused(config_.address, lane, "socket");
  lanes_.emplace_back(lane).fd = fd;

  const int wanted_bytes = static_cast<int>(std::min(config_.socket_buffer_bytes, 1U << 30));
  // The first needs a privilege; the second is cut to the system's limit without a word.
  if (!set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, wanted_bytes) &&
      !set_option(fd, SOL_SOCKET, SO_RCVBUF, wanted_bytes))
    return refused(config_.address, lane, "setsockopt SO_RCVBUF");
  if (!set_option(fd, SOL_SOCKET, SO_RXQ_OVFL, 1))
    return refused(config_.address, lane, "setsockopt SO_RXQ_OVFL");
  if (!set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO))
    return refused(config_.address, lane, "setsockopt IP_MTU_DISCOVER");

  const sockaddr_in address =
      socket_address(config_.address.ipv4, config_.address.base_port + std::uint32_t{lane});
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return refused(config_.address, lane, "bind");
  int granted_bytes = 0;
  socklen_t length = sizeof(granted_bytes);
  if (::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &granted_bytes, &length) != 0)
    return refused(config_.address, lane, "getsockopt SO_RCVBUF");
  const auto granted = static_cast<std::uint32_t>(granted_bytes);
  receive_buffer_bytes_ = lane == 0 ? granted : std::min(receive_buffer_bytes_, granted);

  Queue& queue = queues_[lane % config_.queues];
  queue.lanes.push_back(lane);
  queue.polls.push_back(pollfd{fd, POLLIN, 0});
  return ok_status();
}

std::size_t UdpPort::receive(std::uint32_t queue_index, std::span<RxPacket> out, Nanoseconds /*now_ns*/) {
  Queue& queue = queues_[queue_index];
  if (queue.lanes.size() == 1) return receive_lane(queue, lanes_[queue.lanes[0]], out);
  // One call finds the lanes that have something; most have not.
  if (::poll(queue.polls.data(), queue.polls.size(), 0) <= 0) return 0;
  std::size_t received = 0;
  const std::size_t first = queue.first_polled;
  queue.first_polled = (first + 1) % queue.lanes.size();
  for (std::size_t i = 0; i < queue.lanes.size() && received < out.size(); ++i) {
    const std::size_t at = (first + i) % queue.lanes.size();
    if (queue.polls[at].revents != 0)
      received += receive_lane(queue, lanes_[queue.lanes[at]], out.subspan(received));
  }
  return received;
}

std::size_t UdpPort::receive_lane(Queue& queue, Lane& lane, std::span<RxPacket> out) {
  const std::size_t most = std::min(out.size(), kBurst);
  while (queue.spare.size() < most) {
    BufferRef buffer = BufferRef::adopt(config_.pool->allocate());
    if (!buffer) break;
    queue.spare.push_back(std::move(buffer));
  }
  const std::size_t room = std::min(most, queue.spare.size());
  if (room == 0) return drop_arrivals(queue, lane, most);

  // Message i lands in spare buffer size - 1 - i: what is used up then leaves from the back.
  RxMessages rx;
  const std::size_t spares = queue.spare.size();
  for (std::size_t i = 0; i < room; ++i) {
    const BufferRef& buffer = queue.spare[spares - 1 - i];
    rx.set(i, buffer.data(), buffer.capacity());
  }
  const int count =
      ::recvmmsg(lane.fd, rx.messages.data(), static_cast<unsigned>(room), MSG_DONTWAIT, nullptr);
  if (count < 0) {
    if (errno == ECONNREFUSED)
      queue.counters.refused.add();
    else if (errno != EAGAIN && errno != EINTR)
      queue.counters.rx_errors.add();
    return 0;
  }
  std::size_t received = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    BufferRef buffer = std::move(queue.spare.back());
    queue.spare.pop_back();
    msghdr& message = rx.messages[i].msg_hdr;
    const std::uint32_t drops = kernel_drops(message, lane.kernel_drops_seen);
    queue.counters.kernel_drops.add(drops - lane.kernel_drops_seen);
    lane.kernel_drops_seen = drops;
    if ((message.msg_flags & MSG_TRUNC) != 0) {
      queue.counters.rx_too_big.add();
      continue;
    }
    RxPacket& packet = out[received++];
    packet.from.ipv4 = ntohl(rx.from[i].sin_addr.s_addr);
    packet.from.base_port = static_cast<std::uint16_t>(ntohs(rx.from[i].sin_port) - lane.number);
    packet.lane = lane.number;
    packet.bytes = rx.messages[i].msg_len;
    packet.buffer = std::move(buffer);
    queue.counters.rx_packets.add();
    queue.counters.rx_bytes.add(kFramingBytes + packet.bytes);
  }
  return received;
}

/// Without a buffer, what has arrived is taken from the kernel and forgotten: the sender repairs it later,
/// and wait() does not return for it again and again.
std::size_t UdpPort::drop_arrivals(Queue& queue, Lane& lane, std::size_t most) {
  for (std::size_t i = 0; i < most; ++i) {
    if (::recv(lane.fd, nullptr, 0, MSG_DONTWAIT | MSG_TRUNC) < 0) break;
    queue.counters.no_buffer.add();
  }
  return 0;
}

/// Workers beyond the queues share a queue's transmit counters, which may then miss a count; packets they do
/// not lose.
std::size_t UdpPort::transmit(std::uint32_t queue, std::span<TxPacket> packets, Nanoseconds /*now_ns*/) {
  std::size_t sent = 0;
  while (sent < packets.size()) {
    const auto rest = std::span<const TxPacket>(packets).subspan(sent);
    // A run: neighbours of one lane leave through one socket, with one call.
    std::size_t run = 1;
    while (run < rest.size() && run < kBurst && rest[run].lane == rest[0].lane) ++run;
    const std::size_t gone = transmit_run(queues_[queue % queues_.size()], rest.first(run));
    sent += gone;
    if (gone < run) break;
  }
  return sent;
}

std::size_t UdpPort::transmit_run(Queue& queue, std::span<const TxPacket> packets) {
  CHECK(packets[0].lane < lanes_.size());
  std::array<mmsghdr, kBurst> messages{};
  std::array<std::array<iovec, 2>, kBurst> pieces;
  std::array<sockaddr_in, kBurst> to;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const TxPacket& packet = packets[i];
    const std::uint32_t port = std::uint32_t{packet.to.base_port} + packet.lane;
    // Port 0 is what the kernel refuses: it stands for a port that does not exist.
    to[i] = socket_address(packet.to.ipv4, port <= kMaxPort ? port : 0);
    pieces[i][0] = {const_cast<std::byte*>(packet.header.data()), kHeaderBytes};
    pieces[i][1] = {const_cast<std::byte*>(packet.payload), packet.payload_bytes};
    msghdr& header = messages[i].msg_hdr;
    header.msg_name = &to[i];
    header.msg_namelen = sizeof(to[i]);
    header.msg_iov = pieces[i].data();
    header.msg_iovlen = packet.payload_bytes > 0 ? 2 : 1;
  }
  const int fd = lanes_[packets[0].lane].fd;
  std::size_t gone = 0;
  bool retried =
      false;  // A refusal reports an earlier packet and is cleared by that: the packet is tried again.
  while (gone < packets.size()) {
    const int count =
        ::sendmmsg(fd, &messages[gone], static_cast<unsigned>(packets.size() - gone), MSG_DONTWAIT);
    if (count > 0) {
      for (const TxPacket& packet : packets.subspan(gone, static_cast<std::size_t>(count)))
        queue.counters.tx_bytes.add(kFramingBytes + kHeaderBytes + packet.payload_bytes);
      queue.counters.tx_packets.add(static_cast<std::uint64_t>(count));
      gone += static_cast<std::size_t>(count);
      retried = false;
    } else if (errno == ECONNREFUSED && !retried) {
      queue.counters.refused.add();
      retried = true;
    } else if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) {
      queue.counters.would_block.add();
      break;
    } else {
      (errno == EMSGSIZE ? queue.counters.tx_too_big : queue.counters.tx_errors).add();
      ++gone;
      retried = false;
    }
  }
  return gone;
}

bool UdpPort::wait(Nanoseconds timeout_ns, std::uint32_t queue_index) {
  Queue& queue = queues_[queue_index];
  timespec timeout{};
  timeout.tv_sec = static_cast<std::time_t>(timeout_ns / kSecond);
  timeout.tv_nsec = static_cast<long>(timeout_ns % kSecond);
  return ::ppoll(queue.polls.data(), queue.polls.size(), &timeout, nullptr) > 0;
}

const UdpCounters& UdpPort::counters(std::uint32_t queue) const { return queues_[queue].counters; }

}  // namespace tombolo::island
