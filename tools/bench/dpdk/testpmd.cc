#include "tools/bench/dpdk/testpmd.h"

#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>

namespace tombolo::bench {
namespace {

/// Another processor that this machine has: the program's affinity was narrowed to one.
int other_cpu(int cpu) { return cpu == 0 ? 1 : 0; }

std::string run(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string output;
  std::array<char, 4096> part{};
  while (const std::size_t bytes = std::fread(part.data(), 1, part.size(), pipe))
    output.append(part.data(), bytes);
  pclose(pipe);
  return output;
}

}  // namespace

Result<double> testpmd_io_mpps(int cpu) {
  if (run("command -v dpdk-testpmd").empty())
    return Error{ErrorCode::kNotFound, "not installed: package dpdk-dev"};
  // taskset undoes the affinity that this process has and its children inherit.
  const std::string output = run(fmt::format(
      "timeout -s INT 4 taskset -c {0},{1} dpdk-testpmd -l {0},{1} --main-lcore {0} --no-huge --no-shconf -m "
      "256 --no-pci "
      "--vdev net_ring0 --vdev net_ring1 -- --forward-mode=io --nb-cores=1 --no-flush-rx --tx-first "
      "--total-num-mbufs=4096 --stats-period=1 2>&1 </dev/null",
      other_cpu(cpu), cpu));
  const double rate = last_rates(output, 2);
  if (rate > 0) return rate * 1e-6;
  const std::size_t cause = output.find("Cause:");
  return Error{
      ErrorCode::kUnavailable,
      "dpdk-testpmd says no rate" + (cause == std::string::npos
                                         ? std::string()
                                         : "; " + output.substr(cause, output.find('\n', cause) - cause))};
}

double last_rates(const std::string& output, unsigned ports) {
  static const std::string kWord = "Rx-pps:";
  std::deque<double> last;
  for (std::size_t at = output.find(kWord); at != std::string::npos; at = output.find(kWord, at + 1)) {
    last.push_back(std::strtod(output.c_str() + at + kWord.size(), nullptr));
    if (last.size() > ports) last.pop_front();
  }
  double sum = 0;
  for (const double rate : last) sum += rate;
  return sum;
}

}  // namespace tombolo::bench
