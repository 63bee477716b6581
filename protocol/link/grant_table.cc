#include "protocol/link/grant_table.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "base/check.h"
#include "base/serial.h"

namespace tombolo::link {
namespace {

constexpr std::uint32_t kMaxChildren = 64;

/// The worse of two outcomes: their numbers are in that order, complete first.
wire::RoundOutcome worse(wire::RoundOutcome a, wire::RoundOutcome b) { return std::max(a, b); }

}  // namespace

// lint: set-up, runs before the first packet
GrantTable::GrantTable(std::uint32_t period, std::span<const std::uint8_t> children)
    : period_(period),
      trees_(children.size()),
      instances_(children.size() * kRounds),
      pending_(children.size() * kRounds + 1) {
  CHECK(period > 0);
  std::uint32_t next = 0;
  for (std::size_t tree = 0; tree < children.size(); ++tree) {
    CHECK(children[tree] <= kMaxChildren);
    trees_[tree] = {children[tree], next};
    next += children[tree] * kRounds;
  }
  grants_.resize(next);
}

void GrantTable::grant(std::uint16_t tree, std::uint32_t round, std::uint32_t child, std::uint32_t up_to) {
  CHECK(tree < trees_.size() && child < trees_[tree].children);
  Instance* const instance = use(tree, round);
  if (instance == nullptr) return;
  std::uint32_t& grant =
      grants_[trees_[tree].first_child + (round / period_) % kRounds * trees_[tree].children + child];
  if (up_to <= grant) return;
  grant = up_to;
  merge(tree, *instance);
}

void GrantTable::end(std::uint16_t tree, std::uint32_t round, std::uint32_t child, const End& end) {
  grant(tree, round, child, kEverything);
  Instance* const instance = use(tree, round);
  if (instance == nullptr) return;
  const std::uint64_t bit = std::uint64_t{1} << child;
  if ((instance->done & bit) != 0) return;
  instance->done |= bit;
  instance->end.outcome = worse(instance->end.outcome, end.outcome);
  instance->end.missing |= end.missing;
  if (!all_done(trees_[tree], *instance)) return;
  --unfinished_;
  queue(tree, *instance);
}

void GrantTable::lose(std::uint16_t tree, std::uint64_t children) {
  CHECK(tree < trees_.size());
  trees_[tree].lost |= children;
  for (std::uint32_t i = 0; i < kRounds; ++i) {
    Instance& instance = instances_[std::uint32_t{tree} * kRounds + i];
    if (instance.used && !all_done(trees_[tree], instance)) end_lost(tree, instance);
  }
}

void GrantTable::end_lost(std::uint16_t tree, Instance& instance) {
  for (std::uint64_t left = trees_[tree].lost & ~instance.done; left != 0; left &= left - 1)
    end(tree, instance.round, static_cast<std::uint32_t>(std::countr_zero(left)),
        {wire::RoundOutcome::kLost, 0});
}

std::uint32_t GrantTable::granted(std::uint16_t tree, std::uint32_t round) const {
  const Instance* const instance = find(tree, round);
  return instance == nullptr ? 0 : instance->told;
}

const GrantTable::End* GrantTable::end_of(std::uint16_t tree, std::uint32_t round) const {
  const Instance* const instance = find(tree, round);
  return instance != nullptr && all_done(trees_[tree], *instance) ? &instance->end : nullptr;
}

bool GrantTable::next_upward(Upward& upward) const {
  if (pending_count_ == 0) return false;
  const std::uint32_t index = pending_[pending_head_];
  const Instance& instance = instances_[index];
  upward.tree = static_cast<std::uint16_t>(index / kRounds);
  upward.round = instance.round;
  upward.granted = instance.merged;
  upward.ended = all_done(trees_[upward.tree], instance);
  upward.end = instance.end;
  return true;
}

void GrantTable::told(const Upward& upward) {
  CHECK(pending_count_ > 0);
  Instance& instance = instances_[pending_[pending_head_]];
  pending_head_ = (pending_head_ + 1) % pending_.size();
  --pending_count_;
  instance.queued = false;
  instance.told = upward.granted;
}

void GrantTable::postpone() {
  CHECK(pending_count_ > 0);
  const std::uint32_t index = pending_[pending_head_];
  pending_head_ = (pending_head_ + 1) % pending_.size();
  pending_[(pending_head_ + pending_count_ - 1) % pending_.size()] = index;
}

void GrantTable::tell_again(std::uint16_t tree) {
  for (std::uint32_t i = 0; i < kRounds; ++i) {
    Instance& instance = instances_[std::uint32_t{tree} * kRounds + i];
    if (instance.used && instance.merged > 0) queue(tree, instance);
  }
}

GrantTable::Instance* GrantTable::use(std::uint16_t tree, std::uint32_t round) {
  Instance& instance = instances_[slot(tree, round)];
  if (instance.used && instance.round == round) return &instance;
  if (instance.used && serial_before(round, instance.round)) return nullptr;
  if (!instance.used || all_done(trees_[tree], instance)) ++unfinished_;  // Else one takes another's place.
  const bool queued = instance.queued;  // Its place in the ring now stands for the newer round.
  instance = Instance{};
  instance.used = true;
  instance.queued = queued;
  instance.round = round;
  const std::uint32_t children = trees_[tree].children;
  const auto first = grants_.begin() + trees_[tree].first_child + (round / period_) % kRounds * children;
  std::fill(first, first + children, 0);
  end_lost(tree, instance);
  return &instance;
}

const GrantTable::Instance* GrantTable::find(std::uint16_t tree, std::uint32_t round) const {
  const Instance& instance = instances_[slot(tree, round)];
  return instance.used && instance.round == round ? &instance : nullptr;
}

void GrantTable::merge(std::uint16_t tree, Instance& instance) {
  const std::uint32_t children = trees_[tree].children;
  const auto first =
      grants_.begin() + trees_[tree].first_child + (instance.round / period_) % kRounds * children;
  const std::uint32_t least = *std::min_element(first, first + children);
  if (least == instance.merged) return;
  instance.merged = least;
  queue(tree, instance);
}

void GrantTable::queue(std::uint16_t tree, Instance& instance) {
  if (instance.queued) return;
  instance.queued = true;
  CHECK(pending_count_ < pending_.size());
  pending_[(pending_head_ + pending_count_) % pending_.size()] = slot(tree, instance.round);
  ++pending_count_;
}

bool GrantTable::all_done(const Tree& tree, const Instance& instance) const {
  return tree.children > 0 && instance.done == lowest_bits(tree.children);
}

}  // namespace tombolo::link
