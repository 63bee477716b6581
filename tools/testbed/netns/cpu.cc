#include "tools/testbed/netns/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

namespace tombolo::testbed {
namespace {

constexpr double kLeastIdle = 0.1;
/// Short sleeps of many workers end at the same moments, so some waiting for a core is usual. With nine edges
/// on two cores, rounds took what the model says with up to 38 % of it, and twice as long with 57 %.
constexpr double kMostStalled = 0.45;
constexpr double kMostBusy = 0.9;
/// user nice system idle iowait irq softirq steal: what follows is contained in these; proc(5).
constexpr std::size_t kFields = 8;
constexpr std::size_t kIdleField = 3;
constexpr std::size_t kWaitField = 4;

}  // namespace

Result<CpuTime> parse_proc_stat(std::string_view text) {
  constexpr std::string_view kFirst = "cpu ";
  if (!text.starts_with(kFirst)) return invalid_input("/proc/stat: does not begin with 'cpu'");
  const char* at = text.data() + kFirst.size();
  const char* const end = text.data() + text.size();
  std::array<std::uint64_t, kFields> ticks{};
  for (std::uint64_t& field : ticks) {
    while (at != end && *at == ' ') ++at;
    const auto [rest, error] = std::from_chars(at, end, field);
    if (error != std::errc{}) return invalid_input("/proc/stat: the line 'cpu' has too few numbers");
    at = rest;
  }
  CpuTime time;
  time.idle = ticks[kIdleField] + ticks[kWaitField];
  for (const std::uint64_t field : ticks) time.all += field;
  return time;
}

Result<CpuTime> read_cpu_time() {
  std::ifstream file("/proc/stat", std::ios::binary);
  return parse_proc_stat(std::string(std::istreambuf_iterator<char>(file), {}));
}

CpuVerdict judge_cpu(const CpuTime& before, const CpuTime& after, const std::vector<WorkerReport>& workers) {
  CpuVerdict verdict;
  if (after.all > before.all && after.idle >= before.idle)
    verdict.idle =
        static_cast<double>(after.idle - before.idle) / static_cast<double>(after.all - before.all);
  double stalled = 0;
  double busy = 0;
  std::string stalled_site;
  std::string busy_site;
  for (const WorkerReport& worker : workers) {
    const double all_s = worker.busy_s + worker.idle_s + worker.asleep_s;
    if (all_s <= 0) continue;
    if (worker.stalled_s / all_s > stalled) {
      stalled = worker.stalled_s / all_s;
      stalled_site = worker.site;
    }
    if (worker.busy_s / all_s > busy) {
      busy = worker.busy_s / all_s;
      busy_site = worker.site;
    }
  }
  verdict.bound = verdict.idle < kLeastIdle || stalled > kMostStalled || busy > kMostBusy;
  verdict.reason = fmt::format("{:.0f} % of the machine's processor time was idle", verdict.idle * 100);
  if (!busy_site.empty())
    verdict.reason +=
        fmt::format("; the busiest worker ({}) worked {:.0f} % of the time", busy_site, busy * 100);
  if (!stalled_site.empty())
    verdict.reason += fmt::format("; the one that waited most for a core ({}) did so {:.1f} % of the time",
                                  stalled_site, stalled * 100);
  return verdict;
}

std::vector<WorkerReport> workers_between(const std::vector<WorkerReport>& before,
                                          const std::vector<WorkerReport>& after) {
  std::vector<WorkerReport> spent;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    WorkerReport worker = after[i];
    worker.busy_s -= before[i].busy_s;
    worker.idle_s -= before[i].idle_s;
    worker.asleep_s -= before[i].asleep_s;
    worker.stalled_s -= before[i].stalled_s;
    spent.push_back(std::move(worker));
  }
  return spent;
}

}  // namespace tombolo::testbed
