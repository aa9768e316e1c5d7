// The arithmetic of vectors for the formulas of element-wise functions, and their results, rounded
// to the elements' type. Compiled once per target, after <hwy/foreach_target.h>.
#include "backends/common/elementwise/elementwise.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_ARITHMETIC) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_ARITHMETIC
#undef TALLY_BACKENDS_SIMD_ARITHMETIC
#else
#define TALLY_BACKENDS_SIMD_ARITHMETIC
#endif

#include "backends/simd/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

// --- Functions of one number ---------------------------------------------------------------------

/// Whether there is FMA. Without it (processors before 2013) the C library computes each number.
constexpr bool has_fma = is_avx512 || HWY_TARGET == HWY_AVX2 || (is_neon && HWY_ARCH_ARM_A64);

/// Whether one instruction multiplies by powers of two, and one replaces NaN
/// (tuning/elementwise.md: has_scaling).
constexpr bool has_scaling = is_avx512;

/// The smaller magnitude with the sign of the first operand, and with a minus: immediate operands
/// of `vrangeps`.
constexpr int with_sign_of_first = 0b0010, with_minus = 0b1110;

#if HWY_TARGET == HWY_AVX3

/// 2^k m, rounded once; `other` where x is NaN.
HWY_INLINE vec<float> scale_by(vec<float> m, vec<float> k, vec<float> x, vec<float> other) {
  const auto ordered = _mm512_cmp_ps_mask(x.raw, x.raw, _CMP_ORD_Q);
  return {_mm512_mask_scalef_ps(other.raw, ordered, m.raw, k.raw)};
}
HWY_INLINE vec<double> scale_by(vec<double> m, vec<double> k, vec<double> x, vec<double> other) {
  const auto ordered = _mm512_cmp_pd_mask(x.raw, x.raw, _CMP_ORD_Q);
  return {_mm512_mask_scalef_pd(other.raw, ordered, m.raw, k.raw)};
}

/// The smaller magnitude, with the sign that `sign` names.
template <int sign>
HWY_INLINE vec<float> smaller_magnitude(vec<float> x, vec<float> bound) {
  return {_mm512_range_ps(x.raw, bound.raw, sign)};
}
template <int sign>
HWY_INLINE vec<double> smaller_magnitude(vec<double> x, vec<double> bound) {
  return {_mm512_range_pd(x.raw, bound.raw, sign)};
}

/// x, or `other` where x is NaN: the classes 0 and 1 of the table.
HWY_INLINE vec<float> unless_nan(vec<float> x, vec<float> other) {
  return {_mm512_fixupimm_ps(other.raw, x.raw, _mm512_set1_epi32(0x11111100), 0)};
}
HWY_INLINE vec<double> unless_nan(vec<double> x, vec<double> other) {
  return {_mm512_fixupimm_pd(other.raw, x.raw, _mm512_set1_epi64(0x11111100), 0)};
}

#endif

template <class R>
struct vector_arithmetic {
  using number = R;
  using V = vec<R>;
  using bits = hn::RebindToUnsigned<tag<R>>;

  static HWY_INLINE V set(R value) { return hn::Set(tag<R>(), value); }
  static HWY_INLINE V add(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE V sub(V a, V b) { return hn::Sub(a, b); }
  static HWY_INLINE V mul(V a, V b) { return hn::Mul(a, b); }
  static HWY_INLINE V fma(V a, V b, V c) {
    if constexpr (has_fma) {
      return hn::MulAdd(a, b, c);
    } else {
      return number_by_number(a, b, c);
    }
  }
  static HWY_NOINLINE V number_by_number(V a, V b, V c) {
    constexpr tag<R> d;
    HWY_ALIGN R all[3][width<R>];
    hn::Store(a, d, all[0]);
    hn::Store(b, d, all[1]);
    hn::Store(c, d, all[2]);
    for (std::size_t i = 0; i < width<R>; ++i) {
      all[0][i] = std::fma(all[0][i], all[1][i], all[2][i]);
    }
    return hn::Load(d, all[0]);
  }
  static HWY_INLINE V minus_product(V a, V b, V c) {
    if constexpr (has_fma) {
      return hn::NegMulAdd(a, b, c);
    } else {
      return fma(hn::Neg(a), b, c);
    }
  }
  static HWY_INLINE V kept_normal(V x, V speck) { return hn::Add(x, speck); }
  static HWY_INLINE V div(V a, V b) { return hn::Div(a, b); }
  static HWY_INLINE V sqrt(V a) { return hn::Sqrt(a); }
  static HWY_INLINE V magnitude(V a) { return hn::Abs(a); }
  static HWY_INLINE auto lt(V a, V b) { return hn::Lt(a, b); }
  static HWY_INLINE auto eq(V a, V b) { return hn::Eq(a, b); }
  static HWY_INLINE V either(V a, V b) { return hn::Or(a, b); }
  static HWY_INLINE V both(V a, V b) { return hn::And(a, b); }
  static HWY_INLINE V reciprocal(V d) { return hn::Div(set(1), d); }
  // x86 returns the second if one is NaN.
  static HWY_INLINE V at_least(V a, V b) { return hn::Max(b, a); }
  static HWY_INLINE V at_most(V a, V b) { return hn::Min(b, a); }
  static HWY_INLINE V minus_magnitude(V a) { return hn::Or(a, hn::SignBit(tag<R>())); }
  static HWY_INLINE auto is_negative(V a) { return hn::Lt(a, hn::Zero(tag<R>())); }
  static HWY_INLINE auto is_positive(V a) { return hn::Gt(a, hn::Zero(tag<R>())); }
  template <class Mask>
  static HWY_INLINE V select(Mask which, V yes, V no) {
    return hn::IfThenElse(which, yes, no);
  }
  template <class Mask>
  static HWY_INLINE V zero_unless(Mask which, V x) {
    return hn::IfThenElseZero(which, x);
  }
  template <int aside>
  static HWY_INLINE V power_of_two(V magic) {
    using limits = std::numeric_limits<R>;
    constexpr auto bias = static_cast<hn::TFromD<bits>>(limits::max_exponent - 1 + aside);
    const auto moved = hn::Add(hn::BitCast(bits(), magic), hn::Set(bits(), bias));
    return hn::BitCast(tag<R>(), hn::ShiftLeft<limits::digits - 1>(moved));
  }
  using word = hn::TFromD<bits>;
  static constexpr int stored_digits = std::numeric_limits<R>::digits - 1;
  /// The bits of 2^k m with m in [1, 2), for m from `min_mantissa` on.
  static HWY_INLINE auto moved(V x, word min_mantissa) {
    constexpr word one = __builtin_bit_cast(word, R{1});
    return hn::Add(hn::BitCast(bits(), x), hn::Set(bits(), static_cast<word>(one - min_mantissa)));
  }
  static HWY_INLINE V exponent_of(V x, word min_mantissa) {
    constexpr R magic = sizeof(R) == 4 ? R(0x1p23f) : R(0x1p52);
    const auto biased = hn::Or(hn::BitCast(bits(), set(magic)),
                               hn::ShiftRight<stored_digits>(moved(x, min_mantissa)));
    return sub(hn::BitCast(tag<R>(), biased),
               set(magic + (std::numeric_limits<R>::max_exponent - 1)));
  }
  static HWY_INLINE V mantissa_of(V x, word min_mantissa) {
    constexpr word mask = static_cast<word>((word{1} << stored_digits) - 1);
    return hn::BitCast(tag<R>(), hn::Add(hn::And(moved(x, min_mantissa), hn::Set(bits(), mask)),
                                         hn::Set(bits(), min_mantissa)));
  }
  static HWY_INLINE V keep_nan(V x, V result) {
    return hn::IfThenElse(hn::Eq(x, x), result, set(std::numeric_limits<R>::quiet_NaN()));
  }
  static constexpr bool has_scaling = HWY_NAMESPACE::has_scaling;
  static HWY_INLINE V known(V result) {
    if constexpr (has_scaling) {
      return unless_nan(result, set(std::numeric_limits<R>::quiet_NaN()));
    } else {
      return keep_nan(result, result);
    }
  }
  /// A NaN becomes the bound.
  static HWY_INLINE V within(V x, V bound) {
    return smaller_magnitude<with_sign_of_first>(x, bound);
  }
  static HWY_INLINE V minus_magnitude_within(V x, V bound) {
    return smaller_magnitude<with_minus>(x, bound);
  }
  /// Returns 2^k m, NaN where x is.
  static HWY_INLINE V scaled(V m, V k, V x) {
    return scale_by(m, k, x, set(std::numeric_limits<R>::quiet_NaN()));
  }
};

/// Two vectors, or two pairs of them, step by step in turn: steps of the formula depend on each
/// other, and a processor doesn't reach the next vector by itself (tuning/elementwise.md:
/// paired_arithmetic).
template <class One>
struct paired_arithmetic {
  using one = One;
  using number = typename one::number;
  using R = number;
  using V = two_vectors<typename one::V>;

  template <auto function, class... A>
  static HWY_INLINE auto each(const A&... a) {
    return two_vectors<decltype(function(a.first...))>{function(a.first...), function(a.second...)};
  }
  static HWY_INLINE V set(R value) { return {one::set(value), one::set(value)}; }
  static HWY_INLINE V add(V a, V b) { return each<one::add>(a, b); }
  static HWY_INLINE V sub(V a, V b) { return each<one::sub>(a, b); }
  static HWY_INLINE V mul(V a, V b) { return each<one::mul>(a, b); }
  static HWY_INLINE V fma(V a, V b, V c) { return each<one::fma>(a, b, c); }
  static HWY_INLINE V minus_product(V a, V b, V c) { return each<one::minus_product>(a, b, c); }
  static HWY_INLINE V kept_normal(V x, V speck) { return add(x, speck); }
  static HWY_INLINE V div(V a, V b) { return each<one::div>(a, b); }
  static HWY_INLINE V reciprocal(V d) { return each<one::reciprocal>(d); }
  static HWY_INLINE V at_least(V a, V b) { return each<one::at_least>(a, b); }
  static HWY_INLINE V at_most(V a, V b) { return each<one::at_most>(a, b); }
  static HWY_INLINE V minus_magnitude(V a) { return each<one::minus_magnitude>(a); }
  static HWY_INLINE auto is_negative(V a) { return each<one::is_negative>(a); }
  template <class Mask>
  static HWY_INLINE V select(two_vectors<Mask> which, V yes, V no) {
    return each<one::template select<Mask>>(which, yes, no);
  }
  template <int aside>
  static HWY_INLINE V power_of_two(V magic) {
    return each<one::template power_of_two<aside>>(magic);
  }
  static HWY_INLINE V keep_nan(V x, V result) { return each<one::keep_nan>(x, result); }
  static constexpr bool has_scaling = one::has_scaling;
  static HWY_INLINE V known(V result) { return each<one::known>(result); }
};

#define TALLY_FUNCTION HWY_INLINE
#define TALLY_LAMBDA HWY_ATTR
#include "backends/common/elementwise/formulas-inl.hpp"
#undef TALLY_LAMBDA
#undef TALLY_FUNCTION

// --- Results -------------------------------------------------------------------------------------

/// Type of computation.
template <class T>
using number_of = std::conditional_t<sizeof(T) == 2, float, T>;

/// Rounds a vector to T, without NaN payloads, and calls write(d, numbers).
template <class T, class R, class Write>
HWY_INLINE void narrow(vec<R> v, const Write& write) {
  if constexpr (std::is_same_v<T, R>) {
    write(tag<R>(), v);
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    const hn::RebindToSigned<tag<R>> di;
    const auto bits = hn::BitCast(hn::RebindToUnsigned<tag<R>>(), v);
    const auto du = hn::DFromV<decltype(bits)>();
    const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto rounded = hn::Add(bits, hn::Add(even, hn::Set(du, 0x7fffu)));
    const half_bits<tag<R>> half;
    write(half, hn::DemoteTo(half, hn::BitCast(di, hn::ShiftRight<16>(rounded))));
  } else {
    const half_bits<tag<R>> half;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    write(half, hn::BitCast(half, hn::DemoteTo(hn::Rebind<hwy::float16_t, tag<R>>(), v)));
#else
    HWY_ALIGN R numbers[width<R>];
    HWY_ALIGN float16 halves[width<R>];
    hn::Store(v, tag<R>(), numbers);
    for (std::size_t i = 0; i < width<R>; ++i) halves[i] = float16(numbers[i]);
    write(half, hn::Load(half, bits_of(halves)));
#endif
  }
}

/// Writes a vector as T. `past_caches`: by a non-temporal store to an aligned address.
template <bool past_caches, class T, class R>
HWY_INLINE void put(vec<R> v, T* to) {
  narrow<T, R>(v, [to](auto d, auto numbers) HWY_ATTR {
    auto* const p = reinterpret_cast<hn::TFromD<decltype(d)>*>(to);
    // Highway has them only for whole registers.
    if constexpr (past_caches && hn::MaxLanes(d) * sizeof(*p) >= 16) {
      hn::Stream(numbers, d, p);
    } else {
      hn::StoreU(numbers, d, p);
    }
  });
}

template <class T, class R>
HWY_INLINE void put_first(vec<R> v, T* to, std::size_t n) {
  if constexpr (is_avx512) {
    narrow<T, R>(v, [to, n](auto d, auto numbers) HWY_ATTR {
      auto* const p = reinterpret_cast<hn::TFromD<decltype(d)>*>(to);
      hn::BlendedStore(numbers, hn::FirstN(d, n), d, p);
    });
  } else {
    T all[width<R>];
    put<false, T, R>(v, all);
    std::memcpy(to, all, n * sizeof(T));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
