#include "aggregation/fold_point.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/check.h"

namespace tombolo::aggregation {
namespace {

/// One past the last round number.
constexpr std::uint64_t kNoEnd = std::uint64_t{std::numeric_limits<std::uint32_t>::max()} + 1;

// lint: set-up, runs before the first packet
/// What is wrong with an entry; empty when it is sound.
std::string fault_of(const MemberEntry& entry, std::uint16_t lane_count) {
  if (entry.rests()) return {};
  if (entry.members > kMaxMembers) {
    return std::to_string(entry.members) + " members, at most " + std::to_string(kMaxMembers) +
           " are possible";
  }
  if (entry.self >= entry.members) return "the island's own position lies outside the clique";
  for (std::size_t i = 1; i < entry.members; ++i) {
    if (entry.ranks[i - 1] >= entry.ranks[i]) return "the ranks do not ascend";
  }
  if (entry.window_chunks == 0 || entry.window_chunks % lane_count != 0) {
    return "a window of " + std::to_string(entry.window_chunks) + " chunks is no multiple of " +
           std::to_string(lane_count) + " lanes";
  }
  return {};
}

std::optional<std::uint8_t> position_of(const MemberEntry& entry, std::uint16_t rank) {
  if (entry.rests()) return std::nullopt;
  const auto end = entry.ranks.begin() + entry.members;
  const auto place = std::lower_bound(entry.ranks.begin(), end, rank);
  if (place == end || *place != rank) return std::nullopt;
  return static_cast<std::uint8_t>(place - entry.ranks.begin());
}

/// When the round must be over; kNever before its first contribution.
Nanoseconds deadline_of(const OpenRound& round, std::uint64_t common_ns) {
  const Nanoseconds start = round.window.first_contribution_ns();
  std::uint64_t deadline_ns = round.entry->deadline_ns != 0 ? round.entry->deadline_ns : common_ns;
  if (round.waits_for_others) deadline_ns += std::min(common_ns / 4, kNever - deadline_ns);
  return deadline_ns >= kNever - start ? kNever : start + deadline_ns;
}

}  // namespace

// lint: set-up, runs before the first packet
Result<FoldPoint> FoldPoint::create(const FoldPointConfig& config) {
  const LaneGeometry& geometry = config.geometry;
  if (config.entries.empty()) return invalid_input("the schedule has no entry");
  if (geometry.lane >= geometry.lane_count) {
    return invalid_input("lane " + std::to_string(geometry.lane) + " of " +
                         std::to_string(geometry.lane_count));
  }
  if (geometry.chunk_elements == 0) return invalid_input("a chunk has no elements");
  std::size_t max_members = 1;
  std::size_t max_slots = 1;
  std::size_t max_places = 1;  // Of an entry: slots times members.
  for (std::size_t i = 0; i < config.entries.size(); ++i) {
    const MemberEntry& entry = config.entries[i];
    if (std::string fault = fault_of(entry, geometry.lane_count); !fault.empty()) {
      return invalid_input("schedule entry " + std::to_string(i) + ": " + fault);
    }
    if (entry.rests()) continue;
    max_members = std::max<std::size_t>(max_members, entry.members);
    const std::size_t slots = entry.window_chunks / geometry.lane_count;
    max_slots = std::max(max_slots, slots);
    max_places = std::max(max_places, slots * entry.members);
  }
  MappedMemory arena;
  if (config.held_bytes != kHoldAll) {
    const std::size_t bytes = kMaxOpenRounds * max_places * Arena::cell_bytes(geometry.max_payload_bytes);
    arena = MappedMemory::map(bytes);
    if (arena.data() == nullptr)
      return Error{ErrorCode::kUnavailable, "no memory for an arena of " + std::to_string(bytes) + " bytes"};
  }
  return FoldPoint(config, max_members, max_slots, max_places, std::move(arena));
}

// lint: set-up, runs before the first packet
FoldPoint::FoldPoint(const FoldPointConfig& config, std::size_t max_members, std::size_t max_slots,
                     std::size_t max_places, MappedMemory arena)
    : config_(config),
      chunk_fold_({config.instruction_set, config.non_finite, max_members, config.geometry.max_payload_bytes,
                   config.narrow_partials}),
      arena_(std::move(arena)),
      next_round_(config.first_round),
      end_round_(kNoEnd) {
  storage_.reserve(kMaxOpenRounds);
  for (std::size_t i = 0; i < kMaxOpenRounds; ++i) {
    storage_.push_back({RoundWindow(config.geometry, max_members, max_slots)});
    if (arena_.data() == nullptr) continue;
    const std::uint32_t payload_bytes = config.geometry.max_payload_bytes;
    std::byte* const share = arena_.data() + i * max_places * Arena::cell_bytes(payload_bytes);
    storage_.back().window.set_arena(
        Arena(share, max_places, payload_bytes, held_buffers(config.held_bytes, payload_bytes)));
  }
  always_rests_ = std::all_of(config.entries.begin(), config.entries.end(),
                              [](const MemberEntry& entry) { return entry.rests(); });
}

OpenRounds FoldPoint::advance() {
  OpenRounds opened;
  while (open_.count_ < kMaxOpenRounds && skip_rests()) {
    const auto round = static_cast<std::uint32_t>(next_round_++);
    OpenRound& place = free_place();
    place.entry = &entry(round);
    place.granted_sent = 0;
    place.is_told = false;
    place.waits_for_others = false;
    place.window.open(round, place.entry->members, place.entry->window_chunks / config_.geometry.lane_count);
    highest_opened_ = round;
    open_.rounds_[open_.count_++] = &place;
    opened.rounds_[opened.count_++] = &place;
  }
  return opened;
}

PointAdmission FoldPoint::admit(std::uint32_t round, std::uint16_t rank, std::uint32_t chunk,
                                const Facts& facts, Input& input, std::size_t payload_bytes,
                                Nanoseconds now_ns) {
  const auto refused = [](DropReason reason) { return Admission{Admitted::kRefused, reason, false}; };
  PointAdmission result;
  if (!config_.geometry.owns(chunk)) {
    result.admission = refused(DropReason::kWrongLane);
    return result;
  }
  result.index = config_.geometry.index_of(chunk);
  result.round = find(round);
  if (result.round == nullptr) {
    const bool to_come = round >= next_round_ && round < end_round_;
    result.admission = refused(to_come ? DropReason::kRoundNotOpen : DropReason::kRoundClosed);
    return result;
  }
  if (facts.operation == wire::Operation::kWeighted && !result.round->entry->has_weights) {
    result.admission = refused(DropReason::kMismatch);
    return result;
  }
  const auto member = position_of(*result.round->entry, rank);
  result.admission =
      member ? result.round->window.admit(*member, result.index, facts, input, payload_bytes, now_ns)
             : refused(DropReason::kWrongRank);
  return result;
}

FoldedChunk FoldPoint::fold(OpenRound& round, std::uint32_t index, std::byte* out, FoldPart part) {
  RoundWindow& window = round.window;
  part.cold = window.is_cold();
  const FoldedChunk folded = chunk_fold_.fold(window.facts(), window.inputs(index), window.elements(index),
                                              round.entry->weights.data(), out, part);
  window.release(index);
  return folded;
}

bool FoldPoint::settle() {
  constexpr std::size_t kLooksPerTurn = 8;
  bool more = false;
  for (OpenRound* const round : open_) more = round->window.settle(kLooksPerTurn) || more;
  return more;
}

OpenRounds FoldPoint::expire(Nanoseconds now_ns) const {
  OpenRounds expired;
  for (OpenRound* round : open_) {
    const Nanoseconds deadline = deadline_of(*round, config_.deadline_ns);
    if (deadline != kNever && deadline <= now_ns) expired.rounds_[expired.count_++] = round;
  }
  return expired;
}

Nanoseconds FoldPoint::next_deadline_ns() const {
  Nanoseconds next = kNever;
  for (const OpenRound* round : open_) next = std::min(next, deadline_of(*round, config_.deadline_ns));
  return next;
}

OpenRounds FoldPoint::stop_before(std::uint32_t round) {
  end_round_ = std::min<std::uint64_t>(end_round_, round);
  OpenRounds superseded;
  for (OpenRound* open : open_) {
    if (open->window.round() >= end_round_) superseded.rounds_[superseded.count_++] = open;
  }
  return superseded;
}

bool FoldPoint::skip(std::uint32_t first, std::uint32_t last, std::uint32_t entry) {
  if (last < next_round_ || always_rests_) return true;
  if (skip_count_ == skips_.size()) return false;
  skips_[skip_count_++] = {first, last, entry};
  return true;
}

bool FoldPoint::close(std::uint32_t round, wire::RoundOutcome outcome) {
  for (std::size_t i = 0; i < open_.count_; ++i) {
    if (open_.rounds_[i]->window.round() != round) continue;
    open_.rounds_[i]->window.close();
    std::copy(open_.rounds_.begin() + i + 1, open_.rounds_.begin() + open_.count_, open_.rounds_.begin() + i);
    open_.rounds_[--open_.count_] = nullptr;
    ++closed_[static_cast<std::size_t>(outcome)];
    return true;
  }
  return false;
}

bool FoldPoint::grant_due(const OpenRound& round) {
  const std::uint32_t granted = round.window.granted();
  if (granted <= round.granted_sent) return false;
  if (round.granted_sent == 0) return true;
  // Near the lane's end the window cannot move by a whole step any more, and the last chunks must be granted
  // too.
  const bool final_grant = round.window.facts_known() && granted == round.window.chunks_total();
  const std::uint32_t step = std::max<std::uint32_t>(1, round.window.window_slots() / kGrantParts);
  return final_grant || granted - round.granted_sent >= step;
}

void FoldPoint::mark_granted(OpenRound& round) { round.granted_sent = round.window.granted(); }

OpenRound* FoldPoint::find(std::uint32_t round) const {
  for (OpenRound* open : open_) {
    if (open->window.round() == round) return open;
  }
  return nullptr;
}

std::optional<std::uint8_t> FoldPoint::member_index(std::uint32_t round, std::uint16_t rank) const {
  if (round < config_.first_round) return std::nullopt;
  return position_of(entry(round), rank);
}

const MemberEntry& FoldPoint::entry(std::uint32_t round) const {
  CHECK(round >= config_.first_round);
  return config_.entries[entry_index(round)];
}

std::uint64_t FoldPoint::closed(wire::RoundOutcome outcome) const {
  return closed_[static_cast<std::size_t>(outcome)];
}

/// Moves next_round_ to a round in which the island takes part; false when none is left below the end. At
/// most one period of steps for each range that was given up, and one more.
bool FoldPoint::skip_rests() {
  if (always_rests_) return false;
  do {
    while (next_round_ < end_round_ && entry(static_cast<std::uint32_t>(next_round_)).rests()) ++next_round_;
  } while (skip_given_up());
  return next_round_ < end_round_;
}

/// Moves next_round_ over what was given up; true if it moved. Ranges that lie behind it are forgotten.
bool FoldPoint::skip_given_up() {
  const std::uint64_t before = next_round_;
  for (std::size_t i = 0; i < skip_count_;) {
    const Range& range = skips_[i];
    if (range.first <= next_round_ && next_round_ <= range.last) {
      if (range.entry == kAnyEntry)
        next_round_ = std::uint64_t{range.last} + 1;
      else if (entry_index(next_round_) == range.entry)
        ++next_round_;
    }
    if (range.last < next_round_)
      skips_[i] = skips_[--skip_count_];
    else
      ++i;
  }
  return next_round_ != before;
}

std::uint32_t FoldPoint::entry_index(std::uint64_t round) const {
  return static_cast<std::uint32_t>((round - config_.first_round) % config_.entries.size());
}

OpenRound& FoldPoint::free_place() {
  for (OpenRound& place : storage_) {
    if (!place.window.is_open()) return place;
  }
  CHECK(false && "advance() opens a round only while fewer than the most are open");
  return storage_.front();
}

}  // namespace tombolo::aggregation
