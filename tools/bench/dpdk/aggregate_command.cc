#include "tools/bench/dpdk/aggregate_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/units.h"
#include "dataplane/port/dpdk/eal.h"
#include "tools/bench/common_options.h"
#include "tools/bench/dpdk/aggregate_bench.h"
#include "tools/bench/dpdk/bench_eal.h"
#include "tools/bench/dpdk/testpmd.h"
#include "tools/bench/machine.h"
#include "tools/cli.h"

namespace tombolo::bench {
namespace {

struct AggregateCommand {
  CommonOptions common;
  std::string isa;
  std::string distance;
  bool edge_only = false;
};

/// Twice the last cache, within the bounds of reason: half of it waits in slots at a time.
std::uint64_t default_distance(const Machine& machine) {
  constexpr std::uint64_t kLeast = 64ULL << 20, kMost = 1ULL << 30;
  return std::clamp(2 * machine.l3_bytes, kLeast,
                    std::max(kLeast, std::min(kMost, machine.free_memory_bytes / 8)));
}

Result<AggregateOptions> options_of(const AggregateCommand& command) {
  AggregateOptions options;
  auto formats = formats_of(command.common, {wire::Format::kFp32});
  if (!formats) return std::move(formats).error();
  options.formats = *formats;
  options.k = choose(command.common, command.common.k, {2, 4, 8, 16}, {2, 3});
  options.chunk_bytes = choose(command.common, command.common.chunk_bytes, {1280, 8192}, {1280, 8192});
  options.resident =
      choose(command.common, command.common.resident, {"cache", "memory"}, {"cache", "memory"});
  options.isa = command.isa;
  options.edge_only = command.edge_only;
  options.measure = measure_options(command.common);
  options.distance_bytes = command.common.tiny ? 256ULL << 10 : default_distance(read_machine());
  if (command.distance.empty()) return options;
  const auto bytes = parse_bytes(command.distance);
  if (!bytes) return Error(bytes.error()).within("--distance");
  options.distance_bytes = *bytes;
  return options;
}

/// What DPDK forwards when nobody looks at a byte: beside the rest for the order of magnitude.
std::optional<Row> testpmd_row(int cpu, const Progress& progress, std::vector<AbsentRival>& absent) {
  progress("aggregate: testpmd's mode io");
  const auto mpps = testpmd_io_mpps(cpu);
  if (!mpps) {
    absent.push_back({"testpmd_io", mpps.error().message});
    return std::nullopt;
  }
  Row row;
  row.bench = "aggregate";
  row.impl = "testpmd_io";
  row.mpps = *mpps;
  return row;
}

int run(const AggregateCommand& command) {
  const auto options = options_of(command);
  if (!options) return tools::report_error(options.error());
  const auto eal = BenchEal::start(memory_mb(*options), command.common.cpu);
  if (!eal) return tools::report_error(eal.error());
  const Progress progress = progress_on_stderr();
  std::vector<AbsentRival> absent;
  std::optional<Row> testpmd;
  if (!command.common.tiny && !command.edge_only) testpmd = testpmd_row((*eal)->cpu(), progress, absent);
  auto rows = run_aggregate(*options, progress);
  if (!rows) return tools::report_error(rows.error());
  if (testpmd) rows->push_back(*testpmd);
  return report("aggregate", command.common, (*eal)->cpu(), *rows, absent,
                {"DPDK: " + dataplane::eal_summary()});
}

}  // namespace

void add_aggregate(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand(
      "aggregate",
      "The whole way through an edge on one core over rings, with cycles by stage, beside the limit");
  const auto command = std::make_shared<AggregateCommand>();
  add_common(*verb, command->common);
  add_cases(*verb, command->common);
  add_resident(*verb, command->common);
  verb->add_option("--isa", command->isa, "The fold's instruction set; default: the best");
  verb->add_option(
          "--distance", command->distance,
          "For memory: bytes that come between a chunk's first contribution and its last; default: twice the "
          "last cache, at most 1Gi")
      ->type_name("BYTES");
  verb->add_flag("--edge-only", command->edge_only, "Without limit and stages: what a profiler should see");
  verb->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace tombolo::bench
