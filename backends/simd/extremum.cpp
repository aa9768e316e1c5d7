// Extrema on one thread.
//
// Blocks are searched for the best value alone; its index is found once, in the first block with
// it.
#include "backends/simd/extremum.hpp"
#include "backends/simd/level_one.hpp"
#include "backends/simd/simd.hpp"

#include "backends/common/floating_point_environment.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#ifndef TALLY_BACKENDS_SIMD_EXTREMUM_CPP  // once per target
#define TALLY_BACKENDS_SIMD_EXTREMUM_CPP
namespace tally::backends::simd {
namespace {

/// Searches by kind, in the order of `extreme`, and type; null for complex elements without an
/// order.
struct implementation {
  instruction_set set;
  std::array<type_table<extremum_search*>, 4> searches;
  void (*add_floats)(detail::level_one<float>& to);
  void (*add_doubles)(detail::level_one<double>& to);
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/extremum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/sums/kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

// --- Comparisons ---------------------------------------------------------------------------------

/// `worst`: no number is worse.
template <bool least>
struct order_of_search {
  template <class W>
  static constexpr W worst = [] {
    using limits = std::numeric_limits<W>;
    if constexpr (limits::has_infinity) return least ? limits::infinity() : -limits::infinity();
    return least ? limits::max() : limits::lowest();
  }();
  template <class V>
  static HWY_INLINE V better(V a, V b) {
    return least ? hn::Min(a, b) : hn::Max(a, b);
  }
  template <class V>
  static HWY_INLINE auto beats(V a, V b) {
    return least ? hn::Lt(a, b) : hn::Lt(b, a);
  }
};
using smaller = order_of_search<true>;
using larger = order_of_search<false>;

/// 16-bit floats are compared as float.
template <class X>
using compared =
    std::conditional_t<std::is_same_v<X, float16> || std::is_same_v<X, bfloat16>, float,
                       std::conditional_t<std::is_same_v<X, bool>, std::uint8_t, real_t<X>>>;

template <class F>
using signed_of = std::conditional_t<sizeof(F) == 4, std::int32_t, std::int64_t>;

/// Elements at x as numbers to compare. Magnitudes of floats are compared as bits where
/// instructions exist, those of signed integers as -|x|, which can't overflow; those of complex
/// elements are in both places of a pair.
template <bool by_magnitude, class X>
struct numbers {
  static constexpr bool by_bits = by_magnitude && std::is_floating_point_v<compared<X>> &&
                                  !is_complex_v<X> && (sizeof(compared<X>) == 4 || is_avx512);
  using W = std::conditional_t<by_bits, signed_of<compared<X>>, compared<X>>;
  using stored = detail::stored_t<real_t<X>>;
  static constexpr std::size_t parts = is_complex_v<X> ? 2 : 1;
  static constexpr std::size_t step = std::max<std::size_t>(1, width<W> / parts);
  static constexpr bool negative = !by_bits && std::is_integral_v<W> && std::is_signed_v<W>;
  using of_largest_magnitude = std::conditional_t<negative, smaller, larger>;

  /// Bits without the sign, which compare as magnitudes do.
  static HWY_INLINE vec<W> magnitude(vec<compared<X>> v) {
    const tag<W> d;
    return hn::And(hn::BitCast(d, v), hn::Set(d, std::numeric_limits<W>::max()));
  }
  static HWY_INLINE vec<W> at(const detail::stored_t<X>* x) {
    const tag<W> d;
    const auto v = load<compared<X>>(reinterpret_cast<const stored*>(x));
    if constexpr (!by_magnitude) {
      return v;
    } else if constexpr (by_bits) {
      return magnitude(v);
    } else if constexpr (negative) {
      return hn::Min(v, hn::Sub(hn::Zero(d), v));
    } else {
      const auto magnitude = hn::Abs(v);
      if constexpr (parts == 1) {
        return magnitude;
      } else if constexpr (width<W> < parts) {
        return hn::Add(magnitude, hn::Abs(load<W>(reinterpret_cast<const stored*>(x) + 1)));
      } else {
        return hn::Add(magnitude, hn::Reverse2(d, magnitude));
      }
    }
  }

  static HWY_INLINE auto is_nan(vec<W> v) {
    if constexpr (by_bits) {
      constexpr auto infinity = std::bit_cast<W>(std::numeric_limits<compared<X>>::infinity());
      return hn::Gt(v, hn::Set(tag<W>(), infinity));
    } else {
      return hn::Not(hn::Eq(v, v));
    }
  }
};

// --- A search ------------------------------------------------------------------------------------

template <class Better, class D>
HWY_INLINE hn::TFromD<D> best_of_lanes([[maybe_unused]] D d, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR  // no halves
  if constexpr (hn::MaxLanes(d) > 1) {
    const hn::Half<D> half;
    return best_of_lanes<Better>(half,
                                 Better::better(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

/// Best number so far, and the block in which it came up first.
template <class Better, class Numbers>
struct tracker {
  using W = typename Numbers::W;
  using V = vec<W>;

  V best;      // in all lanes
  V of_block;  // best up to the current block
  std::size_t begin, end;

  HWY_INLINE void clear() {
    best = of_block = hn::Set(tag<W>(), Better::template worst<W>);
    begin = end = 0;
  }
  HWY_INLINE void look(V v) { of_block = Better::better(of_block, v); }
  HWY_INLINE void look(V v, V w, V x, V y) {
    look(Better::better(Better::better(v, w), Better::better(x, y)));
  }
  HWY_INLINE void keep(std::size_t first, std::size_t last) {
    const tag<W> d;
    if (hn::AllFalse(d, Better::beats(of_block, best))) return;
    best = of_block = hn::Set(d, best_of_lanes<Better>(d, of_block));
    begin = first;
    end = last;
  }
};

/// Returns the first index in [first, last) with `is_it(vector)` true, else `last`.
/// @pre At least a vector of elements; the last are read together with those before.
template <class Numbers, class X, class F>
HWY_INLINE std::size_t find(const X* x, std::size_t first, std::size_t last, F is_it) {
  const tag<typename Numbers::W> d;
  for (std::size_t i = first; i < last; i += Numbers::step) {
    i = std::min(i, last - Numbers::step);
    const auto found = is_it(Numbers::at(x + i));
    if (!hn::AllFalse(d, found)) return i + hn::FindKnownFirstTrue(d, found) / Numbers::parts;
  }
  return last;
}

/// Compiled once for all searches among the same numbers.
template <class Numbers, class X>
HWY_NOINLINE std::size_t find_nan(const X* x, std::size_t first, std::size_t last) {
  return find<Numbers>(x, first, last,
                       [](vec<typename Numbers::W> v) HWY_ATTR { return Numbers::is_nan(v); });
}
/// Pre: no number is better.
template <class Numbers, class Better, class X>
HWY_NOINLINE std::size_t find_number(const X* x, std::size_t first, std::size_t last,
                                     typename Numbers::W number) {
  const tag<typename Numbers::W> d;
  constexpr std::size_t step = Numbers::step;
  const auto all = hn::Set(d, number);
  // Four vectors a test (tuning/extremum.md: find_number).
  for (; first + 4 * step <= last; first += 4 * step) {
    const auto at = [&](std::size_t k) HWY_ATTR { return Numbers::at(x + first + k * step); };
    const auto best = Better::better(Better::better(at(0), at(1)), Better::better(at(2), at(3)));
    if (!hn::AllFalse(d, hn::Eq(best, all))) break;
  }
  return find<Numbers>(x, first, last,
                       [all](vec<typename Numbers::W> v) HWY_ATTR { return hn::Eq(v, all); });
}

template <class Numbers>
constexpr std::size_t block = 64 * Numbers::step;

/// Elements between the four streams in which memory is read (tuning/extremum.md:
/// apart_in_memory).
template <class X>
constexpr std::size_t apart_in_memory = (std::size_t{16} << 10) / sizeof(X);

template <class Numbers, class... Better>
struct search {
  using W = typename Numbers::W;
  using V = vec<W>;

  std::tuple<tracker<Better, Numbers>...> trackers;

  template <class Which>
  HWY_INLINE auto& of() {
    return std::get<tracker<Which, Numbers>>(trackers);
  }
  HWY_INLINE void clear() { (of<Better>().clear(), ...); }

  /// Searches [first, last), at least a vector, aligned from `body` on: from there in order, or in
  /// four streams of `apart` elements unless that is 0. Returns the index of the first NaN, else
  /// `last`.
  template <class X>
  HWY_INLINE std::size_t look(const X* x, std::size_t first, std::size_t body, std::size_t last,
                              std::size_t apart) {
    constexpr std::size_t step = Numbers::step;
    // A sum is NaN if a term is; or because of infinities.
    V sum = hn::Zero(tag<W>());
    const auto look_at = [&](std::size_t i) HWY_ATTR {
      const V v = Numbers::at(x + i);
      (of<Better>().look(v), ...);
      if constexpr (std::is_floating_point_v<W>) sum = hn::Add(sum, v);
    };
    if (first < body) look_at(first);
    const auto look_at_four = [&](const X* p, std::size_t distance) HWY_ATTR {
      const V v = Numbers::at(p), w = Numbers::at(p + distance);
      const V y = Numbers::at(p + 2 * distance), z = Numbers::at(p + 3 * distance);
      (of<Better>().look(v, w, y, z), ...);
      if constexpr (std::is_floating_point_v<W>) {
        sum = hn::Add(sum, hn::Add(hn::Add(v, w), hn::Add(y, z)));
      }
    };
    std::size_t i = body;
    if (apart != 0) {
      constexpr std::size_t ahead = 1024 / sizeof(X);
      for (; i < body + apart; i += step) {
        for (std::size_t k = 0; k < 4; ++k) __builtin_prefetch(x + i + k * apart + ahead, 0, 2);
        look_at_four(x + i, apart);
      }
      i = last;
    }
    for (; i + 4 * step <= last; i += 4 * step) look_at_four(x + i, step);
    for (; i + step <= last; i += step) look_at(i);
    if (i < last) look_at(last - step);
    bool may_have_nan = false;
    if constexpr (Numbers::by_bits) {
      may_have_nan = !hn::AllFalse(tag<W>(), Numbers::is_nan(of<larger>().of_block));
    } else if constexpr (std::is_floating_point_v<W>) {
      may_have_nan = !hn::AllFalse(tag<W>(), Numbers::is_nan(sum));
    }
    if (may_have_nan) {
      const std::size_t found = find_nan<Numbers>(x, first, last);
      if (found < last) return found;
    }
    (of<Better>().keep(first, last), ...);
    return last;
  }

  template <class Which, class X>
  HWY_INLINE std::size_t index(const X* x) {
    const auto& t = of<Which>();
    if (t.end == 0) return 0;  // nothing beats the worst
    return find_number<Numbers, Which>(x, t.begin, t.end, hn::GetLane(t.best));
  }
};

/// Copies n elements and repeats the first, which does not beat itself.
template <class X>
HWY_NOINLINE void pad(const X* x, std::size_t n, X* padded, std::size_t size) {
  if constexpr (has_masked_loads && std::is_arithmetic_v<X> && sizeof(X) >= 4) {
    // One store: a load waits for several (tuning/short_calls.md: pad).
    const tag<X> d;
    const auto first = hn::Set(d, x[0]);
    return hn::StoreU(hn::IfThenElse(hn::FirstN(d, n), load_first<X>(x, n), first), d, padded);
  }
  for (std::size_t i = 0; i < size; ++i) padded[i] = x[i < n ? i : 0];
}

/// Returns the index of the first best of n > 0 elements per `Better`, or of the first NaN.
template <class Numbers, class... Better, class X>
std::array<std::size_t, sizeof...(Better)> indices_of(const X* x, std::size_t n) {
  constexpr std::size_t step = Numbers::step;
  X padded[step];
  if (n < step) {
    pad(x, n, padded, step);
    x = padded;
    n = step;
  }
  // All vectors but the first are aligned, if elements can be.
  const std::size_t past = reinterpret_cast<std::uintptr_t>(x) % (step * sizeof(X));
  std::size_t body = past % sizeof(X) == 0 ? (step - past / sizeof(X)) % step : 0;
  search<Numbers, Better...> best;
  best.clear();
  const bool in_memory = reads_in_streams(n * sizeof(X));
  for (std::size_t first = 0; first < n;) {
    const std::size_t in_streams = 4 * apart_in_memory<X>;
    const bool in_turn = in_memory && n - body >= in_streams + step;
    std::size_t last = body + (in_turn ? in_streams : block<Numbers>);
    if (last + step > n) last = n;
    const std::size_t end = best.look(x, first, body, last, in_turn ? apart_in_memory<X> : 0);
    if (end < last) {
      std::array<std::size_t, sizeof...(Better)> all;
      all.fill(end);
      return all;
    }
    first = body = last;
  }
  return {best.template index<Better>(x)...};
}

template <extreme what, class X>
candidates search_contiguous(const void* elements, std::size_t n, std::size_t first) {
  const auto* const x = static_cast<const detail::stored_t<X>*>(elements);
  constexpr bool by_magnitude = what == extreme::iamax && !std::is_unsigned_v<compared<X>>;
  using N = numbers<by_magnitude, X>;
  if constexpr (what == extreme::iamax) {
    const auto [i] = indices_of<N, typename N::of_largest_magnitude>(x, n);
    return {{}, candidate_at<what, X>(x[i], first + i)};
  } else if constexpr (what == extreme::min) {
    const auto [i] = indices_of<N, smaller>(x, n);
    return {candidate_at<what, X>(x[i], first + i), {}};
  } else if constexpr (what == extreme::max) {
    const auto [i] = indices_of<N, larger>(x, n);
    return {{}, candidate_at<what, X>(x[i], first + i)};
  } else {
    const auto [lowest, highest] = indices_of<N, smaller, larger>(x, n);
    return {candidate_at<extreme::min, X>(x[lowest], first + lowest),
            candidate_at<extreme::max, X>(x[highest], first + highest)};
  }
}

using contiguous_search = candidates(const void* x, std::size_t n, std::size_t first);

HWY_NOINLINE candidates search_gathered(const operand& x, std::size_t first,
                                        contiguous_search* search) {
  constexpr std::size_t max_elements = order::chunk;
  HWY_ALIGN std::byte gathered[max_elements * sizeof(std::complex<double>)];
  candidates best;
  for (std::size_t i = 0; i < x.size; i += max_elements) {
    const std::size_t n = std::min(max_elements, x.size - i);
    gather(x.slice(i, n), gathered);
    best = best + search(gathered, n, first + i);
  }
  return best;
}

template <extreme what, class X>
candidates search_in(const operand& x, std::size_t first) {
  if (x.size == 0) return {};
  if (x.increment != 1) return search_gathered(x, first, &search_contiguous<what, X>);
  return search_contiguous<what, X>(x.data, x.size, first);
}

template <class W>
HWY_NOINLINE std::int64_t iamax_of_many(const W* x, std::size_t n) {
  using N = numbers<true, W>;
  const auto search = [&] {
    return static_cast<std::int64_t>(indices_of<N, typename N::of_largest_magnitude>(x, n)[0]);
  };
  if constexpr (N::by_bits) return search();
  const default_environment environment;
  return search();
}

/// The best number in all lanes.
template <class Better, class D>
HWY_INLINE hn::Vec<D> spread_best([[maybe_unused]] D d, hn::Vec<D> v) {
#if HWY_TARGET == HWY_AVX3
  const auto with = [&v](__m512i moved) HWY_ATTR { v = Better::better(v, hn::Vec<D>{moved}); };
  with(_mm512_shuffle_i64x2(v.raw, v.raw, 0x4e));
  with(_mm512_permutex_epi64(v.raw, 0x4e));
  with(_mm512_shuffle_epi32(v.raw, _MM_PERM_BADC));
  if constexpr (sizeof(hn::TFromD<D>) == 4) with(_mm512_shuffle_epi32(v.raw, _MM_PERM_CDAB));
  return v;
#else
  return hn::Set(d, best_of_lanes<Better>(d, v));
#endif
}

/// Magnitudes are compared as bits, absent ones 0, in vectors without alignment.
template <class W>
HWY_NOINLINE std::int64_t iamax_of_few(const W* x, std::size_t n) {
  using N = numbers<true, W>;
  const tag<typename N::W> d;
  const auto at = [&](std::size_t i) HWY_ATTR {
    return i + N::step <= n ? N::at(x + i) : N::magnitude(load_first<W>(x + i, n - i));
  };
  auto best = at(0);
  for (std::size_t i = N::step; i < n; i += N::step) best = hn::Max(best, at(i));
  best = spread_best<larger>(d, best);
  if (!hn::AllFalse(d, N::is_nan(best))) [[unlikely]]
    return iamax_of_many(x, n);
  for (std::size_t i = 0;; i += N::step) {
    const auto found = hn::Eq(at(i), best);
    if (!hn::AllFalse(d, found)) {
      return static_cast<std::int64_t>(i + hn::FindKnownFirstTrue(d, found));
    }
  }
}

/// Leaves its arguments where they are: no frame.
template <class W>
std::int64_t iamax_of_numbers(const W* x, std::size_t n) {
  if constexpr (numbers<true, W>::by_bits && has_masked_loads) {
    if (n <= 4 * width<W>) return iamax_of_few(x, n);  // tuning/short_calls.md: iamax_of_few
  }
  return iamax_of_many(x, n);
}

template <class W>
void add_level_one(detail::level_one<W>& to) {
  to.iamax = &iamax_of_numbers<W>;
  to.reduce[static_cast<std::size_t>(reduction::max_norm)] = [](const W* x, std::size_t n) {
    // Bits alone: the environment is the caller's, and a comparison might trap.
    using bits = signed_of<W>;
    const W largest = std::fabs(x[iamax_of_numbers(x, n)]);
    constexpr auto infinity = std::bit_cast<bits>(std::numeric_limits<W>::infinity());
    return std::bit_cast<bits>(largest) > infinity ? std::numeric_limits<W>::quiet_NaN() : largest;
  };
}

// --- The table -----------------------------------------------------------------------------------

template <extreme what>
constexpr auto searches_of = table_over([]<class X>() -> extremum_search* {
  if constexpr (what == extreme::iamax || !is_complex_v<X>) {
    return &search_in<what, X>;
  } else {
    return nullptr;
  }
});

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET),
    {searches_of<extreme::min>, searches_of<extreme::max>, searches_of<extreme::minmax>,
     searches_of<extreme::iamax>},
    &add_level_one<float>,
    &add_level_one<double>,
};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {
extremum_search* extremum_search_of(instruction_set set, extreme what, type x) {
  const implementation& chosen = implementation_of(set);
  return chosen.searches[static_cast<std::size_t>(what)][x];
}

void add_iamax(instruction_set set, detail::level_one_kernels& to) {
  // see set_for_extremum
  implementation_of(resolve(set)).add_floats(to);
  implementation_of(widest(set)).add_doubles(to);
}

void backend::extremum(const executor& where, const extremum_arguments& a) const {
  const instruction_set set = set_for_extremum(where, a.x.element, a.x.size);
  write_result(a, extremum_search_of(set, a.what, a.x.element)(a.x, 0));
}

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
