#pragma once

#include <cstdint>

#include "base/result.h"
#include "control/agent.h"
#include "control/controller.h"
#include "control/store/durable_file.h"
#include "control/store/state_folder.h"

namespace tombolo::control {

/// An edge's AgentSnapshot on disk. The folder outlives it, and so do `operations`.
class AgentStore {
 public:
  explicit AgentStore(const StateFolder& folder, FileOperations* operations = nullptr);

  /// What was stored last; an empty snapshot if nothing was. Errors: those of DurableFile::read.
  Result<AgentSnapshot> load() const;
  /// Errors: those of DurableFile::write.
  Status save(const AgentSnapshot& snapshot);

 private:
  DurableFile file_;
};

/// A controller's ControllerState on disk.
class ControllerStore {
 public:
  explicit ControllerStore(const StateFolder& folder, FileOperations* operations = nullptr);

  /// As AgentStore's.
  Result<ControllerState> load() const;
  /// Compare and set: what is on disk must not be of a later term. Errors: kFailed if it is, or if the file
  /// is damaged; those of DurableFile::write.
  Status save(const ControllerState& state);

 private:
  DurableFile file_;
};

/// The sessions of one site's lives.
class SessionStore {
 public:
  explicit SessionStore(const StateFolder& folder, FileOperations* operations = nullptr);

  /// The session of a new life, stored before it is returned: later, as a serial number, than every one given
  /// before, and at least the seconds since 2020, so that a lost folder does not bring an old one back. Never
  /// 0. `unix_seconds` is the calendar time. Errors: those of DurableFile.
  Result<std::uint32_t> next(std::uint64_t unix_seconds);

 private:
  DurableFile file_;
};

}  // namespace tombolo::control
