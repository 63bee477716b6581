#pragma once

#include <cstddef>
#include <utility>

/// How blocks of vectors are gone through; see vector_fold.h for how these files are compiled.
namespace tombolo::fold {
namespace {

/// Accumulators of one block: enough to hide the latency of an addition, few enough for 16 registers.
constexpr std::size_t kAccumulators = 8;

/// Calls `body` with 0 .. count - 1 as constants: indices that the compiler sees through to registers.
template <std::size_t count, typename Body, std::size_t... j>
[[gnu::always_inline]] inline void unroll_over(Body&& body, std::index_sequence<j...>) {
  (body(std::integral_constant<std::size_t, j>{}), ...);
}
template <std::size_t count, typename Body>
[[gnu::always_inline]] inline void unroll(Body&& body) {
  unroll_over<count>(body, std::make_index_sequence<count>());
}

/// How far ahead in each payload memory is asked, if a call says that it is needed: what decodes slowly
/// leaves the processor no room to look ahead by itself.
constexpr std::size_t kPrefetchBytes = 512;
/// A result is asked for earlier, and to be written: a store that misses holds up all that come after it.
constexpr std::size_t kPrefetchResultBytes = 1024;
constexpr std::size_t kLineBytes = 64;

template <std::size_t bytes>
[[gnu::always_inline]] inline void prefetch(const std::byte* at) {
  for (std::size_t line = 0; line < bytes; line += kLineBytes) __builtin_prefetch(at + line);
}

inline void prefetch_to_write(const std::byte* at, std::size_t bytes) {
  for (std::size_t line = 0; line < bytes; line += kLineBytes) __builtin_prefetch(at + line, 1);
}

}  // namespace
}  // namespace tombolo::fold
