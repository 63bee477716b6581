#pragma once

#include <cstddef>

namespace tombolo::bench {

/// Gloo's sums, which its headers define: compiled for AVX2, at -O3.
void gloo_sum_fp32(std::byte* accumulator, const std::byte* input, std::size_t elements);
void gloo_sum_fp16(std::byte* accumulator, const std::byte* input, std::size_t elements);

}  // namespace tombolo::bench
