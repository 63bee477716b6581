#include "tools/testbed_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "tools/cli.h"
#include "tools/testbed/run.h"
#include "tools/testbed_netns.h"
#include "tools/testbed_options.h"
#include "tools/testbed_report.h"

namespace tombolo::tools {
namespace {

int run_inproc(const TestbedOptions& options) {
  if (options.delivery != "unicast")
    return report_error(invalid_input("--delivery multicast: needs --backend netns"));
  const double scale = options.scale.value_or(1.0);
  auto config = make_config(options, scale);
  if (!config) return report_error(config.error());
  const auto words = make_words(options, scale);
  if (!words) return report_error(words.error());
  const auto progress = [](std::uint32_t done, std::uint32_t rounds) {
    fmt::print(stderr, "round {} of {} done\n", done, rounds);
  };
  fmt::print(stderr, "{} sites, {} islands: starting\n", config->network.site_names.size(),
             config->network.islands.size());
  const auto report = testbed::run(*config, progress);
  if (!report) return report_error(report.error());
  if (prints_tables(options.json)) print_run(*words, *config, *report);
  if (auto written = write_report(run_json(*words, *config, *report), options.json); !written)
    return report_error(written.error());
  return report->exact ? kExitOk : kExitFailed;
}

}  // namespace

void add_testbed_command(CLI::App& app, int& exit_code) {
  CLI::App* const testbed = app.add_subcommand("testbed", "Run islands and edges over an emulated WAN");
  testbed->require_subcommand(1);
  CLI::App* const run = testbed->add_subcommand("run", "Run rounds and check every result to the bit");
  const auto options = std::make_shared<TestbedOptions>();
  add_experiment_options(*run, *options);
  run->add_option("--backend", options->backend,
                  "inproc: in one process; netns: the real programs in network namespaces (root)")
      ->check(CLI::IsMember({"inproc", "netns"}))
      ->capture_default_str();
  run->add_flag("--real-time", options->real_time,
                "inproc: threads and the machine's clock; default is virtual time");
  add_netns_options(*run, *options);
  add_json(*run, options->json);
  run->callback([options, &exit_code] {
    exit_code = options->backend == "netns" ? run_netns_command(*options) : run_inproc(*options);
  });

  CLI::App* const up = testbed->add_subcommand(
      "up", "Start the programs in network namespaces and keep them until standard input ends (root)");
  const auto up_options = std::make_shared<TestbedOptions>();
  up_options->backend = "netns";
  add_experiment_options(*up, *up_options);
  add_netns_options(*up, *up_options);
  up->add_flag("--islands", up_options->islands,
               "Start the islands too; lines on standard input drive them: ISLAND|all COMMAND");
  up->callback([up_options, &exit_code] { exit_code = up_command(*up_options); });
}

}  // namespace tombolo::tools
