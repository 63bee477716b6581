#include "tools/bench/numerics_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/fold/numerics.h"
#include "tools/bench/payloads.h"
#include "tools/cli.h"

namespace tombolo::bench {
namespace {

struct NumericsCommand {
  std::uint64_t seed = 1;
  std::size_t elements = 16384;
  bool tiny = false;
  std::string json;
};

nlohmann::ordered_json to_json(const fold::ErrorRow& row) {
  return {{"bench", "numerics"},
          {"what", "error"},
          {"format", format_name(row.format)},
          {"k", row.inputs},
          {"rounded_inputs", row.rounded_inputs},
          {"fold", row.fold},
          {"own_result", row.own_result},
          {"bf16_result", row.bf16_result}};
}

nlohmann::ordered_json to_json(const fold::RingRow& row) {
  return {{"bench", "numerics"}, {"what", "ring"},   {"format", format_name(row.format)},
          {"k", row.inputs},     {"once", row.once}, {"ring", row.ring}};
}

int run(const NumericsCommand& command) {
  const std::size_t elements = command.tiny ? 256 : command.elements;
  const std::vector<fold::ErrorRow> errors = fold::measure_errors(command.seed, elements);
  const std::vector<fold::RingRow> rings = fold::compare_with_ring(command.seed, elements);
  if (tools::prints_tables(command.json)) {
    fmt::print("Root mean square errors over that of the exact sum; {} elements, seed {}\n\n{}\n", elements,
               command.seed, fold::error_table(errors));
    fmt::print("Rounded once at the edge, and at every hop of a ring\n\n{}", fold::ring_table(rings));
  }
  nlohmann::ordered_json report = tools::start_report("bench numerics");
  report["seed"] = command.seed;
  report["elements"] = elements;
  report["tiny"] = command.tiny;
  report["rows"] = nlohmann::ordered_json::array();
  for (const fold::ErrorRow& row : errors) report["rows"].push_back(to_json(row));
  for (const fold::RingRow& row : rings) report["rows"].push_back(to_json(row));
  const Status written = tools::write_report(report, command.json);
  return written ? tools::kExitOk : tools::report_error(written.error());
}

}  // namespace

void add_numerics(CLI::App& app, int& exit_code) {
  CLI::App* const verb =
      app.add_subcommand("numerics", "How far results are from exact sums, by format and number of inputs");
  const auto command = std::make_shared<NumericsCommand>();
  verb->add_option("--seed", command->seed, "Of the inputs")->capture_default_str();
  verb->add_option("--elements", command->elements, "Of each input")
      ->check(CLI::Range(32, 1 << 24))
      ->capture_default_str();
  verb->add_flag("--tiny", command->tiny, "Few elements");
  tools::add_json(*verb, command->json);
  verb->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace tombolo::bench
