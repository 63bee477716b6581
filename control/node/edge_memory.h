#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/config/edge_config.h"
#include "dataplane/port/dpdk/dpdk_port.h"
#include "dataplane/port/dpdk/mbuf_pool.h"

namespace tombolo::control {

/// What an edge reserves at start, by its file (invariant I4).
struct EdgeMemory {
  struct Part {
    std::string name;  ///< For people: "packet buffers".
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  dataplane::MbufPoolOptions pool;
  std::uint32_t eal_mb = 0;  ///< What DPDK's environment is started with, 2^20 bytes each.
  std::vector<Part> parts;   ///< Inside and outside of it.
  std::uint64_t bytes = 0;   ///< The sum of the parts.
};

/// The port of that index as DPDK's port takes it.
dataplane::DpdkPortConfig port_config(const EdgeFile& file, std::size_t index);

EdgeMemory edge_memory(const EdgeFile& file);

/// Free memory of this machine, in bytes: without hugepages what the kernel calls available, or, when
/// hugepages are required, what is free of them. `root` stands before /sys and /proc, and is empty but in
/// tests.
std::uint64_t available_memory(HugepageUse use, const std::string& root = "");

/// Whether what the file asks for is within its own limit and what the machine has; where hugepages are
/// required, whether they hold what DPDK takes. Errors: kUnavailable,
/// naming both sizes and what to change.
Status check_memory(const EdgeFile& file, const EdgeMemory& memory, std::uint64_t available_bytes);

}  // namespace tombolo::control
