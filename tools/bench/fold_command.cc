#include "tools/bench/fold_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/units.h"
#include "tools/bench/common_options.h"
#include "tools/bench/fold_bench.h"
#include "tools/bench/machine.h"
#include "tools/bench/payloads.h"
#include "tools/cli.h"

namespace tombolo::bench {
namespace {

struct FoldCommand {
  CommonOptions common;
  std::string result;
  std::vector<std::string> isa;
  std::string memory;
};

/// Twice the last cache, so that nothing of a chunk is left there when it is read again; at most a quarter of
/// the memory.
std::uint64_t default_memory(const Machine& machine) {
  constexpr std::uint64_t kLeast = 256ULL << 20;
  return std::min(std::max(kLeast, 2 * machine.l3_bytes), machine.free_memory_bytes / 4);
}

Result<FoldOptions> options_of(const FoldCommand& command) {
  FoldOptions options;
  auto formats = formats_of(command.common, all_formats());
  if (!formats) return std::move(formats).error();
  options.formats = *formats;
  if (!command.result.empty()) {
    const auto result = parse_format(command.result);
    if (!result) return Error(result.error()).within("--result-format");
    options.result = *result;
  }
  options.k = choose(command.common, command.common.k, {2, 4, 8, 16}, {2, 3});
  options.chunk_bytes = choose(command.common, command.common.chunk_bytes, {1280, 8192}, {1280});
  options.resident =
      choose(command.common, command.common.resident, {"cache", "memory"}, {"cache", "memory"});
  options.isa = command.isa;
  options.measure = measure_options(command.common);
  options.memory_bytes = command.common.tiny ? 1ULL << 20 : default_memory(read_machine());
  if (command.memory.empty()) return options;
  const auto bytes = parse_bytes(command.memory);
  if (!bytes) return Error(bytes.error()).within("--memory");
  options.memory_bytes = *bytes;
  return options;
}

int run(const FoldCommand& command) {
  const auto options = options_of(command);
  if (!options) return tools::report_error(options.error());
  for (const std::uint32_t k : options->k)
    if (k < 1 || k > 64) return tools::report_error(invalid_input(fmt::format("-k {}: must be 1 to 64", k)));
  const auto cpu = pin_to_cpu(command.common.cpu);
  if (!cpu) return tools::report_error(cpu.error());
  const Rivals rivals;
  const auto rows = run_fold(*options, rivals, progress_on_stderr());
  if (!rows) return tools::report_error(rows.error());
  return report("fold", command.common, *cpu, *rows, rivals.absent(),
                {fmt::format("memory: {} of chunks, one member's behind another's",
                             format_bytes(options->memory_bytes))});
}

}  // namespace

void add_fold(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand(
      "fold", "Folds alone: GB/s of input per core, by instruction set, beside rivals and the limit");
  const auto command = std::make_shared<FoldCommand>();
  add_common(*verb, command->common);
  add_cases(*verb, command->common);
  add_resident(*verb, command->common);
  verb->add_option("--result-format", command->result,
                   "Of the result; default: bf16 for mx formats, else the input's");
  verb->add_option("--isa", command->isa,
                   "Instruction sets: scalar, baseline, avx2, avx512; default: all there are")
      ->delimiter(',');
  verb->add_option("--memory", command->memory, "Memory for chunks; default: twice the last cache")
      ->type_name("BYTES");
  verb->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace tombolo::bench
