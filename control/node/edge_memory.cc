#include "control/node/edge_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/units.h"
#include "dataplane/port/dpdk/device_check.h"
#include "dataplane/port/dpdk/eal_arguments.h"

namespace tombolo::control {
namespace {

using dataplane::DpdkPort;
using dataplane::DpdkPortConfig;

/// What DPDK's environment needs beside pools: rings, queues, its own tables.
constexpr std::uint64_t kEalBytes = 48ULL << 20;
constexpr std::uint64_t kMebi = 1ULL << 20;
/// A kernel interface's rings hold 512 jumbo frames each way per queue, outside of DPDK's memory.
constexpr std::uint64_t kAfPacketRingBytes = 2ULL * 512 * dataplane::kJumboFrameBytes;
/// A memif's rings, as its driver has them where its string says nothing.
constexpr std::uint64_t kMemifRingLog2 = 10;
constexpr std::uint64_t kMemifBufferBytes = 2048;
/// What a link keeps per packet of its window beside the packet itself, both ways.
constexpr std::uint64_t kWindowEntryBytes = 160;

std::uint64_t number_or(const std::string& text, std::uint64_t otherwise) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

/// The memory outside of DPDK's that one queue of a device shares with the kernel or another process.
std::uint64_t ring_bytes(const std::string& device) {
  const auto name = dataplane::parse_device(device);
  if (!name) return 0;
  if (name->driver.rfind("net_af_packet", 0) == 0) return kAfPacketRingBytes;
  if (name->driver.rfind("net_memif", 0) != 0) return 0;
  const std::uint64_t log2 = std::min<std::uint64_t>(number_or(name->argument("rsize"), kMemifRingLog2), 14);
  return (2ULL << log2) * number_or(name->argument("bsize"), kMemifBufferBytes);
}

}  // namespace

DpdkPortConfig port_config(const EdgeFile& file, std::size_t index) {
  const EdgePortConfig& port = file.ports[index];
  DpdkPortConfig config;
  config.name = port.name;
  config.device = port.device;
  config.address = {port.network.address, port.base_port};
  config.prefix_length = port.network.prefix_bits;
  if (port.gateway != 0) config.gateway = port.gateway;
  config.lane_count = file.lanes;
  config.queues = file.workers;
  config.mtu = port.mtu;
  config.multicast = port.multicast;
  for (const EdgeLinkConfig& link : file.neighbours()) {
    if (link.port != index) continue;
    // A host is one neighbour, however many islands are on it; the file says the same of it each time.
    if (std::any_of(config.neighbours.begin(), config.neighbours.end(),
                    [&](const auto& other) { return other.address.ipv4 == link.address.ipv4; }))
      continue;
    dataplane::Neighbour neighbour;
    neighbour.address = link.address;
    neighbour.mac = link.mac;
    config.neighbours.push_back(neighbour);
  }
  if (port.emulate || port.emulate_receive) {
    dataplane::Emulation emulation;
    if (port.emulate) emulation.tx = *port.emulate;
    if (port.emulate_receive) emulation.rx = *port.emulate_receive;
    emulation.seed = file.jobs.front().site_id * 256ULL + index + 1;
    config.emulation = emulation;
  }
  return config;
}

EdgeMemory edge_memory(const EdgeFile& file) {
  EdgeMemory memory;
  std::uint64_t held = 0;
  std::uint64_t rings = 0, rings_bytes = 0;
  memory.pool.headers = 0;
  for (std::size_t i = 0; i < file.ports.size(); ++i) {
    const DpdkPortConfig port = port_config(file, i);
    memory.pool.headers += DpdkPort::headers_needed(port);
    held += DpdkPort::buffers_needed(port);
    if (const std::uint64_t bytes = ring_bytes(port.device); bytes > 0) {
      rings += file.workers;
      rings_bytes += file.workers * bytes;
    }
  }
  memory.pool.buffers = static_cast<std::uint32_t>(file.buffers() + held);
  const bool fits_standard = file.buffer_bytes + kFramingBytes <= dataplane::kStandardFrameBytes;
  memory.pool.frame_bytes = fits_standard ? dataplane::kStandardFrameBytes : dataplane::kJumboFrameBytes;
  const std::uint64_t pool_bytes = dataplane::MbufPool::memory_bytes(memory.pool);
  memory.eal_mb = static_cast<std::uint32_t>((pool_bytes + kEalBytes) / kMebi + 1);
  std::uint64_t windows = 0, arenas = 0, arena_bytes = 0;
  for (const EdgeJobFile& job : file.jobs) {
    for (const EdgeLinkConfig& link : job.links) windows += std::uint64_t{link.window_packets} * file.lanes;
    arenas += job.arena_bytes > 0 ? 1 : 0;
    arena_bytes += job.arena_bytes;
  }
  memory.parts = {{"packet and header buffers", memory.pool.buffers, pool_bytes},
                  {"DPDK's environment", 1, kEalBytes},
                  {"rings shared with others", rings, rings_bytes},
                  {"windows of links", windows, windows * kWindowEntryBytes},
                  {"arenas of jobs", arenas, arena_bytes}};
  for (const EdgeMemory::Part& part : memory.parts) memory.bytes += part.bytes;
  return memory;
}

std::uint64_t available_memory(HugepageUse use, const std::string& root) {
  const dataplane::MachineState machine = dataplane::read_machine(root);
  return use == HugepageUse::kRequired ? machine.free_hugepage_bytes : machine.available_bytes;
}

Status check_memory(const EdgeFile& file, const EdgeMemory& memory, std::uint64_t available_bytes) {
  const std::string needs =
      fmt::format("{}: memory: the edge needs {} ({} buffers of {} bytes)", file.path,
                  format_bytes(memory.bytes), memory.pool.buffers, memory.pool.frame_bytes);
  if (file.memory_limit_bytes != 0 && memory.bytes > file.memory_limit_bytes)
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}, its limit is {}: raise memory.limit, or lower the jobs' buffers", needs,
                             format_bytes(file.memory_limit_bytes))};
  if (file.hugepages == HugepageUse::kRequired) {
    // Only DPDK's part is in huge pages.
    const std::uint64_t wanted = memory.eal_mb * kMebi;
    if (wanted <= available_bytes) return ok_status();
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}, {} of it in huge pages, and {} of them are free; reserve more with: echo "
                             "$(($(cat /proc/sys/vm/nr_hugepages) + {})) > /proc/sys/vm/nr_hugepages",
                             needs, format_bytes(wanted), format_bytes(available_bytes),
                             (wanted - available_bytes + 2 * kMebi - 1) / (2 * kMebi))};
  }
  if (memory.bytes <= available_bytes) return ok_status();
  return Error{ErrorCode::kUnavailable,
               fmt::format("{}, the machine has {} available: lower the jobs' buffers", needs,
                           format_bytes(available_bytes))};
}

}  // namespace tombolo::control
