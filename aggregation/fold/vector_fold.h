#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregation/fold/kernel.h"
#include "aggregation/fold/kind_table.h"
#include "aggregation/fold/outside.h"
#include "aggregation/fold/vector_encode.h"
#include "aggregation/fold/vector_integers.h"
#include "aggregation/fold/vector_loops.h"
#include "aggregation/fold/vector_scale.h"

/// The fold over vectors, written once for every instruction set. A file per set defines its vector type and
/// includes this with compiler flags of its own; so nothing here may have external linkage, or the linker
/// could take one file's copy for all.
///
/// Eight accumulators stay in registers while the inputs go by one after the other: that is one left fold per
/// element for any number of inputs, mixed with partials as they come, without a loop per count. The result
/// is rounded to bf16 and fp16 in the registers; to the Microscaling formats, whose scales need 32 elements
/// at once, in a second step, tile by tile in the first-level cache.
namespace tombolo::fold {
namespace {

/// Elements that are folded before they are converted to a Microscaling format.
constexpr std::size_t kTileElements = 512;

enum class Mode { kSum, kWeighted, kMin, kMax };

constexpr Mode mode_of(wire::Operation operation) {
  if (operation == wire::Operation::kWeighted) return Mode::kWeighted;
  if (operation == wire::Operation::kMin) return Mode::kMin;
  return operation == wire::Operation::kMax ? Mode::kMax : Mode::kSum;
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
  alignas(64) std::byte elements[kMxBlockElements * 4];
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

/// Vectors that are read together: some formats decode two with less work than one and one.
template <typename V>
struct Pair {
  typename V::F first;
  typename V::F second;
};

/// Whether a format's pairs are its even and its odd elements instead of one vector and the next.
constexpr bool is_interleaved(wire::Format format) { return format == wire::Format::kBf16; }

/// Vectors j and j + 1 of a block, as fp32; j is even.
template <typename V, wire::Format format>
[[gnu::always_inline]] inline Pair<V> read(const Place& place, std::size_t j) {
  using F = typename V::F;
  constexpr std::size_t kStep = V::kWidth * element_bytes(format);
  const std::byte* const at = place.elements + j * kStep;
  if constexpr (format == wire::Format::kFp32) {
    return {V::template load<F>(at), V::template load<F>(at + kStep)};
  } else if constexpr (format == wire::Format::kBf16) {
    Pair<V> pair;
    V::from_bf16(at, pair.first, pair.second);
    return pair;
  } else if constexpr (format == wire::Format::kFp16) {
    return {V::from_fp16(at), V::from_fp16(at + kStep)};
  } else {
    static_assert(kMxBlockElements % (2 * V::kWidth) == 0);  // One scale for both.
    const auto scale = static_cast<std::uint8_t>(place.scales[j * V::kWidth / kMxBlockElements]);
    const F factor = V::all((format == wire::Format::kMxInt8 ? kInt8Scales : kScales).value[scale]);
    Pair<V> pair;
    if constexpr (format == wire::Format::kMxInt8)
      pair = {V::from_int8(at), V::from_int8(at + kStep)};
    else if constexpr (format == wire::Format::kMxFp8E5M2)
      pair = {V::from_e5m2(at), V::from_e5m2(at + kStep)};
    else
      V::from_e4m3(at, pair.first, pair.second);
    return {pair.first * factor, pair.second * factor};
  }
}

/// How accumulators are written.
enum class Store { kFp32, kBf16, kFp16 };

/// What a fold needs to know besides its input format and mode.
struct Finish {
  bool wide_partials;  ///< Partials are fp32, and the inputs are not.
  bool divide;
  Store store;
  Encoder encode;  ///< If not null: from fp32, in a second step.
};

constexpr std::size_t stored_bytes(Store store) { return store == Store::kFp32 ? 4 : 2; }

/// `vectors` accumulators, and what they go through.
template <typename V, Mode mode, bool interleaved, std::size_t vectors>
struct Block {
  using F = typename V::F;

  F sum[vectors];
  F seen = F{};  ///< Zero, or NaN once something was not finite.

  /// The first input, or one more.
  template <wire::Format format, bool first>
  [[gnu::always_inline]] inline void take(const Place& place, float weight) {
    unroll<vectors / 2>([&](auto half) __attribute__((always_inline)) {
      Pair<V> pair = read<V, format>(place, 2 * half);
      if constexpr (interleaved && !is_interleaved(format))  // A partial.
        pair = V::split(pair);
      add<first>(sum[2 * half], pair.first, weight);
      add<first>(sum[2 * half + 1], pair.second, weight);
    });
  }

  template <bool first>
  [[gnu::always_inline]] inline void add(F& to, F value, float weight) {
    if constexpr (mode == Mode::kSum) {
      to = first ? value : to + value;
    } else if constexpr (mode == Mode::kWeighted) {
      to = first ? value * weight : V::multiply_add(value, V::all(weight), to);
    } else {
      seen = V::spoil(seen, value);
      // The greatest is the least of the opposites, with the sign turned back at the end.
      if constexpr (mode == Mode::kMax) value = -value;
      // Of two zeros, and of two of which one is NaN, `lesser` gives the second: both ways joined by or, a
      // minus sign and a NaN prevail.
      to = first ? value : V::join(V::lesser(to, value), V::lesser(value, to));
    }
  }

  /// Returns whether all was finite; else every NaN is the canonical one afterwards.
  [[gnu::always_inline]] inline bool finish(bool divide, float divisor) {
    if constexpr (mode == Mode::kMax) each([&](F & value) __attribute__((always_inline)) { value = -value; });
    if constexpr (mode == Mode::kSum || mode == Mode::kWeighted)
      each([&](F & value) __attribute__((always_inline)) { seen = V::spoil(seen, value); });
    const bool finite = !V::any_nan(seen);
    if (!finite) [[unlikely]]
      each([&](F & value) __attribute__((always_inline)) { value = V::canonical(value); });
    if (divide) each([&](F & value) __attribute__((always_inline)) { value = value / divisor; });
    return finite;
  }

  /// Writes all accumulators, one after the other.
  [[gnu::always_inline]] inline void write(std::byte* out, Store store) const {
    unroll<vectors / 2>([&](auto half) __attribute__((always_inline)) {
      Pair<V> pair = {sum[2 * half], sum[2 * half + 1]};
      std::byte* const at = out + 2 * half * V::kWidth * stored_bytes(store);
      if (interleaved && store == Store::kBf16) return V::store_bf16_interleaved(at, pair.first, pair.second);
      if constexpr (interleaved) pair = V::put_together(pair);
      if (store == Store::kBf16) return V::store_bf16(at, pair.first, pair.second);
      if (store == Store::kFp16) {
        V::store_fp16(at, pair.first);
        return V::store_fp16(at + V::kWidth * 2, pair.second);
      }
      V::store(at, pair.first);
      V::store(at + V::kWidth * 4, pair.second);
    });
  }

  template <typename Body>
  [[gnu::always_inline]] inline void each(Body&& body) {
    unroll<vectors>([&](auto j) __attribute__((always_inline)) { body(sum[j]); });
  }
};

template <typename V, wire::Format format, Mode mode>
struct Folder {
  static constexpr std::size_t kBlock = kAccumulators * V::kWidth;
  /// What is left behind the last block goes by these: chunks are multiples of 32 elements.
  static constexpr std::size_t kSmallVectors = kMxBlockElements / V::kWidth;
  static_assert(kTileElements % kBlock == 0 && kBlock % kMxBlockElements == 0);

  /// Folds `vectors` vectors from element `first` on and writes them at `out`; of a tail only `count`
  /// elements are there, and zeros behind them.
  template <std::size_t vectors, bool tail, bool cold>
  [[gnu::always_inline]] static bool fold_block(const Call& call, const Finish& finish, std::size_t first,
                                                std::size_t count, std::byte* out) {
    Block<V, mode, is_interleaved(format), vectors> block;
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
        if constexpr (!tail && cold)
          prefetch<vectors * V::kWidth * element_bytes(format)>(place.elements + kPrefetchBytes);
        block.template take<format, is_first>(place, weight);
      }
    };
    take.template operator()<true>(0);
    for (std::size_t i = 1; i < call.input_count; ++i) take.template operator()<false>(i);
    const bool finite = block.finish(finish.divide, static_cast<float>(call.divisor));
    block.write(out, finish.store);
    return finite;
  }

  /// The last block, where it is not whole: `count` elements at `out`, and with `fill` zeros behind them.
  [[gnu::noinline]] static bool fold_tail(const Call& call, const Finish& finish, std::size_t first,
                                          std::size_t count, std::byte* out, bool fill) {
    alignas(64) std::byte whole[kMxBlockElements * 4];
    const bool finite = fold_block<kSmallVectors, true, false>(call, finish, first, count, whole);
    if (fill) __builtin_memset(out, 0, sizeof whole);
    __builtin_memcpy(out, whole, count * stored_bytes(finish.store));
    return finite;
  }

  /// A tile of `count` elements from `begin` on; with `fill` there is room for a last block behind them.
  template <bool cold>
  [[gnu::always_inline]] static bool fold_tile(const Call& call, const Finish& finish, std::size_t begin,
                                               std::size_t count, std::byte* out, bool fill) {
    const std::size_t bytes = stored_bytes(finish.store);
    bool finite = true;
    std::size_t done = 0;
    for (; done + kBlock <= count; done += kBlock) {
      if (cold && finish.encode == nullptr) prefetch_result(call, begin + done, bytes);
      finite &=
          fold_block<kAccumulators, false, cold>(call, finish, begin + done, kBlock, out + done * bytes);
    }
    if constexpr (kSmallVectors < kAccumulators)
      for (; done + kMxBlockElements <= count; done += kMxBlockElements)
        finite &= fold_block<kSmallVectors, false, cold>(call, finish, begin + done, kMxBlockElements,
                                                         out + done * bytes);
    if (done < count) finite &= fold_tail(call, finish, begin + done, count - done, out + done * bytes, fill);
    return finite;
  }

  /// Asks for the part of the result that is written some blocks after the one at `element`.
  [[gnu::always_inline]] static void prefetch_result(const Call& call, std::size_t element,
                                                     std::size_t bytes) {
    const std::size_t ahead = element * bytes + kPrefetchResultBytes;
    if (ahead < call.elements * bytes) prefetch_to_write(call.out + ahead, kBlock * bytes);
  }

  static void fold(const Call& call, const Finish& finish) {
    call.cold ? fold_all<true>(call, finish) : fold_all<false>(call, finish);
  }

  template <bool cold>
  [[gnu::noinline]] static void fold_all(const Call& call, const Finish& finish) {
    alignas(64) std::byte scratch[kTileElements * 4];
    Findings findings;
    const std::size_t result_bytes = call.elements * stored_bytes(finish.store);
    if (cold && finish.encode == nullptr)
      prefetch_to_write(call.out, result_bytes < kPrefetchResultBytes ? result_bytes : kPrefetchResultBytes);
    for (std::size_t begin = 0; begin < call.elements; begin += kTileElements) {
      const std::size_t left = call.elements - begin;
      const std::size_t count = left < kTileElements ? left : kTileElements;
      if (finish.encode == nullptr) {
        std::byte* const out = call.out + begin * stored_bytes(finish.store);
        findings.non_finite |= !fold_tile<cold>(call, finish, begin, count, out, false);
      } else {
        if (cold) prefetch<kTileElements>(call.out + begin);
        findings.non_finite |= !fold_tile<cold>(call, finish, begin, count, scratch, true);
        findings.saturated += finish.encode(scratch, count, begin, call.elements, call.out);
      }
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
      constexpr wire::Format kOutput = output_format(kind);
      constexpr Store kStore = kOutput == wire::Format::kBf16   ? Store::kBf16
                               : kOutput == wire::Format::kFp16 ? Store::kFp16
                                                                : Store::kFp32;
      constexpr Finish kFinish = {kind.partial != kind.input, kDivide, kStore, encoder_of<V>(kOutput)};
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
