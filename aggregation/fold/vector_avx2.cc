#include <immintrin.h>

#include "aggregation/fold/tables.h"
#include "aggregation/fold/vector_fold.h"
#include "aggregation/fold/vector_types.h"

namespace tombolo::fold {
namespace {

struct Avx2 : Vectors<8> {
  [[gnu::always_inline]] static F halves(__m128i codes) { return _mm256_cvtph_ps(codes); }
  [[gnu::always_inline]] static __m128i load_eight_bytes(const std::byte* at) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
  }
  [[gnu::always_inline]] static F from_bf16(const std::byte* at) {
    const __m256i wide = _mm256_cvtepu16_epi32(load<__m128i>(at));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
  [[gnu::always_inline]] static F from_fp16(const std::byte* at) { return halves(load<__m128i>(at)); }
  [[gnu::always_inline]] static F from_int8(const std::byte* at) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load_eight_bytes(at)));
  }
  /// E5M2 is the upper half of fp16.
  [[gnu::always_inline]] static F from_e5m2(const std::byte* at) {
    return halves(_mm_unpacklo_epi8(_mm_setzero_si128(), load_eight_bytes(at)));
  }
  /// With the mantissa where fp16 has it, a code is 2^-8 times its value, subnormals included.
  [[gnu::always_inline]] static F from_e4m3(const std::byte* at) {
    const __m128i code = _mm_cvtepi8_epi16(load_eight_bytes(at));
    const __m128i magnitude = _mm_and_si128(_mm_slli_epi16(code, 7), _mm_set1_epi16(0x3f80));
    const __m128i sign = _mm_and_si128(code, _mm_set1_epi16(static_cast<short>(0x8000)));
    const __m128i nan = _mm_cmpeq_epi16(magnitude, _mm_set1_epi16(0x3f80));
    const __m128i bits = _mm_or_si128(_mm_or_si128(magnitude, sign), nan);  // All ones are a NaN.
    return halves(bits) * 256.0F;
  }
  [[gnu::always_inline]] static void store_halves(std::byte* at, U codes) {
    const auto wide = reinterpret_cast<__m256i>(codes);
    store(at, _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1)));
  }
  [[gnu::always_inline]] static void store_fp16(std::byte* at, F value) {
    store(at, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  [[gnu::always_inline]] static F multiply_add(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  [[gnu::always_inline]] static F lesser(F a, F b) { return _mm256_min_ps(a, b); }
  [[gnu::always_inline]] static F spoil(F seen, F value) { return _mm256_fmadd_ps(value, F{}, seen); }
  [[gnu::always_inline]] static bool any_nan(F value) {
    return _mm256_movemask_ps(_mm256_cmp_ps(value, value, _CMP_UNORD_Q)) != 0;
  }
  [[gnu::always_inline]] static std::uint32_t greatest(U value) {
    const auto wide = reinterpret_cast<__m256i>(value);
    __m128i most = _mm_max_epu32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
    most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0x4e));
    most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0xb1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(most));
  }
};

}  // namespace

const FoldTable kAvx2Folds = vector_folds<Avx2>();

}  // namespace tombolo::fold
