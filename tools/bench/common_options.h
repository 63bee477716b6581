#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/wire/header.h"
#include "tools/bench/measure.h"
#include "tools/bench/progress.h"
#include "tools/bench/rivals.h"
#include "tools/bench/row.h"
#include "tools/cli_fwd.h"

namespace tombolo::bench {

/// What every verb takes. Lists that stay empty get the verb's defaults.
struct CommonOptions {
  MeasureOptions measure;
  int cpu = -1;       ///< Below 0: the last one allowed.
  bool tiny = false;  ///< As little as shows that it works; its figures mean nothing.
  std::string json;

  std::vector<std::string> format_names;
  std::vector<std::uint32_t> k;
  std::vector<std::uint32_t> chunk_bytes;
  std::vector<std::string> resident;
};

/// Adds --repeat, --seconds, --cpu, --tiny, --json.
void add_common(CLI::App& command, CommonOptions& options);
/// Adds --format, -k and --chunk-bytes: which cases.
void add_cases(CLI::App& command, CommonOptions& options);
void add_resident(CLI::App& command, CommonOptions& options);

/// The formats by name; `otherwise` when none is named. Errors: those of parse_format().
Result<std::vector<wire::Format>> formats_of(const CommonOptions& options,
                                             std::vector<wire::Format> otherwise);
/// `given`, or when it is empty `tiny` or `usual`.
template <typename T>
std::vector<T> choose(const CommonOptions& options, const std::vector<T>& given, std::vector<T> usual,
                      std::vector<T> tiny) {
  if (!given.empty()) return given;
  return options.tiny ? tiny : usual;
}
/// Of a tiny run: two repetitions of one iteration.
MeasureOptions measure_options(const CommonOptions& options);

/// One line on standard error that the next one replaces on a terminal.
Progress progress_on_stderr();

/// Prints machine and table, writes the JSON; returns the exit code. `notes` are further lines for people.
int report(const std::string& verb, const CommonOptions& options, int cpu, std::span<const Row> rows,
           std::span<const AbsentRival> absent, const std::vector<std::string>& notes);

}  // namespace tombolo::bench
