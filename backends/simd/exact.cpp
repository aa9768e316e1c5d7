// The exact grade on one thread in vector instructions; one source for all instruction sets.
//
// Terms are split, without error, over a few levels: accumulators in registers that start at a bias
// of 1.5 * 2^k, so that adding to one rounds the addend to a multiple of the level's unit, and what
// that leaves goes to the next level. A tile's largest and smallest term are looked at after it:
// they prove that nothing was lost. A tile that doesn't fit is added again, with other levels, or
// by the exponents of its terms (`exponent_bins`). docs/numerics.md has the proof.
#include "backends/simd/exact.hpp"

#include "backends/floating_point_environment.hpp"
#include "backends/serial/exact.hpp"
#include "backends/simd/targets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

/// Sums of doubles by their exponents, for terms that levels don't hold. A significand is added in
/// two halves, so that a bin takes 2^30 of them.
class exponent_bins {
 public:
  static constexpr std::int64_t most_terms = std::int64_t{1} << 30;

  /// A finite number.
  void add(double value) {
    const auto bits = __builtin_bit_cast(std::uint64_t, value);
    const std::uint64_t field = bits >> 52 & 0x7ff;
    const std::uint64_t normal = field != 0;
    const auto sign = static_cast<std::int64_t>(bits) >> 63;
    const auto magnitude =
        static_cast<std::int64_t>((bits & ((std::uint64_t{1} << 52) - 1)) | normal << 52);
    const std::int64_t m = (magnitude ^ sign) - sign;
    low_[field] += m & 0xffffffff;
    high_[field] += m >> 32;
  }

  /// Eight bins at a time make one integer; then they are empty.
  void flush(exact_sum<double>& to) {
    for (int first = 0; first < bins; first += 8) {
      wide_integer sum = 0;
      for (int i = 0; i < 8; ++i) {
        const int bin = first + i;
        const int up = bin == 0 ? 1 : i;  // subnormals have the unit of the next bin
        sum += ((wide_integer{high_[bin]} << 32) + low_[bin]) << up;
        low_[bin] = high_[bin] = 0;
      }
      if (sum == 0) continue;
      const int unit = first - 1075;
      const auto low = static_cast<std::int64_t>(sum & ((wide_integer{1} << 62) - 1));
      to.add_scaled(low, unit);
      to.add_scaled(static_cast<std::int64_t>(sum >> 62), unit + 62);
    }
  }

 private:
  static constexpr int bins = 2048;
  std::int64_t low_[bins] = {};
  std::int64_t high_[bins] = {};
};

// --- A sum in the making -------------------------------------------------------------------------

/// What levels and bins hold of one sum, and where it goes in the end.
struct held_sum {
  /// (Without a constructor GCC 12 clears the bins' memory too, in 400 ns.)
  explicit held_sum(exact_sum<double>& to) : sum(to) {}

  exact_sum<double>& sum;
  bool aimed = false;
  bool zeros = false;  ///< there were some: the check of a tile looks for them
  int top = 0;
  wide_integer levels[4] = {};
  std::size_t failed = 0;   ///< tiles in a row that levels did not hold
  std::size_t in_bins = 0;  ///< tiles to come that are not tried
  std::int64_t binned = 0;
  std::optional<exponent_bins> bins;

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

  template <bool paired>
  void flush() {
    flush_levels<paired>();
    if (bins) bins->flush(sum);
  }

  /// Room for so many numbers in the bins.
  void count(std::size_t numbers) {
    if (!bins) bins.emplace();
    binned += static_cast<std::int64_t>(numbers);
    if (binned > exponent_bins::most_terms) {
      bins->flush(sum);
      binned = static_cast<std::int64_t>(numbers);
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

/// Asks for what a row will be a little later. A tile keeps too many instructions in flight for the
/// processor to look ahead that far by itself, and memory answers late: of 2^26 elements, one
/// Zen 4 core, f64 took 1.07 of the default grade's time instead of 0.99 without it, f32 1.19
/// instead of 0.96. With 1024 bytes it is slower than without. Two streams, as of the default
/// grade, were up to 1.6 times slower than one, the less the longer the turns.
template <std::size_t size, class T>
HWY_INLINE void prefetch_row(const T* p) {
  constexpr std::size_t ahead = 512 / sizeof(T), line = 64 / sizeof(T);
  for (std::size_t i = 0; i < size; i += line) __builtin_prefetch(p + ahead + i);
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
  HWY_INLINE void prefetch(std::size_t i) const {
    prefetch_row<row_size>(x + i);
    prefetch_row<row_size>(y + i);
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
  HWY_INLINE void prefetch(std::size_t i) const { prefetch_row<row_size>(x + i); }
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
constexpr std::size_t tile_terms = tile_rows* row_terms<Terms>;
template <class Terms>
constexpr std::make_index_sequence<Terms::sets> every_set{};

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

  number s0[sets], s1[sets], s2[paired ? sets : 1], s3[paired ? sets : 1];
  // In halves of 32 bits, of which the upper ones count: there is a minimum of those everywhere.
  hn::Vec<typename Terms::D32> largest, smallest;

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
    smallest = hn::Set(du32, static_cast<hn::TFromD<typename Terms::D32>>(~std::uint64_t{0}));
  }

  /// Adds a vector of terms; of the last one of a vector only the first n are.
  template <std::size_t u, bool partial = false>
  HWY_INLINE void take(const factors<D>& f, [[maybe_unused]] std::size_t n = 0) {
    const number h = hn::Mul(f.a, f.b);
    integer magnitude = hn::BitCast(du, hn::Abs(h));
    largest = hn::Max(largest, hn::BitCast(du32, magnitude));
    if constexpr (!paired) {
      magnitude = hn::Sub(magnitude, hn::Set(du, 1));  // 0 becomes the largest
    } else if constexpr (zeros) {  // those of a factor 0; another product may underflow to 0
      const auto zero = hn::Or(hn::Eq(f.a, hn::Zero(d)), hn::Eq(f.b, hn::Zero(d)));
      magnitude =
          hn::IfThenElse(hn::RebindMask(du, zero), hn::Set(du, ~std::uint64_t{0}), magnitude);
    } else if constexpr (partial) {
      magnitude = hn::IfThenElse(hn::FirstN(du, n), magnitude, hn::Set(du, ~std::uint64_t{0}));
    }
    smallest = hn::Min(smallest, hn::BitCast(du32, magnitude));
    const number t0 =
        has_fma && (paired || registers > 16) ? hn::MulAdd(f.a, f.b, s0[u]) : hn::Add(s0[u], h);
    const number rest = hn::Sub(h, hn::Sub(t0, s0[u]));
    s0[u] = t0;
    s1[u] = hn::Add(s1[u], rest);
    if constexpr (paired) {
      const number l = hn::MulSub(f.a, f.b, h);
      const number t2 = hn::Add(s2[u], l);
      const number low = hn::Sub(l, hn::Sub(t2, s2[u]));
      s2[u] = t2;
      s3[u] = hn::Add(s3[u], low);
    }
  }

  template <std::size_t... u>
  HWY_INLINE void row(std::index_sequence<u...>, const Terms& from, std::size_t i) {
    (take<u>(from.at(i + u * width)), ...);
  }

  template <std::size_t... u>
  HWY_INLINE void rest(std::index_sequence<u...>, const Terms& from, std::size_t n) {
    ((n > u * width ? take<u, true>(from.from(u * width).first(std::min(width, n - u * width)),
                                    std::min(width, n - u * width))
                    : void()),
     ...);
  }

  HWY_INLINE hn::Vec<hn::RebindToSigned<D>> upper(hn::Vec<typename Terms::D32> v) const {
    return hn::BitCast(di, hn::ShiftRight<32>(hn::BitCast(du, v)));
  }

  /// Whether the terms were within the levels' window, and so nothing was lost.
  HWY_INLINE bool fit(int top) const {
    const auto most = hn::Set(di, (std::int64_t{top + 1023} << 20) - 1);
    const auto least = hn::Set(di, std::int64_t{top - window<Terms> + 1023} << 20);
    const auto bad = hn::Or(hn::Sub(most, upper(largest)), hn::Sub(upper(smallest), least));
    return hn::AllFalse(di, hn::Lt(bad, hn::Zero(di)));
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
    return {static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(di, upper(largest)))),
            static_cast<std::uint32_t>(hn::GetLane(hn::MinOfLanes(di, upper(smallest))))};
  }
};

template <class Terms>
using level_sums = hn::Vec<hn::RebindToUnsigned<typename Terms::D>>[4];

/// Adds at most a tile, or nothing if it doesn't fit.
template <class Terms, bool zeros>
HWY_NOINLINE bool add_levels(const Terms terms, std::size_t n, int top, level_sums<Terms>& sums) {
  level_lanes<Terms, zeros> lanes;
  lanes.start(every_set<Terms>, top);
  const std::size_t whole = n / row_terms<Terms> * row_terms<Terms>;
#pragma GCC unroll 1
  for (std::size_t i = 0; i < whole; i += row_terms<Terms>) {
    terms.prefetch(i);
    lanes.row(every_set<Terms>, terms, i);
  }
  if (n > whole) lanes.rest(every_set<Terms>, terms.from(whole), n - whole);
  if (!lanes.fit(top)) return false;
  lanes.drain(sums);
  return true;
}

/// The same, once more for terms that are 0 if there may be some.
template <class Terms>
HWY_INLINE bool add_levels(const Terms terms, std::size_t n, held_sum& to,
                           level_sums<Terms>& sums) {
  if constexpr (Terms::paired) {
    if (!to.zeros && add_levels<Terms, false>(terms, n, to.top, sums)) return true;
    to.zeros = add_levels<Terms, true>(terms, n, to.top, sums);
    return to.zeros;
  } else {
    return add_levels<Terms, true>(terms, n, to.top, sums);
  }
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

// --- Terms that levels don't hold ----------------------------------------------------------------

template <class Terms>
HWY_NOINLINE extent extent_of(const Terms terms, std::size_t n) {
  level_lanes<Terms, true> lanes;
  lanes.start(every_set<Terms>, 0);
  std::size_t i = 0;
  for (; i + Terms::width <= n; i += Terms::width) lanes.template take<0>(terms.at(i));
  if (i < n) lanes.template take<0, true>(terms.from(i).first(n - i), n - i);
  return lanes.seen();
}

template <class Terms>
HWY_NOINLINE void add_one_by_one(const Terms terms, std::size_t n, held_sum& to) {
  for (std::size_t i = 0; i < n; ++i) to.sum.add_product(terms.a(i), terms.b(i));
}

/// By exponents: 2 ns a product of doubles, where a superaccumulator takes 6.
template <class Terms>
HWY_NOINLINE void add_to_bins(const Terms terms, std::size_t n, held_sum& to) {
  // The bins' own cost is that of 256 terms one by one. Without FMA products have no errors.
  if ((n < 256 && !to.bins) || (Terms::paired && !has_fma)) return add_one_by_one(terms, n, to);
  to.count(2 * n);
  exponent_bins& bins = *to.bins;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = terms.a(i), b = terms.b(i);
    const double h = a * b;
    const unsigned field = __builtin_bit_cast(std::uint64_t, h) >> 52 & 0x7ff;
    if constexpr (Terms::paired) {
      if (field - 64 < 0x7ff - 64) {  // finite, and no error below the smallest number
        bins.add(h);
        bins.add(__builtin_fma(a, b, -h));
        continue;
      }
      if (a == 0 || b == 0) {
        if (h == 0) continue;  // not times infinity
      }
    } else if (field != 0x7ff) {
      bins.add(h);
      continue;
    }
    to.sum.add_product(a, b);
  }
}

// --- Any number of terms -------------------------------------------------------------------------

/// At most a tile: in the levels, in others, or one by one. Whether in levels.
template <class Terms>
HWY_NOINLINE bool add_piece(const Terms terms, std::size_t n, held_sum& to) {
  const auto add_some = [&]() HWY_ATTR {
    const auto zero = hn::Zero(Terms::du);
    level_sums<Terms> sums = {zero, zero, zero, zero};
    if (!add_levels(terms, n, to, sums)) return false;
    collect<Terms>(sums, 1, to);
    return true;
  };
  if (Terms::paired && !has_fma) {
    add_one_by_one(terms, n, to);
    return true;
  }
  if (add_some()) return true;
  if (const auto top = aim<window<Terms>>(extent_of(terms, n))) {
    to.template flush_levels<Terms::paired>();
    to.top = *top;
    if (add_some()) return true;
  }
  add_to_bins(terms, n, to);
  return false;
}

/// Whole tiles, until one does not fit. How many.
template <class Terms>
std::size_t add_tiles(const Terms terms, std::size_t count, held_sum& to) {
  if (Terms::paired && !has_fma) return 0;
  const auto zero = hn::Zero(Terms::du);
  level_sums<Terms> sums = {zero, zero, zero, zero};
  std::size_t done = 0;
  while (done < count &&
         add_levels(terms.from(done * tile_terms<Terms>), tile_terms<Terms>, to, sums)) {
    ++done;
  }
  collect<Terms>(sums, done, to);
  return done;
}

template <class Terms>
void add_terms(Terms terms, std::size_t n, held_sum& to) {
  constexpr std::size_t tile = tile_terms<Terms>, half = tile / 2;
  constexpr std::size_t block = (std::size_t{1} << 11) / row_terms<Terms>;  // tiles: see collect
  if (!to.aimed && n > 0) {
    to.top = aim<window<Terms>>(extent_of(terms, std::min(n, Terms::width))).value_or(0);
    to.aimed = true;
  }
  const auto pass = [&](std::size_t tiles) {
    terms = terms.from(tiles * tile);
    n -= tiles * tile;
  };
  while (n >= tile) {
    const std::size_t count = std::min(n / tile, block);
    if (to.in_bins > 0) {
      const std::size_t binned = std::min(count, to.in_bins);
      add_to_bins(terms, binned * tile, to);
      to.in_bins -= binned;
      pass(binned);
      continue;
    }
    const std::size_t fitted = add_tiles(terms, count, to);
    if (fitted > 0) to.failed = 0;
    pass(fitted);
    if (fitted == count) continue;
    const bool first_fits = add_piece(terms, half, to);
    const bool second_fits = add_piece(terms.from(half), half, to);
    pass(1);
    // If not, the next are likely to fail too.
    to.failed = first_fits && second_fits ? 0 : std::min<std::size_t>(2 * to.failed + 1, 63);
    to.in_bins = to.failed;
  }
  if (n > 0) add_piece(terms, n, to);
}

template <class Terms>
void add_all(Terms terms, std::size_t n, exact_sum<double>& to) {
  held_sum held{to};
  add_terms(terms, n, held);
  held.flush<Terms::paired>();
}

// --- All other operands --------------------------------------------------------------------------

/// The real numbers of a chunk's elements, in one or two arrays: re and im of complex elements, of
/// int64 a multiple of 2^32 and what is left.
template <class T>
struct number_arrays {
  HWY_ALIGN T first[order::chunk];
  HWY_ALIGN T second[order::chunk];
  HWY_ALIGN T pairs[2 * order::chunk];
  HWY_ALIGN std::byte gathered[order::chunk * sizeof(std::complex<double>)];
};

constexpr bool is_complex(type t) { return t == type::complex64 || t == type::complex128; }

/// Every number of the type is a float.
constexpr bool is_narrow(type t) {
  return t != type::int32 && t != type::int64 && t != type::float64 && t != type::complex128;
}

template <class T>
void split_numbers(const operand& v, number_arrays<T>& to) {
  const void* data = v.data;
  if (v.increment != 1) {
    gather(v, to.gathered);
    data = to.gathered;
  }
  const std::size_t n = v.size;
  const auto part = [&](const T* pairs) {
    for (std::size_t i = 0; i < n; ++i) {
      to.first[i] = pairs[2 * i];
      to.second[i] = pairs[2 * i + 1];
    }
  };
  switch (v.element) {
    case type::boolean:
    case type::uint8:
      return convert_numbers(static_cast<const std::uint8_t*>(data), n, to.first);
    case type::int8:
      return convert_numbers(static_cast<const std::int8_t*>(data), n, to.first);
    case type::float16:
      return convert_numbers(static_cast<const float16*>(data), n, to.first);
    case type::bfloat16:
      return convert_numbers(static_cast<const bfloat16*>(data), n, to.first);
    case type::float32:
      return convert_numbers(static_cast<const float*>(data), n, to.first);
    case type::complex64:
      convert_numbers(static_cast<const float*>(data), 2 * n, to.pairs);
      return part(to.pairs);
    default:
      break;
  }
  if constexpr (std::is_same_v<T, double>) {
    switch (v.element) {
      case type::int32:
        return convert_numbers(static_cast<const std::int32_t*>(data), n, to.first);
      case type::int64:
        for (std::size_t i = 0; i < n; ++i) {
          const std::int64_t value = static_cast<const std::int64_t*>(data)[i];
          const std::int64_t low = value & 0xffffffff;
          to.first[i] = static_cast<double>(value - low);
          to.second[i] = static_cast<double>(low);
        }
        return;
      case type::complex128:
        return part(static_cast<const double*>(data));
      default:
        return convert_numbers(static_cast<const double*>(data), n, to.first);
    }
  }
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
  held_sum first_first{to.re}, second_second{x_complex != y_complex ? to.im : to.re};
  held_sum first_second{y_complex ? to.im : to.re}, second_first{x_complex ? to.im : to.re};
  for (std::size_t i = 0; i < a.x.size; i += order::chunk) {
    const std::size_t n = std::min(order::chunk, a.x.size - i);
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
    add_terms(products<T>(x.first, y.first), n, first_first);
    if (y_two) add_terms(products<T>(x.first, y.second), n, first_second);
    if (x_two) add_terms(products<T>(x.second, y.first), n, second_first);
    if (x_two && y_two) {
      if (x_complex && y_complex) negate(x.second, n);
      add_terms(products<T>(x.second, y.second), n, second_second);
    }
  }
  constexpr bool paired = products<T>::paired;
  for (held_sum* held : {&first_first, &second_second, &first_second, &second_first}) {
    held->template flush<paired>();
  }
}

template <class T, bool magnitudes>
void add_packed_values(const exact_arguments& a, exact_sums& to) {
  number_arrays<T> x;
  const bool x_complex = is_complex(a.x.element);
  const bool two = x_complex || a.x.element == type::int64;
  held_sum first{to.re}, second{x_complex && !magnitudes ? to.im : to.re};
  for (std::size_t i = 0; i < a.x.size; i += order::chunk) {
    const std::size_t n = std::min(order::chunk, a.x.size - i);
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
  first.template flush<false>();
  second.template flush<false>();
}

/// Of complex numbers both parts' squares belong to the real sum; the others are (high + low)^2.
template <class T>
void add_packed_squares(const exact_arguments& a, exact_sums& to) {
  number_arrays<T> x;
  const bool x_complex = is_complex(a.x.element);
  const bool two = x_complex || a.x.element == type::int64;
  held_sum first{to.re}, second{to.re}, mixed{to.re};
  for (std::size_t i = 0; i < a.x.size; i += order::chunk) {
    const std::size_t n = std::min(order::chunk, a.x.size - i);
    split_numbers(a.x.slice(i, n), x);
    add_terms(products<T>(x.first, x.first), n, first);
    if (two) add_terms(products<T>(x.second, x.second), n, second);
    if (two && !x_complex) {
      for (std::size_t j = 0; j < n; ++j) x.first[j] *= 2;
      add_terms(products<T>(x.first, x.second), n, mixed);
    }
  }
  constexpr bool paired = products<T>::paired;
  for (held_sum* held : {&first, &second, &mixed}) held->template flush<paired>();
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
  if (in_place && (a.x.element == type::float64 || a.x.element == type::complex128)) {
    return add_in_place<double>(a, to);
  }
  if (in_place && (a.x.element == type::float32 || a.x.element == type::complex64)) {
    return add_in_place<float>(a, to);
  }
  const bool narrow = is_narrow(a.x.element) && (!product || is_narrow(a.y.element));
  narrow ? add_packed<float>(a, to) : add_packed<double>(a, to);
}

}  // namespace

constexpr implementation exact_here = {set_of(HWY_TARGET), &add_exact};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally::backends::simd {
namespace {

/// All that this build has. The last is what the compiler's own flags allow.
constexpr const implementation* implementations[] = {
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_SSE4
    &N_SSE4::exact_here,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_AVX2
    &N_AVX2::exact_here,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_AVX3
    &N_AVX3::exact_here,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_NEON
    &N_NEON::exact_here,
#endif
    &HWY_NAMESPACE::exact_here,
};

constexpr auto of_set = by_set(implementations);

}  // namespace

exact_node* exact_node_of(instruction_set set) {
  return of_set[static_cast<std::size_t>(set)]->node;
}

void exact(const executor& where, const exact_arguments& a) {
  const default_environment environment;
  exact_sums sums;
  exact_node_of(where.instructions())(a, sums);
  write_rounded(sums, a);
}

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
