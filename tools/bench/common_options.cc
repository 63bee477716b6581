#include "tools/bench/common_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "tools/bench/machine.h"
#include "tools/bench/payloads.h"
#include "tools/cli.h"

namespace tombolo::bench {

void add_common(CLI::App& command, CommonOptions& options) {
  command.add_option("--repeat", options.measure.repeat, "Repetitions; each runs every side once, by turns")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--seconds", options.measure.seconds, "Of one side in one repetition, at least")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  command.add_option("--cpu", options.cpu, "The processor to stay on; default: the last one allowed")
      ->check(CLI::Range(0, 1023));
  command.add_flag("--tiny", options.tiny,
                   "Small sizes, two short repetitions: tries the program, measures nothing");
  tools::add_json(command, options.json);
}

void add_cases(CLI::App& command, CommonOptions& options) {
  command.add_option("--format", options.format_names, "Number formats of the inputs, such as fp32,bf16")
      ->delimiter(',');
  command.add_option("-k,--k", options.k, "Inputs of a fold, such as 2,8")->delimiter(',');
  command.add_option("--chunk-bytes", options.chunk_bytes, "Bytes of a payload at most, such as 1280,8192")
      ->delimiter(',');
}

void add_resident(CLI::App& command, CommonOptions& options) {
  command.add_option("--resident", options.resident, "Where inputs come from: cache, memory, or both")
      ->check(CLI::IsMember({"cache", "memory"}))
      ->delimiter(',');
}

Result<std::vector<wire::Format>> formats_of(const CommonOptions& options,
                                             std::vector<wire::Format> otherwise) {
  if (options.format_names.empty()) return otherwise;
  std::vector<wire::Format> formats;
  for (const std::string& name : options.format_names) {
    const auto format = parse_format(name);
    if (!format) return Error(format.error()).within("--format");
    formats.push_back(*format);
  }
  return formats;
}

MeasureOptions measure_options(const CommonOptions& options) {
  return options.tiny ? MeasureOptions{2, 0} : options.measure;
}

Progress progress_on_stderr() {
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  return [is_terminal](const std::string& line) {
    fmt::print(stderr, "{}{}{}", is_terminal ? "\r\033[K" : "", line, is_terminal ? "" : "\n");
  };
}

int report(const std::string& verb, const CommonOptions& options, int cpu, std::span<const Row> rows,
           std::span<const AbsentRival> absent, const std::vector<std::string>& notes) {
  const Machine machine = read_machine();
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  if (tools::prints_tables(options.json)) {
    fmt::print("{}on CPU {}, {} repetitions of {} s{}\n", describe(machine), cpu,
               measure_options(options).repeat, measure_options(options).seconds,
               options.tiny ? "; a tiny run measures nothing" : "");
    for (const AbsentRival& rival : absent) fmt::print("without {}: {}\n", rival.impl, rival.reason);
    for (const std::string& note : notes) fmt::print("{}\n", note);
    fmt::print("\n{}", format_table(rows));
  }
  nlohmann::ordered_json object = tools::start_report("bench " + verb);
  object["machine"] = to_json(machine);
  object["cpu"] = cpu;
  object["repeat"] = measure_options(options).repeat;
  object["seconds"] = measure_options(options).seconds;
  object["tiny"] = options.tiny;
  object["absent"] = nlohmann::ordered_json::array();
  for (const AbsentRival& rival : absent)
    object["absent"].push_back({{"impl", rival.impl}, {"reason", rival.reason}});
  object["notes"] = notes;
  object["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : rows) object["rows"].push_back(to_json(row));
  const Status written = tools::write_report(object, options.json);
  return written ? tools::kExitOk : tools::report_error(written.error());
}

}  // namespace tombolo::bench
