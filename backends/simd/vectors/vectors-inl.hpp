// Vectors: types, and loads that convert. Compiled once per target, after <hwy/foreach_target.h>.
#include "backends/simd/vectors/targets.hpp"

#include <tally/operands/types.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_VECTORS
#undef TALLY_BACKENDS_SIMD_VECTORS
#else
#define TALLY_BACKENDS_SIMD_VECTORS
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Type of summation: int64 as uint64, modulo 2^64.
template <class R>
using summed_t = std::conditional_t<std::is_integral_v<R>, std::uint64_t, R>;

template <class W>
using tag = hn::ScalableTag<W>;
template <class W>
using vec = hn::Vec<tag<W>>;

/// Numbers per vector.
template <class W>
constexpr std::size_t width = hn::MaxLanes(tag<W>());

constexpr bool is_avx512 = HWY_TARGET == HWY_AVX3;
constexpr bool is_neon = HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_NEON_WITHOUT_AES;
constexpr bool is_vsx = HWY_TARGET == HWY_PPC8 || HWY_TARGET == HWY_PPC9 || HWY_TARGET == HWY_PPC10;
constexpr std::size_t registers = is_avx512 || is_neon || is_vsx ? 32 : 16;

/// Two vectors side by side, as of terms of the same elements.
template <class V>
struct two_vectors {
  V first, second;
};

/// Whether masked loads of 32- and 64-bit elements exist that touch nothing else.
constexpr bool has_masked_loads = is_avx512 || HWY_TARGET == HWY_AVX2;

/// Returns the first `bytes` <= 8 at p in memory order, then zeros. (A copy of variable length is a
/// call, and a load of it waits.)
HWY_INLINE std::uint64_t first_bytes(const void* p, std::size_t bytes) {
  const auto* const from = static_cast<const std::byte*>(p);
  const auto read = [from]<class Word>(std::size_t at, Word word) {
    std::memcpy(&word, from + at, sizeof(Word));
    return std::uint64_t{word};
  };
  const auto both_ends = [&](auto word) {
    const std::size_t last = bytes - sizeof(word);
    return read(0, word) | read(last, word) << 8 * last;
  };
  if (bytes >= 8) return read(0, std::uint64_t{});
  if (bytes >= 4) return both_ends(std::uint32_t{});
  if (bytes >= 2) return both_ends(std::uint16_t{});
  return bytes == 1 ? read(0, std::uint8_t{}) : 0;
}

/// Loads the first `count` integers of 8 or 16 bits, at most a vector, then zeros; touches none
/// beyond.
template <class D>
HWY_INLINE hn::Vec<D> load_first_narrow(D d, const hn::TFromD<D>* p, std::size_t count) {
  constexpr std::size_t all = hn::MaxLanes(d);
  if constexpr (is_avx512) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, p);
  } else {
    if (count >= all) return hn::LoadU(d, p);
#if HWY_TARGET != HWY_SCALAR  // vectors of one number
    constexpr std::size_t bytes = all * sizeof(*p);
    if constexpr (bytes > 8) {
      constexpr hn::Half<D> half;
      constexpr std::size_t lower = all / 2;
      const auto low = load_first_narrow(half, p, count);
      const auto high = load_first_narrow(half, p + lower, count > lower ? count - lower : 0);
      return hn::Combine(d, high, low);
    } else {
      using word = hwy::UnsignedFromSize<bytes>;
      const auto of_bytes = first_bytes(p, count * sizeof(*p));
      return hn::BitCast(d, hn::Set(hn::Simd<word, 1, 0>(), static_cast<word>(of_bytes)));
    }
#else
    return hn::Zero(d);
#endif
  }
}

template <class X>
constexpr bool is_half = std::is_same_v<X, float16> || std::is_same_v<X, bfloat16>;
template <class D>
using half_bits = hn::Rebind<std::uint16_t, D>;

HWY_INLINE const std::uint16_t* bits_of(const float16* p) {
  return reinterpret_cast<const std::uint16_t*>(p);
}
HWY_INLINE const std::uint16_t* bits_of(const bfloat16* p) {
  return reinterpret_cast<const std::uint16_t*>(p);
}

/// Converts half-precision numbers exactly, subnormals, infinities and NaNs included.
template <class X, class D>
HWY_INLINE hn::Vec<D> from_half(D d, hn::Vec<half_bits<D>> half) {
  const hn::RebindToUnsigned<D> du;
  if constexpr (std::is_same_v<X, bfloat16>) {
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, half)));
  } else {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), half));
#else
    // The bits below the sign, moved to float's exponent and fraction, are the number times 2^-112.
    // A multiplication corrects the bias and normalizes subnormals; only the largest exponent, of
    // infinities and NaNs, must be set.
    const auto bits = hn::PromoteTo(du, half);
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffu));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
    const auto finite = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f));
    const auto past = hn::Gt(hn::BitCast(hn::RebindToSigned<D>(), magnitude),
                             hn::Set(hn::RebindToSigned<D>(), 0x7bff));
    const auto top = hn::IfThenElseZero(hn::RebindMask(du, past), hn::Set(du, 0x7f800000u));
    return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(du, finite), top), sign));
#endif
  }
}

using detail::bool8;

template <class X>
using stored =
    std::conditional_t<std::is_same_v<X, std::int64_t>, std::uint64_t, detail::stored_t<X>>;

/// Returns 0 and 1 for bytes of bool, promoted or not.
template <class V>
HWY_INLINE V truth(V v) {
  const hn::DFromV<V> d;
  return hn::Min(v, hn::Set(d, hn::TFromD<decltype(d)>{1}));
}

template <class X>
constexpr bool is_whole = std::is_integral_v<X> || std::is_same_v<X, bool8>;

/// Converts elements of up to 32 bits exactly, to float or int32.
template <class X>
using word32 = std::conditional_t<is_whole<X>, std::int32_t, float>;

template <class D, class X>
HWY_INLINE hn::Vec<D> load32(D d, const X* p) {
  if constexpr (std::is_same_v<X, hn::TFromD<D>>) {
    return hn::LoadU(d, p);
  } else if constexpr (is_half<X>) {
    return from_half<X>(d, hn::LoadU(half_bits<D>(), bits_of(p)));
  } else if constexpr (std::is_same_v<X, bool8>) {
    return truth(load32(d, &p->byte));
  } else {  // bytes
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<X, D>(), p));
  }
}

/// Returns 1 for true, 0 for false, in two instructions, as for a byte.
HWY_INLINE vec<float> load_truth(const bool8* p) {
#if HWY_TARGET == HWY_AVX3
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return vec<float>{_mm512_maskz_mov_ps(_mm_test_epi8_mask(bytes, bytes), _mm512_set1_ps(1))};
#elif HWY_TARGET == HWY_AVX2
  const auto bytes = load32(hn::RebindToSigned<tag<float>>(), &p->byte);
  const __m256i one = _mm256_castps_si256(_mm256_set1_ps(1));
  return vec<float>{_mm256_castsi256_ps(_mm256_sign_epi32(one, bytes.raw))};
#else
  return hn::ConvertTo(tag<float>(), load32(hn::RebindToSigned<tag<float>>(), p));
#endif
}

/// Loads elements as W, rounded to nearest even.
template <class W, class X>
HWY_INLINE vec<W> load(const X* p) {
  const tag<W> d;
  if constexpr (std::is_same_v<W, X>) {
    return hn::LoadU(d, p);
  } else if constexpr (std::is_same_v<X, bool8> && sizeof(W) == 1) {
    return truth(hn::LoadU(d, &p->byte));
  } else if constexpr (std::is_same_v<X, std::int64_t>) {
    if constexpr (std::is_integral_v<W>) {
      return hn::LoadU(d, reinterpret_cast<const W*>(p));
    } else if constexpr (std::is_same_v<W, double>) {
      return hn::ConvertTo(d, hn::LoadU(hn::RebindToSigned<tag<W>>(), p));
    } else {  // few instruction sets convert this; scalar code rounds once
      HWY_ALIGN W converted[width<W>];
      for (std::size_t i = 0; i < width<W>; ++i) converted[i] = static_cast<W>(p[i]);
      return hn::Load(d, converted);
    }
  } else if constexpr (std::is_same_v<W, float>) {
    if constexpr (std::is_same_v<X, bool8>) {
      return load_truth(p);
    } else if constexpr (std::is_integral_v<X>) {
      return hn::ConvertTo(d, load32(hn::RebindToSigned<tag<W>>(), p));
    } else {
      return load32(d, p);
    }
  } else {
    const auto narrow = load32(hn::Rebind<word32<X>, tag<W>>(), p);
    if constexpr (std::is_integral_v<W>) {
      return hn::BitCast(d, hn::PromoteTo(hn::RebindToSigned<tag<W>>(), narrow));
    } else {
      return hn::PromoteTo(d, narrow);
    }
  }
}

/// Calls f(std::integral_constant) for the powers of two up to `count` whose sum n is.
template <std::size_t count, class F>
HWY_INLINE void for_each_piece([[maybe_unused]] std::size_t n, [[maybe_unused]] const F& f) {
  if constexpr (count > 0) {
    if ((n & count) != 0) f(std::integral_constant<std::size_t, count>());
    for_each_piece<count / 2>(n, f);
  }
}

/// Loads the first `count` elements, at most a vector, then zeros; touches none beyond.
template <class W, class X>
HWY_INLINE vec<W> load_first(const X* p, std::size_t count) {
  if constexpr (has_masked_loads && std::is_same_v<W, X>) {
    return hn::MaskedLoad(hn::FirstN(tag<W>(), count), tag<W>(), p);
  } else if constexpr (std::is_same_v<W, float> && is_half<X>) {
    return from_half<X>(tag<W>(), load_first_narrow(half_bits<tag<W>>(), bits_of(p), count));
  } else {
    if (count >= width<W>) return load<W>(p);
    X first[width<W>] = {};
    if (count > 0) std::memcpy(first, p, count * sizeof(X));
    return load<W>(first);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
