// The exact grade on one thread in vector instructions; one source for all instruction sets.
//
// Terms are split, without error, over a few levels: accumulators in registers that start at a bias
// of 1.5 * 2^k, so that adding to one rounds the addend to a multiple of the level's unit, and what
// that leaves goes to the next level. A tile's largest and smallest term are looked at after it:
// they prove that nothing was lost. A tile that doesn't fit is added again, with other levels, or
// by the exponents of its terms (`exponent_bins`). docs/numerics.md has the proof.
#include "backends/simd/exact.hpp"
#include "backends/simd/simd.hpp"

#include "backends/serial/exact.hpp"
#include "backends/simd/targets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#ifndef TALLY_BACKENDS_SIMD_EXACT_CPP  // this file is compiled once for every target
#define TALLY_BACKENDS_SIMD_EXACT_CPP
namespace tally::backends::simd {
namespace {

__extension__ using wide_integer = __int128;

// --- Levels --------------------------------------------------------------------------------------

/// Rows of vectors in a tile: what a level adds up before it is drained.
constexpr int rows_log = 6;
constexpr std::size_t tile_rows = std::size_t{1} << rows_log;

/// Terms below 2^top in magnitude go to levels biased by 1.5 * 2^(top + this): the term, what that
/// leaves; and for products of doubles the product's error, and what that leaves.
constexpr std::array<int, 4> level_base = {rows_log + 1, 2 * rows_log - 51, rows_log - 53,
                                           2 * rows_log - 105};
template <bool paired>
constexpr int level_count = paired ? 4 : 2;

/// Where the biases, the floor of every window and the error of its smallest product are normal
/// numbers, and where the first level, which may come to 2^(top + rows_log + 2) when all its terms
/// round up, is still finite.
constexpr int lowest_top = -920;
constexpr int highest_top = 1021 - rows_log;

constexpr std::uint64_t bias_bits(int k) {
  return (static_cast<std::uint64_t>(k + 1023) << 52) | (std::uint64_t{1} << 51);
}

/// The upper halves of the largest magnitude, and of the smallest that is not 0.
struct extent {
  std::uint32_t largest, smallest;
};

/// A `top` that holds these, with some room on either side.
template <int window>
std::optional<int> aim(const extent& e) {
  const int low = std::max(static_cast<int>(e.largest >> 20) - 1022, lowest_top);
  const int high = std::min(static_cast<int>(e.smallest >> 20) - 1023 + window, highest_top);
  if (low > high) return {};
  return low + std::min((high - low) / 4, 6);
}

// --- Bins ----------------------------------------------------------------------------------------

/// Sums of significands by their exponents, for terms that levels don't hold. What is added is so
/// little work that two additions to the same bin, of which the second waits for the first, must
/// be rare: in 67 words of 64 bits, as one long integer, a product took 5.9 ns instead of 2.2 (Zen
/// 4); and with two exponents a bin, which must be emptied twice as often, 1.2 times as long.
///
/// They take 16 KiB of the stack, so all sums of a call take turns with the same.
struct exponent_bins {
  static constexpr std::size_t count = 2048;
  std::int64_t sums[count];            ///< set once there is an owner
  exact_sum<double>* owner = nullptr;  ///< what the terms in them belong to
  std::size_t terms = 0;

  /// (Without a constructor GCC 12 clears the memory.)
  exponent_bins() {}

  /// Of significands of so many digits, so many can be added.
  static constexpr std::size_t capacity(int digits) { return std::size_t{1} << (63 - digits); }
};

// --- A sum in the making -------------------------------------------------------------------------

/// What levels and bins hold of one sum, and where it goes in the end.
struct held_sum {
  exact_sum<double>& sum;
  exponent_bins& bins;
  bool aimed = false;
  bool zeros = false;  ///< there were some: the check of a tile looks for them
  int top = 0;
  wide_integer levels[4] = {};
  std::size_t failed = 0;   ///< the last tiles that levels did not hold
  std::size_t untried = 0;  ///< terms to come that are not tried

  template <bool paired>
  void flush_levels() {
    for (int j = 0; j < level_count<paired>; ++j) {
      if (levels[j] == 0) continue;
      const int unit = top + level_base[static_cast<std::size_t>(j)] - 52;
      const auto all = static_cast<std::int64_t>(levels[j]);
      if (all == levels[j]) {
        sum.add_scaled(all, unit);
      } else {
        const auto low = static_cast<std::int64_t>(levels[j] & ((wide_integer{1} << 62) - 1));
        sum.add_scaled(low, unit);
        sum.add_scaled(static_cast<std::int64_t>(levels[j] >> 62), unit + 62);
      }
      levels[j] = 0;
    }
  }
};

struct implementation {
  instruction_set set;
  exact_node* node;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/exact.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#ifdef HWY_DISABLE_BMI2_FMA
constexpr bool has_fma = is_neon;
#else
constexpr bool has_fma = is_avx512 || HWY_TARGET == HWY_AVX2 || is_neon;
#endif

// --- Terms ---------------------------------------------------------------------------------------

/// The vectors of a kernel for elements T. Doubles from floats are made in halves of AVX-512's
/// registers: its conversion is slow (Zen 4).
template <class T>
struct shape {
  using D = std::conditional_t<std::is_same_v<T, double>, hn::ScalableTag<double>,
                               hn::CappedTag<double, 4>>;
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
    return hn::LoadU(d, p);
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

/// x_i * y_i. Of floats they are exact in double; of doubles each is a pair, product and error.
template <class T>
struct products : shape<T> {
  using typename shape<T>::D;
  static constexpr bool paired = std::is_same_v<T, double>;
  static constexpr int digits = paired ? 53 : 48;
  static constexpr std::size_t sets = paired ? 2 : 4;
  static constexpr std::size_t row_size = sets * shape<T>::width;
  const T* x;
  const T* y;

  products(const T* x_, const T* y_) : x(x_), y(y_) {}
  products from(std::size_t i) const { return {x + i, y + i}; }
  HWY_INLINE factors<D> at(std::size_t i) const {
    return {load_double(D(), x + i), load_double(D(), y + i)};
  }
  HWY_INLINE factors<D> first(std::size_t n) const {
    return {load_first_double(D(), x, n), load_first_double(D(), y, n)};
  }
  double a(std::size_t i) const { return static_cast<double>(x[i]); }
  double b(std::size_t i) const { return static_cast<double>(y[i]); }
};

/// x_i or |x_i|.
template <class T, bool magnitudes>
struct values : shape<T> {
  using typename shape<T>::D;
  static constexpr bool paired = false;
  static constexpr int digits = std::is_same_v<T, double> ? 53 : 24;
  static constexpr std::size_t sets = 4;
  static constexpr std::size_t row_size = sets * shape<T>::width;
  const T* x;

  explicit values(const T* x_) : x(x_) {}
  values from(std::size_t i) const { return values(x + i); }
  static HWY_INLINE factors<D> of(hn::Vec<D> v) {
    if constexpr (magnitudes) v = hn::Abs(v);
    return {v, hn::Set(D(), 1.0)};
  }
  HWY_INLINE factors<D> at(std::size_t i) const { return of(load_double(D(), x + i)); }
  HWY_INLINE factors<D> first(std::size_t n) const { return of(load_first_double(D(), x, n)); }
  double a(std::size_t i) const {
    const auto v = static_cast<double>(x[i]);
    return magnitudes ? std::abs(v) : v;
  }
  double b(std::size_t) const { return 1; }
};

/// Exponents of terms that levels of one `top` hold exactly: down to 2^(top - window), whose last
/// digit is the unit of the second level. (It is also that of a product's error in the fourth.)
template <class Terms>
constexpr int window = 104 - Terms::digits - 2 * rows_log;
template <class Terms>
constexpr std::size_t row_terms = Terms::row_size;
template <class Terms>
constexpr std::size_t tile_terms = tile_rows * row_terms<Terms>;
template <class Terms>
constexpr std::make_index_sequence<Terms::sets> every_set{};
template <class Terms>
constexpr std::make_index_sequence<Terms::sets / 2> every_two{};

/// Whether there are levels at all: for products of doubles FMA gives the error.
template <class Terms>
constexpr bool has_levels = HWY_TARGET != HWY_SCALAR && (has_fma || !Terms::paired);

// --- A tile in levels ----------------------------------------------------------------------------

template <class Terms, bool zeros>
struct level_lanes {
  static constexpr bool paired = Terms::paired;
  static constexpr std::size_t sets = Terms::sets, width = Terms::width;
  using D = typename Terms::D;
  using number = hn::Vec<D>;
  using integer = hn::Vec<hn::RebindToUnsigned<D>>;
  static constexpr auto d = Terms::d;
  static constexpr auto du = Terms::du;
  static constexpr auto di = Terms::di;
  static constexpr auto du32 = Terms::du32;
  using D32 = typename Terms::D32;

  number s0[sets], s1[sets], s2[paired ? sets : 1], s3[paired ? sets : 1];
  // Of the upper halves of magnitudes, less 1 in `smallest` where `less_one`, which makes the
  // largest of a 0.
  using halves = hn::Vec<D32>;
  halves largest, smallest;
  static constexpr bool less_one = Terms::digits < 53;

  HWY_INLINE number bias(int k) const { return hn::BitCast(d, hn::Set(du, bias_bits(k))); }

  template <std::size_t... u>
  HWY_INLINE void start(std::index_sequence<u...>, int top) {
    const number b0 = bias(top + level_base[0]), b1 = bias(top + level_base[1]);
    ((s0[u] = b0, s1[u] = b1), ...);
    if constexpr (paired) {
      const number b2 = bias(top + level_base[2]), b3 = bias(top + level_base[3]);
      ((s2[u] = b2, s3[u] = b3), ...);
    }
    largest = hn::Zero(du32);
    smallest = hn::Set(du32, static_cast<hn::TFromD<D32>>(~std::uint64_t{0}));
  }

  /// Adds a vector of terms; returns them, of doubles rounded.
  template <std::size_t u>
  HWY_INLINE number add(const factors<D>& f) {
    const number h = hn::Mul(f.a, f.b);
    const number t0 = has_fma ? hn::MulAdd(f.a, f.b, s0[u]) : hn::Add(s0[u], h);
    const number taken = hn::Sub(t0, s0[u]);
    // (What can be had of multipliers is had of them: the adders have more to do.)
    number rest;
    if constexpr (has_fma) {
      rest = paired ? hn::NegMulAdd(hn::Set(d, 1.0), taken, h) : hn::MulSub(f.a, f.b, taken);
    } else {
      rest = hn::Sub(h, taken);
    }
    s0[u] = t0;
    s1[u] = hn::Add(s1[u], rest);
    if constexpr (paired) {
      const number l = hn::MulSub(f.a, f.b, h);
      const number t2 = hn::Add(s2[u], l);
      const number low = hn::Sub(l, hn::Sub(t2, s2[u]));
      s2[u] = t2;
      s3[u] = hn::Add(s3[u], low);
    }
    return h;
  }

  /// The upper halves of both, in any order.
  static HWY_INLINE halves uppers(integer v, integer w) {
#if HWY_TARGET == HWY_SCALAR
    return hn::Max(hn::ShiftRight<32>(v), hn::ShiftRight<32>(w));  // has no levels: never called
#elif HWY_TARGET == HWY_AVX2  // in order it takes two instructions
    if constexpr (sizeof(v) == 32) {
      return halves{_mm256_castps_si256(_mm256_shuffle_ps(
          _mm256_castsi256_ps(v.raw), _mm256_castsi256_ps(w.raw), _MM_SHUFFLE(3, 1, 3, 1)))};
    }
#else
    return hn::ConcatOdd(du32, hn::BitCast(du32, w), hn::BitCast(du32, v));
#endif
  }

  /// Magnitudes for the smallest: the largest of those that don't count, which are the products of
  /// a 0 (another product may underflow to 0).
  HWY_INLINE integer counted(const factors<D>& f, number h) const {
    const integer magnitude = hn::BitCast(du, hn::Abs(h));
    if constexpr (paired) {
      const auto zero = hn::Or(hn::Eq(f.a, hn::Zero(d)), hn::Eq(f.b, hn::Zero(d)));
      return hn::IfThenElse(hn::RebindMask(du, zero), hn::Set(du, ~std::uint64_t{0}), magnitude);
    } else {
      return hn::Sub(magnitude, hn::Set(du, 1));
    }
  }

  HWY_INLINE void note(halves large, halves small) {
    largest = hn::Max(largest, large);
    if constexpr (less_one) small = hn::Sub(small, hn::Set(du32, 1));
    smallest = hn::Min(smallest, small);
  }

  template <std::size_t u>
  HWY_INLINE void take_two(const factors<D>& f, const factors<D>& g) {
    const number h = add<u>(f), k = add<u + 1>(g);
    const halves both =
        hn::And(uppers(hn::BitCast(du, h), hn::BitCast(du, k)), hn::Set(du32, 0x7fffffff));
    if constexpr (paired ? zeros : !less_one) {
      note(both, uppers(counted(f, h), counted(g, k)));
    } else {
      note(both, both);
    }
  }

  /// Of a vector only the first n are terms.
  template <std::size_t u>
  HWY_INLINE void take_first(const factors<D>& f, std::size_t n) {
    const number h = add<u>(f);
    const integer magnitude = hn::BitCast(du, hn::Abs(h));
    integer small = less_one || (paired && !zeros) ? magnitude : counted(f, h);
    if constexpr (paired) {
      small = hn::IfThenElse(hn::FirstN(du, n), small, hn::Set(du, ~std::uint64_t{0}));
    }
    note(uppers(magnitude, magnitude), uppers(small, small));
  }

  template <std::size_t... u>
  HWY_INLINE void row(std::index_sequence<u...>, const Terms& from, std::size_t i) {
    (take_two<2 * u>(from.at(i + 2 * u * width), from.at(i + (2 * u + 1) * width)), ...);
  }

  template <std::size_t... u>
  HWY_INLINE void rest(std::index_sequence<u...>, const Terms& from, std::size_t n) {
    ((n > u * width ? take_first<u>(from.from(u * width).first(std::min(width, n - u * width)),
                                    std::min(width, n - u * width))
                    : void()),
     ...);
  }

  /// Whether the terms were within the levels' window, and so nothing was lost.
  HWY_INLINE bool fit(int top) const {
    const auto most = hn::Set(du32, (static_cast<std::uint32_t>(top + 1023) << 20) - 1);
    const auto least = hn::Set(du32, static_cast<std::uint32_t>(top - window<Terms> + 1023) << 20);
    const auto outside =
        hn::Or(hn::Xor(hn::Max(largest, most), most), hn::Xor(hn::Min(smallest, least), least));
    return hn::AllTrue(du32, hn::Eq(outside, hn::Zero(du32)));
  }

  template <std::size_t... u>
  HWY_INLINE integer bits(std::index_sequence<u...>, const number* s) const {
    integer sum = hn::Zero(du);
    ((sum = hn::Add(sum, hn::BitCast(du, s[u]))), ...);
    return sum;
  }

  /// A level's bit pattern counts its units, from the bias's on.
  HWY_INLINE void drain(integer* sums) const {
    constexpr auto every = every_set<Terms>;
    sums[0] = hn::Add(sums[0], bits(every, s0));
    sums[1] = hn::Add(sums[1], bits(every, s1));
    if constexpr (paired) {
      sums[2] = hn::Add(sums[2], bits(every, s2));
      sums[3] = hn::Add(sums[3], bits(every, s3));
    }
  }

  HWY_INLINE extent seen() const {
    constexpr std::size_t count = hn::MaxLanes(du32);
    HWY_ALIGN hn::TFromD<D32> large[count], small[count];
    hn::Store(largest, du32, large);
    hn::Store(smallest, du32, small);
    return {static_cast<std::uint32_t>(*std::max_element(large, large + count)),
            static_cast<std::uint32_t>(*std::min_element(small, small + count))};
  }
};

template <class Terms>
using level_sums = hn::Vec<hn::RebindToUnsigned<typename Terms::D>>[4];

/// Adds at most a tile, or nothing if it doesn't fit: then what was seen.
template <class Terms, bool zeros>
HWY_NOINLINE bool add_levels(const Terms terms, std::size_t n, int top, level_sums<Terms>& sums,
                             extent& seen) {
  level_lanes<Terms, zeros> lanes;
  lanes.start(every_set<Terms>, top);
  const std::size_t whole = n / row_terms<Terms> * row_terms<Terms>;
  // Memory is left to the processor's own prefetchers: of 2^26 elements, one Zen 4 core, f64 takes
  // 0.98 to 1.06 of the default grade's time and f32 1.00 to 1.04, over the placements of pages.
  // With prefetches 512 bytes ahead it was 1.04 to 1.16, with 1024 1.34, 2048 1.19, 4096 1.26.
#pragma GCC unroll 1
  for (std::size_t i = 0; i < whole; i += row_terms<Terms>) {
    lanes.row(every_two<Terms>, terms, i);
  }
  if (n > whole) lanes.rest(every_set<Terms>, terms.from(whole), n - whole);
  if (!lanes.fit(top)) {
    seen = lanes.seen();
    return false;
  }
  lanes.drain(sums);
  return true;
}

/// The same, from the first product on that is 0 with a look at the factors.
template <class Terms>
HWY_INLINE bool add_levels(const Terms terms, std::size_t n, held_sum& to, level_sums<Terms>& sums,
                           extent& seen) {
  if constexpr (Terms::paired) {
    if (!to.zeros) {
      if (add_levels<Terms, false>(terms, n, to.top, sums, seen)) return true;
      if (seen.smallest > 0) return false;
      to.zeros = true;
    }
  }
  return add_levels<Terms, true>(terms, n, to.top, sums, seen);
}

/// Modulo 2^64. (GCC's own reduction of AVX-512 registers adds signed numbers, which may overflow.)
template <class Terms>
HWY_INLINE std::uint64_t sum_of_lanes(hn::Vec<hn::RebindToUnsigned<typename Terms::D>> v) {
  HWY_ALIGN std::uint64_t lanes[Terms::width];
  hn::Store(v, Terms::du, lanes);
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum += lane;
  return sum;
}

/// Takes the levels' sums over; `count` times a row of biases was added.
template <class Terms>
HWY_INLINE void collect(const level_sums<Terms>& sums, std::size_t count, held_sum& to) {
  for (int j = 0; j < level_count<Terms::paired>; ++j) {
    const std::uint64_t biases =
        count * row_terms<Terms> * bias_bits(to.top + level_base[static_cast<std::size_t>(j)]);
    to.levels[j] += static_cast<std::int64_t>(sum_of_lanes<Terms>(sums[j]) - biases);
  }
}

// --- Any number of terms -------------------------------------------------------------------------

/// What the first terms are like.
template <class Terms>
HWY_NOINLINE extent extent_of(const Terms terms, std::size_t n) {
  level_lanes<Terms, true> lanes;
  lanes.start(every_set<Terms>, 0);
  lanes.rest(every_set<Terms>, terms, n);
  return lanes.seen();
}

template <class Terms>
HWY_NOINLINE void add_one_by_one(const Terms terms, std::size_t n, held_sum& to) {
  for (std::size_t i = 0; i < n; ++i) to.sum.add_product(terms.a(i), terms.b(i));
}

/// Empties the bins. 32 at a time make one integer, of their upper and lower halves: neither sum
/// passes 64 bits.
template <class Terms>
HWY_NOINLINE void drain(exponent_bins& from) {
  constexpr auto du = Terms::du;
  constexpr std::size_t width = Terms::width, group = 32;
  constexpr std::uint64_t half = 0xffffffff, sign = std::uint64_t{1} << 63;
  if (from.terms == 0) return;
  from.terms = 0;
  for (std::size_t first = 0; first < exponent_bins::count; first += group) {
    auto* const bins = reinterpret_cast<std::uint64_t*>(from.sums + first);
    auto any = hn::Zero(du);
    for (std::size_t i = 0; i < group; i += width) any = hn::Or(any, hn::LoadU(du, bins + i));
    if (hn::AllTrue(du, hn::Eq(any, hn::Zero(du)))) continue;
    auto low = hn::Zero(du), high = hn::Zero(du);
    for (std::size_t i = 0; i < group; i += width) {
      // (Subnormals have the unit of the next bin.)
      auto up = hn::Iota(du, i);
      if (first + i == 0) up = hn::Max(up, hn::Set(du, 1));
      const auto sums = hn::LoadU(du, bins + i);
      low = hn::Add(low, hn::Shl(hn::And(sums, hn::Set(du, half)), up));
      high = hn::Add(high, hn::Shl(hn::ShiftRight<32>(hn::Xor(sums, hn::Set(du, sign))), up));
      hn::StoreU(hn::Zero(du), du, bins + i);
    }
    const std::uint64_t weights = half + (first == 0);
    const auto upper = static_cast<std::int64_t>(sum_of_lanes<Terms>(high) - (weights << 31));
    const wide_integer sum = (wide_integer{upper} << 32) + sum_of_lanes<Terms>(low);
    const int unit = static_cast<int>(first) - 1075 + 53 - Terms::digits;
    from.owner->add_scaled(static_cast<std::int64_t>(sum & ((wide_integer{1} << 62) - 1)), unit);
    from.owner->add_scaled(static_cast<std::int64_t>(sum >> 62), unit + 62);
  }
}

/// Numbers on their way into bins, by exponent and significand. (Vector by vector GCC 12 would take
/// each number out of its register, which takes twice as long as loads.)
template <class Terms>
struct parted_numbers {
  static constexpr std::size_t most = 128;
  HWY_ALIGN std::uint64_t fields[most];
  HWY_ALIGN std::int64_t significands[most];
  std::size_t count = 0;

  HWY_INLINE void add(hn::Vec<typename Terms::D> v) {
    constexpr auto du = Terms::du;
    constexpr auto di = Terms::di;
    constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
    const auto bits = hn::BitCast(du, v);
    const auto field = hn::And(hn::ShiftRight<52>(bits), hn::Set(du, 0x7ff));
    const auto first_bit =
        hn::IfThenZeroElse(hn::Eq(field, hn::Zero(du)), hn::Set(du, fraction + 1));
    auto magnitude = hn::Or(hn::And(bits, hn::Set(du, fraction)), first_bit);
    if constexpr (Terms::digits < 53) magnitude = hn::ShiftRight<53 - Terms::digits>(magnitude);
    const auto sign = hn::BroadcastSignBit(hn::BitCast(di, bits));
    hn::Store(field, du, fields + count);
    hn::Store(hn::Sub(hn::Xor(hn::BitCast(di, magnitude), sign), sign), di, significands + count);
    count += Terms::width;
  }

  HWY_INLINE void move_to(exponent_bins& to) {
    for (std::size_t i = 0; i < count; ++i) to.sums[fields[i]] += significands[i];
    count = 0;
  }
};

/// By exponents: 2.2 ns a product of doubles, 1.0 of floats (Zen 4), where a superaccumulator takes
/// 7.
template <class Terms>
HWY_NOINLINE void add_to_bins(const Terms terms, std::size_t n, held_sum& to) {
  exponent_bins& bins = to.bins;
  // The bins' own cost is that of about 96 terms one by one. Without FMA products have no errors.
  if ((n < 96 && bins.owner != &to.sum) || (Terms::paired && !has_fma)) {
    return add_one_by_one(terms, n, to);
  }
  if (bins.owner == nullptr) std::fill_n(bins.sums, exponent_bins::count, 0);
  if (bins.owner != &to.sum) drain<Terms>(bins);
  bins.owner = &to.sum;
  constexpr auto d = Terms::d;
  constexpr std::size_t numbers = Terms::paired ? 2 : 1;
  constexpr std::size_t most = exponent_bins::capacity(Terms::digits) / numbers;
  constexpr std::size_t batch = parted_numbers<Terms>::most / numbers;
  static_assert(batch % Terms::width == 0);
  parted_numbers<Terms> parted;
  for (std::size_t i = 0; i < n; i += batch) {
    const std::size_t count = std::min(n - i, batch);
    if (bins.terms + count > most) drain<Terms>(bins);
    bins.terms += count;
    for (std::size_t j = 0; j < count; j += Terms::width) {
      const Terms from = terms.from(i + j);
      const std::size_t left = count - j;
      const auto f = left < Terms::width ? from.first(left) : from.at(0);
      const auto h = hn::Mul(f.a, f.b);
      const auto magnitude = hn::Abs(h);
      auto taken = hn::Le(magnitude, hn::Set(d, std::numeric_limits<double>::max()));
      if constexpr (Terms::paired) {  // no error may be below the smallest number
        taken = hn::And(taken, hn::Ge(magnitude, hn::Set(d, 0x1p-959)));
        if (HWY_UNLIKELY(!hn::AllTrue(d, taken))) {
          const auto zero = hn::Zero(d);
          const auto none = hn::Or(hn::Eq(f.a, zero), hn::Eq(f.b, zero));
          taken = hn::Or(taken, hn::And(hn::Eq(h, zero), none));
        }
      }
      if (HWY_UNLIKELY(!hn::AllTrue(d, taken))) {
        add_one_by_one(from, std::min(left, Terms::width), to);
        continue;
      }
      parted.add(h);
      if constexpr (Terms::paired) parted.add(hn::MulSub(f.a, f.b, h));
    }
    parted.move_to(bins);
  }
}

/// Tiles, the last of which may be shorter, until one doesn't fit: how many terms, and what the one
/// that doesn't is like.
template <class Terms>
std::size_t add_tiles(const Terms terms, std::size_t n, held_sum& to, extent& seen) {
  const auto zero = hn::Zero(Terms::du);
  level_sums<Terms> sums = {zero, zero, zero, zero};
  std::size_t done = 0, count = 0;
  for (; done < n; ++count) {
    const std::size_t tile = std::min(n - done, tile_terms<Terms>);
    if (!add_levels(terms.from(done), tile, to, sums, seen)) break;
    done += tile;
  }
  collect<Terms>(sums, count, to);
  return done;
}

template <class Terms>
void add_terms(Terms terms, std::size_t n, held_sum& to) {
  if constexpr (!has_levels<Terms>) {
    return add_to_bins(terms, n, to);
  } else {
    constexpr std::size_t tile = tile_terms<Terms>;
    constexpr std::size_t block = (std::size_t{1} << 11) / row_terms<Terms> * tile;  // see collect
    const auto pass = [&](std::size_t terms_done) {
      terms = terms.from(terms_done);
      n -= terms_done;
    };
    if (!to.aimed && n > 0) {
      to.top = aim<window<Terms>>(extent_of(terms, std::min(n, Terms::width))).value_or(0);
      to.aimed = true;
    }
    while (n > 0) {
      if (to.untried > 0) {
        const std::size_t count = std::min(n, to.untried);
        add_to_bins(terms, count, to);
        to.untried -= count;
        pass(count);
        continue;
      }
      const std::size_t count = std::min(n, block);
      extent seen;
      const std::size_t fitted = add_tiles(terms, count, to, seen);
      if (fitted > 0) to.failed = 0;
      pass(fitted);
      if (fitted == count) continue;
      if (const auto top = aim<window<Terms>>(seen)) {
        to.template flush_levels<Terms::paired>();
        to.top = *top;
      } else {  // the next are likely to fail too
        to.failed = std::min<std::size_t>(2 * to.failed + 1, 63);
        to.untried = to.failed * tile;
      }
    }
  }
}

/// Moves all that is held to the sum.
template <class Terms>
void flush(held_sum& held) {
  held.flush_levels<Terms::paired>();
  drain<Terms>(held.bins);
}

template <class Terms>
void add_all(Terms terms, std::size_t n, exact_sum<double>& to) {
  exponent_bins bins;
  held_sum held{to, bins};
  add_terms(terms, n, held);
  flush<Terms>(held);
}

// --- All other operands --------------------------------------------------------------------------

/// The real numbers of a block's elements, one or two of each: re and im of complex elements, of
/// int64 a multiple of 2^32 and what is left. It takes 8 KiB of the stack.
template <class T>
struct number_arrays {
  static constexpr std::size_t room = 8192 / sizeof(T);
  HWY_ALIGN T first[room];
  T* const second = first + room / 2;

  /// Elements of a block in which they are `two`, or one.
  static constexpr std::size_t block(bool two) { return two ? room / 2 : room; }
};

/// Every number of the type is a float.
template <class X>
struct is_narrow : std::bool_constant<std::is_integral_v<X> ? (sizeof(X) < sizeof(float))
                                                            : sizeof(real_t<X>) <= sizeof(float)> {
};
using narrow_types = types::those<element_types, is_narrow>;

/// Writes the numbers of n elements that lie side by side, one or two each.
template <class X, class T>
void split_numbers(const X* data, std::size_t n, T* first, T* second) {
  if constexpr (is_complex_v<X>) {
    const auto* const pairs = reinterpret_cast<const real_t<X>*>(data);
    for (std::size_t i = 0; i < n; ++i) {
      first[i] = pairs[2 * i];
      second[i] = pairs[2 * i + 1];
    }
  } else if constexpr (std::is_same_v<X, std::int64_t>) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t low = data[i] & 0xffffffff;
      first[i] = static_cast<double>(data[i] - low);
      second[i] = static_cast<double>(low);
    }
  } else {
    convert_numbers(data, n, first);
  }
}

/// Those of `v`. (Inline, what it takes of the stack would add to what sums take.)
template <class T>
HWY_NOINLINE void split_numbers(const operand& v, number_arrays<T>& to) {
  if (v.element == type_of<T> && v.increment != 1) {
    return gather(v, reinterpret_cast<std::byte*>(to.first));
  }
  using readable = std::conditional_t<std::is_same_v<T, float>, narrow_types, element_types>;
  for_each_piece(v, [&](const void* piece, std::size_t i, std::size_t n) {
    with_type<readable>(v.element, [&]<class X>() HWY_ATTR {
      split_numbers(static_cast<const types::stored_t<X>*>(piece), n, to.first + i, to.second + i);
    });
  });
}

template <class T>
void negate(T* numbers, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) numbers[i] = -numbers[i];
}

template <class T>
bool all_finite(const T* numbers, std::size_t n) {
  bool finite = true;
  for (std::size_t i = 0; i < n; ++i) finite &= numbers[i] - numbers[i] == 0;
  return finite;
}

template <class T>
void add_packed_products(const exact_arguments& a, exact_sums& to) {
  number_arrays<T> x, y;
  // By parts of x and y. Of real numbers in two parts all belong to the real sum.
  const bool x_complex = is_complex(a.x.element), y_complex = is_complex(a.y.element);
  const bool x_two = x_complex || a.x.element == type::int64;
  const bool y_two = y_complex || a.y.element == type::int64;
  exponent_bins bins;
  held_sum first_first{to.re, bins}, second_second{x_complex != y_complex ? to.im : to.re, bins};
  held_sum first_second{y_complex ? to.im : to.re, bins};
  held_sum second_first{x_complex ? to.im : to.re, bins};
  const std::size_t block = x.block(x_two || y_two);
  for (std::size_t i = 0; i < a.x.size; i += block) {
    const std::size_t n = std::min(block, a.x.size - i);
    const operand px = a.x.slice(i, n), py = a.y.slice(i, n);
    split_numbers(px, x);
    split_numbers(py, y);
    // A part of an integer may be 0 where it is not, and infinity times it is another matter.
    const bool integer = (x_two && !x_complex) || (y_two && !y_complex);
    if (integer && !(all_finite(x.first, n) && (!x_two || all_finite(x.second, n)) &&
                     all_finite(y.first, n) && (!y_two || all_finite(y.second, n)))) {
      exact_arguments part = a;
      part.x = px, part.y = py;
      serial::add_exact(part, to);
      continue;
    }
    if (a.conjugated == conjugate::x && x_complex) negate(x.second, n);
    if (a.conjugated == conjugate::y && y_complex) negate(y.second, n);
    // In this order those of a complex sum's real part, which may need the bins, follow each other.
    if (y_two) add_terms(products<T>(x.first, y.second), n, first_second);
    if (x_two) add_terms(products<T>(x.second, y.first), n, second_first);
    if (x_two && y_two) {
      if (x_complex && y_complex) negate(x.second, n);
      add_terms(products<T>(x.second, y.second), n, second_second);
    }
    add_terms(products<T>(x.first, y.first), n, first_first);
  }
  for (held_sum* held : {&first_first, &second_second, &first_second, &second_first}) {
    flush<products<T>>(*held);
  }
}

template <class T, bool magnitudes>
void add_packed_values(const exact_arguments& a, exact_sums& to) {
  number_arrays<T> x;
  const bool x_complex = is_complex(a.x.element);
  const bool two = x_complex || a.x.element == type::int64;
  exponent_bins bins;
  held_sum first{to.re, bins}, second{x_complex && !magnitudes ? to.im : to.re, bins};
  for (std::size_t i = 0; i < a.x.size; i += x.block(two)) {
    const std::size_t n = std::min(x.block(two), a.x.size - i);
    split_numbers(a.x.slice(i, n), x);
    if (magnitudes && two && !x_complex) {  // both parts by the sign of the whole
      for (std::size_t j = 0; j < n; ++j) {
        if (x.first[j] < 0) x.first[j] = -x.first[j], x.second[j] = -x.second[j];
      }
      add_terms(values<T, false>(x.first), n, first);
      add_terms(values<T, false>(x.second), n, second);
      continue;
    }
    add_terms(values<T, magnitudes>(x.first), n, first);
    if (two) add_terms(values<T, magnitudes>(x.second), n, second);
  }
  flush<values<T, magnitudes>>(first);
  flush<values<T, magnitudes>>(second);
}

/// Of complex numbers both parts' squares belong to the real sum; the others are (high + low)^2.
template <class T>
void add_packed_squares(const exact_arguments& a, exact_sums& to) {
  number_arrays<T> x;
  const bool x_complex = is_complex(a.x.element);
  const bool two = x_complex || a.x.element == type::int64;
  exponent_bins bins;
  held_sum first{to.re, bins}, second{to.re, bins}, mixed{to.re, bins};
  for (std::size_t i = 0; i < a.x.size; i += x.block(two)) {
    const std::size_t n = std::min(x.block(two), a.x.size - i);
    split_numbers(a.x.slice(i, n), x);
    add_terms(products<T>(x.first, x.first), n, first);
    if (two) add_terms(products<T>(x.second, x.second), n, second);
    if (two && !x_complex) {
      for (std::size_t j = 0; j < n; ++j) x.first[j] *= 2;
      add_terms(products<T>(x.first, x.second), n, mixed);
    }
  }
  for (held_sum* held : {&first, &second, &mixed}) flush<products<T>>(*held);
}

template <class T>
void add_packed(const exact_arguments& a, exact_sums& to) {
  switch (a.term) {
    case exact_term::product:
      return add_packed_products<T>(a, to);
    case exact_term::value:
      return add_packed_values<T, false>(a, to);
    case exact_term::magnitude:
      return add_packed_values<T, true>(a, to);
    case exact_term::square:
      return add_packed_squares<T>(a, to);
  }
}

/// Contiguous elements of the kernels' own types, where they lie. For magnitudes and squares a
/// complex vector is one of real numbers, twice as long.
template <class T>
void add_in_place(const exact_arguments& a, exact_sums& to) {
  const T* const x = static_cast<const T*>(a.x.data);
  const std::size_t n = is_complex(a.x.element) ? 2 * a.x.size : a.x.size;
  switch (a.term) {
    case exact_term::product:
      return add_all(products<T>(x, static_cast<const T*>(a.y.data)), n, to.re);
    case exact_term::value:
      return add_all(values<T, false>(x), n, to.re);
    case exact_term::magnitude:
      return add_all(values<T, true>(x), n, to.re);
    case exact_term::square:
      return add_all(products<T>(x, x), n, to.re);
  }
}

void add_exact(const exact_arguments& a, exact_sums& to) {
  const bool product = a.term == exact_term::product;
  const bool parted = is_complex(a.x.element) && (product || a.term == exact_term::value);
  const bool in_place = a.x.increment == 1 && !parted &&
                        (!product || (a.y.increment == 1 && a.x.element == a.y.element));
  if (in_place && part_of(a.x.element) == type::float64) return add_in_place<double>(a, to);
  if (in_place && part_of(a.x.element) == type::float32) return add_in_place<float>(a, to);
  const bool narrow =
      is_in<narrow_types>(a.x.element) && (!product || is_in<narrow_types>(a.y.element));
  narrow ? add_packed<float>(a, to) : add_packed<double>(a, to);
}

}  // namespace

constexpr implementation here = {set_of(HWY_TARGET), &add_exact};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/implementations-inl.hpp"

namespace tally::backends::simd {
exact_node* exact_node_of(instruction_set set) { return implementation_of(set).node; }

void exact(const executor& where, const exact_arguments& a) {
  exact_sums sums;
  exact_node_of(where.instructions())(a, sums);
  write_rounded(sums, a);
}

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
