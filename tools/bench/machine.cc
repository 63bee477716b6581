#include "tools/bench/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/units.h"

namespace tombolo::bench {
namespace {

constexpr std::array kFlags{"sse4_2",   "avx",      "f16c",     "fma",         "avx2",        "avx512f",
                            "avx512bw", "avx512vl", "avx512dq", "avx512_bf16", "avx512_vbmi", "vpclmulqdq"};

/// What stands behind "key ... :" in a file such as /proc/cpuinfo; empty if nothing does.
std::string find_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t first = line.find_first_not_of(" \t", colon + 1);
    return first == std::string::npos ? std::string() : line.substr(first);
  }
  return {};
}

std::string known_flags() {
  std::istringstream all(find_value("/proc/cpuinfo", "flags"));
  std::string found;
  for (std::string flag; all >> flag;)
    if (std::find(kFlags.begin(), kFlags.end(), flag) != kFlags.end())
      found += (found.empty() ? "" : " ") + flag;
  return found;
}

std::string kernel_name() {
  utsname name{};
  if (uname(&name) != 0) return {};
  return fmt::format("{} {}", name.sysname, name.release);
}

std::string load_averages() {
  std::array<double, 3> load{};
  if (getloadavg(load.data(), load.size()) != static_cast<int>(load.size())) return {};
  return fmt::format("{:.2f} {:.2f} {:.2f}", load[0], load[1], load[2]);
}

std::uint64_t positive(long value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

}  // namespace

Machine read_machine() {
  Machine machine;
  machine.cpu = find_value("/proc/cpuinfo", "model name");
  machine.flags = known_flags();
  machine.kernel = kernel_name();
  machine.compiler = "g++ " __VERSION__;
  machine.load = load_averages();
  machine.cpus = static_cast<std::uint32_t>(positive(sysconf(_SC_NPROCESSORS_ONLN)));
  machine.l2_bytes = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
  machine.l3_bytes = positive(sysconf(_SC_LEVEL3_CACHE_SIZE));
  machine.free_memory_bytes =
      1024 * std::strtoull(find_value("/proc/meminfo", "MemAvailable").c_str(), nullptr, 10);
  return machine;
}

nlohmann::ordered_json to_json(const Machine& machine) {
  return {{"cpu", machine.cpu},           {"flags", machine.flags},       {"cpus", machine.cpus},
          {"l2_bytes", machine.l2_bytes}, {"l3_bytes", machine.l3_bytes}, {"kernel", machine.kernel},
          {"compiler", machine.compiler}, {"load", machine.load}};
}

std::string describe(const Machine& machine) {
  return fmt::format("{} ({} CPUs, L2 {}, L3 {})\n{}\n{}, {}; load {}\n", machine.cpu, machine.cpus,
                     format_bytes(machine.l2_bytes), format_bytes(machine.l3_bytes), machine.flags,
                     machine.kernel, machine.compiler, machine.load);
}

Result<int> pin_to_cpu(int cpu) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return Error{ErrorCode::kUnavailable, "the processors that this thread may use are not known"};
  for (int i = 0; cpu < 0 && i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(CPU_SETSIZE - 1 - i, &allowed)) cpu = CPU_SETSIZE - 1 - i;
  if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed))
    return invalid_input(fmt::format("--cpu {}: this thread may not use that processor", cpu));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0)
    return Error{ErrorCode::kUnavailable, fmt::format("--cpu {}: the thread cannot be kept there", cpu)};
  return cpu;
}

}  // namespace tombolo::bench
