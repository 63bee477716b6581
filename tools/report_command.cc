#include "tools/report_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "tools/cli.h"
#include "tools/report/run_report.h"
#include "tools/report/summary.h"

namespace tombolo::tools {
namespace {

constexpr std::uintmax_t kMostSummaryBytes = std::uintmax_t{256} << 20;

/// Errors: kNotFound if the file cannot be read, kInvalidInput if it is too large to be a summary.
Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return Error{ErrorCode::kNotFound, fmt::format("{}: {}", path.string(), error.message())};
  if (bytes > kMostSummaryBytes)
    return invalid_input(fmt::format("{}: larger than {} MiB", path.string(), kMostSummaryBytes >> 20));
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return Error{ErrorCode::kNotFound, fmt::format("{}: cannot be read", path.string())};
  return text;
}

int run_report(const std::filesystem::path& folder) {
  const std::filesystem::path summary_path = folder / "summary.json";
  const std::filesystem::path report_path = folder / "report.html";
  const auto text = read_file(summary_path);
  if (!text) return report_error(text.error());
  const auto summary = report::parse_json(*text, summary_path.string());
  if (!summary) return report_error(summary.error());
  auto page = report::run_page(*summary);
  if (!page) return report_error(std::move(page).error().within(summary_path.string()));
  if (auto written = page->write(report_path.string()); !written) return report_error(written.error());
  fmt::print("{}\n", report_path.string());
  return kExitOk;
}

}  // namespace

void add_report_command(CLI::App& app, int& exit_code) {
  CLI::App* const report =
      app.add_subcommand("report", "Make report.html of a run again, from its summary.json");
  auto folder = std::make_shared<std::string>();
  report->add_option("run_folder", *folder, "Folder with the run's summary.json")
      ->required()
      ->type_name("FOLDER");
  report->callback([folder, &exit_code] { exit_code = run_report(*folder); });
}

}  // namespace tombolo::tools
