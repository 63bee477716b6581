#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/facts.h"
#include "base/clock.h"
#include "base/result.h"
#include "island/epoch_view.h"
#include "protocol/wire/header.h"

namespace tombolo::island {

/// What an island asks for: its part in one round. See README.md for what the values must be.
struct Allreduce {
  std::uint32_t round = 0;
  const std::byte* input =
      nullptr;                  ///< Unchanged until released, unless `output` is the same memory (see below).
  std::byte* output = nullptr;  ///< May be `input`: the library then works on a copy of the input.
  std::uint64_t count = 0;      ///< Elements, at least 1.
  wire::Format format = wire::Format::kFp32;
  wire::Format result_format = wire::Format::kNone;  ///< Of the output; kNone: `format`.
  wire::Operation operation = wire::Operation::kMean;
  Nanoseconds deadline_ns = 0;  ///< From the call on; 0: the epoch's, from when it is among the two oldest.

  wire::Format output_format() const { return result_format == wire::Format::kNone ? format : result_format; }
  std::size_t input_bytes() const { return encoded_bytes(format, count); }
  std::size_t output_bytes() const { return encoded_bytes(output_format(), count); }
  /// What its contributions say of the update.
  aggregation::Facts facts() const {
    return {count, format, operation, result_format == format ? wire::Format::kNone : result_format};
  }
};

enum class Stage : std::uint8_t {
  kWaiting,   ///< For the configuration of the round's epoch.
  kRunning,   ///< Sends as grants allow, and collects results.
  kReady,     ///< The result is in `output` and stays right; the input is still needed.
  kReleased,  ///< The input is the caller's again: every member has it, or `failed_elsewhere` says otherwise.
  kFailed,    ///< `error` says why and names who is missing. The output is undefined.
};

/// A chunk from which members were left out, because their values were not finite and the job's policy is to
/// reject them.
struct RejectedChunk {
  std::uint64_t first_element = 0;
  std::uint64_t elements = 0;
  std::uint64_t contributors = 0;  ///< A bit per member of the clique that is in it; 0: none was sound.
  float weight_sum = 0;            ///< As Outcome::weight_sum, of those that are in it.
};

/// What became of an operation; times are in the clock of turn(), 0 if it did not happen.
struct Outcome {
  Stage stage = Stage::kWaiting;
  std::uint32_t epoch = 0;
  std::uint32_t chunk_elements = 0;         ///< Of the epoch.
  std::vector<std::uint16_t> clique;        ///< Ranks that the epoch brings together in this round.
  std::vector<std::uint16_t> contributors;  ///< Ranks whose whole updates are in the result, in fold order.
  std::vector<std::uint16_t> rejected;      ///< Ranks that were left out of one chunk or more.
  std::vector<RejectedChunk> rejections;    ///< Those chunks, in no order.
  std::vector<float> weights;               ///< Weighted: of the clique's members.
  /// Weighted: the sum of the clique's weights, which the result has not been divided by; else 0.
  float weight_sum = 0;
  std::vector<std::uint16_t> missing;  ///< Ranks that a failed round lacked, as far as known.
  bool failed_elsewhere = false;  ///< Ready here, but another member's round failed: it must resynchronise.
  std::uint64_t payload_bytes_sent = 0;  ///< First transmissions.
  std::uint64_t payload_bytes_received = 0;
  Nanoseconds called_ns = 0;
  Nanoseconds first_send_ns = 0;
  Nanoseconds ready_ns = 0;
  Nanoseconds released_ns = 0;
  Error error;

  bool ready() const { return stage == Stage::kReady || stage == Stage::kReleased; }
  bool finished() const { return stage == Stage::kReleased || stage == Stage::kFailed; }
};

/// One allreduce under way: which chunks were sent, which results are in, which trees have released it. Pure
/// bookkeeping; the endpoint moves the packets.
class Operation {
 public:
  Operation(std::uint64_t id, const Allreduce& request, Nanoseconds now_ns);

  /// Fixes the epoch: from here on the operation is in that epoch only.
  void bind(EpochView& view);
  /// Why the operation cannot run in that epoch; empty when it can.
  std::string misfit(const EpochView& view) const;

  /// Lets the epoch's deadline count from now on, unless it does already or the caller gave one.
  void start_deadline(Nanoseconds now_ns);

  std::uint64_t chunks() const { return chunks_; }
  std::size_t elements(std::uint64_t chunk) const;
  /// The chunk's payload. A Microscaling chunk is put together when it is first asked for, because a payload
  /// has its scales with it and an update has them all behind the elements.
  const std::byte* input(std::uint64_t chunk);
  /// The whole update as the caller gave it.
  const std::byte* whole_input() const { return input_; }
  /// Where the result of a chunk may be written before keep_result() gets it.
  std::byte* result_place(std::uint64_t chunk);
  /// Puts a chunk's result where it belongs in the output; `payload` may be its result_place().
  void keep_result(std::uint64_t chunk, const std::byte* payload);

  /// The next chunk to send on send tree `position` in `lane`, in lane indexes.
  std::uint32_t& cursor(std::size_t position, std::uint16_t lane) {
    return cursors_[position * lanes_ + lane];
  }
  /// The next chunk of its own that an island which folds itself has not folded, in lane indexes.
  std::uint32_t& own_cursor(std::uint16_t lane) { return own_cursors_[lane]; }
  std::uint32_t lane_chunks(std::uint16_t lane) const;

  /// A result chunk is in `output`; true when it was new.
  bool mark_result(std::uint64_t chunk);
  /// Notes the members whose inputs are in the result of a chunk.
  void note_contributors(std::uint64_t chunk, std::uint64_t contributors);
  /// Puts into the outcome, once, whose updates the whole result is made of.
  void name_contributors();
  bool all_results() const { return results_ == chunks_; }

  /// Tree `position` is done in `lane`; true when that was the last one.
  bool mark_released(std::size_t position, std::uint16_t lane);
  bool all_released() const { return unreleased_ == 0; }

  const std::uint64_t id;
  const Allreduce request;
  EpochView* view = nullptr;
  const wire::Config* entry = nullptr;  ///< Of the view.
  std::uint64_t late = 0;               ///< Members that the fold point waits for, as last told.
  std::uint64_t missing = 0;            ///< Members that lanes of a failed round reported.
  Nanoseconds deadline_at_ns = kNever;
  Outcome outcome;

 private:
  std::uint64_t first_element(std::uint64_t chunk) const;
  float weight_sum(std::uint64_t members) const;

  std::vector<std::byte> copy_;  ///< Of the input, when it shares memory with the output.
  const std::byte* input_;
  std::vector<std::byte> arranged_;  ///< Microscaling input: the payloads of the chunks, one after the other.
  std::vector<bool> is_arranged_;
  std::vector<std::byte> scratch_;  ///< Microscaling output: one chunk's payload.
  std::size_t lanes_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t results_ = 0;
  std::size_t unreleased_ = 0;
  std::uint64_t rejected_ = 0;  ///< A bit per member that a chunk is without.
  std::vector<bool> has_result_;
  std::vector<bool> released_;
  std::vector<std::uint32_t> cursors_;
  std::vector<std::uint32_t> own_cursors_;
};

}  // namespace tombolo::island
