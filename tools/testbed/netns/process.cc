#include "tools/testbed/netns/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

namespace tombolo::testbed {
namespace {

constexpr int kLookMs = 5;
constexpr int kSpawnFailed = 127;

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

bool make_pipe(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  pipe.read = Descriptor(ends[0]);
  pipe.write = Descriptor(ends[1]);
  return true;
}

/// What a child tells its parent when it could not become the program.
struct Failure {
  int step = 0;
  int code = 0;
};
constexpr std::array<const char*, 3> kSteps{"its network namespace", "its files", "the program"};

/// Everything that the child needs is opened or made by the parent: between fork and exec only system calls
/// are allowed, because other threads of the parent may have held locks.
struct ChildSetup {
  int net_fd = -1;
  int input = -1;
  int output = -1;
  int error = -1;
  int report = -1;
  pid_t parent = 0;
  char* const* argument = nullptr;
};

[[noreturn]] void become(const ChildSetup& setup) {
  const auto fail = [&](int step) {
    const Failure failure{step, errno};
    [[maybe_unused]] const auto written = ::write(setup.report, &failure, sizeof(failure));
    ::_exit(kSpawnFailed);
  };
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != setup.parent) ::_exit(kSpawnFailed);  // It died before the line above.
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(number, SIG_DFL);
  if (setup.net_fd >= 0 && ::setns(setup.net_fd, CLONE_NEWNET) != 0) fail(0);
  if (::dup2(setup.input, STDIN_FILENO) < 0 || ::dup2(setup.output, STDOUT_FILENO) < 0) fail(1);
  if (setup.error >= 0 && ::dup2(setup.error, STDERR_FILENO) < 0) fail(1);
  ::execv(setup.argument[0], setup.argument);
  fail(2);
  ::_exit(kSpawnFailed);
}

Error cannot(const ProcessOptions& options, const std::string& what, int code) {
  return {ErrorCode::kUnavailable,
          fmt::format("{}: cannot start {}: {}: {}", options.name, options.argument[0], what,
                      std::generic_category().message(code))};
}

}  // namespace

Result<std::unique_ptr<Process>> Process::spawn(const ProcessOptions& options) {
  std::unique_ptr<Process> process(new Process(options));
  Descriptor net;
  if (!options.network_namespace.empty()) {
    net = Descriptor(::open(("/run/netns/" + options.network_namespace).c_str(), O_RDONLY | O_CLOEXEC));
    if (net.get() < 0) return cannot(options, "namespace " + options.network_namespace, errno);
  }
  Descriptor log;
  if (!options.log_path.empty()) {
    log = Descriptor(::open(options.log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (log.get() < 0) return cannot(options, options.log_path, errno);
  }
  Pipe input, output, report;
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (nothing.get() < 0 || !make_pipe(report) || (options.pipes && (!make_pipe(input) || !make_pipe(output))))
    return cannot(options, "pipe", errno);
  std::vector<char*> argument;
  for (const std::string& text : process->options_.argument)
    argument.push_back(const_cast<char*>(text.c_str()));
  argument.push_back(nullptr);

  ChildSetup setup;
  setup.net_fd = net.get();
  setup.input = options.pipes ? input.read.get() : nothing.get();
  setup.output = options.pipes ? output.write.get() : nothing.get();
  setup.error = log.get();
  setup.report = report.write.get();
  setup.parent = ::getpid();
  setup.argument = argument.data();
  process->pid_ = ::fork();
  if (process->pid_ < 0) return cannot(options, "fork", errno);
  if (process->pid_ == 0) become(setup);

  report.write = Descriptor();  // The exec closes the child's copy: then there is nothing to read.
  Failure failure;
  if (::read(report.read.get(), &failure, sizeof(failure)) == ssize_t{sizeof(failure)})
    return cannot(options, kSteps[static_cast<std::size_t>(failure.step)], failure.code);
  if (options.pipes) {
    process->input_ = input.write.release();
    process->output_ = output.read.release();
    ::fcntl(process->output_, F_SETFL, O_NONBLOCK);
  }
  return process;
}

Process::~Process() {
  if (pid_ > 0 && running()) {
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  close_input();
  if (output_ >= 0) ::close(output_);
}

void Process::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

bool Process::running() {
  if (wait_status_) return false;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return true;
  wait_status_ = status;
  return false;
}

std::optional<int> Process::exit_code() const {
  if (!wait_status_ || !WIFEXITED(*wait_status_)) return std::nullopt;
  return WEXITSTATUS(*wait_status_);
}

std::string Process::ending() const {
  if (!wait_status_) return "runs";
  if (const auto code = exit_code()) return fmt::format("ended with exit code {}", *code);
  const int number = WTERMSIG(*wait_status_);
  return fmt::format("was ended by signal {} ({})", number, ::sigdescr_np(number));
}

void Process::signal(int number) {
  // Until it is reaped, which only running() does, the number cannot belong to another process.
  if (!wait_status_) ::kill(pid_, number);
}

void end_all(std::vector<Process*> processes, Nanoseconds grace_ns) {
  const auto drop_ended = [&] {
    std::erase_if(processes, [](Process* process) { return !process->running(); });
  };
  for (Process* const process : processes) {
    process->close_input();
    process->signal(SIGTERM);
  }
  const MonotonicClock clock;
  const Nanoseconds until_ns = clock.now_ns() + grace_ns;
  for (drop_ended(); !processes.empty() && clock.now_ns() < until_ns; drop_ended())
    ::poll(nullptr, 0, kLookMs);
  for (Process* const process : processes) process->signal(SIGKILL);
  for (drop_ended(); !processes.empty(); drop_ended()) ::poll(nullptr, 0, kLookMs);
}

std::string last_lines(const std::string& path, std::size_t lines) {
  std::ifstream file(path);
  std::vector<std::string> all;
  for (std::string line; std::getline(file, line);) {
    all.push_back("  " + line + "\n");
    if (all.size() > lines) all.erase(all.begin());
  }
  std::string text;
  for (const std::string& line : all) text += line;
  return text;
}

}  // namespace tombolo::testbed
