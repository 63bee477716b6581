#include "aggregation/chunk_fold.h"

#include <bit>

#include "aggregation/round_window.h"
#include "base/bits.h"
#include "base/check.h"

namespace tombolo::aggregation {

ChunkFold::ChunkFold(const ChunkFoldConfig& config)
    : config_(config),
      found_(config.max_members),
      zeroed_(config.non_finite == NonFinitePolicy::kZero ? config.max_members * config.max_payload_bytes
                                                          : 0) {
  CHECK(config.max_members >= 1 && config.max_members <= kMaxMembers);
}

FoldedChunk ChunkFold::fold(const Facts& facts, std::span<const std::byte* const> inputs,
                            std::size_t elements, const float* weights, std::byte* out,
                            const FoldPart& part) {
  CHECK(!inputs.empty() && inputs.size() <= config_.max_members);
  choose(facts, part.finish);
  FoldedChunk folded;
  folded.contributors = lowest_bits(inputs.size());
  folded.format = fold::output_format(kind_);
  folded.payload_bytes = static_cast<std::uint32_t>(encoded_bytes(folded.format, elements));
  if (elements == 0) return folded;
  fold::Call call;
  call.inputs = inputs.data();
  call.input_count = inputs.size();
  call.elements = elements;
  call.weights = weights;
  call.partial_inputs = part.partial_inputs;
  call.divisor = part.divisor != 0 ? part.divisor : static_cast<std::uint32_t>(inputs.size());
  call.out = out;
  call.cold = part.cold;
  fold::Findings findings = run(function_, call);
  if (findings.non_finite) {
    folded.non_finite = look(facts, call);
    // A sum of finite values can overflow: then the fold found something, and no member had it.
    if (folded.non_finite != 0) folded.contributors = apply_policy(facts, call, folded.non_finite, findings);
  }
  folded.saturated = findings.saturated;
  return folded;
}

/// Rounds of one fold point come one after the other, at most two at a time, and mostly alike.
void ChunkFold::choose(const Facts& facts, bool finish) {
  if (function_ != nullptr && facts == facts_ && finish == kind_.finish) return;
  facts_ = facts;
  kind_ = facts.kind();
  kind_.finish = finish;
  if (config_.narrow_partials) kind_.partial = facts.format;
  function_ = fold::select(kind_, config_.instruction_set);
  CHECK(function_ != nullptr && "a window admits only what can be folded");
}

fold::Findings ChunkFold::run(fold::FoldFunction function, fold::Call& call) {
  fold::Findings findings;
  call.findings = &findings;
  function(call);
  return findings;
}

/// The slow path: which members' inputs hold values that are not finite, and how many.
std::uint64_t ChunkFold::look(const Facts& facts, const fold::Call& call) {
  std::uint64_t members = 0;
  for (std::size_t member = 0; member < call.input_count; ++member) {
    if ((call.partial_inputs >> member & 1) != 0) continue;
    found_[member] = fold::count_non_finite(facts.format, call.inputs[member], call.elements);
    if (found_[member].nan + found_[member].infinity > 0) members |= std::uint64_t{1} << member;
  }
  return members;
}

/// Folds again where the policy says so; returns the contributors.
std::uint64_t ChunkFold::apply_policy(const Facts& facts, fold::Call& call, std::uint64_t non_finite,
                                      fold::Findings& findings) {
  const std::uint64_t all = lowest_bits(call.input_count);
  if (config_.non_finite == NonFinitePolicy::kPropagate) return all;
  const bool rejects = config_.non_finite == NonFinitePolicy::kReject;
  if (rejects && non_finite == all) return 0;
  CHECK((!rejects || call.partial_inputs == 0) && "plans with trees that reject are refused");
  std::array<const std::byte*, kMaxMembers> kept;
  std::array<float, kMaxMembers> kept_weights;
  std::size_t count = 0;
  for (std::size_t member = 0; member < call.input_count; ++member) {
    const bool sound = (non_finite >> member & 1) == 0;
    if (!sound && rejects) continue;
    kept_weights[count] = call.weights == nullptr ? 0 : call.weights[member];
    kept[count] = call.inputs[member];
    if (!sound) {
      std::byte* const copy = zeroed_.data() + member * config_.max_payload_bytes;
      fold::replace_non_finite(facts.format, call.inputs[member], call.elements, copy);
      kept[count] = copy;
    }
    ++count;
  }
  call.inputs = kept.data();
  call.input_count = count;
  call.weights = kept_weights.data();
  if (rejects) call.divisor = static_cast<std::uint32_t>(count);
  findings = run(function_, call);
  return rejects ? all & ~non_finite : all;
}

}  // namespace tombolo::aggregation
