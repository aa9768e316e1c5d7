// Terms of the exact grade in vectors: products and values, as doubles.
#include "backends/simd/exact/levels.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_EXACT_TERMS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_EXACT_TERMS
#undef TALLY_BACKENDS_SIMD_EXACT_TERMS
#else
#define TALLY_BACKENDS_SIMD_EXACT_TERMS
#endif

#include "backends/simd/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#ifdef HWY_DISABLE_BMI2_FMA
constexpr bool has_fma = is_neon;
#else
constexpr bool has_fma = is_avx512 || HWY_TARGET == HWY_AVX2 || is_neon;
#endif

using D64 = hn::ScalableTag<double>;
using D32 = std::conditional_t<HWY_TARGET == HWY_SCALAR, hn::RebindToUnsigned<D64>,
                               hn::Repartition<std::uint32_t, D64>>;
constexpr D64 d64{};
constexpr hn::RebindToUnsigned<D64> u64{};
constexpr hn::RebindToSigned<D64> i64{};
constexpr D32 u32{};
/// Doubles per vector.
constexpr std::size_t doubles = hn::MaxLanes(D64());

using number = hn::Vec<D64>;
using integer = hn::Vec<hn::RebindToUnsigned<D64>>;
using halves = hn::Vec<D32>;

template <class T>
HWY_INLINE number load_double(const T* p) {
  if constexpr (std::is_same_v<T, double>) {
    auto v = hn::LoadU(d64, p);
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL && HWY_TARGET != HWY_SCALAR
    asm("" : "+v"(v.raw));  // GCC 12 would reload it for each use
#endif
    return v;
  } else {
    return hn::PromoteTo(d64, hn::LoadU(hn::Rebind<float, D64>(), p));
  }
}

template <class T>
HWY_INLINE number load_first_double(const T* p, std::size_t n) {
  if constexpr (has_masked_loads) {
    const hn::Rebind<T, D64> elements;
    const auto first = hn::MaskedLoad(hn::FirstN(elements, n), elements, p);
    if constexpr (std::is_same_v<T, double>) {
      return first;
    } else {
      return hn::PromoteTo(d64, first);
    }
  } else {
    HWY_ALIGN T first[doubles] = {};
    for (std::size_t i = 0; i < n; ++i) first[i] = p[i];
    return load_double(first);
  }
}

struct factors {
  number a, b;
};

/// Prefetch distance in bytes; none helps without AVX-512 (tuning/exact.md: bytes_ahead).
constexpr std::size_t bytes_ahead = is_avx512 ? 2048 : 0;

/// Prefetches a step's elements.
template <std::size_t step, class T>
HWY_INLINE void prefetch([[maybe_unused]] const T* p) {
  if constexpr (bytes_ahead > 0) {
    const auto* const ahead = reinterpret_cast<const char*>(p) + bytes_ahead;
    for (std::size_t i = 0; i < step * sizeof(T); i += 64) hwy::Prefetch(ahead + i);
  }
}

/// Terms x_i * y_i: exact in double for floats; for doubles pairs, a product and its error.
template <class T>
struct products {
  static constexpr bool paired = std::is_same_v<T, double>;
  static constexpr int digits = paired ? 53 : 48;
  static constexpr std::size_t sets = paired ? 2 : 4;
  static constexpr std::size_t step_size = sets * doubles;
  const T* x;
  const T* y;

  products(const T* x_, const T* y_) : x(x_), y(y_) {}
  products from(std::size_t i) const { return {x + i, y + i}; }
  HWY_INLINE factors at(std::size_t i) const { return {load_double(x + i), load_double(y + i)}; }
  HWY_INLINE void prefetch_step(std::size_t i) const {
    prefetch<step_size>(x + i);
    prefetch<step_size>(y + i);
  }
  HWY_INLINE factors first(std::size_t n) const {
    return {load_first_double(x, n), load_first_double(y, n)};
  }
  double a(std::size_t i) const { return static_cast<double>(x[i]); }
  double b(std::size_t i) const { return static_cast<double>(y[i]); }
  const products& as_they_are() const { return *this; }
};

template <class T, bool magnitudes>
struct values {
  static constexpr bool paired = false;
  static constexpr int digits = std::is_same_v<T, double> ? 53 : 24;
  static constexpr std::size_t sets = 4;
  static constexpr std::size_t step_size = sets * doubles;
  const T* x;

  explicit values(const T* x_) : x(x_) {}
  values from(std::size_t i) const { return values(x + i); }
  static HWY_INLINE factors of(number v) {
    if constexpr (magnitudes) v = hn::Abs(v);
    return {v, hn::Set(d64, 1.0)};
  }
  HWY_INLINE factors at(std::size_t i) const { return of(load_double(x + i)); }
  HWY_INLINE void prefetch_step(std::size_t i) const { prefetch<step_size>(x + i); }
  HWY_INLINE factors first(std::size_t n) const { return of(load_first_double(x, n)); }
  double a(std::size_t i) const {
    const auto v = static_cast<double>(x[i]);
    return magnitudes ? std::abs(v) : v;
  }
  double b(std::size_t) const { return 1; }
  const values& as_they_are() const { return *this; }
};

/// Returns the sum of products with an infinite or NaN factor, else 0.
template <class Terms>
HWY_NOINLINE double specials_of(const Terms terms, std::size_t n) {
  const auto zero = hn::Zero(d64);
  auto sum = zero;
  const auto add = [&](const auto& f) HWY_ATTR {
    const auto nothing = hn::Add(hn::Sub(f.a, f.a), hn::Sub(f.b, f.b));  // 0 for finite factors
    const auto a = hn::IfThenZeroElse(hn::Eq(nothing, zero), f.a);
    sum = hn::Add(sum, hn::Mul(a, hn::IfThenZeroElse(hn::Eq(nothing, zero), f.b)));
  };
  std::size_t i = 0;
  for (; i + doubles <= n; i += doubles) add(terms.at(i));
  if (i < n) add(terms.from(i).first(n - i));
  HWY_ALIGN double lanes[doubles];
  hn::Store(sum, d64, lanes);
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
}

/// Whether terms may be too large or too small for levels: doubles.
template <class Terms>
constexpr bool may_be_scaled = Terms::digits == 53;

/// Each factor (of values, the one that is not 1) times 2^each, in integers: subnormal numbers slow
/// processors down.
/// @pre `each` is from `scale_of`.
template <class Terms>
struct scaled_terms : Terms {
  static constexpr bool is_scaled = true;
  int each;

  scaled_terms(const Terms& terms, int each_) : Terms(terms), each(each_) {}
  scaled_terms from(std::size_t i) const { return {Terms::from(i), each}; }
  const Terms& as_they_are() const { return *this; }

  HWY_INLINE number scaled(number v) const {
    const auto bits = hn::BitCast(u64, v);
    const auto field = hn::And(bits, hn::Set(u64, std::uint64_t{0x7ff} << 52));
    const auto small = hn::Eq(field, hn::Zero(u64));
    const auto by = [](int exponent) { return static_cast<std::uint64_t>(exponent) << 52; };
    if (each < 0) {  // nothing is subnormal then; zeros stay
      return hn::BitCast(d64, hn::IfThenElse(small, bits, hn::Sub(bits, hn::Set(u64, by(-each)))));
    }
    // A subnormal number becomes normal with an extra leading bit.
    const auto moved = hn::BitCast(
        d64,
        hn::Add(bits, hn::IfThenElse(small, hn::Set(u64, by(each + 1)), hn::Set(u64, by(each)))));
    const auto sign = hn::And(bits, hn::Set(u64, std::uint64_t{1} << 63));
    const auto bit = hn::BitCast(d64, hn::Or(hn::Set(u64, by(each + 1)), sign));
    return hn::Sub(moved, hn::IfThenElseZero(hn::RebindMask(d64, small), bit));
  }
  HWY_INLINE factors scaled(const factors& f) const {
    return {scaled(f.a), Terms::paired ? scaled(f.b) : f.b};
  }
  HWY_INLINE factors at(std::size_t i) const { return scaled(Terms::at(i)); }
  HWY_INLINE factors first(std::size_t n) const { return scaled(Terms::first(n)); }
  double a(std::size_t i) const { return std::ldexp(Terms::a(i), each); }
  double b(std::size_t i) const { return Terms::paired ? std::ldexp(Terms::b(i), each) : 1; }
};

template <class Terms>
constexpr bool is_scaled = requires { Terms::is_scaled; };
/// Returns the exponent of a term's scale if factors are scaled by 2^each.
template <class Terms>
constexpr int scale_of_terms(int each) {
  return Terms::paired ? 2 * each : each;
}

/// Whether all factors but zeros are within 2^+-450: no scale helps, as usual. A tenth of the time
/// of `scale_of` (tuning/exact.md: are_moderate).
template <class Terms>
HWY_NOINLINE bool are_moderate(const Terms terms, std::size_t n) {
#if HWY_TARGET != HWY_SCALAR
  if (n < doubles) return false;
  constexpr std::uint32_t exponent_unit = 1u << 20, max_exponent = 450;
  const auto floor = hn::Set(u32, (1023 - max_exponent) * exponent_unit);
  const auto ceiling = hn::Set(u32, (1023 + max_exponent) * exponent_unit);
  auto smallest = ceiling, largest = floor;
  const auto look = [&](const auto& f) HWY_ATTR {
    const auto a = hn::BitCast(u32, f.a), b = hn::BitCast(u32, f.b);
    const auto lowers = hn::ConcatEven(u32, b, a);
    const auto digits = hn::Or(hn::ShiftRight<12>(lowers), hn::And(lowers, hn::Set(u32, 0xfffu)));
    const auto magnitudes =
        hn::Or(digits, hn::And(hn::ConcatOdd(u32, b, a), hn::Set(u32, 0x7fffffffu)));
    smallest = hn::Min(smallest, hn::Sub(magnitudes, hn::Set(u32, 1)));  // of 0 the largest
    largest = hn::Max(largest, magnitudes);
  };
  for (std::size_t i = 0; i + doubles <= n; i += doubles) look(terms.at(i));
  look(terms.at(n - doubles));
  const auto outside =
      hn::Or(hn::Xor(hn::Min(smallest, floor), floor), hn::Xor(hn::Max(largest, ceiling), ceiling));
  return hn::AllTrue(u32, hn::Eq(outside, hn::Zero(u32)));
#else
  return false;
#endif
}

/// Returns the log2 of the scale for the factors of n terms; 0 if none helps. Scaled factors are
/// normal, and products, one above 2^900 or below 2^-900, come within 2^-950 and 2^1010.
template <class Terms>
HWY_NOINLINE int scale_of(const Terms terms, std::size_t n) {
  constexpr int up = 600, down = 520;
  const auto field_of = [&](auto v) HWY_ATTR {
    return hn::And(hn::ShiftRight<52>(hn::BitCast(i64, v)), hn::Set(i64, 0x7ff));
  };
  const auto is_zero = [&](auto v)
                           HWY_ATTR { return hn::Eq(hn::BitCast(i64, hn::Abs(v)), hn::Zero(i64)); };
  const auto lesser = [](auto a, auto b) HWY_ATTR { return hn::IfThenElse(hn::Lt(a, b), a, b); };
  const auto greater = [](auto a, auto b) HWY_ATTR { return hn::IfThenElse(hn::Lt(a, b), b, a); };
  // Zeros have the field of 1, but not in the search for the least.
  const auto one = hn::Set(i64, 1023), many = hn::Set(i64, 4096);
  auto min_factor = many, largest_factor = hn::Zero(i64);
  auto min_product = many, largest_product = hn::Zero(i64);
  const auto look = [&](const auto& f) HWY_ATTR {
    const auto a = field_of(f.a), b = field_of(f.b);
    const auto a_zero = is_zero(f.a), b_zero = is_zero(f.b);
    const auto zero = hn::Or(a_zero, b_zero);
    min_factor =
        lesser(min_factor, lesser(hn::IfThenElse(a_zero, one, a), hn::IfThenElse(b_zero, one, b)));
    largest_factor = greater(largest_factor, greater(a, b));
    const auto product = hn::Add(a, b);
    min_product = lesser(min_product, hn::IfThenElse(zero, many, product));
    largest_product = greater(largest_product, hn::IfThenZeroElse(zero, product));
  };
  std::size_t i = 0;
  for (; i + doubles <= n; i += doubles) look(terms.at(i));
  if (i < n) look(terms.from(i).first(n - i));
  const auto over_lanes = [&](auto v, const auto& better) {
    HWY_ALIGN std::int64_t lanes[doubles];
    hn::Store(v, i64, lanes);
    return *std::max_element(lanes, lanes + doubles, better);
  };
  const auto smallest = [&](auto v) { return over_lanes(v, std::greater<>()); };
  const auto largest = [&](auto v) { return over_lanes(v, std::less<>()); };
  constexpr int exponent_of_1 = 2 * 1023;
  if (smallest(min_product) < exponent_of_1 - 900 && largest(largest_factor) < 1400 &&
      largest(largest_product) < exponent_of_1 - 300) {
    return up;
  }
  if (largest(largest_product) > exponent_of_1 + 900 && largest(largest_factor) < 0x7ff &&
      smallest(min_factor) > down && smallest(min_product) >= exponent_of_1 + 140) {
    return -down;
  }
  return 0;
}

/// Binades that `depth` levels of one `top` hold exactly. The least term's last digit is the last
/// level's unit; with more than two levels its product's error's, otherwise the fourth's unit.
template <class Terms, int depth = 2>
constexpr int window = depth * level_spacing - (Terms::paired && depth > 2 ? 2 : 1) * Terms::digits;
/// Least `top` at which biases, window's floor and the smallest product's error are normal, or the
/// error a multiple of the least number.
template <class Terms, int depth>
constexpr int min_deep_top = std::max(min_top, window<Terms, depth> - (Terms::paired ? 969 : 900));
/// Whether one level holds terms of a small range; and the window of a quick tile.
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

/// Products of doubles need FMA for their errors.
template <class Terms>
constexpr bool has_levels = HWY_TARGET != HWY_SCALAR && (has_fma || !Terms::paired);

/// Whether more than two levels pay before bins.
template <class Terms>
constexpr bool has_deep_levels = has_levels<Terms> && doubles >= 4 && !is_scaled<Terms>;
/// Maximum levels that pay for n terms, compared with bins (tuning/exact.md: max_depth_for).
template <class Terms>
constexpr int max_depth_for(std::size_t n) {
  return !Terms::paired || n <= 512 ? max_levels : 4;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
