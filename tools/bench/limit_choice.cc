#include "tools/bench/limit_kernel.h"

namespace tombolo::bench {

Limit choose_limit(std::size_t k) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
    return {"avx512", limit_avx512(k)};
  if (__builtin_cpu_supports("avx2")) return {"avx2", limit_avx2(k)};
  return {"baseline", limit_baseline(k)};
}

}  // namespace tombolo::bench
