#pragma once

#include <cstddef>
#include <string>

namespace tombolo::bench {

/// Most inputs of a LimitKernel.
inline constexpr std::size_t kMaxLimitInputs = 16;

/// What a fold cannot be faster than: reads `bytes` of each of the k inputs once, combines them (exclusive
/// or: one instruction per load) and writes `out_bytes`, at most twice as many. `bytes` and `out_bytes` are
/// multiples of 2; out overlaps no input.
using LimitKernel = void (*)(const std::byte* const* inputs, std::size_t bytes, std::byte* out,
                             std::size_t out_bytes);

/// Kernels for k inputs (1 to kMaxLimitInputs) with the widest vectors that this machine has.
struct Limit {
  std::string isa;
  LimitKernel kernel = nullptr;
};
Limit choose_limit(std::size_t k);

/// One per instruction set: limit_kernel.cc, compiled for each.
LimitKernel limit_baseline(std::size_t k);
LimitKernel limit_avx2(std::size_t k);
LimitKernel limit_avx512(std::size_t k);

}  // namespace tombolo::bench
