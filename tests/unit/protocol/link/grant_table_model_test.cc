// Random grants and ends on a GrantTable, compared at every step with maps that remember every round.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "protocol/link/grant_table.h"

namespace tombolo::link {
namespace {

struct Round {
  std::map<std::uint32_t, std::uint32_t> grants;  ///< By child; the largest that it said.
  std::map<std::uint32_t, GrantTable::End> ends;  ///< By child; the first that it said.
  std::uint32_t told = 0;
};

class Model {
 public:
  Model(std::uint32_t period, std::vector<std::uint8_t> children)
      : period_(period), children_(std::move(children)) {}

  /// Whether a round is among those that are kept: no newer round of the tree has taken its place.
  bool is_kept(std::uint16_t tree, std::uint32_t round) const {
    const auto rounds = rounds_.find(tree);
    if (rounds == rounds_.end()) return true;
    return std::none_of(rounds->second.begin(), rounds->second.end(), [&](const auto& other) {
      return other.first > round && place(other.first) == place(round);
    });
  }

  void grant(std::uint16_t tree, std::uint32_t round, std::uint32_t child, std::uint32_t up_to) {
    if (!is_kept(tree, round)) return;
    const std::uint32_t before = merged(tree, round);
    std::uint32_t& largest = rounds_[tree][round].grants[child];
    largest = std::max(largest, up_to);
    if (merged(tree, round) != before) queue(tree, round);
  }

  void end(std::uint16_t tree, std::uint32_t round, std::uint32_t child, const GrantTable::End& end) {
    if (!is_kept(tree, round)) return;
    grant(tree, round, child, GrantTable::kEverything);
    if (rounds_[tree][round].ends.emplace(child, end).second && ended(tree, round)) queue(tree, round);
  }

  std::uint32_t merged(std::uint16_t tree, std::uint32_t round) {
    std::uint32_t least = GrantTable::kEverything;
    for (std::uint32_t child = 0; child < children_[tree]; ++child)
      least = std::min(least, rounds_[tree][round].grants[child]);
    return least;
  }
  bool ended(std::uint16_t tree, std::uint32_t round) {
    return rounds_[tree][round].ends.size() == children_[tree];
  }
  GrantTable::End merged_end(std::uint16_t tree, std::uint32_t round) {
    GrantTable::End result;
    for (const auto& [child, end] : rounds_[tree][round].ends) {
      if (static_cast<int>(end.outcome) > static_cast<int>(result.outcome)) result.outcome = end.outcome;
      result.missing |= end.missing;
    }
    return result;
  }

  std::size_t unfinished() {
    std::size_t count = 0;
    for (const auto& [tree, rounds] : rounds_)
      for (const auto& [round, state] : rounds)
        count += is_kept(tree, round) && state.ends.size() < children_[tree] ? 1 : 0;
    return count;
  }

  std::size_t pending() const { return queue_.size(); }
  /// The round at the head of the queue: the one that is kept now in the place that was queued.
  std::pair<std::uint16_t, std::uint32_t> head() {
    const auto [tree, place_of_head] = queue_.front();
    std::optional<std::uint32_t> newest;
    for (const auto& [round, state] : rounds_[tree])
      if (place(round) == place_of_head) newest = round;
    return {tree, *newest};
  }
  void told() {
    const auto [tree, round] = head();
    rounds_[tree][round].told = merged(tree, round);
    queue_.pop_front();
  }
  void postpone() {
    queue_.push_back(queue_.front());
    queue_.pop_front();
  }
  void tell_again(std::uint16_t tree) {
    for (std::uint32_t p = 0; p < GrantTable::kRounds; ++p)
      for (const auto& [round, state] : rounds_[tree])
        if (place(round) == p && is_kept(tree, round) && merged(tree, round) > 0) queue(tree, round);
  }

  std::uint32_t granted(std::uint16_t tree, std::uint32_t round) {
    return is_kept(tree, round) && rounds_[tree].contains(round) ? rounds_[tree][round].told : 0;
  }
  bool is_over(std::uint16_t tree, std::uint32_t round) {
    return is_kept(tree, round) && rounds_[tree].contains(round) && ended(tree, round);
  }

 private:
  std::uint32_t place(std::uint32_t round) const { return round / period_ % GrantTable::kRounds; }
  void queue(std::uint16_t tree, std::uint32_t round) {
    const std::pair entry{tree, place(round)};
    if (std::find(queue_.begin(), queue_.end(), entry) == queue_.end()) queue_.push_back(entry);
  }

  std::uint32_t period_;
  std::vector<std::uint8_t> children_;
  std::map<std::uint16_t, std::map<std::uint32_t, Round>> rounds_;
  std::deque<std::pair<std::uint16_t, std::uint32_t>> queue_;  ///< Tree and place, each at most once.
};

void compare(GrantTable& table, Model& model, const std::vector<std::uint8_t>& children, std::uint32_t newest,
             std::uint32_t period) {
  ASSERT_EQ(table.pending(), model.pending());
  ASSERT_EQ(table.unfinished(), model.unfinished());
  GrantTable::Upward upward;
  ASSERT_EQ(table.next_upward(upward), model.pending() > 0);
  if (model.pending() > 0) {
    const auto [tree, round] = model.head();
    ASSERT_EQ(upward.tree, tree);
    ASSERT_EQ(upward.round, round);
    ASSERT_EQ(upward.granted, model.merged(tree, round));
    ASSERT_EQ(upward.ended, model.ended(tree, round));
    ASSERT_EQ(upward.end.outcome, model.merged_end(tree, round).outcome);
    ASSERT_EQ(upward.end.missing, model.merged_end(tree, round).missing);
  }
  for (std::uint16_t tree = 0; tree < children.size(); ++tree) {
    if (children[tree] == 0) continue;
    for (std::uint32_t back = 0; back < 7 * period && back <= newest; back += period) {
      const std::uint32_t round = newest - back;
      ASSERT_EQ(table.granted(tree, round), model.granted(tree, round));
      ASSERT_EQ(table.ended(tree, round), model.is_over(tree, round));
      const GrantTable::End* const end = table.end_of(tree, round);
      ASSERT_EQ(end != nullptr, model.is_over(tree, round));
      if (end == nullptr) continue;
      ASSERT_EQ(end->outcome, model.merged_end(tree, round).outcome);
      ASSERT_EQ(end->missing, model.merged_end(tree, round).missing);
    }
  }
}

TEST(GrantTableModel, RandomOperations) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto period = 1 + static_cast<std::uint32_t>(random.below(5));
    std::vector<std::uint8_t> children(1 + random.below(6));
    for (std::uint8_t& count : children) count = static_cast<std::uint8_t>(random.below(6));
    children[0] = random.chance(0.1) ? 64 : 2;
    GrantTable table(period, children);
    Model model(period, children);
    auto newest = static_cast<std::uint32_t>(random.below(period));
    for (int step = 0; step < 1000; ++step) {
      if (random.chance(0.02)) newest += period * (1 + static_cast<std::uint32_t>(random.below(3)));
      const auto tree = static_cast<std::uint16_t>(random.below(children.size()));
      const std::uint32_t round = newest - period * static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                                        newest / period, random.below(6)));
      const std::uint64_t what = random.below(10);
      if (what < 7 && children[tree] > 0) {
        const auto child = static_cast<std::uint32_t>(random.below(children[tree]));
        if (what < 5) {
          const auto up_to =
              random.chance(0.1) ? GrantTable::kEverything : static_cast<std::uint32_t>(random.below(50));
          table.grant(tree, round, child, up_to);
          model.grant(tree, round, child, up_to);
        } else {
          const GrantTable::End end{static_cast<wire::RoundOutcome>(random.below(4)),
                                    std::uint64_t{1} << random.below(64)};
          table.end(tree, round, child, end);
          model.end(tree, round, child, end);
        }
      } else if (what == 7) {
        if (random.chance(0.2)) {
          table.tell_again(tree);
          model.tell_again(tree);
        }
      } else if (model.pending() > 0 && random.chance(0.2)) {
        table.postpone();
        model.postpone();
      } else if (model.pending() > 0) {
        GrantTable::Upward upward;
        ASSERT_TRUE(table.next_upward(upward));
        table.told(upward);
        model.told();
      }
      ASSERT_NO_FATAL_FAILURE(compare(table, model, children, newest, period));
    }
  }
}

}  // namespace
}  // namespace tombolo::link
