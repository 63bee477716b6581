#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "aggregation/arena.h"
#include "aggregation/facts.h"
#include "base/clock.h"
#include "protocol/buffer.h"
#include "protocol/drop_reason.h"
#include "protocol/port.h"
#include "protocol/wire/header.h"

namespace tombolo::aggregation {

/// Most members of a clique: one bit each in a contributor bitmap.
inline constexpr std::size_t kMaxMembers = 64;

/// Where a lane's chunks lie in an update. A chunk's index is its position in its lane: chunk / lane_count.
struct LaneGeometry {
  std::uint16_t lane = 0;
  std::uint16_t lane_count = 1;
  std::uint32_t chunk_elements = 0;
  std::uint32_t max_payload_bytes = kMaxPayloadBytes;  ///< Of a chunk, as a contribution or as a result.

  std::uint32_t chunk_of(std::uint32_t index) const { return index * lane_count + lane; }
  std::uint32_t index_of(std::uint32_t chunk) const { return chunk / lane_count; }
  bool owns(std::uint32_t chunk) const { return chunk % lane_count == lane; }
  /// Chunks of this lane in an update of that many elements (above 0). At least one: where a small update
  /// does not reach a lane, the lane carries one empty chunk, so that its round begins and ends like any
  /// other.
  std::uint64_t lane_chunks(std::uint64_t update_elements) const;
};

/// One member's chunk: its bytes, and what keeps them alive. `keep` is empty when the bytes are the caller's
/// own and stay unchanged until the slot is released or the round is closed (an island that folds its own
/// input).
struct Input {
  const std::byte* data = nullptr;
  BufferRef keep;
  wire::Format format = wire::Format::kNone;  ///< Of the bytes, if they are a partial; kNone: the update's.
};

enum class Admitted : std::uint8_t {
  kRefused,    ///< Not taken; the reason says why.
  kHeld,       ///< Taken; other members' contributions are still missing.
  kCompleted,  ///< Taken, and it was the slot's last: fold inputs(index), then release(index).
};

struct Admission {
  Admitted state = Admitted::kRefused;
  DropReason reason = DropReason::kNone;  ///< kNone unless refused.
  bool member_done = false;               ///< It was the last chunk that the member owed the lane.

  bool taken() const { return state != Admitted::kRefused; }
};

/// The slots of one round, in one lane, at one fold point: who has contributed to which of the chunks
/// [base, base + window), and the references that hold those contributions until they are folded. All memory
/// is reserved by the constructor; a window is opened and closed once per round.
class RoundWindow {
 public:
  /// Reserves room for `max_slots` chunks of `max_members` members (at most kMaxMembers).
  RoundWindow(const LaneGeometry& geometry, std::size_t max_members, std::size_t max_slots);

  /// Gives the window an arena with a cell for each place; without one everything waits in its packet.
  void set_arena(Arena arena) { arena_ = std::move(arena); }

  RoundWindow(RoundWindow&&) = default;
  RoundWindow& operator=(RoundWindow&&) = default;

  /// Starts a round; the window is closed, 1 <= members <= max_members and 1 <= window_slots <= max_slots.
  void open(std::uint32_t round, std::size_t members, std::uint32_t window_slots);
  /// Ends the round, complete or not, and drops every reference. Nothing happens when already closed.
  void close();

  /// Takes member `member`'s chunk `index`. Moves from `input` only when it is taken. Refusals, in this
  /// order: kRoundClosed (the window is closed, or the index is below its base), kBeyondGrant (no slot yet),
  /// kMismatch (the facts differ from the round's, cannot be folded, or do not go with the index or the
  /// payload length), kDuplicateContribution.
  Admission admit(std::size_t member, std::uint32_t index, const Facts& facts, Input& input,
                  std::size_t payload_bytes, Nanoseconds now_ns);

  /// A completed slot's contributions in member order; valid until release(index).
  std::span<const std::byte* const> inputs(std::uint32_t index) const;
  /// Elements of the chunk: chunk_elements, or what is left for the update's last. The facts must be known.
  std::size_t elements(std::uint32_t index) const;
  /// Drops a completed slot's references and marks it done; the base moves over all done slots.
  void release(std::uint32_t index);

  /// Copies contributions that have waited long from their packets into the arena, `most` looks at a time. A
  /// buffer that somebody else keeps, such as the cache of a link that it was forwarded on, is left for
  /// later: the bytes are stored once. admit() does it by itself; whoever has time calls it too. Returns
  /// whether there may be more to do.
  bool settle(std::size_t most);

  bool is_open() const { return is_open_; }
  std::uint32_t round() const { return round_; }
  std::size_t members() const { return members_; }
  std::uint32_t window_slots() const { return window_slots_; }
  /// The lowest index that is not done.
  std::uint32_t base() const { return base_; }
  /// Indexes below this have a slot: base + window, or the lane's total once that is known and lower.
  std::uint32_t granted() const;
  bool facts_known() const { return facts_known_; }
  const Facts& facts() const { return facts_; }
  /// Chunks of the lane in this round. The facts must be known.
  std::uint32_t chunks_total() const;
  /// Every chunk of the lane is folded and released.
  bool complete() const { return facts_known_ && base_ == total_; }
  /// A bit per member that the base slot still waits for: who holds the window back. 0 when complete.
  std::uint64_t late() const;
  /// A bit per member that has not contributed every chunk of the lane; all of them while the facts are
  /// unknown.
  std::uint64_t missing() const;
  /// When the round's first contribution was taken; kNever before.
  Nanoseconds first_contribution_ns() const { return first_contribution_ns_; }
  /// When the first member had contributed every chunk of the lane; kNever before.
  Nanoseconds first_member_done_ns() const { return first_member_done_ns_; }
  /// Contributions that wait in slots.
  std::size_t held() const { return held_; }
  /// More waits than the caches hold, so what is folded next has left them, mostly, and what comes in now
  /// will.
  bool is_cold() const { return held_ * geometry_.max_payload_bytes > kCachedBytes; }
  /// Those of them that wait in the arena; the others hold a packet buffer each.
  std::size_t in_arena() const { return in_arena_; }
  const LaneGeometry& geometry() const { return geometry_; }

 private:
  struct Slot {
    std::uint64_t contributors = 0;  ///< Stays full while the slot is done.
    bool done = false;
  };

  DropReason check_facts(const Facts& facts, std::uint64_t& total) const;
  void fix_facts(const Facts& facts, std::uint64_t total);
  bool is_completed(std::uint32_t index) const;
  std::size_t elements_of(std::uint32_t index, std::uint64_t update_elements) const;
  std::uint64_t all_members() const;
  /// Of an index in [base, base + window). Several times per arrival, so it does not divide.
  std::size_t slot_of(std::uint32_t index) const {
    const std::size_t slot = std::size_t{base_slot_} + (index - base_);
    return slot < window_slots_ ? slot : slot - window_slots_;
  }
  void drop_references(std::size_t slot);
  void wait(std::size_t member, std::uint32_t index, std::size_t payload_bytes);
  void fetch_ahead(std::size_t payload_bytes);
  bool still_waits(const Arena::Waiting& waiting) const;
  void copy_to_arena(const Arena::Waiting& waiting);

  LaneGeometry geometry_;
  std::size_t max_members_;
  std::vector<Slot> slots_;
  std::vector<const std::byte*> data_;  ///< [slot * max_members_ + member].
  std::vector<BufferRef> keep_;         ///< The same; empty for what lies in the arena.
  Arena arena_;

  bool is_open_ = false;
  bool facts_known_ = false;
  std::uint32_t round_ = 0;
  std::size_t members_ = 0;
  std::uint32_t window_slots_ = 0;
  std::uint32_t base_ = 0;
  std::uint32_t base_slot_ = 0;  ///< The slot of `base_`; the slots are a ring.
  std::uint32_t total_ = 0;
  Facts facts_;
  Nanoseconds first_contribution_ns_ = kNever;
  Nanoseconds first_member_done_ns_ = kNever;
  std::size_t held_ = 0;
  std::size_t in_arena_ = 0;
  std::uint32_t next_ = 0;       ///< The chunk that is expected to be completed next.
  std::size_t next_member_ = 0;  ///< Whose part of it is fetched next.
  std::array<std::uint32_t, kMaxMembers> contributed_{};  ///< Chunks taken, by member.
};

}  // namespace tombolo::aggregation
