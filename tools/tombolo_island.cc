#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "tools/cli.h"
#include "tools/island/monitor.h"
#include "tools/island/options.h"
#include "tools/island/program.h"

namespace {

volatile std::sig_atomic_t stop_asked = 0;

void ask_to_stop(int /*signal*/) { stop_asked = 1; }

int fail(const tombolo::Error& error) {
  fmt::print(stderr, "tombolo-island: {}\n", error.message);
  return error.code == tombolo::ErrorCode::kInvalidInput ? tombolo::tools::kExitBadInput
                                                         : tombolo::tools::kExitFailed;
}

}  // namespace

/// An island endpoint for experiments.
int main(int argc, char** argv) {
  using namespace tombolo;
  const tools::ParsedIsland parsed = tools::parse_island_options(argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // Whoever read the events may be gone; the end of standard input tells.

  const MonotonicClock clock;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count();
  const std::uint32_t session = tools::session_from_wall_clock(static_cast<std::uint64_t>(milliseconds));
  const auto print = [](const std::string& event) {
    std::fwrite(event.data(), 1, event.size(), stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);
  };
  auto program = tools::IslandProgram::create(parsed.options, session, clock, print);
  if (!program) return fail(program.error());
  std::unique_ptr<tools::IslandMonitor> monitor;
  if (!parsed.options.metrics.empty()) {
    auto started = tools::IslandMonitor::start(parsed.options.metrics, session, **program, clock);
    if (!started) return fail(std::move(started).error().within("--metrics"));
    monitor = std::move(started).value();
  }
  // Asked in every turn of the loop, which is also when a new sample may be due.
  const auto stop = [&] {
    if (monitor) monitor->publish();
    return stop_asked != 0;
  };
  const auto exact = tools::run_island(**program, parsed.options, STDIN_FILENO, stop, clock);
  if (!exact) return fail(exact.error());
  // Driven by commands, the one who drives judges what the events say.
  return *exact || parsed.options.commands ? tools::kExitOk : tools::kExitFailed;
}
