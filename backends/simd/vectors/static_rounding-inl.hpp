// Arithmetic of short calls with AVX-512. Compiled after <hwy/foreach_target.h>.
#include "backends/simd/vectors/vectors-inl.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

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

/// Numbers and squares as terms of sums.
struct rounded_statically {
  template <class V>
  static HWY_INLINE auto number(V v) {
    return statically_rounded<hn::TFromV<V>>{v};
  }
  template <class V>
  static HWY_INLINE auto square(V v) {
    return multiply_to_nearest()(v, v);
  }
};

/// Terms up to which static rounding pays (tuning/dot.md: few).
constexpr std::size_t few = 256;

/// Folds, turns -0 into +0 and any NaN into the positive quiet one with an empty payload.
template <class Sum>
HWY_INLINE double fold_vector(tag<double>, statically_rounded<double> a) {
  const auto with = [&a](__m512d moved)
                        HWY_ATTR { a = added(a, statically_rounded<double>{vec<double>{moved}}); };
  with(_mm512_shuffle_f64x2(a.v.raw, a.v.raw, 0x4e));
  with(_mm512_permutex_pd(a.v.raw, 0x4e));
  with(_mm512_permute_pd(a.v.raw, 0x55));
  with(_mm512_setzero_pd());
  const __m128d sum = _mm512_castpd512_pd128(a.v.raw);
  const __mmask8 is_nan = _mm_cmp_round_sd_mask(sum, sum, _CMP_UNORD_Q, _MM_FROUND_NO_EXC);
  const __m128d nan = _mm_set_sd(std::numeric_limits<double>::quiet_NaN());
  return _mm_cvtsd_f64(_mm_mask_move_sd(sum, is_nan, sum, nan));
}
template <class Sum>
HWY_INLINE float fold_vector(tag<float>, statically_rounded<float> a) {
  const auto with = [&a](__m512 moved)
                        HWY_ATTR { a = added(a, statically_rounded<float>{vec<float>{moved}}); };
  with(_mm512_shuffle_f32x4(a.v.raw, a.v.raw, 0x4e));
  with(_mm512_shuffle_f32x4(a.v.raw, a.v.raw, 0xb1));
  with(_mm512_permute_ps(a.v.raw, 0x4e));
  with(_mm512_permute_ps(a.v.raw, 0xb1));
  with(_mm512_setzero_ps());
  const __m128 sum = _mm512_castps512_ps128(a.v.raw);
  const __mmask8 is_nan = _mm_cmp_round_ss_mask(sum, sum, _CMP_UNORD_Q, _MM_FROUND_NO_EXC);
  const __m128 nan = _mm_set_ss(std::numeric_limits<float>::quiet_NaN());
  return _mm_cvtss_f32(_mm_mask_move_ss(sum, is_nan, sum, nan));
}

HWY_INLINE double root(double x) {
  const __m128d v = _mm_set_sd(x);
  return _mm_cvtsd_f64(_mm_sqrt_round_sd(v, v, to_nearest));
}
HWY_INLINE float root(float x) {
  const __m128 v = _mm_set_ss(x);
  return _mm_cvtss_f32(_mm_sqrt_round_ss(v, v, to_nearest));
}

/// Whether a number of a or b is NaN, lane by lane. Raises no exception.
HWY_INLINE hn::Mask<tag<double>> unordered(statically_rounded<double> a,
                                           statically_rounded<double> b) {
  return {_mm512_cmp_round_pd_mask(a.v.raw, b.v.raw, _CMP_UNORD_Q, _MM_FROUND_NO_EXC)};
}
HWY_INLINE hn::Mask<tag<float>> unordered(statically_rounded<float> a,
                                          statically_rounded<float> b) {
  return {_mm512_cmp_round_ps_mask(a.v.raw, b.v.raw, _CMP_UNORD_Q, _MM_FROUND_NO_EXC)};
}

/// Whether neither a nor b is NaN, in the lanes of `where`; false in the others.
HWY_INLINE hn::Mask<tag<double>> ordered(hn::Mask<tag<double>> where, statically_rounded<double> a,
                                         statically_rounded<double> b) {
  return {
      _mm512_mask_cmp_round_pd_mask(where.raw, a.v.raw, b.v.raw, _CMP_ORD_Q, _MM_FROUND_NO_EXC)};
}
HWY_INLINE hn::Mask<tag<float>> ordered(hn::Mask<tag<float>> where, statically_rounded<float> a,
                                        statically_rounded<float> b) {
  return {
      _mm512_mask_cmp_round_ps_mask(where.raw, a.v.raw, b.v.raw, _CMP_ORD_Q, _MM_FROUND_NO_EXC)};
}

/// Replaces NaNs by the positive quiet one with an empty payload.
template <class W>
HWY_INLINE vec<W> known(statically_rounded<W> a) {
  const auto nan = hn::Set(tag<W>(), std::numeric_limits<W>::quiet_NaN());
  return hn::IfThenElse(unordered(a, a), nan, a.v);
}

// The first `count` numbers of a vector, a power of two, without a mask: a load finds what a store
// of the same bytes wrote before that is in the cache, but not with masks.

/// Loads them; zeros follow.
template <std::size_t count, class W, class D = tag<W>>
HWY_INLINE hn::Vec<D> load_piece(const W* p) {
  constexpr D d;
  if constexpr (sizeof(hn::Vec<D>) > std::max(count * sizeof(W), std::size_t{16})) {
    return hn::ZeroExtendVector(d, load_piece<count, W, hn::Half<D>>(p));
  } else {
    return {hn::LoadU(hn::CappedTag<W, count>(), p).raw};
  }
}

template <std::size_t count, class D>
HWY_INLINE void store_piece(D d, hn::Vec<D> v, hn::TFromD<D>* p) {
  if constexpr (sizeof(v) > std::max(count * sizeof(*p), std::size_t{16})) {
    constexpr hn::Half<D> half;
    store_piece<count>(half, hn::LowerHalf(half, v), p);
  } else {
    constexpr hn::CappedTag<hn::TFromD<D>, count> piece;
    hn::StoreU(hn::Vec<decltype(piece)>{v.raw}, piece, p);
  }
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
