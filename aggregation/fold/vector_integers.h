#pragma once

#include <cstddef>

#include "aggregation/fold/kernel.h"
#include "aggregation/fold/vector_loops.h"

/// The fold of integers over vectors; see vector_fold.h for how these files are compiled.
namespace tombolo::fold {
namespace {

/// int32 by way of doubles, which hold every sum of 64 of them exactly; quotients, too, lie too far from any
/// tie to be rounded to one.
template <typename V, wire::Operation operation>
struct IntegerFolder {
  using D = typename V::D;
  static constexpr std::size_t kWidth = V::kWidth / 2;
  static constexpr std::size_t kBlock = kAccumulators * kWidth;

  /// Folds `kBlock` elements; returns how many of them saturated.
  [[gnu::always_inline]] static std::size_t fold_block(const Call& call, bool divide, std::size_t first,
                                                       std::size_t count, std::byte* out) {
    D sum[kAccumulators] = {};
    alignas(64) std::byte tail[kBlock * 4] = {};
    for (std::size_t i = 0; i < call.input_count; ++i) {
      const std::byte* at = call.inputs[i] + first * 4;
      if (count < kBlock) {
        __builtin_memcpy(tail, at, count * 4);
        at = tail;
      } else {
        if (call.cold) prefetch<kBlock * 4>(at + kPrefetchBytes);
      }
      unroll<kAccumulators>([&](auto j) __attribute__((always_inline)) {
        const D value = V::from_int32(at + j * kWidth * 4);
        if (i == 0)
          sum[j] = value;
        else if constexpr (operation == wire::Operation::kMin)
          sum[j] = sum[j] < value ? sum[j] : value;
        else if constexpr (operation == wire::Operation::kMax)
          sum[j] = sum[j] < value ? value : sum[j];
        else
          sum[j] = sum[j] + value;
      });
    }
    typename V::L saturated{};
    unroll<kAccumulators>([&](auto j) __attribute__((always_inline)) {
      constexpr double kLowest = -0x1p31;
      constexpr double kHighest = 0x1p31 - 1;
      constexpr double kWhole = 0x1.8p52;  // Doubles of this size are whole numbers: adding it rounds.
      D value = sum[j];
      if (divide) value = (value / static_cast<double>(call.divisor) + kWhole) - kWhole;
      saturated -= (value < kLowest) | (value > kHighest);
      value = value < kLowest ? V::all_double(kLowest) : value;
      value = value > kHighest ? V::all_double(kHighest) : value;
      V::store_int32(out + j * kWidth * 4, value);
    });
    std::size_t total = 0;
    for (std::size_t lane = 0; lane < kWidth; ++lane) total += static_cast<std::size_t>(saturated[lane]);
    return total;
  }

  [[gnu::noinline]] static void fold(const Call& call, bool divide) {
    Findings findings;
    std::size_t first = 0;
    for (; first + kBlock <= call.elements; first += kBlock)
      findings.saturated += fold_block(call, divide, first, kBlock, call.out + first * 4);
    if (first < call.elements) {
      alignas(64) std::byte whole[kBlock * 4];
      findings.saturated += fold_block(call, divide, first, call.elements - first, whole);
      __builtin_memcpy(call.out + first * 4, whole, (call.elements - first) * 4);
    }
    if (call.findings != nullptr) *call.findings = findings;
  }
};

}  // namespace
}  // namespace tombolo::fold
