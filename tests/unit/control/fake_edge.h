#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/agent.h"
#include "control/messages.h"
#include "schedule/epoch_plan.h"

namespace tombolo::control {

/// A plan with nothing but what the control plane looks at.
inline std::shared_ptr<const schedule::EpochPlan> make_plan(std::uint32_t epoch,
                                                            std::vector<std::string> sites) {
  auto plan = std::make_shared<schedule::EpochPlan>();
  plan->epoch = epoch;
  plan->site_names = std::move(sites);
  return plan;
}

/// Counts live epochs as a dataplane would and writes down what it is told.
class FakeDataplane final : public EdgeDataplane {
 public:
  bool can_stage() const override { return live_.size() < 2; }
  Status stage(const schedule::EpochPlan& plan) override {
    if (refusal) return Error{ErrorCode::kUnavailable, *refusal};
    EXPECT_TRUE(can_stage()) << "a third live epoch";
    log.push_back(fmt::format("stage {}", plan.epoch));
    live_.insert(plan.epoch);
    return ok_status();
  }
  std::uint32_t highest_opened_round() const override { return highest_round; }
  void commit(std::uint32_t epoch, std::uint32_t activating_round) override {
    log.push_back(fmt::format("commit {} from {}", epoch, activating_round));
  }
  void abort(std::uint32_t epoch) override {
    log.push_back(fmt::format("abort {}", epoch));
    live_.erase(epoch);
  }

  /// The last round of every epoch older than `epoch` has ended.
  void drain_before(std::uint32_t epoch) { live_.erase(live_.begin(), live_.lower_bound(epoch)); }
  std::size_t live() const { return live_.size(); }

  std::vector<std::string> log;
  std::uint32_t highest_round = 0;
  std::optional<std::string> refusal;  ///< While set, nothing can be staged.

 private:
  std::set<std::uint32_t> live_;
};

/// Messages as text, so that a test reads as a table of what goes in and what comes out.
inline std::string to_text(const ToEdge& message) {
  if (const auto* stage = std::get_if<Stage>(&message)) return fmt::format("STAGE {}", stage->epoch);
  if (const auto* commit = std::get_if<Commit>(&message)) {
    return fmt::format("COMMIT {} from {}", commit->epoch, commit->activating_round);
  }
  return fmt::format("ABORT {}", std::get<Abort>(message).epoch);
}

inline std::string to_text(const ToController& message) {
  if (const auto* hello = std::get_if<EdgeHello>(&message)) {
    return fmt::format("HELLO term {} committed {} staged {}", hello->term, hello->committed_epoch,
                       hello->staged_epoch);
  }
  if (const auto* ack = std::get_if<StageAck>(&message)) {
    return fmt::format("STAGE-ACK {} opened {}", ack->epoch, ack->highest_opened_round);
  }
  if (const auto* nack = std::get_if<StageNack>(&message))
    return fmt::format("NACK {}: {}", nack->epoch, nack->reason);
  if (const auto* ack = std::get_if<CommitAck>(&message)) return fmt::format("COMMIT-ACK {}", ack->epoch);
  return fmt::format("ABORT-ACK {}", std::get<AbortAck>(message).epoch);
}

}  // namespace tombolo::control
