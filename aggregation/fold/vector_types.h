#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "aggregation/fold/vector_encode.h"

/// Vectors of the compiler's own kind, for any width and machine. The files of the instruction sets replace
/// what their instructions do better; see vector_fold.h for how they are compiled.
namespace tombolo::fold {
namespace {

/// The types of `width` lanes, and of half as many of twice the size. The compiler wants numbers here and no
/// template parameters.
template <std::size_t width>
struct Lanes;
template <>
struct Lanes<4> {
  typedef float F __attribute__((vector_size(16)));
  typedef std::uint32_t U __attribute__((vector_size(16)));
  typedef std::int32_t I __attribute__((vector_size(16)));
  typedef std::uint16_t Halves __attribute__((vector_size(8)));
  typedef std::uint8_t Bytes __attribute__((vector_size(4)));
  typedef std::int8_t SignedBytes __attribute__((vector_size(4)));
  typedef double D __attribute__((vector_size(16)));
  typedef std::int64_t L __attribute__((vector_size(16)));
  typedef std::int32_t Integers __attribute__((vector_size(8)));
};
template <>
struct Lanes<8> {
  typedef float F __attribute__((vector_size(32)));
  typedef std::uint32_t U __attribute__((vector_size(32)));
  typedef std::int32_t I __attribute__((vector_size(32)));
  typedef std::uint16_t Halves __attribute__((vector_size(16)));
  typedef std::uint8_t Bytes __attribute__((vector_size(8)));
  typedef std::int8_t SignedBytes __attribute__((vector_size(8)));
  typedef double D __attribute__((vector_size(32)));
  typedef std::int64_t L __attribute__((vector_size(32)));
  typedef std::int32_t Integers __attribute__((vector_size(16)));
};
template <>
struct Lanes<16> {
  typedef float F __attribute__((vector_size(64)));
  typedef std::uint32_t U __attribute__((vector_size(64)));
  typedef std::int32_t I __attribute__((vector_size(64)));
  typedef std::uint16_t Halves __attribute__((vector_size(32)));
  typedef std::uint8_t Bytes __attribute__((vector_size(16)));
  typedef std::int8_t SignedBytes __attribute__((vector_size(16)));
  typedef double D __attribute__((vector_size(64)));
  typedef std::int64_t L __attribute__((vector_size(64)));
  typedef std::int32_t Integers __attribute__((vector_size(32)));
};

template <std::size_t width>
struct Vectors {
  static constexpr std::size_t kWidth = width;
  static constexpr int kLanes = static_cast<int>(width);
  using F = typename Lanes<width>::F;
  using U = typename Lanes<width>::U;
  using I = typename Lanes<width>::I;
  using Halves = typename Lanes<width>::Halves;
  using Bytes = typename Lanes<width>::Bytes;
  using SignedBytes = typename Lanes<width>::SignedBytes;
  using D = typename Lanes<width>::D;
  using L = typename Lanes<width>::L;
  using Integers = typename Lanes<width>::Integers;

  template <typename T>
  [[gnu::always_inline]] static T load(const std::byte* at) {
    T value;
    __builtin_memcpy(&value, at, sizeof value);
    return value;
  }
  template <typename T>
  [[gnu::always_inline]] static void store(std::byte* at, T value) {
    __builtin_memcpy(at, &value, sizeof value);
  }
  [[gnu::always_inline]] static U bits(F value) { return reinterpret_cast<U>(value); }
  [[gnu::always_inline]] static F floats(U value) { return reinterpret_cast<F>(value); }
  /// A difference and no sum, which would turn minus zero into zero; the compiler makes a plain copy of it.
  [[gnu::always_inline]] static F all(float value) { return value - F{}; }
  [[gnu::always_inline]] static U all_bits(std::uint32_t value) { return U{} + value; }
  [[gnu::always_inline]] static D all_double(double value) { return D{} + value; }

  /// The value of each code of a format with 1 + exponent_bits + mantissa_bits bits.
  template <int exponent_bits, int mantissa_bits, bool has_infinity>
  [[gnu::always_inline]] static F decode_small(U code) {
    constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
    constexpr std::uint32_t kTop = ((1U << exponent_bits) - 1) << mantissa_bits;
    constexpr std::uint32_t kAllOnes = kTop | ((1U << mantissa_bits) - 1);
    const U magnitude = code & kAllOnes;
    const U sign = code >> (exponent_bits + mantissa_bits) << 31;
    const U normal = (magnitude << (23 - mantissa_bits)) + (static_cast<std::uint32_t>(127 - kBias) << 23);
    const F small =
        __builtin_convertvector(reinterpret_cast<I>(magnitude), F) * power_of_two(1 - kBias - mantissa_bits);
    U result = magnitude < (1U << mantissa_bits) ? bits(small) : normal;
    if constexpr (has_infinity)
      result = magnitude >= kTop ? normal | 0x7f800000 : result;
    else
      result = magnitude == kAllOnes ? all_bits(0x7fc00000) : result;
    return floats(result | sign);
  }
  /// Twice as many elements as lanes: the even ones and the odd ones, for which nothing has to change its
  /// lane.
  [[gnu::always_inline]] static void from_bf16(const std::byte* at, F& even, F& odd) {
    const U both = load<U>(at);
    even = floats(both << 16);
    odd = floats(both & 0xffff0000);
  }
  template <typename Pair>
  [[gnu::always_inline]] static Pair split(const Pair& pair) {
    return split_lanes(pair, std::make_integer_sequence<int, kLanes>());
  }
  template <typename Pair, int... i>
  [[gnu::always_inline]] static Pair split_lanes(const Pair& pair, std::integer_sequence<int, i...>) {
    return {__builtin_shufflevector(pair.first, pair.second, (2 * i)...),
            __builtin_shufflevector(pair.first, pair.second, (2 * i + 1)...)};
  }
  template <typename Pair>
  [[gnu::always_inline]] static Pair put_together(const Pair& pair) {
    return put_lanes_together(pair, std::make_integer_sequence<int, kLanes>());
  }
  template <typename Pair, int... i>
  [[gnu::always_inline]] static Pair put_lanes_together(const Pair& pair, std::integer_sequence<int, i...>) {
    return {__builtin_shufflevector(pair.first, pair.second, (i / 2 + i % 2 * kLanes)...),
            __builtin_shufflevector(pair.first, pair.second, ((i + kLanes) / 2 + i % 2 * kLanes)...)};
  }
  /// Rounded to nearest even in the upper half of each lane. NaNs are canonical and stay so.
  [[gnu::always_inline]] static U round_bf16(F value) {
    return bits(value) + 0x7fff + (bits(value) >> 16 & 1);
  }
  [[gnu::always_inline]] static void store_bf16(std::byte* at, F first, F second) {
    store(at, __builtin_convertvector(round_bf16(first) >> 16, Halves));
    store(at + width * 2, __builtin_convertvector(round_bf16(second) >> 16, Halves));
  }
  [[gnu::always_inline]] static void store_bf16_interleaved(std::byte* at, F even, F odd) {
    store(at, round_bf16(even) >> 16 | (round_bf16(odd) & 0xffff0000));
  }
  [[gnu::always_inline]] static F from_fp16(const std::byte* at) {
    return decode_small<5, 10, true>(__builtin_convertvector(load<Halves>(at), U));
  }
  [[gnu::always_inline]] static F from_int8(const std::byte* at) {
    return __builtin_convertvector(__builtin_convertvector(load<SignedBytes>(at), I), F);
  }
  [[gnu::always_inline]] static void from_e4m3(const std::byte* at, F& first, F& second) {
    first = decode_small<4, 3, false>(__builtin_convertvector(load<Bytes>(at), U));
    second = decode_small<4, 3, false>(__builtin_convertvector(load<Bytes>(at + width), U));
  }
  [[gnu::always_inline]] static F from_e5m2(const std::byte* at) {
    return decode_small<5, 2, true>(__builtin_convertvector(load<Bytes>(at), U));
  }
  [[gnu::always_inline]] static D from_int32(const std::byte* at) {
    return __builtin_convertvector(load<Integers>(at), D);
  }
  /// Whole numbers within int32.
  [[gnu::always_inline]] static void store_int32(std::byte* at, D value) {
    store(at, __builtin_convertvector(value, Integers));
  }
  [[gnu::always_inline]] static void store_halves(std::byte* at, U codes) {
    store(at, __builtin_convertvector(codes, Halves));
  }
  [[gnu::always_inline]] static void store_bytes(std::byte* at, U codes) {
    store(at, __builtin_convertvector(codes, Bytes));
  }
  /// Any value whose NaNs are canonical.
  [[gnu::always_inline]] static void store_fp16(std::byte* at, F value) {
    const U sign = bits(value) & 0x80000000;
    const F magnitude = floats(bits(value) & 0x7fffffff);
    const U codes = encode_magnitude<Vectors, 5, 10, true>(magnitude) | sign >> 16;
    store_halves(at, value != value ? all_bits(0x7e00) : codes);
  }

  /// a * b + c, rounded once.
  [[gnu::always_inline]] static F multiply_add(F a, F b, F c) {
    for (std::size_t i = 0; i < width; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
  }
  /// a where a < b, otherwise b.
  [[gnu::always_inline]] static F lesser(F a, F b) { return a < b ? a : b; }
  [[gnu::always_inline]] static F join(F a, F b) { return floats(bits(a) | bits(b)); }
  /// NaN in the lanes where `seen` or `value` is not finite, a zero in the others.
  [[gnu::always_inline]] static F spoil(F seen, F value) { return seen + (value - value); }
  [[gnu::always_inline]] static bool any_nan(F value) {
    const auto unordered = value != value;
    std::int32_t any = 0;
    for (std::size_t i = 0; i < width; ++i) any |= unordered[i];
    return any != 0;
  }
  [[gnu::always_inline]] static F canonical(F value) {
    return value != value ? floats(all_bits(0x7fc00000)) : value;
  }
  [[gnu::always_inline]] static std::uint32_t greatest(U value) {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < width; ++i) result = value[i] > result ? value[i] : result;
    return result;
  }
};

}  // namespace
}  // namespace tombolo::fold
