#include <immintrin.h>

#include "aggregation/fold/tables.h"
#include "aggregation/fold/vector_fold.h"
#include "aggregation/fold/vector_types.h"

namespace tombolo::fold {
namespace {

struct Avx512 : Vectors<16> {
  [[gnu::always_inline]] static F halves(__m256i codes) { return _mm512_cvtph_ps(codes); }
  [[gnu::always_inline]] static F from_fp16(const std::byte* at) { return halves(load<__m256i>(at)); }
  [[gnu::always_inline]] static F from_int8(const std::byte* at) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load<__m128i>(at)));
  }
  /// E5M2 is the upper half of fp16.
  [[gnu::always_inline]] static F from_e5m2(const std::byte* at) {
    return halves(_mm256_slli_epi16(_mm256_cvtepu8_epi16(load<__m128i>(at)), 8));
  }
  /// With the mantissa where fp16 has it, a code is 2^-8 times its value, subnormals included.
  [[gnu::always_inline]] static void from_e4m3(const std::byte* at, F& first, F& second) {
    const __m512i code = _mm512_cvtepi8_epi16(load<__m256i>(at));
    const __m512i most = _mm512_set1_epi16(0x3f80);
    const __m512i magnitude = _mm512_and_si512(_mm512_slli_epi16(code, 7), most);
    const __mmask32 nan = _mm512_cmpeq_epi16_mask(magnitude, most);
    const __m512i sign = _mm512_set1_epi16(static_cast<short>(0x8000));
    __m512i bits = _mm512_ternarylogic_epi64(magnitude, code, sign, 0xf8);  // magnitude | (code & sign)
    bits = _mm512_mask_mov_epi16(bits, nan, _mm512_set1_epi16(0x7e00));
    first = halves(_mm512_castsi512_si256(bits)) * 256.0F;
    second = halves(_mm512_extracti64x4_epi64(bits, 1)) * 256.0F;
  }
  [[gnu::always_inline]] static void store_bf16(std::byte* at, F first, F second) {
    const __m512i upper_halves =
        _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27, 25, 23,
                         21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    store(at, _mm512_permutex2var_epi16(reinterpret_cast<__m512i>(round_bf16(first)), upper_halves,
                                        reinterpret_cast<__m512i>(round_bf16(second))));
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
