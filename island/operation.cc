#include "island/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "aggregation/fold/format.h"
#include "base/bits.h"

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

/// Where a chunk's blocks lie in a whole update and in a payload: each has its scales behind its elements.
struct MxPlace {
  std::size_t first_block = 0;  ///< In the update.
  std::size_t blocks = 0;       ///< Of the chunk.
  std::size_t update_blocks = 0;

  std::size_t elements_at() const { return first_block * fold::kMxBlockElements; }
  std::size_t scales_at() const { return update_blocks * fold::kMxBlockElements + first_block; }
  std::size_t element_bytes() const { return blocks * fold::kMxBlockElements; }
};

MxPlace mx_place(std::uint64_t first_element, std::size_t elements, std::uint64_t count) {
  const auto blocks = [](std::uint64_t of) {
    return (of + fold::kMxBlockElements - 1) / fold::kMxBlockElements;
  };
  return {blocks(first_element), blocks(elements), blocks(count)};
}

}  // namespace

Operation::Operation(std::uint64_t operation_id, const Allreduce& asked, Nanoseconds now_ns)
    : id(operation_id), request(asked), input_(asked.input) {
  outcome.called_ns = now_ns;
  if (asked.deadline_ns != 0) deadline_at_ns = later(now_ns, asked.deadline_ns);
  if (fold::is_mx(asked.format)) arranged_.resize(asked.input_bytes());
  if (asked.input != asked.output) return;
  copy_.assign(asked.input, asked.input + asked.input_bytes());
  input_ = copy_.data();
}

std::string Operation::misfit(const EpochView& epoch_view) const {
  const std::uint32_t elements = epoch_view.chunk_elements();
  if ((request.count - 1) / elements >= kMaxChunks)
    return fmt::format("{} elements are too many for chunks of {}", request.count, elements);
  for (const wire::Format format : {request.format, request.output_format()})
    if (encoded_bytes(format, elements) > epoch_view.max_payload_bytes())
      return fmt::format("a chunk of {} elements in {} takes {} bytes; the epoch's packets carry {}",
                         elements, name(format), encoded_bytes(format, elements),
                         epoch_view.max_payload_bytes());
  const wire::Config& config = epoch_view.entry_of(request.round);
  if (request.operation == wire::Operation::kWeighted && config.members > 0 && !config.has_weights)
    return "the schedule gives no weights";
  return {};
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
  if (!arranged_.empty()) is_arranged_.assign(chunks_, false);
  if (fold::is_mx(request.output_format())) scratch_.resize(epoch_view.max_payload_bytes());
  unreleased_ = entry->send_tree_count * lanes_;
  released_.assign(unreleased_, false);
  cursors_.assign(unreleased_, 0);
  own_cursors_.assign(lanes_, 0);
  results_ = 0;
  outcome.epoch = epoch_view.epoch();
  outcome.clique.assign(entry->rank.begin(), entry->rank.begin() + entry->members);
  outcome.chunk_elements = epoch_view.chunk_elements();
  outcome.weights.clear();
  if (request.operation == wire::Operation::kWeighted && entry->has_weights)
    outcome.weights.assign(entry->weight.begin(), entry->weight.begin() + entry->members);
  outcome.weight_sum = weight_sum(~std::uint64_t{0});
  outcome.rejections.clear();
  rejected_ = 0;
  outcome.stage = Stage::kRunning;
  if (request.deadline_ns == 0) deadline_at_ns = kNever;
}

std::size_t Operation::elements(std::uint64_t chunk) const {
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(view->chunk_elements(), request.count - first_element(chunk)));
}

const std::byte* Operation::input(std::uint64_t chunk) {
  const std::uint64_t first = first_element(chunk);
  if (arranged_.empty()) return input_ + encoded_bytes(request.format, first);
  // The chunks of a lane that a small update does not reach are empty and lie behind its last block.
  std::byte* const payload = arranged_.data() + encoded_bytes(request.format, first);
  if (is_arranged_[chunk]) return payload;
  is_arranged_[chunk] = true;
  const MxPlace place = mx_place(first, elements(chunk), request.count);
  std::memcpy(payload, input_ + place.elements_at(), place.element_bytes());
  std::memcpy(payload + place.element_bytes(), input_ + place.scales_at(), place.blocks);
  return payload;
}

std::byte* Operation::result_place(std::uint64_t chunk) {
  if (!scratch_.empty()) return scratch_.data();
  return request.output + encoded_bytes(request.output_format(), first_element(chunk));
}

void Operation::keep_result(std::uint64_t chunk, const std::byte* payload) {
  const std::uint64_t first = first_element(chunk);
  const std::size_t count = elements(chunk);
  if (scratch_.empty()) {
    std::byte* const to = result_place(chunk);
    if (payload != to && count > 0) std::memcpy(to, payload, encoded_bytes(request.output_format(), count));
    return;
  }
  const MxPlace place = mx_place(first, count, request.count);
  std::memcpy(request.output + place.elements_at(), payload, place.element_bytes());
  std::memcpy(request.output + place.scales_at(), payload + place.element_bytes(), place.blocks);
}

void Operation::note_contributors(std::uint64_t chunk, std::uint64_t contributors) {
  const std::uint64_t all = lowest_bits(entry->members);
  contributors &= all;
  if (contributors == all) return;
  outcome.rejections.push_back(
      {first_element(chunk), elements(chunk), contributors, weight_sum(contributors)});
  rejected_ |= all & ~contributors;
}

void Operation::name_contributors() {
  for (std::size_t member = 0; member < entry->members; ++member)
    ((rejected_ >> member & 1) == 0 ? outcome.contributors : outcome.rejected).push_back(entry->rank[member]);
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

std::uint64_t Operation::first_element(std::uint64_t chunk) const {
  return std::min(chunk * view->chunk_elements(), request.count);
}

/// Added up in fold order, in fp32, like everything that is folded; 0 without weights.
float Operation::weight_sum(std::uint64_t members) const {
  float sum = 0;
  if (request.operation != wire::Operation::kWeighted || !entry->has_weights) return sum;
  for (std::size_t member = 0; member < entry->members; ++member)
    if ((members >> member & 1) != 0) sum += entry->weight[member];
  return sum;
}

}  // namespace tombolo::island
