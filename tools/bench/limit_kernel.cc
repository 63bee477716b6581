// Compiled once per instruction set; LIMIT_KERNEL is the name that this one gets.
#include "tools/bench/limit_kernel.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tombolo::bench {
namespace {

/// 64 bytes at any address: one, two or four registers.
using Vector [[gnu::vector_size(64), gnu::aligned(1), gnu::may_alias]] = std::uint64_t;

template <std::size_t First, std::size_t... Rest>
void combine(const std::byte* const* inputs, std::size_t bytes, std::byte* out, std::size_t out_bytes,
             std::index_sequence<First, Rest...>) {
  const std::byte* const input[] = {inputs[First], inputs[Rest]...};
  const std::size_t whole = bytes / sizeof(Vector) * sizeof(Vector);
  // A result that is wider than the inputs is written at two places, a narrower one for part of the way.
  const std::size_t second = out_bytes > bytes ? bytes : 0;
  const std::size_t end = std::min(whole, out_bytes / sizeof(Vector) * sizeof(Vector));
  std::size_t at = 0;
  for (; at < end; at += sizeof(Vector)) {
    Vector value = *reinterpret_cast<const Vector*>(input[First] + at);
    ((value ^= *reinterpret_cast<const Vector*>(input[Rest] + at)), ...);
    *reinterpret_cast<Vector*>(out + at) = value;
    if (second != 0 && second + at + sizeof(Vector) <= out_bytes)
      *reinterpret_cast<Vector*>(out + second + at) = value;
  }
  Vector sum{};
  for (; at < whole; at += sizeof(Vector)) {
    sum ^= *reinterpret_cast<const Vector*>(input[First] + at);
    ((sum ^= *reinterpret_cast<const Vector*>(input[Rest] + at)), ...);
  }
  if (end < whole) std::memcpy(out, &sum, std::min(out_bytes, sizeof sum));
  for (; at + 2 <= bytes; at += 2) {
    std::uint16_t value = 0, next = 0;
    for (std::size_t i = 0; i <= sizeof...(Rest); ++i) {
      std::memcpy(&next, input[i] + at, sizeof next);
      value = static_cast<std::uint16_t>(value ^ next);
    }
    if (at + 2 <= out_bytes) std::memcpy(out + at, &value, sizeof value);
  }
}

template <std::size_t k>
void run(const std::byte* const* inputs, std::size_t bytes, std::byte* out, std::size_t out_bytes) {
  combine(inputs, bytes, out, out_bytes, std::make_index_sequence<k>());
}

template <std::size_t... I>
constexpr std::array<LimitKernel, sizeof...(I)> make_kernels(std::index_sequence<I...>) {
  return {run<I + 1>...};
}

}  // namespace

LimitKernel LIMIT_KERNEL(std::size_t k) {
  static constexpr auto kKernels = make_kernels(std::make_index_sequence<kMaxLimitInputs>());
  return k >= 1 && k <= kKernels.size() ? kKernels[k - 1] : nullptr;
}

}  // namespace tombolo::bench
