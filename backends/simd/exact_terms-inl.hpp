// The terms of the exact grade in vectors: products and values of doubles, or of floats, which
// become doubles.
#include "backends/simd/exact_levels.hpp"
#include "backends/simd/targets.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <utility>

// The guard is every target's own.
#if defined(TALLY_BACKENDS_SIMD_EXACT_TERMS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_EXACT_TERMS
#undef TALLY_BACKENDS_SIMD_EXACT_TERMS
#else
#define TALLY_BACKENDS_SIMD_EXACT_TERMS
#endif

#include "backends/simd/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#ifdef HWY_DISABLE_BMI2_FMA
constexpr bool has_fma = is_neon;
#else
constexpr bool has_fma = is_avx512 || HWY_TARGET == HWY_AVX2 || is_neon;
#endif

/// Is the shape of the vectors that a kernel has: doubles, which elements of float become.
struct shape {
  using D = hn::ScalableTag<double>;
  using D32 = std::conditional_t<HWY_TARGET == HWY_SCALAR, hn::RebindToUnsigned<D>,
                                 hn::Repartition<std::uint32_t, D>>;
  static constexpr D d{};
  static constexpr hn::RebindToUnsigned<D> du{};
  static constexpr hn::RebindToSigned<D> di{};
  static constexpr D32 du32{};
  static constexpr std::size_t width = hn::MaxLanes(D());
};

template <class D, class T>
HWY_INLINE hn::Vec<D> load_double(D d, const T* p) {
  if constexpr (std::is_same_v<T, double>) {
    auto v = hn::LoadU(d, p);
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL && HWY_TARGET != HWY_SCALAR
    asm("" : "+v"(v.raw));  // without this, GCC 12 loads it anew for each use
#endif
    return v;
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p));
  }
}

template <class D, class T>
HWY_INLINE hn::Vec<D> load_first_double(D d, const T* p, std::size_t n) {
  if constexpr (has_masked_loads) {
    const hn::Rebind<T, D> elements;
    const auto first = hn::MaskedLoad(hn::FirstN(elements, n), elements, p);
    if constexpr (std::is_same_v<T, double>) {
      return first;
    } else {
      return hn::PromoteTo(d, first);
    }
  } else {
    HWY_ALIGN T first[hn::MaxLanes(D())] = {};
    for (std::size_t i = 0; i < n; ++i) first[i] = p[i];
    return load_double(d, first);
  }
}

template <class D>
struct factors {
  hn::Vec<D> a, b;
};

/// So many bytes ahead a tile's loop asks for elements. With AVX-512 one core of a Xeon (Sapphire
/// Rapids) gets through 2^25 products of doubles in 1.32 ns each, without it in 1.52, of floats in
/// 0.65 and 0.88; through values in 0.73 and 1.02, 0.39 and 0.64; its sixteen through products of
/// doubles in 0.11 and 0.17. A core of Zen 4, for which AVX2 is the best, takes 1.04 to 1.34 times
/// the default grade's time with prefetches 512 to 4096 bytes ahead, 0.98 to 1.06 without.
constexpr std::size_t bytes_ahead = is_avx512 ? 2048 : 0;

/// Asks for a step's elements of those that will be needed.
template <std::size_t step, class T>
HWY_INLINE void prefetch([[maybe_unused]] const T* p) {
  if constexpr (bytes_ahead > 0) {
    const auto* const ahead = reinterpret_cast<const char*>(p) + bytes_ahead;
    for (std::size_t i = 0; i < step * sizeof(T); i += 64) hwy::Prefetch(ahead + i);
  }
}

/// Are the terms x_i * y_i. Products of floats are exact in double; products of doubles are pairs,
/// a product and its error.
template <class T>
struct products : shape {
  static constexpr bool paired = std::is_same_v<T, double>;
  static constexpr int digits = paired ? 53 : 48;
  static constexpr std::size_t sets = paired ? 2 : 4;
  static constexpr std::size_t step_size = sets * width;
  const T* x;
  const T* y;

  products(const T* x_, const T* y_) : x(x_), y(y_) {}
  products from(std::size_t i) const { return {x + i, y + i}; }
  HWY_INLINE factors<D> at(std::size_t i) const {
    return {load_double(D(), x + i), load_double(D(), y + i)};
  }
  HWY_INLINE void prefetch_step(std::size_t i) const {
    prefetch<step_size>(x + i);
    prefetch<step_size>(y + i);
  }
  HWY_INLINE factors<D> first(std::size_t n) const {
    return {load_first_double(D(), x, n), load_first_double(D(), y, n)};
  }
  double a(std::size_t i) const { return static_cast<double>(x[i]); }
  double b(std::size_t i) const { return static_cast<double>(y[i]); }
  const products& as_they_are() const { return *this; }
};

/// Are the terms x_i or |x_i|.
template <class T, bool magnitudes>
struct values : shape {
  static constexpr bool paired = false;
  static constexpr int digits = std::is_same_v<T, double> ? 53 : 24;
  static constexpr std::size_t sets = 4;
  static constexpr std::size_t step_size = sets * width;
  const T* x;

  explicit values(const T* x_) : x(x_) {}
  values from(std::size_t i) const { return values(x + i); }
  static HWY_INLINE factors<D> of(hn::Vec<D> v) {
    if constexpr (magnitudes) v = hn::Abs(v);
    return {v, hn::Set(D(), 1.0)};
  }
  HWY_INLINE factors<D> at(std::size_t i) const { return of(load_double(D(), x + i)); }
  HWY_INLINE void prefetch_step(std::size_t i) const { prefetch<step_size>(x + i); }
  HWY_INLINE factors<D> first(std::size_t n) const { return of(load_first_double(D(), x, n)); }
  double a(std::size_t i) const {
    const auto v = static_cast<double>(x[i]);
    return magnitudes ? std::abs(v) : v;
  }
  double b(std::size_t) const { return 1; }
  const values& as_they_are() const { return *this; }
};

/// Whether terms may be too large or too small for levels: those of doubles.
template <class Terms>
constexpr bool may_be_scaled = Terms::digits == 53;

/// Each factor is multiplied by 2^each (of values the one that is no 1), in integers: processors
/// take a hundred times as long for a subnormal number. What `scale_of` has found for the terms is
/// right.
template <class Terms>
struct scaled_terms : Terms {
  static constexpr bool is_scaled = true;
  using D = typename Terms::D;
  using number = hn::Vec<D>;
  int each;

  scaled_terms(const Terms& terms, int each_) : Terms(terms), each(each_) {}
  scaled_terms from(std::size_t i) const { return {Terms::from(i), each}; }
  const Terms& as_they_are() const { return *this; }

  HWY_INLINE number scaled(number v) const {
    constexpr auto bits_of = Terms::du;
    const auto bits = hn::BitCast(bits_of, v);
    const auto field = hn::And(bits, hn::Set(bits_of, std::uint64_t{0x7ff} << 52));
    const auto small = hn::Eq(field, hn::Zero(bits_of));
    const auto by = [](int exponent) { return static_cast<std::uint64_t>(exponent) << 52; };
    if (each < 0) {  // nothing is subnormal then, and zeros stay
      return hn::BitCast(Terms::d,
                         hn::IfThenElse(small, bits, hn::Sub(bits, hn::Set(bits_of, by(-each)))));
    }
    // What becomes of a subnormal number is a normal one with a leading bit too many.
    const auto moved =
        hn::BitCast(Terms::d, hn::Add(bits, hn::IfThenElse(small, hn::Set(bits_of, by(each + 1)),
                                                           hn::Set(bits_of, by(each)))));
    const auto sign = hn::And(bits, hn::Set(bits_of, std::uint64_t{1} << 63));
    const auto bit = hn::BitCast(Terms::d, hn::Or(hn::Set(bits_of, by(each + 1)), sign));
    return hn::Sub(moved, hn::IfThenElseZero(hn::RebindMask(Terms::d, small), bit));
  }
  HWY_INLINE factors<D> scaled(const factors<D>& f) const {
    return {scaled(f.a), Terms::paired ? scaled(f.b) : f.b};
  }
  HWY_INLINE factors<D> at(std::size_t i) const { return scaled(Terms::at(i)); }
  HWY_INLINE factors<D> first(std::size_t n) const { return scaled(Terms::first(n)); }
  double a(std::size_t i) const { return std::ldexp(Terms::a(i), each); }
  double b(std::size_t i) const { return Terms::paired ? std::ldexp(Terms::b(i), each) : 1; }
};

template <class Terms>
constexpr bool is_scaled = requires { Terms::is_scaled; };
/// Returns the exponent of the power of two that a term gets from factors scaled by 2^each.
template <class Terms>
constexpr int scale_of_terms(int each) {
  return Terms::paired ? 2 * each : each;
}

/// So many levels of one `top` hold so many exponents of terms exactly: down to 2^(top - window),
/// whose last digit is the unit of the last of them; with more than two levels the last digit of a
/// product's error, which is otherwise the unit of the fourth.
template <class Terms, int depth = 2>
constexpr int window = depth * level_spacing - (Terms::paired && depth > 2 ? 2 : 1) * Terms::digits;
/// Down to this `top` the biases of so many levels, the floor of their window and the error of its
/// smallest product are normal numbers, or that error a multiple of the least number. (Values below
/// are scaled, so they need no room down to the least number.)
template <class Terms, int depth>
constexpr int lowest_deep_top =
    std::max(lowest_top, window<Terms, depth> - (Terms::paired ? 969 : 900));
/// Says whether the first level alone holds such terms, if they are not too far apart, and how far
/// those of a quick tile may be: their last digit is the first level's unit then.
template <class Terms>
constexpr bool fits_one_level = Terms::digits <= 24;
template <class Terms>
constexpr int quick_window = fits_one_level<Terms> ? 52 - steps_log - Terms::digits : window<Terms>;
template <class Terms>
constexpr std::size_t step_terms = Terms::step_size;
template <class Terms>
constexpr std::size_t tile_terms = tile_steps * step_terms<Terms>;
template <class Terms>
constexpr std::make_index_sequence<Terms::sets> every_set{};
template <class Terms>
constexpr std::make_index_sequence<Terms::sets / 2> every_two{};

/// Says whether there are levels at all: for products of doubles FMA gives the error.
template <class Terms>
constexpr bool has_levels = HWY_TARGET != HWY_SCALAR && (has_fma || !Terms::paired);

/// Says whether terms that two levels don't hold are worth more of them before they go to bins.
template <class Terms>
constexpr bool has_deep_levels = has_levels<Terms> && Terms::width >= 4 && !is_scaled<Terms>;
/// So many levels are worth it for n terms. Bins take less time than six levels for many products
/// of doubles (over 2^+-30, one core of a Xeon with AVX-512: 1.33 ns instead of 1.44 at 10^4,
/// but 9.2 instead of 5.3 at 64), and with vectors of four doubles for some thousands of values
/// (over 2^+-100, Zen 4: 0.59 ns instead of 0.64 at 10^4, but 1.42 instead of 1.02 at 300).
template <class Terms>
constexpr int deepest_levels(std::size_t n) {
  if (Terms::paired) return n <= 512 ? most_levels : 4;
  return Terms::width >= 8 || n <= 2048 ? most_levels : 4;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
