#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "control/epoch_tables.h"
#include "dataplane/port/link_groups.h"
#include "schedule/epoch_plan.h"

namespace tombolo::control {

/// The groups of an edge's links through a change of epoch. Both ends of a link commit at moments of their
/// own, so each takes in the groups of both epochs as soon as it has staged the newer one, and sends to those
/// of the newest that it has committed.
class EpochGroups {
 public:
  explicit EpochGroups(const EdgePlace& place);

  void stage(const schedule::EpochPlan& plan);
  void commit() { std::swap(running_, other_); }
  void abort() { other_ = running_; }

  /// Of the link at that place in EdgePlace::links.
  dataplane::LinkGroups of(std::size_t link) const {
    return {running_.send[link], {running_.accept[link], other_.accept[link]}};
  }

 private:
  /// By link; 0: none.
  struct Groups {
    std::vector<std::uint32_t> send;
    std::vector<std::uint32_t> accept;
  };

  EdgePlace place_;
  Groups running_;
  /// Of the staged epoch; else of the one before the running one, which may have open rounds.
  Groups other_;
};

}  // namespace tombolo::control
