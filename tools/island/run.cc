#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tools/island/program.h"
#include "tools/testbed/line_splitter.h"

namespace tombolo::tools {
namespace {

/// How often the outcome of a round under way is looked at. Times come from the endpoint, so this delays only
/// the telling.
constexpr int kLookMs = 5;
/// How often a signal is looked for when nothing is under way.
constexpr int kIdleMs = 200;
constexpr std::size_t kMostLineBytes = 4096;
/// How long free running waits for an epoch that has the first round.
constexpr Nanoseconds kEpochLimit = 60 * kSecond;

/// Sleeps until the descriptor has something to read, or is over; false otherwise.
bool readable(int fd, int timeout_ms) {
  pollfd poll_fd{fd, POLLIN, 0};
  return ::poll(&poll_fd, 1, timeout_ms) > 0;
}

/// Obeys one line; false after `quit`.
bool obey(IslandProgram& program, const std::string& line) {
  const auto command = parse_island_command(line);
  if (!command) {
    program.report_mistake(command.error().message);
    return true;
  }
  switch (command->kind) {
    case IslandCommand::Kind::kStatus:
      program.report_status();
      return true;
    case IslandCommand::Kind::kStart:
      program.start(command->round);
      return true;
    case IslandCommand::Kind::kCheck:
      program.check(command->round, command->orders);
      return true;
    case IslandCommand::Kind::kQuit:
      return false;
  }
  return true;
}

bool run_commands(IslandProgram& program, int input_fd, const std::function<bool()>& stop) {
  testbed::LineSplitter splitter(kMostLineBytes);
  std::array<char, 4096> bytes;
  while (!stop()) {
    const bool under_way = program.look();
    if (!readable(input_fd, under_way ? kLookMs : kIdleMs)) continue;
    const ssize_t count = ::read(input_fd, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) break;
    for (const std::string& line : splitter.take({bytes.data(), static_cast<std::size_t>(count)}))
      if (!obey(program, line)) return program.all_exact();
  }
  return program.all_exact();
}

/// Waits in steps, so that a signal is seen. Returns false if `limit_ns` passed or `stop` holds.
bool wait_for(const std::function<bool()>& done, const std::function<bool()>& stop, const Clock& clock,
              Nanoseconds limit_ns) {
  const Nanoseconds until_ns = limit_ns == kNever ? kNever : clock.now_ns() + limit_ns;
  while (!done()) {
    if (stop() || clock.now_ns() >= until_ns) return false;
    ::poll(nullptr, 0, kLookMs);
  }
  return true;
}

Result<bool> run_free(IslandProgram& program, const IslandOptions& options, const std::function<bool()>& stop,
                      const Clock& clock) {
  const auto has_first = [&] {
    const auto first = program.first_round();
    return first && program.can_start(options.from.value_or(*first));
  };
  if (!wait_for(has_first, stop, clock, kEpochLimit)) {
    if (stop()) return false;
    return Error{ErrorCode::kDeadline, "no epoch with this round from the edge in a minute"};
  }
  const std::uint32_t first = options.from.value_or(*program.first_round());
  for (std::uint32_t i = 0; i < options.rounds && !stop(); ++i) {
    program.start(first + i);
    // Every round has a deadline, its own or the epoch's, so this ends.
    if (!wait_for([&] { return !program.look(); }, stop, clock, kNever)) break;
    program.check(first + i);
  }
  return program.all_exact() && program.rounds_checked() == options.rounds;
}

}  // namespace

Result<bool> run_island(IslandProgram& program, const IslandOptions& options, int input_fd,
                        const std::function<bool()>& stop, const Clock& clock) {
  if (options.commands) return run_commands(program, input_fd, stop);
  return run_free(program, options, stop, clock);
}

}  // namespace tombolo::tools
