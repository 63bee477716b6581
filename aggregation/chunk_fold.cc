#include "aggregation/chunk_fold.h"

#include <bit>

#include "aggregation/round_window.h"
#include "base/check.h"

namespace tombolo::aggregation {
namespace {

std::uint64_t bits_below(std::size_t count) {
  return count == 0 ? 0 : ~std::uint64_t{0} >> (kMaxMembers - count);
}

}  // namespace

// lint: set-up, runs before the first packet
ChunkFold::ChunkFold(const ChunkFoldConfig& config)
    : config_(config),
      found_(config.max_members),
      zeroed_(config.non_finite == NonFinitePolicy::kZero ? config.max_members * config.max_payload_bytes
                                                          : 0) {
  CHECK(config.max_members >= 1 && config.max_members <= kMaxMembers);
}

FoldedChunk ChunkFold::fold(const Facts& facts, std::span<const std::byte* const> inputs,
                            std::size_t elements, const float* weights, std::byte* out) {
  CHECK(!inputs.empty() && inputs.size() <= config_.max_members);
  FoldedChunk folded;
  folded.contributors = bits_below(inputs.size());
  folded.payload_bytes = static_cast<std::uint32_t>(encoded_bytes(facts.output(), elements));
  if (elements == 0) return folded;
  choose(facts);
  fold::Findings findings = run(inputs, elements, weights, out);
  if (findings.non_finite) {
    folded.non_finite = look(facts, inputs, elements);
    // A sum of finite values can overflow: then the fold found something, and no member had it.
    if (folded.non_finite != 0)
      folded.contributors = apply_policy(facts, inputs, elements, weights, out, folded.non_finite, findings);
  }
  folded.saturated = findings.saturated;
  return folded;
}

/// Rounds of one fold point come one after the other, at most two at a time, and mostly alike.
void ChunkFold::choose(const Facts& facts) {
  if (function_ != nullptr && facts == facts_) return;
  facts_ = facts;
  function_ = fold::select(facts.kind(), config_.instruction_set);
  CHECK(function_ != nullptr && "a window admits only what can be folded");
}

fold::Findings ChunkFold::run(std::span<const std::byte* const> inputs, std::size_t elements,
                              const float* weights, std::byte* out) const {
  fold::Findings findings;
  fold::Call call;
  call.inputs = inputs.data();
  call.input_count = inputs.size();
  call.elements = elements;
  call.weights = weights;
  call.divisor = static_cast<std::uint32_t>(inputs.size());
  call.out = out;
  call.findings = &findings;
  function_(call);
  return findings;
}

/// The slow path: which members' inputs hold values that are not finite, and how many.
std::uint64_t ChunkFold::look(const Facts& facts, std::span<const std::byte* const> inputs,
                              std::size_t elements) {
  std::uint64_t members = 0;
  for (std::size_t member = 0; member < inputs.size(); ++member) {
    found_[member] = fold::count_non_finite(facts.format, inputs[member], elements);
    if (found_[member].nan + found_[member].infinity > 0) members |= std::uint64_t{1} << member;
  }
  return members;
}

/// Folds again where the policy says so; returns the contributors.
std::uint64_t ChunkFold::apply_policy(const Facts& facts, std::span<const std::byte* const> inputs,
                                      std::size_t elements, const float* weights, std::byte* out,
                                      std::uint64_t non_finite, fold::Findings& findings) {
  const std::uint64_t all = bits_below(inputs.size());
  if (config_.non_finite == NonFinitePolicy::kPropagate) return all;
  const bool rejects = config_.non_finite == NonFinitePolicy::kReject;
  if (rejects && non_finite == all) return 0;
  std::array<const std::byte*, kMaxMembers> kept;
  std::array<float, kMaxMembers> kept_weights;
  std::size_t count = 0;
  for (std::size_t member = 0; member < inputs.size(); ++member) {
    const bool sound = (non_finite >> member & 1) == 0;
    if (!sound && rejects) continue;
    kept_weights[count] = weights == nullptr ? 0 : weights[member];
    kept[count] = inputs[member];
    if (!sound) {
      std::byte* const copy = zeroed_.data() + member * config_.max_payload_bytes;
      fold::replace_non_finite(facts.format, inputs[member], elements, copy);
      kept[count] = copy;
    }
    ++count;
  }
  findings = run({kept.data(), count}, elements, kept_weights.data(), out);
  return rejects ? all & ~non_finite : all;
}

}  // namespace tombolo::aggregation
