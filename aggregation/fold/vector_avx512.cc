#include <immintrin.h>

#include "aggregation/fold/tables.h"
#include "aggregation/fold/vector_fold.h"
#include "aggregation/fold/vector_types.h"

namespace tombolo::fold {
namespace {

struct Avx512 : Vectors<16> {
  [[gnu::always_inline]] static F halves(__m256i codes) { return _mm512_cvtph_ps(codes); }
  [[gnu::always_inline]] static F from_bf16(const std::byte* at) {
    const __m512i wide = _mm512_cvtepu16_epi32(load<__m256i>(at));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
  [[gnu::always_inline]] static F from_fp16(const std::byte* at) { return halves(load<__m256i>(at)); }
  [[gnu::always_inline]] static F from_int8(const std::byte* at) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load<__m128i>(at)));
  }
  /// E5M2 is the upper half of fp16.
  [[gnu::always_inline]] static F from_e5m2(const std::byte* at) {
    return halves(_mm256_slli_epi16(_mm256_cvtepu8_epi16(load<__m128i>(at)), 8));
  }
  /// With the mantissa where fp16 has it, a code is 2^-8 times its value, subnormals included.
  [[gnu::always_inline]] static F from_e4m3(const std::byte* at) {
    const __m256i code = _mm256_cvtepi8_epi16(load<__m128i>(at));
    const __m256i magnitude = _mm256_and_si256(_mm256_slli_epi16(code, 7), _mm256_set1_epi16(0x3f80));
    const __m256i sign = _mm256_set1_epi16(static_cast<short>(0x8000));
    const __mmask16 nan = _mm256_cmpeq_epi16_mask(magnitude, _mm256_set1_epi16(0x3f80));
    const __m256i bits = _mm256_ternarylogic_epi64(magnitude, code, sign, 0xf8);  // magnitude | (code & sign)
    return halves(_mm256_mask_mov_epi16(bits, nan, _mm256_set1_epi16(0x7e00))) * 256.0F;
  }
  [[gnu::always_inline]] static void store_halves(std::byte* at, U codes) {
    store(at, _mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(codes)));
  }
  [[gnu::always_inline]] static void store_bytes(std::byte* at, U codes) {
    store(at, _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(codes)));
  }
  [[gnu::always_inline]] static void store_fp16(std::byte* at, F value) {
    store(at, _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  [[gnu::always_inline]] static F multiply_add(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  [[gnu::always_inline]] static F lesser(F a, F b) { return _mm512_min_ps(a, b); }
  [[gnu::always_inline]] static F spoil(F seen, F value) { return _mm512_fmadd_ps(value, F{}, seen); }
  [[gnu::always_inline]] static bool any_nan(F value) {
    return _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q) != 0;
  }
  [[gnu::always_inline]] static std::uint32_t greatest(U value) {
    return _mm512_reduce_max_epu32(reinterpret_cast<__m512i>(value));
  }
};

}  // namespace

const FoldTable kAvx512Folds = vector_folds<Avx512>();

}  // namespace tombolo::fold
