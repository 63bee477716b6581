#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "island/endpoint.h"
#include "protocol/wire/packet.h"

namespace tombolo::island {
namespace {

/// The ranks of a bitmap over a clique's members.
std::vector<std::uint16_t> ranks_of(const wire::Config& entry, std::uint64_t members) {
  std::vector<std::uint16_t> ranks;
  for (; members != 0; members &= members - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(members));
    if (index < entry.members) ranks.push_back(entry.rank[index]);
  }
  return ranks;
}

}  // namespace

Result<Handle> Endpoint::allreduce_async(const Allreduce& request, Nanoseconds now_ns) {
  if (request.input == nullptr || request.output == nullptr || request.count == 0)
    return invalid_input(
        fmt::format("round {}: input, output and a count above 0 are needed", request.round));
  if (!fold::is_supported(request.facts().kind()))
    return invalid_input(
        fmt::format("round {}: these formats and this operation cannot be folded", request.round));
  if (request.count > wire::kMaxUpdateElements)
    return invalid_input(
        fmt::format("round {}: {} elements are more than an update can have", request.round, request.count));
  const std::size_t bytes = request.input_bytes();
  const bool apart =
      request.input + bytes <= request.output || request.output + request.output_bytes() <= request.input;
  if (request.input != request.output && !apart)
    return invalid_input(
        fmt::format("round {}: input and output overlap without being the same", request.round));
  if (last_round_ && request.round <= *last_round_)
    return invalid_input(
        fmt::format("round {}: round {} was started before it", request.round, *last_round_));
  if (operations_.size() >= kMaxOperations)
    return Error{ErrorCode::kUnavailable,
                 fmt::format("round {}: {} operations are under way; drop finished ones", request.round,
                             operations_.size())};
  try {
    operations_.push_back(std::make_unique<Operation>(next_handle_, request, now_ns));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("round {}: no memory for a copy of {} bytes", request.round, bytes)};
  }
  last_round_ = request.round;
  return next_handle_++;
}

const Outcome* Endpoint::poll(Handle handle) const {
  const Operation* const operation = find(handle);
  return operation == nullptr ? nullptr : &operation->outcome;
}

bool Endpoint::cancel(Handle handle, Nanoseconds now_ns) {
  Operation* const operation = find(handle);
  if (operation == nullptr || operation->outcome.finished()) return false;
  abandon(*operation, now_ns);
  fail(*operation, ErrorCode::kFailed, "cancelled by the caller", now_ns);
  return true;
}

bool Endpoint::drop(Handle handle) {
  const auto found = std::find_if(operations_.begin(), operations_.end(),
                                  [handle](const auto& operation) { return operation->id == handle; });
  if (found == operations_.end() || !(*found)->outcome.finished()) return false;
  operations_.erase(found);
  return true;
}

Operation* Endpoint::find(Handle handle) const {
  for (const auto& operation : operations_)
    if (operation->id == handle) return operation.get();
  return nullptr;
}

Operation* Endpoint::find_round(std::uint32_t epoch, std::uint32_t round) const {
  for (const auto& operation : operations_)
    if (operation->request.round == round && operation->view != nullptr &&
        operation->view->epoch() == epoch && !operation->outcome.finished())
      return operation.get();
  return nullptr;
}

/// Ties waiting operations to the epoch that their round belongs to. One that was tied to an older epoch and
/// has sent nothing moves on with it; one that has sent fails, because no round is ever mixed from two epochs
/// (invariant I3).
void Endpoint::bind_operations(Nanoseconds now_ns) {
  for (const auto& operation : operations_) {
    if (operation->outcome.finished() || !views_[0]) continue;
    EpochView* const view = view_for(operation->request.round);
    if (view != nullptr && view == operation->view) continue;
    if (view == nullptr) {
      fail(*operation, ErrorCode::kInvalidInput,
           fmt::format("no epoch that is known here has this round; epoch {} begins with round {}",
                       views_[0]->epoch(), views_[0]->first_round()),
           now_ns);
      continue;
    }
    if (operation->view != nullptr && (operation->outcome.first_send_ns != 0 || operation->outcome.ready())) {
      fail(*operation, ErrorCode::kFailed, fmt::format("epoch {} took the round over", view->epoch()),
           now_ns);
      continue;
    }
    if (const std::string misfit = operation->misfit(*view); !misfit.empty()) {
      fail(*operation, ErrorCode::kInvalidInput, misfit, now_ns);
      continue;
    }
    // Rounds of the older epoch that it never began hold that epoch up as well.
    if (view == views_[0].get() && views_[1]) skip_to(*views_[1], view->first_round(), now_ns);
    skip_to(*view, operation->request.round, now_ns);
    operation->bind(*view);
    if (operation->entry->members == 0) {
      rest(*operation, now_ns);
      continue;
    }
    if (const auto* end = view->noted_end(operation->request.round); end != nullptr) {
      fail_by_edge(*operation, *end, now_ns);
      continue;
    }
    // A member may have given the round up before this island began it.
    for (std::uint16_t lane = 0; lane < view->lane_count(); ++lane)
      for (std::size_t i = 0; i < operation->entry->send_tree_count; ++i) {
        const std::uint16_t tree = operation->entry->send_tree[i];
        if (const auto* end = view->grants(lane).end_of(tree, operation->request.round); end != nullptr)
          release(*operation, tree, lane, *end, now_ns);
        if (operation->outcome.finished()) break;
      }
    if (operation->outcome.finished()) continue;
    if (view->edge_aggregation() && operation->all_released())
      fail(*operation, ErrorCode::kDeadline, "it was over before this island began it", now_ns);
  }
}

/// Gives up the rounds before `round` that this island never began: whoever folds for it would wait for them,
/// and open no later ones.
void Endpoint::skip_to(EpochView& view, std::uint32_t round, Nanoseconds now_ns) {
  const std::uint32_t first = view.reach(round);
  const std::uint64_t end = std::min<std::uint64_t>(round, std::uint64_t{first} + view.period());
  bool takes_part = false;
  for (std::uint64_t skipped = first; skipped < end; ++skipped)
    takes_part = takes_part || view.entry_of(static_cast<std::uint32_t>(skipped)).members > 0;
  if (takes_part) give_up(view, first, round - 1, now_ns);
}

/// Tells whoever folds for this island that it takes no part in the rounds first .. last.
void Endpoint::give_up(EpochView& view, std::uint32_t first, std::uint32_t last, Nanoseconds now_ns) {
  for (std::uint16_t lane = 0; lane < view.lane_count(); ++lane) {
    if (view.edge_aggregation()) {
      send_give_up(view, lane, first, last, now_ns);
      continue;
    }
    aggregation::FoldPoint& point = view.points()[lane];
    point.skip(first, last);
    for (aggregation::OpenRound* const open : point.open_rounds())
      if (open->window.round() >= first && open->window.round() <= last)
        end_fold(view, lane, *open, wire::RoundOutcome::kAbandoned, now_ns);
  }
}

void Endpoint::send_give_up(const EpochView& view, std::uint16_t lane, std::uint32_t first,
                            std::uint32_t last, Nanoseconds now_ns) {
  wire::Header header = make_header(wire::Type::kRoundEnd, view.epoch());
  header.rank = config_.rank;
  header.round = last;
  header.chunk = static_cast<std::uint32_t>(wire::RoundOutcome::kAbandoned);
  header.specific = last - first;
  send_sequenced(lane, header, nullptr, 0, now_ns);
}

EpochView* Endpoint::view_for(std::uint32_t round) const {
  for (const auto& view : views_)
    if (view && view->first_round() <= round) return view.get();
  return nullptr;
}

void Endpoint::forget_view(const EpochView& view, Nanoseconds now_ns) {
  for (const auto& operation : operations_) {
    if (operation->view != &view) continue;
    if (!operation->outcome.finished())
      fail(*operation, ErrorCode::kFailed, fmt::format("epoch {} is over", view.epoch()), now_ns);
    operation->view = nullptr;
    operation->entry = nullptr;
  }
}

/// A resting island's result is its input, in the format of results: what a sum of one is.
void Endpoint::convert(Operation& operation) const {
  const Allreduce& request = operation.request;
  const std::byte* const input = operation.whole_input();
  fold::Kind kind = request.facts().kind();
  kind.operation = wire::Operation::kSum;
  fold::Call call;
  call.inputs = &input;
  call.input_count = 1;
  call.elements = request.count;
  call.out = request.output;
  fold::select(kind, config_.instruction_set)(call);
}

/// A resting island's result is its input.
void Endpoint::rest(Operation& operation, Nanoseconds now_ns) {
  const Allreduce& request = operation.request;
  if (request.output_format() == request.format) {
    std::memmove(request.output, request.input, request.input_bytes());
  } else {
    convert(operation);
  }
  operation.outcome.clique = {config_.rank};
  operation.outcome.contributors = {config_.rank};
  operation.outcome.stage = Stage::kReleased;
  operation.outcome.ready_ns = operation.outcome.released_ns = now_ns;
}

/// What has come up the trees to their source: grants are noted, ended trees release the operation.
void Endpoint::take_releases(std::uint16_t lane, EpochView& view, Nanoseconds now_ns) {
  link::GrantTable& grants = view.grants(lane);
  link::GrantTable::Upward upward;
  while (grants.next_upward(upward)) {
    grants.told(upward);
    if (!upward.ended) continue;
    if (Operation* const operation = find_round(view.epoch(), upward.round); operation != nullptr)
      release(*operation, upward.tree, lane, upward.end, now_ns);
  }
}

void Endpoint::release(Operation& operation, std::uint16_t tree, std::uint16_t lane,
                       const link::GrantTable::End& end, Nanoseconds now_ns) {
  const auto first = operation.entry->send_tree.begin();
  const auto last = first + operation.entry->send_tree_count;
  const auto position = static_cast<std::size_t>(std::find(first, last, tree) - first);
  if (position == operation.entry->send_tree_count) return;
  if (operation.outcome.finished()) return;  // Another lane told it.
  if (end.outcome != wire::RoundOutcome::kComplete) {
    // On a tree there is one end for all, and this is how it is told.
    if (operation.view->on_tree(*operation.entry) && !operation.outcome.ready()) {
      operation.mark_released(position, lane);
      return fail_by_edge(operation, end, now_ns);
    }
    if (wire::names_missing(end.outcome)) operation.missing |= end.missing;
    operation.outcome.failed_elsewhere = true;
  }
  if (operation.mark_released(position, lane) && operation.outcome.ready()) finish(operation, now_ns);
}

void Endpoint::take_result(Operation& operation, std::uint64_t chunk, std::uint64_t contributors,
                           Nanoseconds now_ns) {
  counters_.results.add();
  operation.note_contributors(chunk, contributors);
  if (!operation.all_results()) return;
  operation.name_contributors();
  operation.outcome.stage = Stage::kReady;
  operation.outcome.ready_ns = now_ns;
  if (operation.all_released()) finish(operation, now_ns);
}

void Endpoint::finish(Operation& operation, Nanoseconds now_ns) {
  operation.outcome.stage = Stage::kReleased;
  operation.outcome.released_ns = now_ns;
  operation.outcome.missing = ranks_of(*operation.entry, operation.missing);
  release_memory(operation, now_ns);
}

/// An error says which round, what happened, and who was missing, as far as anybody told. A result that is
/// there stands: then it is only unknown whether every member has got what it needs from here.
void Endpoint::fail(Operation& operation, ErrorCode code, const std::string& what, Nanoseconds now_ns) {
  if (operation.outcome.ready()) {
    operation.outcome.failed_elsewhere = true;
    finish(operation, now_ns);
    return;
  }
  std::string message = fmt::format("round {}: {}", operation.request.round, what);
  if (operation.entry != nullptr) {
    const std::uint64_t self = std::uint64_t{1} << operation.entry->self;
    const bool told = operation.missing != 0;
    operation.outcome.missing = ranks_of(*operation.entry, told ? operation.missing : operation.late & ~self);
    if (!operation.outcome.missing.empty())
      message += fmt::format("; {} rank {}", told ? "missing" : "the edge last waited for",
                             fmt::join(operation.outcome.missing, ", "));
  }
  operation.outcome.error = Error{code, std::move(message)};
  operation.outcome.stage = Stage::kFailed;
  release_memory(operation, now_ns);
}

/// Nothing that may still be sent or folded refers to the operation's input after this.
void Endpoint::release_memory(const Operation& operation, Nanoseconds now_ns) {
  flush(now_ns);
  if (operation.view == nullptr) return;
  EpochView& view = *operation.view;
  for (std::uint16_t lane = 0; lane < view.points().size(); ++lane)
    if (aggregation::OpenRound* const round = view.points()[lane].find(operation.request.round);
        round != nullptr && !round->window.complete())  // A complete one holds no input any more.
      end_fold(view, lane, *round, wire::RoundOutcome::kAbandoned, now_ns);
  for (link::Peer& peer : peers_) peer.sender().forget(operation.view->epoch(), operation.request.round);
}

/// No more rounds than that can be open at a fold point; the others do not count against their deadline yet.
void Endpoint::start_deadlines(Nanoseconds now_ns) {
  std::size_t started = 0;
  for (const auto& operation : operations_) {
    if (operation->outcome.finished()) continue;
    if (started++ == aggregation::kMaxOpenRounds) return;
    operation->start_deadline(now_ns);
  }
}

/// Whom an island that folds itself waits for, it knows itself.
void Endpoint::note_missing(Operation& operation) const {
  if (operation.view == nullptr) return;
  for (const aggregation::FoldPoint& point : operation.view->points())
    if (const aggregation::OpenRound* const round = point.find(operation.request.round); round != nullptr)
      operation.missing |= round->window.late();
}

void Endpoint::expire_operations(Nanoseconds now_ns) {
  for (const auto& operation : operations_) {
    if (operation->outcome.finished() || now_ns < operation->deadline_at_ns) continue;
    const bool connected_to_edge = connected();
    abandon(*operation, now_ns);
    note_missing(*operation);
    const char* const what = operation->view == nullptr ? "the deadline passed before an epoch was configured"
                             : connected_to_edge        ? "the deadline passed"
                                                        : "the deadline passed without word from the edge";
    fail(*operation, ErrorCode::kDeadline, what, now_ns);
  }
}

/// Tells the edge that this island will not finish the round, so that its slots there are freed. An island
/// that folds itself frees its own with release_memory().
void Endpoint::abandon(const Operation& operation, Nanoseconds now_ns) {
  if (operation.view == nullptr || operation.outcome.ready()) return;
  const std::uint32_t round = operation.request.round;
  if (operation.view->edge_aggregation()) give_up(*operation.view, round, round, now_ns);
}

}  // namespace tombolo::island
