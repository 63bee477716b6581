#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregation/fold/kernel.h"
#include "aggregation/fold/kind_table.h"
#include "aggregation/fold/vector_encode.h"
#include "aggregation/fold/vector_scale.h"

/// The fold over vectors, written once for every instruction set. A file per set defines its vector type and
/// includes this with compiler flags of its own; so nothing here may have external linkage, or the linker
/// could take one file's copy for all.
///
/// Eight accumulators stay in registers while the inputs go by one after the other: that is one left fold per
/// element for any number of inputs, mixed with partials as they come, without a loop per count. What the
/// output format needs beyond fp32 is done in a second step, tile by tile in the first-level cache.
namespace tombolo::fold {
namespace {

/// Accumulators of one block: enough to hide the latency of an addition, few enough for 16 registers.
constexpr std::size_t kAccumulators = 8;
/// Elements that are folded before they are converted to the output format.
constexpr std::size_t kTileElements = 512;

enum class Mode { kSum, kWeighted, kMin, kMax };

constexpr Mode mode_of(wire::Operation operation) {
  if (operation == wire::Operation::kWeighted) return Mode::kWeighted;
  if (operation == wire::Operation::kMin) return Mode::kMin;
  return operation == wire::Operation::kMax ? Mode::kMax : Mode::kSum;
}

/// Calls `body` with 0 .. count - 1 as constants: indices that the compiler sees through to registers.
template <std::size_t count, typename Body, std::size_t... j>
[[gnu::always_inline]] inline void unroll_over(Body&& body, std::index_sequence<j...>) {
  (body(std::integral_constant<std::size_t, j>{}), ...);
}
template <std::size_t count, typename Body>
[[gnu::always_inline]] inline void unroll(Body&& body) {
  unroll_over<count>(body, std::make_index_sequence<count>());
}

constexpr std::size_t element_bytes(wire::Format format) {
  if (format == wire::Format::kFp32 || format == wire::Format::kInt32) return 4;
  return is_mx(format) ? 1 : 2;
}

constexpr std::size_t whole_blocks(std::size_t elements) {
  return (elements + kMxBlockElements - 1) / kMxBlockElements * kMxBlockElements;
}

/// Where the elements of one block lie, and their scales.
struct Place {
  const std::byte* elements;
  const std::byte* scales;
};

template <wire::Format format>
[[gnu::always_inline]] inline Place place_in(const std::byte* payload, std::size_t elements,
                                             std::size_t first) {
  if constexpr (is_mx(format))
    return {payload + first, payload + whole_blocks(elements) + first / kMxBlockElements};
  else
    return {payload + first * element_bytes(format), nullptr};
}

/// A copy of the end of a payload, filled up with zeros to a whole block.
struct Tail {
  alignas(64) std::byte elements[128 * 4];
  alignas(64) std::byte scales[8];
};

template <wire::Format format>
[[gnu::always_inline]] inline Place copy_tail(const Place& from, std::size_t count, Tail& tail) {
  __builtin_memset(&tail, 0, sizeof tail);
  __builtin_memcpy(tail.elements, from.elements, count * element_bytes(format));
  if constexpr (is_mx(format))
    __builtin_memcpy(tail.scales, from.scales, whole_blocks(count) / kMxBlockElements);
  return {tail.elements, tail.scales};
}

/// Vector j of a block, as fp32.
template <typename V, wire::Format format>
[[gnu::always_inline]] inline typename V::F read(const Place& place, std::size_t j) {
  const std::byte* const at = place.elements + j * V::kWidth * element_bytes(format);
  if constexpr (format == wire::Format::kFp32) {
    return V::template load<typename V::F>(at);
  } else if constexpr (format == wire::Format::kBf16) {
    return V::from_bf16(at);
  } else if constexpr (format == wire::Format::kFp16) {
    return V::from_fp16(at);
  } else {
    const auto scale = static_cast<std::uint8_t>(place.scales[j * V::kWidth / kMxBlockElements]);
    if constexpr (format == wire::Format::kMxInt8) return V::from_int8(at) * kInt8Scales.value[scale];
    if constexpr (format == wire::Format::kMxFp8E4M3) return V::from_e4m3(at) * kScales.value[scale];
    if constexpr (format == wire::Format::kMxFp8E5M2) return V::from_e5m2(at) * kScales.value[scale];
  }
}

/// What a fold needs to know besides its input format and mode.
struct Finish {
  bool wide_partials;  ///< Partials are fp32, and the inputs are not.
  bool divide;
  Encoder encode;  ///< Null: fp32, nothing to do.
};

template <typename V, Mode mode>
struct Block {
  using F = typename V::F;

  F sum[kAccumulators];
  F seen = F{};  ///< Zero, or NaN once something was not finite.

  /// The first input, or one more.
  template <wire::Format format, bool first>
  [[gnu::always_inline]] inline void take(const Place& place, float weight) {
    unroll<kAccumulators>([&](auto j) __attribute__((always_inline)) {
      F value = read<V, format>(place, j);
      if constexpr (mode == Mode::kSum) {
        sum[j] = first ? value : sum[j] + value;
      } else if constexpr (mode == Mode::kWeighted) {
        sum[j] = first ? value * weight : V::multiply_add(value, V::all(weight), sum[j]);
      } else {
        seen = V::spoil(seen, value);
        // The greatest is the least of the opposites, with the sign turned back at the end.
        if constexpr (mode == Mode::kMax) value = -value;
        // Of two zeros, and of two of which one is NaN, `lesser` gives the second: both ways joined by or, a
        // minus sign and a NaN prevail.
        sum[j] = first ? value : V::join(V::lesser(sum[j], value), V::lesser(value, sum[j]));
      }
    });
  }

  /// Returns whether all was finite; else every NaN is the canonical one afterwards.
  [[gnu::always_inline]] inline bool finish(bool divide, float divisor) {
    if constexpr (mode == Mode::kMax)
      unroll<kAccumulators>([&](auto j) __attribute__((always_inline)) { sum[j] = -sum[j]; });
    if constexpr (mode == Mode::kSum || mode == Mode::kWeighted)
      unroll<kAccumulators>([&](auto j) __attribute__((always_inline)) { seen = V::spoil(seen, sum[j]); });
    const bool finite = !V::any_nan(seen);
    if (!finite) [[unlikely]]
      unroll<kAccumulators>([&](auto j) __attribute__((always_inline)) { sum[j] = V::canonical(sum[j]); });
    if (divide)
      unroll<kAccumulators>([&](auto j) __attribute__((always_inline)) { sum[j] = sum[j] / divisor; });
    return finite;
  }
};

template <typename V, wire::Format format, Mode mode>
struct Folder {
  static constexpr std::size_t kBlock = kAccumulators * V::kWidth;
  static_assert(kTileElements % kBlock == 0 && kBlock % kMxBlockElements == 0);

  /// Folds the block of elements that begins with `first` into fp32 at `out`; a tail has `count` elements,
  /// and zeros behind them.
  template <bool tail>
  [[gnu::always_inline]] static bool fold_block(const Call& call, const Finish& finish, std::size_t first,
                                                std::size_t count, std::byte* out) {
    Block<V, mode> block;
    Tail copy;
    const auto take = [&]<bool is_first>(std::size_t i) __attribute__((always_inline)) {
      const bool partial = (call.partial_inputs >> i & 1) != 0;
      float weight = 1;
      if constexpr (mode == Mode::kWeighted) weight = partial ? 1.0F : call.weights[i];
      if (partial && finish.wide_partials) {
        Place place = place_in<wire::Format::kFp32>(call.inputs[i], call.elements, first);
        if constexpr (tail) place = copy_tail<wire::Format::kFp32>(place, count, copy);
        block.template take<wire::Format::kFp32, is_first>(place, weight);
      } else {
        Place place = place_in<format>(call.inputs[i], call.elements, first);
        if constexpr (tail) place = copy_tail<format>(place, count, copy);
        block.template take<format, is_first>(place, weight);
      }
    };
    take.template operator()<true>(0);
    for (std::size_t i = 1; i < call.input_count; ++i) take.template operator()<false>(i);
    const bool finite = block.finish(finish.divide, static_cast<float>(call.divisor));
    unroll<kAccumulators>([&](auto j) __attribute__((always_inline)) {
      V::store(out + j * V::kWidth * 4, block.sum[j]);
    });
    return finite;
  }

  /// The last block, where it is not whole: `count` elements at `out`, and zeros up to `room` of them.
  [[gnu::noinline]] static bool fold_tail(const Call& call, const Finish& finish, std::size_t first,
                                          std::size_t count, std::byte* out, std::size_t room) {
    alignas(64) std::byte whole[kBlock * 4];
    const bool finite = fold_block<true>(call, finish, first, count, whole);
    __builtin_memset(out, 0, room * 4);
    __builtin_memcpy(out, whole, count * 4);
    return finite;
  }

  [[gnu::noinline]] static void fold(const Call& call, const Finish& finish) {
    alignas(64) std::byte scratch[kTileElements * 4];
    Findings findings;
    for (std::size_t begin = 0; begin < call.elements; begin += kTileElements) {
      const std::size_t left = call.elements - begin;
      const std::size_t count = left < kTileElements ? left : kTileElements;
      std::byte* const out = finish.encode == nullptr ? call.out + begin * 4 : scratch;
      std::size_t done = 0;
      bool finite = true;
      for (; done + kBlock <= count; done += kBlock)
        finite &= fold_block<false>(call, finish, begin + done, kBlock, out + done * 4);
      if (done < count)
        finite &= fold_tail(call, finish, begin + done, count - done, out + done * 4,
                            finish.encode == nullptr ? count - done : kBlock);
      findings.non_finite |= !finite;
      if (finish.encode != nullptr)
        findings.saturated += finish.encode(scratch, count, begin, call.elements, call.out);
    }
    if (call.findings != nullptr) *call.findings = findings;
  }
};

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

/// The functions of a code path, for make_table.
template <typename V>
struct VectorFolds {
  template <Kind kind>
  static void fold(const Call& call) {
    check_call(call);
    constexpr bool kDivide = kind.operation == wire::Operation::kMean && kind.finish;
    if constexpr (kind.input == wire::Format::kInt32) {
      constexpr auto kOperation =
          kind.operation == wire::Operation::kMean ? wire::Operation::kSum : kind.operation;
      IntegerFolder<V, kOperation>::fold(call, kDivide);
    } else {
      constexpr Finish kFinish = {kind.partial != kind.input, kDivide, encoder_of<V>(output_format(kind))};
      Folder<V, kind.input, mode_of(kind.operation)>::fold(call, kFinish);
    }
  }
  template <Kind kind>
  static constexpr FoldFunction function() {
    return fold<kind>;
  }
};

template <typename V>
constexpr FoldTable vector_folds() {
  return make_table<VectorFolds<V>>(std::make_index_sequence<kKinds>());
}

}  // namespace
}  // namespace tombolo::fold
