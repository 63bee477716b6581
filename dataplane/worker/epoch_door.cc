#include "dataplane/worker/epoch_door.h"

#include "base/check.h"

namespace tombolo::dataplane {
namespace {

void free_all(std::vector<std::unique_ptr<InstallQueue>>& queues) {
  for (const auto& queue : queues) queue->consume_all([](const Installation& left) { delete left.epoch; });
}

}  // namespace

// lint: set-up, runs before the first packet
EpochDoor::EpochDoor(std::size_t workers, std::size_t epochs) {
  for (std::size_t i = 0; i < workers; ++i) {
    installations_.push_back(std::make_unique<InstallQueue>(epochs));
    retired_.push_back(std::make_unique<InstallQueue>(epochs));
  }
}

EpochDoor::~EpochDoor() {
  free_all(installations_);
  free_all(retired_);
}

void EpochDoor::send(Lane& lane, std::unique_ptr<LaneEpoch> epoch) {
  CHECK(installations_[lane.lane() % installations_.size()]->push({&lane, epoch.release()}));
}

void EpochDoor::collect() { free_all(retired_); }

}  // namespace tombolo::dataplane
