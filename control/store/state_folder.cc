#include "control/store/state_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

namespace tombolo::control {
namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kLockMode = 0600;

Error unavailable(const std::string& path, std::string_view what) {
  return Error{ErrorCode::kUnavailable,
               fmt::format("state folder {}: {}: {}", path, what, std::strerror(errno))};
}

/// Who wrote its number into the lock file; "another process" if that cannot be told.
std::string holder(int lock) {
  std::array<char, 16> text{};
  const ssize_t length = ::pread(lock, text.data(), text.size(), 0);
  std::string digits(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  while (!digits.empty() && digits.back() == '\n') digits.pop_back();
  const bool number = std::all_of(digits.begin(), digits.end(),
                                  [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return digits.empty() || !number ? "another process" : "process " + digits;
}

}  // namespace

Result<StateFolder> StateFolder::open(const std::string& path) {
  if (path.empty()) return invalid_input("state folder: no path is given");
  if (::mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) return unavailable(path, "cannot make it");
  const int lock = ::open((path + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kLockMode);
  if (lock < 0) return unavailable(path, "cannot open its lock");
  StateFolder folder(path, lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return unavailable(path, "cannot lock it");
    return Error{ErrorCode::kUnavailable,
                 fmt::format("state folder {}: {} uses it; give each program a folder of its own", path,
                             holder(lock))};
  }
  const std::string number = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock, 0) != 0 ||
      ::pwrite(lock, number.data(), number.size(), 0) != static_cast<ssize_t>(number.size()))
    return unavailable(path, "cannot write its lock");
  return folder;
}

StateFolder::~StateFolder() {
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace tombolo::control
