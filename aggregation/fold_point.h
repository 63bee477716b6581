#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "aggregation/chunk_fold.h"
#include "aggregation/round_window.h"
#include "base/clock.h"
#include "base/result.h"
#include "protocol/drop_reason.h"
#include "protocol/mapped_memory.h"
#include "protocol/wire/header.h"

namespace tombolo::aggregation {

/// Rounds that a fold point keeps open at once.
inline constexpr std::size_t kMaxOpenRounds = 2;

/// One schedule entry as one fold point sees it: that of an island, or of a site in a tree, where the inputs
/// take the members' place.
struct MemberEntry {
  std::uint8_t members = 0;                                ///< Of the island's clique; 0: the island rests.
  std::uint8_t self = 0;                                   ///< The island's own position among them.
  std::array<std::uint16_t, kMaxMembers> ranks{};          ///< In fold order: ascending.
  std::array<std::uint16_t, kMaxMembers> receive_trees{};  ///< On which each member's chunks arrive.
  std::uint32_t window_chunks = 0;                         ///< Over all lanes; a multiple of the lane count.
  bool has_weights = false;                                ///< Whether a weighted round is possible.
  std::array<float, kMaxMembers> weights{};                ///< By member.
  /// The island's clique folds on a tree: not here.
  bool on_tree = false;
  /// A round's longest life after its first contribution; 0: as the fold point's configuration says.
  std::uint64_t deadline_ns = 0;

  bool rests() const { return members == 0 || on_tree; }
};

struct FoldPointConfig {
  /// The schedule's period: round r uses entries[(r - first_round) mod period]. Belongs to the epoch's
  /// tables, which outlive the fold point.
  std::span<const MemberEntry> entries;
  std::uint32_t first_round = 0;
  LaneGeometry geometry;
  std::uint64_t deadline_ns = kNever;  ///< A round's longest life after its first contribution.
  fold::InstructionSet instruction_set = fold::InstructionSet::kBaseline;
  NonFinitePolicy non_finite = NonFinitePolicy::kPropagate;
  bool narrow_partials = false;  ///< Partials have the update's format; otherwise fp32.
  /// Contributions within that many bytes wait in their packets, others in the arena. kHoldAll: no arena.
  std::uint32_t held_bytes = kHoldAll;
};

/// Contributions of one window that wait in their packets, in buffers that nobody else needs.
constexpr std::uint32_t held_buffers(std::uint32_t held_bytes, std::uint32_t max_payload_bytes) {
  constexpr std::uint32_t kLeast = 8;  // Those of one burst's neighbours, however large the packets are.
  return std::max(kLeast, held_bytes / std::max<std::uint32_t>(max_payload_bytes, 1));
}

/// A round that is open: its window, its entry, and the last grant that was sent for it.
struct OpenRound {
  RoundWindow window;
  const MemberEntry* entry = nullptr;
  std::uint32_t granted_sent = 0;  ///< In lane indexes; 0 before the first grant.
  bool is_told = false;            ///< All is folded, and the round stays open until others are done with it.
  /// Nobody that contributes here is to blame: others are waited for. The round then lives a quarter of a
  /// deadline longer, in which they may say who it is.
  bool waits_for_others = false;
};

/// The open rounds, older first; a copy, so that rounds may be closed while it is walked. A pointer is good
/// until its round is closed.
class OpenRounds {
 public:
  OpenRound* const* begin() const { return rounds_.data(); }
  OpenRound* const* end() const { return rounds_.data() + count_; }
  std::size_t size() const { return count_; }
  OpenRound* operator[](std::size_t i) const { return rounds_[i]; }

 private:
  friend class FoldPoint;
  std::array<OpenRound*, kMaxOpenRounds> rounds_{};
  std::size_t count_ = 0;
};

struct PointAdmission {
  Admission admission;
  OpenRound* round = nullptr;  ///< Set when the packet's round is open, taken or not.
  std::uint32_t index = 0;     ///< The chunk's position in its lane.
};

/// Which rounds one island's fold point has open, in one lane, in one epoch. It opens the island's rounds in
/// order, two at a time, and keeps no trace of closed ones, so rounds go on for ever in constant memory. It
/// sends nothing and calls nobody: the edge or the island that drives it acts on what it returns.
class FoldPoint {
 public:
  /// Reserves two windows of the largest size that an entry asks for, and their arena.
  /// Errors: kInvalidInput, naming the entry and what is wrong with it; kUnavailable without memory.
  static Result<FoldPoint> create(const FoldPointConfig& config);
  FoldPoint(FoldPoint&&) = default;
  FoldPoint& operator=(FoldPoint&&) = default;

  /// Opens rounds until two are open or none is left below the end; returns those that it opened, older
  /// first.
  OpenRounds advance();

  /// Finds the round and the member and admits the chunk (numbered over all lanes). Moves from `input` only
  /// when it is taken. Refusals: kWrongLane, kRoundNotOpen (later than what is open), kRoundClosed (earlier,
  /// or at or behind the end of the epoch), kWrongRank (not in the clique), kMismatch (weighted, but the
  /// entry has no weights), and those of RoundWindow::admit.
  PointAdmission admit(std::uint32_t round, std::uint16_t rank, std::uint32_t chunk, const Facts& facts,
                       Input& input, std::size_t payload_bytes, Nanoseconds now_ns);

  /// Folds a completed chunk into `out`, which has room for the geometry's max_payload_bytes, and releases
  /// its slot.
  FoldedChunk fold(OpenRound& round, std::uint32_t index, std::byte* out, FoldPart part = {});
  /// What the last folded chunk found at each member; see ChunkFold::found().
  std::span<const fold::NonFinite> non_finite() const { return chunk_fold_.found(); }

  /// Copies what has waited long out of its packets; see RoundWindow::settle. True if there may be more.
  bool settle();
  std::uint64_t arena_bytes() const { return arena_.bytes(); }

  /// The open rounds whose deadline has passed. They stay open until the caller closes them.
  OpenRounds expire(Nanoseconds now_ns) const;
  /// When expire() will have something to say if nothing else happens; kNever when no round has begun.
  Nanoseconds next_deadline_ns() const;

  /// The epoch ends before `round`: none at or behind it is opened any more. Returns the open ones that are,
  /// for the caller to close as superseded. A later end than a known one changes nothing.
  OpenRounds stop_before(std::uint32_t round);

  /// The island takes no part in the rounds first .. last, or in those of them that use one schedule entry:
  /// those that are not open yet are never opened. False, and nothing changes, when kMaxSkips such ranges are
  /// still to come.
  static constexpr std::size_t kMaxSkips = 8;
  static constexpr std::uint32_t kAnyEntry = 0xffffffff;
  bool skip(std::uint32_t first, std::uint32_t last, std::uint32_t entry = kAnyEntry);

  /// Ends an open round, drops its references and counts the outcome; false when it is not open. The next
  /// round opens with the next advance().
  bool close(std::uint32_t round, wire::RoundOutcome outcome);

  /// A grant is renewed when this part of the window has come free since the last one.
  static constexpr std::uint32_t kGrantParts = 8;

  /// True when the source of a round should hear how far it may send: at first, whenever an eighth of the
  /// window has come free, and for the last chunks of the lane.
  static bool grant_due(const OpenRound& round);
  static void mark_granted(OpenRound& round);

  /// The open rounds, older first.
  OpenRounds open_rounds() const { return open_; }
  /// The open round of that number, or nullptr.
  OpenRound* find(std::uint32_t round) const;
  /// The highest round that was ever opened here.
  std::optional<std::uint32_t> highest_opened() const { return highest_opened_; }
  /// The rank's position in the clique of that round (open or not); nothing when the island rests or the rank
  /// is a stranger.
  std::optional<std::uint8_t> member_index(std::uint32_t round, std::uint16_t rank) const;
  /// The entry of a round at or behind first_round.
  const MemberEntry& entry(std::uint32_t round) const;
  /// Rounds closed with that outcome.
  std::uint64_t closed(wire::RoundOutcome outcome) const;

  const LaneGeometry& geometry() const { return config_.geometry; }

 private:
  static constexpr std::size_t kOutcomes = 5;

  FoldPoint(const FoldPointConfig& config, std::size_t max_members, std::size_t max_slots,
            std::size_t max_places, MappedMemory arena);
  bool skip_rests();
  bool skip_given_up();
  std::uint32_t entry_index(std::uint64_t round) const;
  OpenRound& free_place();

  FoldPointConfig config_;
  ChunkFold chunk_fold_;
  MappedMemory arena_;
  std::vector<OpenRound> storage_;  ///< kMaxOpenRounds of them, open or not; never resized.
  OpenRounds open_;
  std::uint64_t next_round_;  ///< 64 bits: it may stand behind the last round number.
  std::uint64_t end_round_;
  bool always_rests_ = true;
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t entry = kAnyEntry;
  };
  std::array<Range, kMaxSkips> skips_{};  ///< Given up by the island and still to come, in no order.
  std::size_t skip_count_ = 0;
  std::optional<std::uint32_t> highest_opened_;
  std::array<std::uint64_t, kOutcomes> closed_{};
};

}  // namespace tombolo::aggregation
