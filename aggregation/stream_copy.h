#pragma once

#include <cstddef>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tombolo::aggregation {

/// Copies past the caches, for bytes that are read so much later that they would have left them anyway: the
/// processor does not fetch what is overwritten, and what is needed soon stays where it is. `to` is aligned
/// to 16 bytes. Only the thread that copied may read without a fence.
inline void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::size_t done = 0;
#ifdef __SSE2__
  for (; done + sizeof(__m128i) <= bytes; done += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + done),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done)));
#endif
  if (done < bytes) std::memcpy(to + done, from + done, bytes - done);
}

}  // namespace tombolo::aggregation
