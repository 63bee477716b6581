#include "island/epoch_view.h"

#include <algorithm>
#include <utility>

namespace tombolo::island {
namespace {

/// An edge opens two rounds ahead of its island, and goes on to the next when it has ended one: only a long
/// way to the next epoch brings many.
constexpr std::size_t kMostEnds = 256;

}  // namespace

EpochView::EpochView(std::uint32_t epoch, const wire::Config& first)
    : epoch_(epoch),
      common_(first),
      entries_(first.entries),
      present_(first.entries),
      next_round_(first.first_round),
      given_up_before_(first.first_round) {}

bool EpochView::add(const wire::Config& config) {
  const bool same =
      config.entries == entries_.size() && config.first_round == common_.first_round &&
      config.chunk_elements == common_.chunk_elements && config.lane_count == common_.lane_count &&
      config.deadline_ns == common_.deadline_ns && config.edge_aggregation == common_.edge_aggregation &&
      config.max_payload_bytes == common_.max_payload_bytes && config.non_finite == common_.non_finite;
  if (!same) return false;
  if (present_[config.entry]) return true;
  entries_[config.entry] = config;
  present_[config.entry] = true;
  ++known_;
  return true;
}

std::uint32_t EpochView::next_missing() const {
  return static_cast<std::uint32_t>(std::find(present_.begin(), present_.end(), false) - present_.begin());
}

bool EpochView::sends_on(std::uint32_t round, std::uint16_t tree) const {
  if (round < common_.first_round) return false;
  const wire::Config& entry = entry_of(round);
  const auto last = entry.send_tree.begin() + entry.send_tree_count;
  return std::find(entry.send_tree.begin(), last, tree) != last;
}

std::uint64_t EpochView::fold_bytes() const {
  if (common_.edge_aggregation) return 0;
  std::uint64_t members = 0;
  std::uint64_t chunks = 0;
  for (const wire::Config& entry : entries_) {
    members = std::max<std::uint64_t>(members, entry.members);
    chunks = std::max<std::uint64_t>(chunks, entry.window_chunks);
  }
  return aggregation::kMaxOpenRounds * chunks * members * sizeof(aggregation::Input);
}

bool EpochView::note_end(std::uint32_t round, const link::GrantTable::End& end) {
  if (round < next_round_) return false;
  // Each lane tells; what any of them knows is worth keeping.
  const auto [noted, is_new] = ends_.try_emplace(round, end);
  if (!is_new) noted->second.missing |= end.missing;
  if (ends_.size() > kMostEnds) ends_.erase(ends_.begin());
  return true;
}

const link::GrantTable::End* EpochView::noted_end(std::uint32_t round) const {
  const auto found = ends_.find(round);
  return found == ends_.end() ? nullptr : &found->second;
}

void EpochView::forget_grants() {
  ends_.clear();
  const std::size_t lanes = grants_.size();
  grants_.clear();
  make_grants(lanes);
}

void EpochView::make_grants(std::size_t lanes) {
  std::size_t trees = 0;
  for (const wire::Config& entry : entries_)
    for (std::size_t i = 0; i < entry.send_tree_count; ++i)
      trees = std::max<std::size_t>(trees, entry.send_tree[i] + std::size_t{1});
  std::vector<std::uint8_t> children(trees, 0);
  for (const wire::Config& entry : entries_)
    for (std::size_t i = 0; i < entry.send_tree_count; ++i) children[entry.send_tree[i]] = 1;
  const auto period = static_cast<std::uint32_t>(entries_.size());
  for (std::size_t lane = 0; lane < lanes; ++lane) grants_.emplace_back(period, children);
}

Status EpochView::start(fold::InstructionSet instruction_set) {
  make_grants(common_.lane_count);
  if (common_.edge_aggregation) return ok_status();

  for (const wire::Config& entry : entries_) {
    aggregation::MemberEntry member;
    member.members = entry.members;
    member.self = entry.self;
    member.ranks = entry.rank;
    member.receive_trees = entry.receive_tree;
    member.window_chunks = entry.window_chunks;
    member.has_weights = entry.has_weights;
    member.weights = entry.weight;
    members_.push_back(member);
  }
  for (std::uint16_t lane = 0; lane < common_.lane_count; ++lane) {
    aggregation::FoldPointConfig config;
    config.entries = members_;
    config.first_round = common_.first_round;
    config.geometry = geometry(lane);
    config.deadline_ns = common_.deadline_ns;
    config.instruction_set = instruction_set;
    config.non_finite = common_.non_finite;
    auto point = aggregation::FoldPoint::create(config);
    if (!point) return std::move(point).error();
    points_.push_back(std::move(point).value());
  }
  return ok_status();
}

}  // namespace tombolo::island
