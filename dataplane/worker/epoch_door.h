#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dataplane/worker/worker.h"

namespace tombolo::dataplane {

/// Control's one door into the workers, and out again: committed epochs on their way to lanes, and those that
/// they replaced on their way back. All jobs of an edge go through it. Control's end is for one thread; each
/// worker has its own queues.
class EpochDoor {
 public:
  /// For so many workers, each with room for that many epochs under way.
  EpochDoor(std::size_t workers, std::size_t epochs);
  /// The workers have stopped: what is still under way in either direction is freed.
  ~EpochDoor();
  EpochDoor(const EpochDoor&) = delete;
  EpochDoor& operator=(const EpochDoor&) = delete;

  /// Sends an epoch to the lane, by the worker that owns it. There is room (a CHECK) while no lane has more
  /// than two epochs that it has not taken up.
  void send(Lane& lane, std::unique_ptr<LaneEpoch> epoch);
  /// Frees what came back.
  void collect();

  /// A worker's ends.
  InstallQueue& installations(std::size_t worker) { return *installations_[worker]; }
  InstallQueue& retired(std::size_t worker) { return *retired_[worker]; }

 private:
  std::vector<std::unique_ptr<InstallQueue>> installations_;
  std::vector<std::unique_ptr<InstallQueue>> retired_;
};

}  // namespace tombolo::dataplane
