#include "aggregation/round_window.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "aggregation/fold/kernel.h"
#include "base/bits.h"
#include "base/check.h"

namespace tombolo::aggregation {
namespace {

/// Chunk numbers have 32 bits on the wire; half of them leaves room for a grant that points behind the last
/// chunk.
constexpr std::uint64_t kMaxUpdateChunks = std::uint64_t{1} << 31;

/// Waiting contributions that each new one makes the window look at: more than one, so that those whose chunk
/// is folded by now, or whose buffer is needed elsewhere, never hold up the others.
constexpr std::size_t kLooksPerArrival = 4;
/// After so many looks a contribution is copied although somebody else has its buffer: two fold points at one
/// site may wait for each other. At ten gigabits a second that is longer than any acknowledgement takes.
constexpr std::uint8_t kMostLooks = 255;

/// Of a contribution whose fold comes next: a larger one is read in order, and the processor finds the rest
/// of it by itself, more quickly than it takes so many orders.
constexpr std::size_t kFetchedAheadBytes = 512;
constexpr std::size_t kLineBytes = 64;

Admission refused(DropReason reason) { return {Admitted::kRefused, reason, false}; }

/// Chunks of a whole update.
std::uint64_t update_chunks(std::uint64_t update_elements, std::uint32_t chunk_elements) {
  return update_elements == 0 ? 0 : (update_elements - 1) / chunk_elements + 1;
}

}  // namespace

std::uint64_t LaneGeometry::lane_chunks(std::uint64_t update_elements) const {
  const std::uint64_t chunks = update_chunks(update_elements, chunk_elements);
  return chunks <= lane ? 1 : (chunks - lane - 1) / lane_count + 1;
}

RoundWindow::RoundWindow(const LaneGeometry& geometry, std::size_t max_members, std::size_t max_slots)
    : geometry_(geometry),
      max_members_(max_members),
      slots_(max_slots),
      data_(max_members * max_slots, nullptr),
      keep_(max_members * max_slots) {
  CHECK(max_members >= 1 && max_members <= kMaxMembers);
  CHECK(max_slots >= 1 && max_slots <= std::numeric_limits<std::uint32_t>::max());
  CHECK(geometry.chunk_elements > 0 && geometry.lane < geometry.lane_count);
}

void RoundWindow::open(std::uint32_t round, std::size_t members, std::uint32_t window_slots) {
  CHECK(!is_open_);
  CHECK(members >= 1 && members <= max_members_);
  CHECK(window_slots >= 1 && window_slots <= slots_.size());
  is_open_ = true;
  facts_known_ = false;
  round_ = round;
  members_ = members;
  window_slots_ = window_slots;
  base_ = 0;
  base_slot_ = 0;
  total_ = 0;
  facts_ = {};
  first_contribution_ns_ = kNever;
  first_member_done_ns_ = kNever;
  held_ = 0;
  next_ = 0;
  next_member_ = 0;
  contributed_.fill(0);
}

void RoundWindow::close() {
  if (!is_open_) return;
  for (std::size_t slot = 0; slot < window_slots_; ++slot) {
    drop_references(slot);
    slots_[slot] = {};
  }
  held_ = 0;
  CHECK(in_arena_ == 0);
  arena_.clear();
  is_open_ = false;
}

Admission RoundWindow::admit(std::size_t member, std::uint32_t index, const Facts& facts, Input& input,
                             std::size_t payload_bytes, Nanoseconds now_ns) {
  if (!is_open_ || index < base_) return refused(DropReason::kRoundClosed);
  CHECK(member < members_ && input.data != nullptr);
  if (index - base_ >= window_slots_) return refused(DropReason::kBeyondGrant);

  std::uint64_t total = 0;
  if (const DropReason reason = check_facts(facts, total); reason != DropReason::kNone)
    return refused(reason);
  const wire::Format format = input.format != wire::Format::kNone ? input.format : facts.format;
  if (index >= total ||
      payload_bytes != fold::payload_bytes(format, elements_of(index, facts.update_elements))) {
    return refused(DropReason::kMismatch);
  }

  Slot& slot = slots_[slot_of(index)];
  const std::uint64_t bit = std::uint64_t{1} << member;
  if ((slot.contributors & bit) != 0) return refused(DropReason::kDuplicateContribution);

  fix_facts(facts, total);
  if (first_contribution_ns_ == kNever) first_contribution_ns_ = now_ns;
  slot.contributors |= bit;
  const std::size_t place = slot_of(index) * max_members_ + member;
  data_[place] = input.data;
  keep_[place] = std::move(input.keep);
  ++held_;
  const bool member_done = ++contributed_[member] == total_;
  if (member_done && first_member_done_ns_ == kNever) first_member_done_ns_ = now_ns;
  const bool last = slot.contributors == all_members();
  if (!last && arena_.exists()) wait(member, index, payload_bytes);
  if (!last && is_cold()) fetch_ahead(payload_bytes);
  return {last ? Admitted::kCompleted : Admitted::kHeld, DropReason::kNone, member_done};
}

/// A contribution lies in its packet for a while; those that have lain there long enough make room.
void RoundWindow::wait(std::size_t member, std::uint32_t index, std::size_t payload_bytes) {
  if (!keep_[slot_of(index) * max_members_ + member]) return;  // The caller's own bytes, wherever they are.
  const Arena::Waiting waiting{index, static_cast<std::uint8_t>(member), 0,
                               static_cast<std::uint16_t>(payload_bytes)};
  if (!arena_.push(waiting)) copy_to_arena(waiting);
  settle(kLooksPerArrival);
}

/// The chunk that is completed next is mostly the one behind the last. With each arrival one member's part of
/// it is asked for, so that the fold does not wait for it.
void RoundWindow::fetch_ahead(std::size_t payload_bytes) {
  if (next_member_ >= members_ || next_ < base_ || next_ - base_ >= window_slots_) return;
  const std::byte* const data = data_[slot_of(next_) * max_members_ + next_member_++];
  if (data == nullptr) return;
  constexpr int kRead = 0, kSecondLevel = 2;
  for (std::size_t line = 0; line < std::min(payload_bytes, kFetchedAheadBytes); line += kLineBytes)
    __builtin_prefetch(data + line, kRead, kSecondLevel);
}

bool RoundWindow::settle(std::size_t most) {
  for (; most > 0 && arena_.is_due(); --most) {
    Arena::Waiting oldest = arena_.pop();
    if (!still_waits(oldest)) continue;
    const BufferRef& keep = keep_[slot_of(oldest.index) * max_members_ + oldest.member];
    if (keep.is_shared() && oldest.looks < kMostLooks) {
      ++oldest.looks;
      if (arena_.push(oldest)) continue;
    }
    copy_to_arena(oldest);
  }
  return arena_.is_due();
}

/// False for one whose chunk has been folded since.
bool RoundWindow::still_waits(const Arena::Waiting& waiting) const {
  if (waiting.index < base_) return false;
  const Slot& slot = slots_[slot_of(waiting.index)];
  return !slot.done && static_cast<bool>(keep_[slot_of(waiting.index) * max_members_ + waiting.member]);
}

void RoundWindow::copy_to_arena(const Arena::Waiting& waiting) {
  const std::size_t slot = slot_of(waiting.index);
  const std::size_t place = slot * max_members_ + waiting.member;
  data_[place] = arena_.store(slot * members_ + waiting.member, {data_[place], waiting.bytes}, !is_cold());
  keep_[place].reset();
  ++in_arena_;
}

std::span<const std::byte* const> RoundWindow::inputs(std::uint32_t index) const {
  CHECK(is_completed(index));
  return {data_.data() + slot_of(index) * max_members_, members_};
}

std::size_t RoundWindow::elements(std::uint32_t index) const {
  CHECK(facts_known_ && index < total_);
  return elements_of(index, facts_.update_elements);
}

void RoundWindow::release(std::uint32_t index) {
  CHECK(is_completed(index));
  drop_references(slot_of(index));
  held_ -= members_;
  next_ = index + 1;
  next_member_ = 0;
  slots_[slot_of(index)].done = true;
  while (slots_[base_slot_].done) {
    slots_[base_slot_] = {};
    ++base_;
    base_slot_ = base_slot_ + 1 < window_slots_ ? base_slot_ + 1 : 0;
  }
}

std::uint32_t RoundWindow::granted() const {
  const std::uint64_t end = std::uint64_t{base_} + window_slots_;
  const std::uint64_t limit = facts_known_ ? total_ : std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(end, limit));
}

std::uint32_t RoundWindow::chunks_total() const {
  CHECK(facts_known_);
  return total_;
}

std::uint64_t RoundWindow::late() const {
  if (complete()) return 0;
  return all_members() & ~slots_[base_slot_].contributors;
}

std::uint64_t RoundWindow::missing() const {
  if (!facts_known_) return all_members();
  std::uint64_t bits = 0;
  for (std::size_t member = 0; member < members_; ++member) {
    if (contributed_[member] < total_) bits |= std::uint64_t{1} << member;
  }
  return bits;
}

/// Whether a round can be about these facts; `total` becomes the lane's chunks.
DropReason RoundWindow::check_facts(const Facts& facts, std::uint64_t& total) const {
  if (facts_known_) {
    total = total_;
    return facts == facts_ ? DropReason::kNone : DropReason::kMismatch;
  }
  const std::uint64_t chunks = update_chunks(facts.update_elements, geometry_.chunk_elements);
  if (chunks == 0 || chunks > kMaxUpdateChunks) return DropReason::kMismatch;
  if (!fold::is_supported(facts.kind())) return DropReason::kMismatch;
  const std::uint64_t widest = std::max(encoded_bytes(facts.format, geometry_.chunk_elements),
                                        encoded_bytes(facts.output(), geometry_.chunk_elements));
  if (widest > geometry_.max_payload_bytes) return DropReason::kMismatch;
  total = geometry_.lane_chunks(facts.update_elements);
  return DropReason::kNone;
}

void RoundWindow::fix_facts(const Facts& facts, std::uint64_t total) {
  facts_known_ = true;
  facts_ = facts;
  total_ = static_cast<std::uint32_t>(total);
}

/// 0 for the one chunk of a lane that a small update does not reach.
std::size_t RoundWindow::elements_of(std::uint32_t index, std::uint64_t update_elements) const {
  const std::uint64_t begin = std::uint64_t{geometry_.chunk_of(index)} * geometry_.chunk_elements;
  if (begin >= update_elements) return 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>(geometry_.chunk_elements, update_elements - begin));
}

bool RoundWindow::is_completed(std::uint32_t index) const {
  if (!is_open_ || index < base_ || index - base_ >= window_slots_) return false;
  const Slot& slot = slots_[slot_of(index)];
  return !slot.done && slot.contributors == all_members();
}

std::uint64_t RoundWindow::all_members() const { return lowest_bits(members_); }

void RoundWindow::drop_references(std::size_t slot) {
  if (slots_[slot].done || slots_[slot].contributors == 0) return;
  for (std::size_t member = 0; member < members_; ++member) {
    if ((slots_[slot].contributors >> member & 1) == 0) continue;
    const std::size_t place = slot * max_members_ + member;
    if (arena_.holds(data_[place])) --in_arena_;
    keep_[place].reset();
    data_[place] = nullptr;
  }
}

}  // namespace tombolo::aggregation
