// Arithmetic independent of the environment's rounding: AVX-512's static rounding, of whole
// registers only, which raises no exceptions either. Short sums need no look at the control
// register, which waits for all arithmetic before; what the register still decides, whether
// subnormal numbers are kept, is quickly found (tuning/short_calls.md: static rounding).
//
// For AVX-512 alone, after <hwy/foreach_target.h>.
#include "backends/simd/vectors/targets.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_STATIC_ROUNDING) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_STATIC_ROUNDING
#undef TALLY_BACKENDS_SIMD_STATIC_ROUNDING
#else
#define TALLY_BACKENDS_SIMD_STATIC_ROUNDING
#endif

#include "backends/simd/sums/chunk-inl.hpp"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

constexpr int to_nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

/// Whether this thread's environment keeps subnormal operands and results. Raises no exception.
HWY_INLINE bool keeps_subnormals() {
  __m128d subnormal = _mm_set_sd(std::numeric_limits<double>::denorm_min());
  asm volatile("" : "+v"(subnormal));  // or the compiler would compute the sum
  const __m128d sum = _mm_add_round_sd(subnormal, subnormal, to_nearest);
  return _mm_cvtsi128_si64(_mm_castpd_si128(sum)) != 0;
}

template <class W>
struct statically_rounded {
  vec<W> v;
};

HWY_INLINE statically_rounded<double> added(statically_rounded<double> a,
                                            statically_rounded<double> b) {
  return {vec<double>{_mm512_add_round_pd(a.v.raw, b.v.raw, to_nearest)}};
}
HWY_INLINE statically_rounded<float> added(statically_rounded<float> a,
                                           statically_rounded<float> b) {
  return {vec<float>{_mm512_add_round_ps(a.v.raw, b.v.raw, to_nearest)}};
}

HWY_INLINE double added(double a, double b) {
  return _mm_cvtsd_f64(_mm_add_round_sd(_mm_set_sd(a), _mm_set_sd(b), to_nearest));
}
HWY_INLINE float added(float a, float b) {
  return _mm_cvtss_f32(_mm_add_round_ss(_mm_set_ss(a), _mm_set_ss(b), to_nearest));
}

template <class Sum>
HWY_INLINE double fold_vector(tag<double>, statically_rounded<double> a) {
  const auto with = [&a](__m512d moved)
                        HWY_ATTR { a = added(a, statically_rounded<double>{vec<double>{moved}}); };
  with(_mm512_shuffle_f64x2(a.v.raw, a.v.raw, 0x4e));
  with(_mm512_permutex_pd(a.v.raw, 0x4e));
  with(_mm512_permute_pd(a.v.raw, 0x55));
  return _mm512_cvtsd_f64(a.v.raw);
}
template <class Sum>
HWY_INLINE float fold_vector(tag<float>, statically_rounded<float> a) {
  const auto with = [&a](__m512 moved)
                        HWY_ATTR { a = added(a, statically_rounded<float>{vec<float>{moved}}); };
  with(_mm512_shuffle_f32x4(a.v.raw, a.v.raw, 0x4e));
  with(_mm512_shuffle_f32x4(a.v.raw, a.v.raw, 0xb1));
  with(_mm512_permute_ps(a.v.raw, 0x4e));
  with(_mm512_permute_ps(a.v.raw, 0xb1));
  return _mm512_cvtss_f32(a.v.raw);
}
template <class Sum>
HWY_INLINE float fold_vector(tag<float> d, two_vectors<statically_rounded<float>> v) {
  return added(fold_vector<Sum>(d, v.first), fold_vector<Sum>(d, v.second));
}

/// See `canonical`; and -0 becomes +0.
HWY_INLINE double finished(double sum) {
  const __m128d v = _mm_set_sd(added(sum, 0.0));
  const __mmask8 is_nan = _mm_cmp_round_sd_mask(v, v, _CMP_UNORD_Q, _MM_FROUND_NO_EXC);
  const __m128d nan = _mm_set_sd(std::numeric_limits<double>::quiet_NaN());
  return _mm_cvtsd_f64(_mm_mask_move_sd(v, is_nan, v, nan));
}
HWY_INLINE float finished(float sum) {
  const __m128 v = _mm_set_ss(added(sum, 0.0f));
  const __mmask8 is_nan = _mm_cmp_round_ss_mask(v, v, _CMP_UNORD_Q, _MM_FROUND_NO_EXC);
  const __m128 nan = _mm_set_ss(std::numeric_limits<float>::quiet_NaN());
  return _mm_cvtss_f32(_mm_mask_move_ss(v, is_nan, v, nan));
}

/// Terms as of `environments_rounding`, statically rounded.
struct static_rounding {
  template <class W>
  using vector = statically_rounded<W>;

  static HWY_INLINE vector<double> product(vec<double> a, vec<double> b) {
    return {vec<double>{_mm512_mul_round_pd(a.raw, b.raw, to_nearest)}};
  }
  static HWY_INLINE vector<float> product(vec<float> a, vec<float> b) {
    return {vec<float>{_mm512_mul_round_ps(a.raw, b.raw, to_nearest)}};
  }
  template <class W, class X>
  static HWY_INLINE vec<W> load(const X* p) {
    if constexpr (std::is_same_v<X, float16>) {
      return converted(hn::LoadU(half_bits<tag<W>>(), bits_of(p)).raw);
    } else {
      return HWY_NAMESPACE::load<W>(p);
    }
  }
  template <class W, class X>
  static HWY_INLINE vec<W> load_first(const X* p, std::size_t count) {
    if constexpr (std::is_same_v<X, float16>) {
      return converted(load_first_narrow(half_bits<tag<W>>(), bits_of(p), count).raw);
    } else {
      return HWY_NAMESPACE::load_first<W>(p, count);
    }
  }

 private:
  /// The usual conversion raises an exception for signaling NaNs.
  static HWY_INLINE vec<float> converted(__m256i halves) {
    return vec<float>{_mm512_cvt_roundph_ps(halves, _MM_FROUND_NO_EXC)};
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();
#endif

#endif
