// Arithmetic of short calls with AVX-512. Compiled after <hwy/foreach_target.h>.
#include "backends/simd/vectors/vectors-inl.hpp"

#include <limits>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_STATIC_ROUNDING) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_STATIC_ROUNDING
#undef TALLY_BACKENDS_SIMD_STATIC_ROUNDING
#else
#define TALLY_BACKENDS_SIMD_STATIC_ROUNDING
#endif

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_AVX3

// Arithmetic independent of the environment's rounding: AVX-512's static rounding, of whole
// registers only, which raises no exceptions either. Short calls need no look at the control
// register, which waits for all arithmetic before; what the register still decides, whether
// subnormal numbers are kept, is quickly found (tuning/short_calls.md: static rounding).

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

struct multiply_to_nearest {
  HWY_INLINE statically_rounded<double> operator()(vec<double> a, vec<double> b) const {
    return {vec<double>{_mm512_mul_round_pd(a.raw, b.raw, to_nearest)}};
  }
  HWY_INLINE statically_rounded<float> operator()(vec<float> a, vec<float> b) const {
    return {vec<float>{_mm512_mul_round_ps(a.raw, b.raw, to_nearest)}};
  }
};

/// Whether numbers are NaNs, lane by lane. Raises no exception.
HWY_INLINE hn::Mask<tag<double>> unordered(statically_rounded<double> a) {
  return {_mm512_cmp_round_pd_mask(a.v.raw, a.v.raw, _CMP_UNORD_Q, _MM_FROUND_NO_EXC)};
}
HWY_INLINE hn::Mask<tag<float>> unordered(statically_rounded<float> a) {
  return {_mm512_cmp_round_ps_mask(a.v.raw, a.v.raw, _CMP_UNORD_Q, _MM_FROUND_NO_EXC)};
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
