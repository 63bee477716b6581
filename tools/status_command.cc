#include "tools/status_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "control/rpc/local_client.h"
#include "tools/cli.h"
#include "tools/status_table.h"

namespace tombolo::tools {
namespace {

constexpr Nanoseconds kPatience = 5 * kSecond;

struct StatusOptions {
  std::string socket;
  std::string json;
};

int run_status(const StatusOptions& options) {
  const auto answer = control::ask_status(options.socket, kPatience);
  if (!answer) return report_error(answer.error());
  auto status = read_status(*answer);
  if (!status) return report_error(std::move(status).error().within("socket " + options.socket));
  if (prints_tables(options.json)) fmt::print("{}", status_tables(*status));
  nlohmann::ordered_json report = start_report("status");
  report["socket"] = options.socket;
  for (const auto& [key, value] : status->items())
    if (!report.contains(key)) report[key] = value;
  const Status written = write_report(report, options.json);
  return written ? kExitOk : report_error(written.error());
}

}  // namespace

void add_status_command(CLI::App& app, int& exit_code) {
  CLI::App* const command = app.add_subcommand(
      "status", "What an edge or a controller of this machine does: neighbours, epochs, rounds, who is late");
  const auto options = std::make_shared<StatusOptions>();
  command->add_option("socket", options->socket, "The program's local socket")
      ->required()
      ->type_name("SOCKET");
  add_json(*command, options->json);
  command->callback([options, &exit_code] { exit_code = run_status(*options); });
}

}  // namespace tombolo::tools
