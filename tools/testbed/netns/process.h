#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace tombolo::testbed {

struct ProcessOptions {
  std::string name;                   ///< For messages.
  std::vector<std::string> argument;  ///< The program's path first; at least that.
  std::string network_namespace;      ///< A name below /run/netns; empty: the caller's own.
  std::string log_path;               ///< Standard error is appended to it; empty: the caller's own.
  bool pipes = false;                 ///< Standard input and output are the caller's; otherwise nothing.
};

/// A child process that dies with this one. It has a process group of its own, so that a Ctrl-C at the
/// terminal reaches this process only, which then ends its children in order.
class Process {
 public:
  /// Called from the main thread: a child ends when the thread that made it does. Errors: kUnavailable,
  /// naming the program, what failed and why (no such program, no such namespace, ...).
  static Result<std::unique_ptr<Process>> spawn(const ProcessOptions& options);
  /// Ends it at once if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const std::string& name() const { return options_.name; }
  const std::string& log_path() const { return options_.log_path; }
  pid_t pid() const { return pid_; }
  /// With pipes: standard input to write to, standard output to read from; -1 otherwise.
  int input() const { return input_; }
  int output() const { return output_; }
  void close_input();

  /// Looks whether it has ended.
  bool running();
  /// How it ended, once running() has said so: "ended with exit code 2", "was ended by signal 9 (Killed)".
  std::string ending() const;
  /// Its exit code, if it ended by itself.
  std::optional<int> exit_code() const;

  void signal(int number);

 private:
  explicit Process(const ProcessOptions& options) : options_(options) {}

  ProcessOptions options_;
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::optional<int> wait_status_;
};

/// Ends them together: asks with SIGTERM, waits `grace_ns`, then kills what is left.
void end_all(std::vector<Process*> processes, Nanoseconds grace_ns);

/// The last lines of a file, each with two spaces before it; empty if there is no such file.
std::string last_lines(const std::string& path, std::size_t lines);

}  // namespace tombolo::testbed
