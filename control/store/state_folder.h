#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace tombolo::control {

/// The folder in which one process keeps its state, locked for as long as this object lives: two processes
/// that shared it would undo each other's memory. The lock ends with the process, however it ends.
class StateFolder {
 public:
  /// Makes the folder if only its last part is missing. Errors: kUnavailable, naming the folder, and the
  /// process that holds it.
  static Result<StateFolder> open(const std::string& path);

  StateFolder(StateFolder&& other) noexcept
      : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}
  StateFolder& operator=(StateFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~StateFolder();

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  StateFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;  ///< An open file; -1 after a move.
};

}  // namespace tombolo::control
