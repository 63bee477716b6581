#include "tools/number_options.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "base/number_format.h"

namespace tombolo::tools {

void add_number_options(CLI::App& command, std::string& format, std::string& result_format,
                        std::string& operation, std::string& non_finite, double& non_finite_share) {
  std::vector<std::string> formats;
  for (std::size_t i = 1; i < kNumberFormats; ++i) formats.emplace_back(name(static_cast<NumberFormat>(i)));
  command.add_option("--format", format, "Number format of updates")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  command.add_option("--result-format", result_format, "Number format of results; default: that of updates")
      ->check(CLI::IsMember(formats));
  command
      .add_option("--operation", operation,
                  "sum, mean, weighted (by the schedule's weights), min or max of the updates")
      ->check(CLI::IsMember({"sum", "mean", "weighted", "min", "max"}))
      ->capture_default_str();
  command
      .add_option("--non-finite", non_finite,
                  "What becomes of NaN and infinities: propagate, zero, or reject that member's chunk")
      ->check(CLI::IsMember({"propagate", "zero", "reject"}))
      ->capture_default_str();
  command
      .add_option("--non-finite-share", non_finite_share,
                  "Share of the generated values that are made NaN or infinite, to see it")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
}

}  // namespace tombolo::tools
