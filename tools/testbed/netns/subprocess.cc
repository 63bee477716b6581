#include "tools/testbed/netns/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace tombolo::testbed {
namespace {

constexpr std::size_t kMostErrorBytes = 65536;

/// Writes all of `input` and reads all of the output, whichever the command wants first.
std::string converse(int to, int from, std::string_view input) {
  std::string output;
  if (input.empty()) ::close(to);
  bool writing = !input.empty();
  while (true) {
    std::array<pollfd, 2> polls{pollfd{from, POLLIN, 0}, pollfd{writing ? to : -1, POLLOUT, 0}};
    if (::poll(polls.data(), polls.size(), -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (writing && polls[1].revents != 0) {
      const ssize_t count = ::write(to, input.data(), input.size());
      if (count > 0) input.remove_prefix(static_cast<std::size_t>(count));
      if (input.empty() || (count < 0 && errno != EAGAIN && errno != EINTR)) {
        ::close(to);
        writing = false;
      }
    }
    if (polls[0].revents == 0) continue;
    std::array<char, 4096> bytes;
    const ssize_t count = ::read(from, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (output.size() < kMostErrorBytes) output.append(bytes.data(), static_cast<std::size_t>(count));
  }
  if (writing) ::close(to);
  return output;
}

/// The last two lines in one: `ip` gives its reason before the line that says where.
std::string last_words(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::size_t begin = text.rfind('\n');
  if (begin != std::string_view::npos && begin > 0) begin = text.rfind('\n', begin - 1);
  std::string words(begin == std::string_view::npos ? text : text.substr(begin + 1));
  for (std::size_t at = 0; (at = words.find('\n', at)) != std::string::npos;) words.replace(at, 1, "; ");
  return words;
}

}  // namespace

Status run_with_input(const std::vector<std::string>& command, const std::string& input) {
  const auto failed = [&](const std::string& why) {
    return Error{ErrorCode::kUnavailable, fmt::format("`{}`: {}", fmt::join(command, " "), why)};
  };
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0) return failed(std::generic_category().message(errno));
  if (::pipe2(out.data(), O_CLOEXEC) != 0) {
    const int code = errno;
    ::close(in[0]);
    ::close(in[1]);
    return failed(std::generic_category().message(code));
  }
  ::fcntl(in[1], F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDERR_FILENO);
  std::vector<char*> argument;
  for (const std::string& text : command) argument.push_back(const_cast<char*>(text.c_str()));
  argument.push_back(nullptr);
  // In a group of its own: a Ctrl-C at the terminal must not stop it halfway.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int code = ::posix_spawnp(&pid, argument[0], &actions, &attributes, argument.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  ::close(in[0]);
  ::close(out[1]);
  if (code != 0) {
    ::close(in[1]);
    ::close(out[0]);
    return failed(std::generic_category().message(code));
  }
  const std::string said = converse(in[1], out[0], input);
  ::close(out[0]);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ok_status();
  return failed(said.empty() ? "it failed" : last_words(said));
}

}  // namespace tombolo::testbed
