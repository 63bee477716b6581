#include "island/operation.h"

#include <algorithm>

#include "aggregation/fold/kernel.h"

namespace tombolo::island {
namespace {

/// Chunk numbers have 32 bits; a fold point keeps half of them, so that a grant may point behind the last.
constexpr std::uint64_t kMaxChunks = std::uint64_t{1} << 31;

/// The edge knows best who is missing, so it has the first word: without it, the island gives up this much
/// later than the epoch says, but never more than a second.
constexpr std::uint64_t kGraceParts = 8;

Nanoseconds later(Nanoseconds at_ns, Nanoseconds by_ns) {
  return by_ns >= kNever - at_ns ? kNever : at_ns + by_ns;
}

}  // namespace

Operation::Operation(std::uint64_t operation_id, const Allreduce& asked, Nanoseconds now_ns)
    : id(operation_id), request(asked), input_(asked.input) {
  outcome.called_ns = now_ns;
  if (asked.deadline_ns != 0) deadline_at_ns = later(now_ns, asked.deadline_ns);
  if (asked.input != asked.output) return;
  const std::size_t bytes = fold::payload_bytes(asked.format, asked.count);
  copy_.assign(asked.input, asked.input + bytes);
  input_ = copy_.data();
}

bool Operation::fits(const EpochView& epoch_view) const {
  return (request.count - 1) / epoch_view.chunk_elements() < kMaxChunks;
}

void Operation::start_deadline(Nanoseconds now_ns) {
  if (view == nullptr || request.deadline_ns != 0 || deadline_at_ns != kNever) return;
  const Nanoseconds deadline_ns = view->deadline_ns();
  deadline_at_ns = later(later(now_ns, deadline_ns), std::min(deadline_ns / kGraceParts, kSecond));
}

void Operation::bind(EpochView& epoch_view) {
  view = &epoch_view;
  entry = &epoch_view.entry_of(request.round);
  lanes_ = epoch_view.lane_count();
  const std::uint64_t size = epoch_view.chunk_elements();
  // Every lane carries at least one chunk, an empty one if need be, so that a round ends in all of them.
  chunks_ = std::max<std::uint64_t>((request.count + size - 1) / size, lanes_);
  has_result_.assign(chunks_, false);
  unreleased_ = entry->send_tree_count * lanes_;
  released_.assign(unreleased_, false);
  cursors_.assign(unreleased_, 0);
  own_cursors_.assign(lanes_, 0);
  results_ = 0;
  outcome.epoch = epoch_view.epoch();
  outcome.clique.assign(entry->rank.begin(), entry->rank.begin() + entry->members);
  outcome.stage = Stage::kRunning;
  if (request.deadline_ns == 0) deadline_at_ns = kNever;
}

std::size_t Operation::elements(std::uint64_t chunk) const {
  const std::uint64_t size = view->chunk_elements();
  const std::uint64_t first = std::min(chunk * size, request.count);
  return static_cast<std::size_t>(std::min(size, request.count - first));
}

std::uint32_t Operation::lane_chunks(std::uint16_t lane) const {
  return static_cast<std::uint32_t>(view->geometry(lane).lane_chunks(request.count));
}

bool Operation::mark_result(std::uint64_t chunk) {
  if (has_result_[chunk]) return false;
  has_result_[chunk] = true;
  ++results_;
  return true;
}

bool Operation::mark_released(std::size_t position, std::uint16_t lane) {
  const std::size_t which = position * lanes_ + lane;
  if (released_[which]) return false;
  released_[which] = true;
  return --unreleased_ == 0;
}

std::uint64_t Operation::offset(std::uint64_t chunk) const {
  const std::uint64_t first = std::min(chunk * view->chunk_elements(), request.count);
  return fold::payload_bytes(request.format, static_cast<std::size_t>(first));
}

}  // namespace tombolo::island
