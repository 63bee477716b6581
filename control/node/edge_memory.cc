#include "control/node/edge_memory.h"

#include <fmt/format.h>

#include <fstream>
#include <string>

#include "base/units.h"
#include "dataplane/port/dpdk/eal_arguments.h"

namespace tombolo::control {
namespace {

using dataplane::DpdkPort;
using dataplane::DpdkPortConfig;

/// What DPDK's environment needs beside pools: rings, queues, its own tables.
constexpr std::uint64_t kEalBytes = 48ULL << 20;
constexpr std::uint64_t kMebi = 1ULL << 20;
constexpr std::uint64_t kKibi = 1ULL << 10;
/// A kernel interface's rings hold 512 jumbo frames each way per queue, outside of DPDK's memory.
constexpr std::uint64_t kAfPacketRingBytes = 2ULL * 512 * dataplane::kJumboFrameBytes;
/// What a link keeps per packet of its window beside the packet itself, both ways.
constexpr std::uint64_t kWindowEntryBytes = 160;

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
  for (const EdgeLinkConfig& link : file.links) {
    if (link.port != index) continue;
    dataplane::Neighbour neighbour;
    neighbour.address = link.address;
    neighbour.mac = link.mac;
    config.neighbours.push_back(neighbour);
  }
  if (port.emulate || port.emulate_receive) {
    dataplane::Emulation emulation;
    if (port.emulate) emulation.tx = *port.emulate;
    if (port.emulate_receive) emulation.rx = *port.emulate_receive;
    emulation.seed = file.site_id * 256ULL + index + 1;
    config.emulation = emulation;
  }
  return config;
}

EdgeMemory edge_memory(const EdgeFile& file) {
  EdgeMemory memory;
  std::uint64_t held = 0;
  std::uint64_t rings = 0;
  memory.pool.headers = 0;
  for (std::size_t i = 0; i < file.ports.size(); ++i) {
    const DpdkPortConfig port = port_config(file, i);
    memory.pool.headers += DpdkPort::headers_needed(port);
    held += DpdkPort::buffers_needed(port);
    if (port.device.rfind("net_af_packet", 0) == 0) rings += file.workers;
  }
  memory.pool.buffers = static_cast<std::uint32_t>(file.buffers + held);
  const bool fits_standard = file.buffer_bytes + kFramingBytes <= dataplane::kStandardFrameBytes;
  memory.pool.frame_bytes = fits_standard ? dataplane::kStandardFrameBytes : dataplane::kJumboFrameBytes;
  const std::uint64_t pool_bytes = dataplane::MbufPool::memory_bytes(memory.pool);
  memory.eal_mb = static_cast<std::uint32_t>((pool_bytes + kEalBytes) / kMebi + 1);
  std::uint64_t windows = 0;
  for (const EdgeLinkConfig& link : file.links) windows += std::uint64_t{link.window_packets} * file.lanes;
  memory.parts = {{"packet and header buffers", memory.pool.buffers, pool_bytes},
                  {"DPDK's environment", 1, kEalBytes},
                  {"rings of kernel interfaces", rings, rings * kAfPacketRingBytes},
                  {"windows of links", windows, windows * kWindowEntryBytes}};
  for (const EdgeMemory::Part& part : memory.parts) memory.bytes += part.bytes;
  return memory;
}

std::uint64_t available_memory(HugepageUse use) {
  if (use == HugepageUse::kRequired) return dataplane::read_machine("/sys").free_hugepage_bytes;
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kibibytes = 0;
  std::string rest;
  while (file >> key >> kibibytes && std::getline(file, rest))
    if (key == "MemAvailable:") return kibibytes * kKibi;
  return 0;
}

Status check_memory(const EdgeFile& file, const EdgeMemory& memory, std::uint64_t available_bytes) {
  const std::string needs =
      fmt::format("{}: memory: the edge needs {} ({} buffers of {} bytes)", file.path,
                  format_bytes(memory.bytes), memory.pool.buffers, memory.pool.frame_bytes);
  if (file.memory_limit_bytes != 0 && memory.bytes > file.memory_limit_bytes)
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}, its limit is {}: raise memory.limit, or lower memory.buffers", needs,
                             format_bytes(file.memory_limit_bytes))};
  if (memory.bytes <= available_bytes) return ok_status();
  const bool pages = file.hugepages == HugepageUse::kRequired;
  return Error{ErrorCode::kUnavailable,
               fmt::format("{}, the machine has {} {}: {}", needs, format_bytes(available_bytes),
                           pages ? "of free hugepages" : "available",
                           pages ? fmt::format("echo {} > /proc/sys/vm/nr_hugepages (pages of 2 MiB)",
                                               memory.bytes / (2 * kMebi) + 1)
                                 : "lower memory.buffers")};
}

}  // namespace tombolo::control
