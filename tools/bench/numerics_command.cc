#include "tools/bench/numerics_command.h"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>

#include "aggregation/fold/numerics.h"
#include "tools/bench/payloads.h"
#include "tools/cli.h"

namespace tombolo::bench {
namespace {

struct NumericsCommand {
  std::uint64_t seed = 1;
  std::size_t elements = 16384;
  std::string json;
};

nlohmann::ordered_json report_of(const NumericsCommand& command, const std::vector<fold::ErrorRow>& errors,
                                 const std::vector<fold::RingRow>& rings) {
  nlohmann::ordered_json object = tools::start_report("bench numerics");
  object["seed"] = command.seed;
  object["elements"] = command.elements;
  object["rows"] = nlohmann::ordered_json::array();
  for (const fold::ErrorRow& row : errors) {
    nlohmann::ordered_json& entry = object["rows"].emplace_back();
    entry = {{"format", format_name(row.format)},
             {"k", row.inputs},
             {"rounded_inputs", row.rounded_inputs},
             {"fold", row.fold},
             {"own_result", row.own_result},
             {"bf16_result", row.bf16_result},
             {"ring", nullptr}};
    for (const fold::RingRow& ring : rings)
      if (ring.format == row.format && ring.inputs == row.inputs) entry["ring"] = ring.ring;
  }
  return object;
}

int run(const NumericsCommand& command) {
  const auto errors = fold::measure_errors(command.seed, command.elements);
  const auto rings = fold::compare_with_ring(command.seed, command.elements);
  if (tools::prints_tables(command.json))
    fmt::print("{}\n{}\n{}", fold::error_table(errors), fold::ring_table(rings),
               fold::ring_figure(rings, wire::Format::kMxInt8));
  const Status written = tools::write_report(report_of(command, errors, rings), command.json);
  return written ? tools::kExitOk : tools::report_error(written.error());
}

}  // namespace

void add_numerics(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand(
      "numerics", "How far results are from exact sums: every format, and rounding once against a ring");
  const auto command = std::make_shared<NumericsCommand>();
  verb->add_option("--seed", command->seed, "Of the inputs, which are normally distributed")
      ->capture_default_str();
  verb->add_option("--elements", command->elements, "Of each input")
      ->check(CLI::Range(1, 1 << 18))
      ->capture_default_str();
  tools::add_json(*verb, command->json);
  verb->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace tombolo::bench
