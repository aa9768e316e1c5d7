// The sum of a chunk: 64 lanes in vector registers, folded.
//
// Promise: the order of the contract (<tally/order.hpp>), except that a zero may be -0, which the
// sum of a node corrects.
#include "backends/common/order/reduce_sum.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/order.hpp>

#include <algorithm>
#include <utility>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_CHUNK) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_CHUNK
#undef TALLY_BACKENDS_SIMD_CHUNK
#else
#define TALLY_BACKENDS_SIMD_CHUNK
#endif

#include "backends/simd/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

// Lanes are an array of vectors; complex elements are pairs of numbers, in 128 lanes. Indices are
// constants, from index sequences: in loops, even unrolled, GCC 12 keeps the array in memory
// (tuning/dot.md: index sequences).
//
// A lane starts as its first term, not as +0 plus that, so sums may be -0 where the order has +0;
// adding +0 to a node's sum corrects that, and nothing else differs. Absent terms are +0.

/// Sum of terms: one number, two for complex elements, four for their products.
template <class Terms>
using sum_of = typename Terms::sum;

/// Numbers of a row of lanes, and of a chunk.
template <class Terms>
constexpr std::size_t row{order::lanes * Terms::parts};
template <class Terms>
constexpr std::size_t chunk{order::chunk * Terms::parts};
/// Numbers per load: a vector's, or `Terms::step`.
template <class Terms>
constexpr std::size_t step = [] {
  if constexpr (requires { Terms::step; }) {
    return Terms::step;
  } else {
    return width<typename Terms::number>;
  }
}();
template <class Terms>
[[maybe_unused]] constexpr std::size_t vectors = row<Terms> / step<Terms>;
/// Terms loaded as one number: two where a word has a pair.
template <class Terms>
[[maybe_unused]] constexpr std::size_t per_number = step<Terms> / width<typename Terms::number>;

/// Two vectors of terms of the same elements.
template <class V>
struct two_vectors {
  V first, second;
};

template <class Terms>
using vec_of = decltype(std::declval<Terms>().at(0));

/// Vectors of `vec_of`.
template <class Terms>
constexpr std::size_t side_by_side = sizeof(vec_of<Terms>) / sizeof(vec<typename Terms::number>);

template <class V>
HWY_INLINE V added(V a, V b) {
  return hn::Add(a, b);
}
template <class V>
HWY_INLINE two_vectors<V> added(two_vectors<V> a, two_vectors<V> b) {
  return {added(a.first, b.first), added(a.second, b.second)};
}

template <std::size_t first, class Sequence>
struct shifted;
template <std::size_t first, std::size_t... v>
struct shifted<first, std::index_sequence<v...>> {
  using type = std::index_sequence<first + v...>;
};
/// Indices of vectors first ... last - 1.
template <std::size_t first, std::size_t last>
using range = typename shifted<first, std::make_index_sequence<last - first>>::type;

template <class Terms, std::size_t... v>
HWY_INLINE void start(std::index_sequence<v...>, vec_of<Terms>* lanes, Terms t) {
  constexpr std::size_t w = step<Terms>;
  ((lanes[v] = t.at(v * w)), ...);
}

template <class Terms, std::size_t... v>
HWY_INLINE void start_first(std::index_sequence<v...>, vec_of<Terms>* lanes, Terms t,
                            std::size_t count) {
  constexpr std::size_t w = step<Terms>;
  ((lanes[v] = t.first(v * w, count > v * w ? count - v * w : 0)), ...);
}

template <class Terms, std::size_t... v>
HWY_INLINE void add(std::index_sequence<v...>, vec_of<Terms>* lanes, Terms t) {
  constexpr std::size_t w = step<Terms>;
  ((lanes[v] = added(lanes[v], t.at(v * w))), ...);
}

/// Adds the first `count` terms of a row, from vector v on; `part`: those that fill no vector. No
/// masks for whole vectors (tuning/dot.md: add_first).
template <std::size_t v, class Terms>
HWY_INLINE void add_first(vec_of<Terms>* lanes, Terms t, std::size_t count, vec_of<Terms> part) {
  constexpr std::size_t w = step<Terms>;
  if (count >= v * w + w) {
    add(std::index_sequence<v>(), lanes, t);
    if constexpr (v + 1 < vectors<Terms>) add_first<v + 1>(lanes, t, count, part);
  } else {
    lanes[v] = added(lanes[v], part);
  }
}

// malloc aligns to 16 bytes, and a load across a cache line costs two. So rows may begin with term
// `head`, the first aligned one: register v holds lanes `head` + v * width ... modulo 64, and the
// head's terms belong to the end of the last register. The fold is the same, whichever lane comes
// first: lane l meets lane l + 32, then l + 16, ...

/// Returns the number of terms before the first row, which must follow. Fewer than two rows of
/// floats, or of one vector, gain nothing (tuning/dot.md: head_of).
template <class Terms>
HWY_INLINE std::size_t head_of([[maybe_unused]] Terms t, [[maybe_unused]] std::size_t n) {
  if constexpr (Terms::can_align) {
    using W = typename Terms::number;
    constexpr std::size_t w = step<Terms>;
    constexpr bool of_doubles = sizeof(W) == 8 && Terms::parts == 1 && requires { t.y; };
    if (n < row<Terms> + (of_doubles ? w : row<Terms>)) return 0;
    const std::size_t head =
        -(reinterpret_cast<std::uintptr_t>(t.address()) / sizeof(*t.address())) % w;
    return head % std::max(Terms::parts, per_number<Terms>) == 0 ? head : 0;
  } else {
    return 0;
  }
}

template <class Terms>
HWY_INLINE void add_head([[maybe_unused]] vec_of<Terms>* lanes, [[maybe_unused]] Terms t,
                         std::size_t head) {
  if constexpr (Terms::can_align) {
    if (head == 0) return;
    constexpr tag<typename Terms::number> d;
    constexpr std::size_t w = step<Terms>;
    vec_of<Terms>& lane = lanes[vectors<Terms> - 1];
    const auto before = hn::FirstN(d, (w - head) / per_number<Terms>);
    lane = added(lane, t.masked(hn::Not(before), -static_cast<std::ptrdiff_t>(w)));
  }
}

/// Adds the rest of a whole chunk that began with `head` terms.
template <class Terms>
HWY_INLINE void add_tail(vec_of<Terms>* lanes, Terms t, std::size_t head) {
  constexpr std::size_t w = step<Terms>;
  constexpr std::size_t last = vectors<Terms> - 1;
  add(std::make_index_sequence<last>(), lanes, t);
  lanes[last] = added(lanes[last], t.first(last * w, w - head));
}

/// Adds whole rows, `sweep` vectors of each at a time, after `head` terms (see `head_of`).
template <std::size_t sweep, std::size_t v, class Terms>
HWY_INLINE void sum_rows(vec_of<Terms>* lanes, Terms t, std::size_t rows, std::size_t head) {
  constexpr std::size_t end = std::min(v + sweep, vectors<Terms>);
  using part = range<v, end>;
  start(part(), lanes, t);
  if constexpr (end == vectors<Terms>) add_head(lanes, t, head);
  // Not unrolled: with more load instructions the prefetcher loses track.
#pragma GCC unroll 1
  for (std::size_t r = 1; r < rows; ++r) add(part(), lanes, t.from(r * row<Terms>));
  if constexpr (end < vectors<Terms>) sum_rows<sweep, end>(lanes, t, rows, head);
}

/// Folds within a vector, to one number or two.
template <class Sum, class D>
HWY_INLINE Sum fold_vector([[maybe_unused]] D d, hn::Vec<D> v) {
  using W = hn::TFromD<D>;
  if constexpr (std::is_same_v<Sum, W>) {
#if HWY_TARGET != HWY_SCALAR  // no halves
    if constexpr (hn::MaxLanes(d) > 1) {
      const hn::Half<D> half;
      return fold_vector<Sum>(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
    }
#endif
    return hn::GetLane(v);
  } else {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (hn::MaxLanes(d) > 2) {
      const hn::Half<D> half;
      return fold_vector<Sum>(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
    }
#endif
    HWY_ALIGN W both[2];
    hn::Store(v, d, both);
    return {both[0], both[1]};
  }
}

/// Returns the number of true bools among n. `at(i)`: bool i; `at(i, d)`: a vector of bytes from i
/// on, 0 for false. Counted in bytes, up to 255 at a time.
template <class At>
HWY_INLINE std::uint64_t count_true(std::size_t n, At at) {
  std::size_t i = 0;
  std::uint64_t count = 0;
#if HWY_TARGET != HWY_SCALAR  // vectors of one number
  const tag<std::uint64_t> d;
  const hn::Repartition<std::uint8_t, tag<std::uint64_t>> bytes;
  constexpr std::size_t step = hn::MaxLanes(bytes);
  auto sum = hn::Zero(d);
  while (i + step <= n) {
    const std::size_t end = i + std::min<std::size_t>((n - i) / step, 255) * step;
    auto counts = hn::Zero(bytes);
#pragma GCC unroll 4
    for (; i < end; i += step) counts = hn::Add(counts, truth(at(i, bytes)));
    sum = hn::Add(sum, hn::SumsOf8(counts));
  }
  count = fold_vector<std::uint64_t>(d, sum);
#endif
  for (; i < n; ++i) count += at(i);
  return count;
}

/// Folds two vectors to two numbers each, or vectors of even and odd terms to one.
template <class Sum, class D>
HWY_INLINE Sum fold_vector(D d, two_vectors<hn::Vec<D>> v) {
  if constexpr (std::is_same_v<Sum, hn::TFromD<D>>) {
    return fold_vector<Sum>(d, v.first) + fold_vector<Sum>(d, v.second);
  } else {
    using pair = reduce_sum<std::complex<hn::TFromD<D>>>;
    const auto first = fold_vector<pair>(d, v.first), second = fold_vector<pair>(d, v.second);
    return {first.re, first.im, second.re, second.im};
  }
}

template <class V, std::size_t... v>
HWY_INLINE void halve(std::index_sequence<v...>, V* lanes) {
  ((lanes[v] = added(lanes[v], lanes[v + sizeof...(v)])), ...);
}

template <std::size_t count, class Terms>
HWY_INLINE sum_of<Terms> fold(vec_of<Terms>* lanes) {
  if constexpr (count == 1) {
    return fold_vector<sum_of<Terms>>(tag<typename Terms::number>(), lanes[0]);
  } else {
    halve(std::make_index_sequence<count / 2>(), lanes);
    return fold<count / 2, Terms>(lanes);
  }
}

/// Sums fewer terms than lanes in as few vectors as suffice, rounded up to a power of two
/// (tuning/dot.md: sum_short).
template <class Terms>
HWY_INLINE sum_of<Terms> sum_short(Terms t, std::size_t n) {
  constexpr std::size_t all = vectors<Terms>, half = all / 2, quarter = half / 2,
                        eighth = quarter / 2;
  vec_of<Terms> lanes[all];
  if constexpr (eighth > 0) {
    if (n <= row<Terms> / 8) {
      start_first(range<0, eighth>(), lanes, t, n);
      return fold<eighth, Terms>(lanes);
    }
  }
  if constexpr (quarter > 0) {
    if (n <= row<Terms> / 4) {
      start_first(range<0, quarter>(), lanes, t, n);
      return fold<quarter, Terms>(lanes);
    }
    start(range<0, quarter>(), lanes, t);
  }
  if (n <= row<Terms> / 2) {
    start_first(range<quarter, half>(), lanes, t, n);
    return fold<half, Terms>(lanes);
  }
  start(range<quarter, half>(), lanes, t);
  start_first(range<half, all>(), lanes, t, n);
  return fold<all, Terms>(lanes);
}

/// Whether lanes are kept in registers: with AVX2, AVX-512 and NEON. SSE4 and the baseline have too
/// few for doubles, and get little code.
template <class W>
constexpr bool in_registers = width<W> > 16 / sizeof(W) || is_neon;

/// Sums a chunk's n terms with lanes in memory: little code, a store per term.
template <class Terms>
HWY_NOINLINE sum_of<Terms> sum_chunk_in_memory(Terms t, std::size_t n) {
  using W = typename Terms::number;
  constexpr tag<W> d;
  HWY_ALIGN W lanes[row<Terms>] = {};
  const auto add_to = [&](W* lane, vec<W> terms)
                          HWY_ATTR { hn::Store(hn::Add(hn::Load(d, lane), terms), d, lane); };
  for (; n >= row<Terms>; n -= row<Terms>, t = t.from(row<Terms>)) {
    for (std::size_t l = 0; l < row<Terms>; l += width<W>) add_to(lanes + l, t.at(l));
  }
  for (std::size_t l = 0; l < n; l += width<W>) add_to(lanes + l, t.first(l, n - l));
  constexpr std::size_t last = std::max(width<W>, Terms::parts);
  for (std::size_t half = row<Terms> / 2; half >= last; half /= 2) {
    for (std::size_t l = 0; l < half; l += width<W>)
      add_to(lanes + l, hn::Load(d, lanes + l + half));
  }
  if constexpr (width<W> < Terms::parts) {
    return {lanes[0], lanes[1]};
  } else {
    return fold_vector<sum_of<Terms>>(d, hn::Load(d, lanes));
  }
}

/// Vectors per sweep of a single chunk: sums stay in registers (tuning/dot.md: sweep).
template <class Terms>
[[maybe_unused]] constexpr std::size_t sweep = registers / 2 / side_by_side<Terms>;

/// Sums a whole chunk, one of many, in one sweep: memory is read in order, and sums without a
/// register are better kept in memory (tuning/dot.md: sum_whole_chunk).
template <class Terms>
HWY_INLINE sum_of<Terms> sum_whole_chunk(Terms t) {
  const std::size_t head = head_of(t, chunk<Terms>);
  const std::size_t rows = (chunk<Terms> - head) / row<Terms>;
  vec_of<Terms> lanes[vectors<Terms>];
  t = t.from(head);
  sum_rows<vectors<Terms>, 0>(lanes, t, rows, head);
  if (head > 0) add_tail(lanes, t.from(rows * row<Terms>), head);
  return fold<vectors<Terms>, Terms>(lanes);
}

/// Sums a single chunk's n terms; the sum of none is +-0.
template <class Terms>
HWY_INLINE sum_of<Terms> sum_only_chunk(Terms t, std::size_t n) {
  if constexpr (!in_registers<typename Terms::number>) {
    return sum_chunk_in_memory(t, n);
  } else {
    if (n < row<Terms>) return sum_short(t, n);
    constexpr std::size_t w = step<Terms>;
    const std::size_t head = head_of(t, n);
    const std::size_t rows = (n - head) / row<Terms>;
    const std::size_t whole = head + rows * row<Terms>;
    vec_of<Terms> lanes[vectors<Terms>];
    sum_rows<sweep<Terms>, 0>(lanes, t.from(head), rows, head);
    if (head > 0 && n == chunk<Terms>) {
      add_tail(lanes, t.from(whole), head);
    } else {
      const std::size_t rest = n - whole;
      add_first<0>(lanes, t.from(whole), rest, t.first(n - rest % w, rest % w));
    }
    return fold<vectors<Terms>, Terms>(lanes);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
