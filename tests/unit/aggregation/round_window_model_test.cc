// Random sequences on a RoundWindow, checked at every step against a model that is too simple to be wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "aggregation/round_window.h"
#include "base/random.h"
#include "tests/unit/aggregation/test_pool.h"

namespace tombolo::aggregation {
namespace {

/// Remembers everything that was ever contributed, in maps, and derives the rest.
struct Model {
  std::uint32_t members = 0;
  std::uint32_t window = 0;
  std::uint32_t lane = 0, lane_count = 1, chunk_elements = 1;
  std::map<std::uint32_t, std::map<std::uint32_t, const std::byte*>> contributions;
  std::set<std::uint32_t> done;
  std::uint64_t update_elements = 0;  ///< 0 until the first contribution.
  Nanoseconds first_ns = kNever;

  /// Elements of the lane's chunk `index`, one by one; 0 behind the end.
  std::size_t elements(std::uint32_t index, std::uint64_t update) const {
    const std::uint64_t begin = (std::uint64_t{index} * lane_count + lane) * chunk_elements;
    std::size_t count = 0;
    for (std::uint64_t e = begin; e < begin + chunk_elements; ++e) count += e < update ? 1 : 0;
    return count;
  }
  /// Chunks of the lane: those with elements, or one empty one.
  std::uint32_t total_of(std::uint64_t update) const {
    std::uint32_t index = 0;
    while (elements(index, update) > 0) ++index;
    return std::max(index, 1U);
  }
  std::uint32_t total() const { return total_of(update_elements); }
  std::uint32_t base() const {
    std::uint32_t index = 0;
    while (done.contains(index)) ++index;
    return index;
  }
  DropReason judge(std::uint32_t member, std::uint32_t index, std::uint64_t update, std::size_t bytes) const {
    if (index < base()) return DropReason::kRoundClosed;
    if (index >= base() + window) return DropReason::kBeyondGrant;
    if (update_elements != 0 && update != update_elements) return DropReason::kMismatch;
    const std::size_t count = elements(index, update);
    if (index >= total_of(update) || bytes != 4 * count) return DropReason::kMismatch;
    const auto slot = contributions.find(index);
    const bool known = slot != contributions.end() && slot->second.contains(member);
    return known ? DropReason::kDuplicateContribution : DropReason::kNone;
  }
  std::vector<std::uint32_t> completed() const {
    std::vector<std::uint32_t> result;
    for (const auto& [index, by_member] : contributions) {
      if (by_member.size() == members && !done.contains(index)) result.push_back(index);
    }
    return result;
  }
  std::size_t held() const {
    std::size_t count = 0;
    for (const auto& [index, by_member] : contributions) count += done.contains(index) ? 0 : by_member.size();
    return count;
  }
  std::uint64_t bits_without(std::uint32_t from, std::uint32_t to) const {
    std::uint64_t bits = 0;
    for (std::uint32_t member = 0; member < members; ++member) {
      for (std::uint32_t index = from; index < to; ++index) {
        const auto slot = contributions.find(index);
        if (slot == contributions.end() || !slot->second.contains(member)) bits |= std::uint64_t{1} << member;
      }
    }
    return bits;
  }
};

class RoundWindowModelTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::size_t kMaxSlots = 9;

  void start() {
    model_ = {};
    model_.members = 1 + static_cast<std::uint32_t>(random_.below(kMostMembers));
    model_.window = 1 + static_cast<std::uint32_t>(random_.below(kMaxSlots));
    model_.lane = geometry_.lane;
    model_.lane_count = geometry_.lane_count;
    model_.chunk_elements = geometry_.chunk_elements;
    // At times too small an update to reach this lane.
    update_elements_ = 1 + random_.below(40 * geometry_.lane_count);
    window_.open(++round_, model_.members, model_.window);
  }

  void contribute() {
    const auto member = static_cast<std::uint32_t>(random_.below(model_.members));
    const std::uint32_t base = model_.base();
    const auto ahead = static_cast<std::uint32_t>(random_.below(model_.window + 2));
    const std::uint32_t index = random_.chance(0.1) && base > 0 ? base - 1 : base + ahead;
    const std::uint64_t update = random_.chance(0.03) ? update_elements_ + 1 : update_elements_;
    std::size_t bytes = 4 * model_.elements(index, update);
    if (random_.chance(0.03)) bytes += 4;
    Input input;
    if (random_.chance(0.9)) {
      input.keep = BufferRef::adopt(pool_.allocate());
      input.data = input.keep.data();
    } else {
      input.data = &own_;
    }
    const bool kept = static_cast<bool>(input.keep);
    const std::byte* data = input.data;
    const DropReason expected = model_.judge(member, index, update, bytes);
    const Admission admission = window_.admit(
        member, index, {update, wire::Format::kFp32, wire::Operation::kSum}, input, bytes, ++now_ns_);
    ASSERT_EQ(static_cast<int>(admission.reason), static_cast<int>(expected)) << "index " << index;
    ASSERT_EQ(admission.taken(), expected == DropReason::kNone);
    if (!admission.taken()) {
      ASSERT_EQ(static_cast<bool>(input.keep), kept);
      return;
    }
    ASSERT_FALSE(input.keep);
    bare_ += kept ? 0 : 1;
    bare_at_[index] += kept ? 0 : 1;
    model_.update_elements = update;
    if (model_.first_ns == kNever) model_.first_ns = now_ns_;
    model_.contributions[index][member] = data;
    const bool full = model_.contributions[index].size() == model_.members;
    ASSERT_EQ(admission.state, full ? Admitted::kCompleted : Admitted::kHeld);
  }

  void release() {
    const auto completed = model_.completed();
    if (completed.empty()) return;
    const std::uint32_t index = completed[random_.below(completed.size())];
    const auto inputs = window_.inputs(index);
    ASSERT_EQ(inputs.size(), model_.members);
    for (const auto& [member, data] : model_.contributions[index]) ASSERT_EQ(inputs[member], data);
    ASSERT_EQ(window_.elements(index), model_.elements(index, model_.update_elements));
    window_.release(index);
    model_.done.insert(index);
    bare_ -= bare_at_[index];
    bare_at_.erase(index);
  }

  void stop() {
    window_.close();
    ASSERT_EQ(pool_.in_use(), 0U);
    bare_ = 0;
    bare_at_.clear();
  }

  void compare() {
    const std::uint32_t base = model_.base();
    const std::uint64_t everybody = (std::uint64_t{1} << model_.members) - 1;
    ASSERT_EQ(window_.base(), base);
    ASSERT_EQ(window_.first_contribution_ns(), model_.first_ns);
    ASSERT_EQ(pool_.in_use(), model_.held() - bare_);
    if (model_.update_elements == 0) {
      ASSERT_FALSE(window_.facts_known());
      ASSERT_EQ(window_.granted(), base + model_.window);
      ASSERT_EQ(window_.missing(), everybody);
      ASSERT_FALSE(window_.complete());
      return;
    }
    const std::uint32_t total = model_.total();
    ASSERT_EQ(window_.chunks_total(), total);
    ASSERT_EQ(window_.granted(), std::min(total, base + model_.window));
    ASSERT_EQ(window_.complete(), base == total);
    ASSERT_EQ(window_.missing(), model_.bits_without(0, total));
    ASSERT_EQ(window_.late(), base == total ? 0 : model_.bits_without(base, base + 1));
    completed_rounds_ += window_.complete() ? 1 : 0;
  }

  static constexpr std::size_t kMostMembers = 5;
  Random random_{GetParam()};
  LaneGeometry geometry_{static_cast<std::uint16_t>(GetParam() % 3), 3, 4};
  TestPool pool_;
  RoundWindow window_{geometry_, kMostMembers, kMaxSlots};
  Model model_;
  std::byte own_{};
  std::size_t bare_ = 0;  ///< Held contributions without a buffer.
  std::map<std::uint32_t, std::size_t> bare_at_;
  std::uint64_t update_elements_ = 0;
  std::uint32_t round_ = 0;
  Nanoseconds now_ns_ = 0;
  std::size_t completed_rounds_ = 0;
};

TEST_P(RoundWindowModelTest, AgreesWithTheModelAtEveryStep) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  ASSERT_NO_FATAL_FAILURE(start());
  for (int step = 0; step < 4000; ++step) {
    const double draw = random_.unit();
    if (window_.complete() ? draw < 0.3 : draw < 0.001) {
      ASSERT_NO_FATAL_FAILURE(stop());
      ASSERT_NO_FATAL_FAILURE(start());
    } else if (draw < 0.85) {
      ASSERT_NO_FATAL_FAILURE(contribute());
    } else {
      ASSERT_NO_FATAL_FAILURE(release());
    }
    ASSERT_NO_FATAL_FAILURE(compare());
  }
  EXPECT_GT(completed_rounds_, 5U) << "the sequence must reach the end of rounds to prove anything";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RoundWindowModelTest, testing::Range<std::uint64_t>(1, 25));

}  // namespace
}  // namespace tombolo::aggregation
