#include "tools/bench/gloo_sum.h"

#include <gloo/math.h>

namespace tombolo::bench {

void gloo_sum_fp32(std::byte* accumulator, const std::byte* input, std::size_t elements) {
  gloo::sum<float>(reinterpret_cast<float*>(accumulator), reinterpret_cast<const float*>(input), elements);
}

void gloo_sum_fp16(std::byte* accumulator, const std::byte* input, std::size_t elements) {
  gloo::sum<gloo::float16>(reinterpret_cast<gloo::float16*>(accumulator),
                           reinterpret_cast<const gloo::float16*>(input), elements);
}

}  // namespace tombolo::bench
