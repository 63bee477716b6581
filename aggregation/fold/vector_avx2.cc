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
  [[gnu::always_inline]] static F from_fp16(const std::byte* at) { return halves(load<__m128i>(at)); }
  [[gnu::always_inline]] static F from_int8(const std::byte* at) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load_eight_bytes(at)));
  }
  /// E5M2 is the upper half of fp16.
  [[gnu::always_inline]] static F from_e5m2(const std::byte* at) {
    return halves(_mm_unpacklo_epi8(_mm_setzero_si128(), load_eight_bytes(at)));
  }
  /// With the mantissa where fp16 has it, a code is 2^-8 times its value, subnormals included.
  [[gnu::always_inline]] static void from_e4m3(const std::byte* at, F& first, F& second) {
    const __m256i code = _mm256_cvtepi8_epi16(load<__m128i>(at));
    const __m256i most = _mm256_set1_epi16(0x3f80);
    const __m256i magnitude = _mm256_and_si256(_mm256_slli_epi16(code, 7), most);
    const __m256i sign = _mm256_and_si256(code, _mm256_set1_epi16(static_cast<short>(0x8000)));
    const __m256i nan = _mm256_cmpeq_epi16(magnitude, most);  // All ones are a NaN.
    const __m256i bits = _mm256_or_si256(_mm256_or_si256(magnitude, sign), nan);
    first = halves(_mm256_castsi256_si128(bits)) * 256.0F;
    second = halves(_mm256_extracti128_si256(bits, 1)) * 256.0F;
  }
  [[gnu::always_inline]] static void store_bf16(std::byte* at, F first, F second) {
    const auto low = reinterpret_cast<__m256i>(round_bf16(first) >> 16);
    const auto high = reinterpret_cast<__m256i>(round_bf16(second) >> 16);
    store(at, _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8));  // It packs each half apart.
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
