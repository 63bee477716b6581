// lint-file: set-up, runs before the first packet
#include "dataplane/port/dpdk/eal_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace tombolo::dataplane {
namespace {

constexpr std::uint32_t kMaxMemoryMb = 1U << 20;
constexpr std::uint64_t kMegabyte = 1U << 20;

Status check_cpus(const EalOptions& options, const MachineState& machine) {
  if (options.cpus.empty()) return ok_status();
  if (options.cpus.size() != options.workers)
    return invalid_input(
        fmt::format("cpus: {} for {} workers; name one per worker, or none to let them float",
                    options.cpus.size(), options.workers));
  for (std::size_t i = 0; i < options.cpus.size(); ++i) {
    const std::uint32_t cpu = options.cpus[i];
    if (std::count(options.cpus.begin(), options.cpus.end(), cpu) > 1)
      return invalid_input(fmt::format("cpus: {} is named twice", cpu));
    if (std::find(machine.cpus.begin(), machine.cpus.end(), cpu) == machine.cpus.end())
      return Error{ErrorCode::kUnavailable,
                   fmt::format("cpus: this process may not run on CPU {}, only on {}; see taskset -p $$", cpu,
                               fmt::join(machine.cpus, ","))};
  }
  return ok_status();
}

bool is_name(const std::string& text) {
  constexpr std::size_t kMaxLength = 32;
  return !text.empty() && text.size() <= kMaxLength &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

Status check_options(const EalOptions& options, const MachineState& machine) {
  if (!is_name(options.name))
    return invalid_input(fmt::format("name '{}': must be 1 to 32 letters, digits, '-' or '_'", options.name));
  if (options.workers < 1 || options.workers > kMaxWorkers)
    return invalid_input(fmt::format("workers {}: must be 1 to {}", options.workers, kMaxWorkers));
  if (options.memory_mb < 1 || options.memory_mb > kMaxMemoryMb)
    return invalid_input(fmt::format("memory_mb {}: must be 1 to {}", options.memory_mb, kMaxMemoryMb));
  if (options.log_level < 1 || options.log_level > 8)
    return invalid_input(fmt::format("log_level {}: must be 1 to 8", options.log_level));
  return check_cpus(options, machine);
}

/// "0@(0,1),1@2": each thread's number, and the CPUs that it may run on.
std::string lcores(const EalOptions& options, const MachineState& machine) {
  const std::string all = fmt::format("({})", fmt::join(machine.cpus, ","));
  std::string result = "0@" + all;
  for (std::uint32_t i = 0; i < options.workers; ++i)
    result += fmt::format(",{}@{}", i + 1, options.cpus.empty() ? all : std::to_string(options.cpus[i]));
  return result;
}

bool starts_with_any(const std::string& text, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return text.rfind(prefix, 0) == 0; });
}

void add_memory_arguments(EalPlan& plan, const EalOptions& options) {
  auto& arguments = plan.arguments;
  arguments.insert(arguments.end(), {"-m", std::to_string(options.memory_mb)});
  if (!plan.hugepages) {
    // --in-memory would be refused together with --no-huge; these keep files and sockets away just as well.
    arguments.insert(arguments.end(), {"--no-huge", "--no-shconf", "--file-prefix=tombolo"});
    return;
  }
  arguments.push_back("--in-memory");
  // Devices that share their memory with another process pass it on as files, one per segment.
  for (const std::string& device : options.devices) {
    if (!starts_with_any(device, {"net_memif", "net_virtio_user", "virtio_user", "net_vhost"})) continue;
    arguments.push_back("--single-file-segments");
    break;
  }
}

void add_device_arguments(EalPlan& plan, const EalOptions& options) {
  bool has_pci = false;
  for (const std::string& device : options.devices) {
    const std::string address = device.substr(0, device.find(','));
    if (!is_pci_address(address)) continue;
    plan.arguments.insert(plan.arguments.end(), {"-a", device});
    has_pci = true;
  }
  // Without a list of those that are allowed, EAL takes every device that it has a driver for.
  if (!has_pci) plan.arguments.insert(plan.arguments.end(), {"--no-pci", "--iova-mode=va"});
}

std::uint64_t free_hugepages(const std::string& root) {
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/sys/kernel/mm/hugepages", ignored)) {
    // "hugepages-2048kB"
    const std::string folder = entry.path().filename().string();
    constexpr std::string_view kPrefix = "hugepages-";
    if (folder.rfind(kPrefix, 0) != 0) continue;
    std::uint64_t kilobytes = 0, pages = 0;
    for (const char digit : folder.substr(kPrefix.size())) {
      if (digit < '0' || digit > '9') break;
      kilobytes = kilobytes * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    std::ifstream(entry.path() / "free_hugepages") >> pages;
    bytes += pages * kilobytes * 1024;
  }
  return bytes;
}

std::uint64_t available_memory(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  // "MemAvailable:   16265232 kB"
  for (std::string line; std::getline(file, line);) {
    std::uint64_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %" SCNu64, &kilobytes) == 1) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

bool is_pci_address(const std::string& device) {
  // From the end: ".F", "DD", ":", "BB", and perhaps ":" behind a domain of 4 to 8 digits.
  const auto are_hex = [&](std::size_t from, std::size_t count) {
    return std::all_of(device.begin() + static_cast<std::ptrdiff_t>(from),
                       device.begin() + static_cast<std::ptrdiff_t>(from + count),
                       [](unsigned char c) { return std::isxdigit(c) != 0; });
  };
  constexpr std::size_t kShort = 7;  // "01:00.0"
  if (device.size() < kShort) return false;
  const std::size_t bus = device.size() - kShort;
  if (!are_hex(bus, 2) || device[bus + 2] != ':' || !are_hex(bus + 3, 2) || device[bus + 5] != '.')
    return false;
  if (device.back() < '0' || device.back() > '7') return false;
  return bus == 0 || (bus >= 5 && bus <= 9 && device[bus - 1] == ':' && are_hex(0, bus - 1));
}

MachineState read_machine(const std::string& root) {
  MachineState state;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) state.cpus.push_back(cpu);
  state.free_hugepage_bytes = free_hugepages(root);
  state.available_bytes = available_memory(root);
  return state;
}

Result<EalPlan> plan_eal(const EalOptions& options, const MachineState& machine) {
  if (Status status = check_options(options, machine); !status.ok()) return std::move(status).error();
  EalPlan plan;
  const std::uint64_t wanted = options.memory_mb * kMegabyte;
  const std::uint64_t free_mb = machine.free_hugepage_bytes / kMegabyte;
  if (options.hugepages == Hugepages::kRequired && machine.free_hugepage_bytes < wanted)
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{} MB of huge pages are needed and {} MB are free; reserve them with: "
                             "echo $(($(cat /proc/sys/vm/nr_hugepages) + {})) > /proc/sys/vm/nr_hugepages",
                             options.memory_mb, free_mb,
                             (wanted - machine.free_hugepage_bytes + 2 * kMegabyte - 1) / (2 * kMegabyte))};
  plan.hugepages = options.hugepages != Hugepages::kOff && machine.free_hugepage_bytes >= wanted;
  // EAL maps whatever it is told to, and dies of it later.
  if (!plan.hugepages && machine.available_bytes > 0 && machine.available_bytes < wanted)
    return Error{ErrorCode::kUnavailable,
                 fmt::format("memory_mb {}: {} MB are available; see free -m, or lower memory_mb",
                             options.memory_mb, machine.available_bytes / kMegabyte)};
  plan.arguments = {options.name, "--lcores=" + lcores(options, machine), "--no-telemetry",
                    fmt::format("--log-level={}", options.log_level)};
  add_memory_arguments(plan, options);
  add_device_arguments(plan, options);

  std::string memory = fmt::format("huge pages, {} MB", options.memory_mb);
  if (!plan.hugepages)
    memory = fmt::format(
        "no huge pages ({}), {} MB of ordinary memory",
        options.hugepages == Hugepages::kOff ? "switched off" : fmt::format("{} MB free", free_mb),
        options.memory_mb);
  plan.summary = fmt::format(
      "{}; {} worker{} {}", memory, options.workers, options.workers == 1 ? "" : "s",
      options.cpus.empty() ? "on any CPU" : fmt::format("on CPUs {}", fmt::join(options.cpus, ", ")));
  return plan;
}

}  // namespace tombolo::dataplane
