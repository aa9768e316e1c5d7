// Common to all sums of simd: loads that convert, a chunk's lanes in vectors, and the order's tree
// over chunks. Compiled once per target, after <hwy/foreach_target.h>.
//
// `Terms` are small values that know their operands. `at(i)`: a vector of terms from element i on,
// or two that are summed side by side; `first(i, count)`: the first `count` of them, then zeros;
// `from(i)`: terms from element i on; `number`: the type of summation; `sum`: the result; `parts`:
// numbers per element. Indices count numbers: a complex element is two.
//
// Promise: the order of the contract (<tally/numerics/order.hpp>), except that the zero of a chunk
// may be -0, which the sum of a node corrects.
#include "backends/common/order/reduce_sum.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/simd/vectors/instruction_set.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/numerics/order.hpp>
#include <tally/operands/operand.hpp>

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_KERNEL) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_KERNEL
#undef TALLY_BACKENDS_SIMD_KERNEL
#else
#define TALLY_BACKENDS_SIMD_KERNEL
#endif

#include "backends/simd/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

// --- A chunk: 64 lanes in vector registers, folded -----------------------------------------------

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

template <std::size_t first, std::size_t... v>
std::index_sequence<first + v...> shifted(std::index_sequence<v...>);
/// Indices of vectors first ... last - 1.
template <std::size_t first, std::size_t last>
using range = decltype(shifted<first>(std::make_index_sequence<last - first>()));

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
/// (tuning/dot.md: sum_short). Vectors before `first` are whole and loaded.
template <class Terms, std::size_t first = 0,
          std::size_t last = std::max<std::size_t>(vectors<Terms> / 8, 1)>
HWY_INLINE sum_of<Terms> sum_short(vec_of<Terms>* lanes, Terms t, std::size_t n) {
  if constexpr (last < vectors<Terms>) {
    if (n > last * step<Terms>) {
      start(range<first, last>(), lanes, t);
      return sum_short<Terms, last, 2 * last>(lanes, t, n);
    }
  }
  start_first(range<first, last>(), lanes, t, n);
  return fold<last, Terms>(lanes);
}

/// Whether lanes are kept in registers: with AVX2, AVX-512, NEON and VSX. SSE4 and the baseline
/// have too few for doubles, and get little code.
template <class W>
constexpr bool in_registers = width<W> > 16 / sizeof(W) || is_neon || is_vsx;

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
    vec_of<Terms> lanes[vectors<Terms>];
    if (n < row<Terms>) return sum_short(lanes, t, n);
    constexpr std::size_t w = step<Terms>;
    const std::size_t head = head_of(t, n);
    const std::size_t rows = (n - head) / row<Terms>;
    const std::size_t whole = head + rows * row<Terms>;
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

// --- Many chunks ---------------------------------------------------------------------------------

/// Sums chunks, `apart` from one to the next, row by row in turn; the sum of chunk c is
/// sums[c * apart].
template <std::size_t apart, class Terms, std::size_t... c>
HWY_INLINE void sum_in_turn(std::index_sequence<c...>, sum_of<Terms>* sums, Terms t) {
  constexpr std::size_t distance = apart * chunk<Terms>;
  using all = std::make_index_sequence<vectors<Terms>>;
  vec_of<Terms> lanes[sizeof...(c)][vectors<Terms>];
  const std::size_t head = head_of(t, chunk<Terms>);
  t = t.from(head);
  (start(all(), lanes[c], t.from(c * distance)), ...);
  (add_head(lanes[c], t.from(c * distance), head), ...);
  std::size_t i = row<Terms>;
#pragma GCC unroll 1
  for (; i + head <= chunk<Terms> - row<Terms>; i += row<Terms>) {
    (add(all(), lanes[c], t.from(c * distance + i)), ...);
  }
  if (head > 0) (add_tail(lanes[c], t.from(c * distance + i), head), ...);
  ((sums[c * apart] = fold<vectors<Terms>, Terms>(lanes[c])), ...);
}

/// Streams in which a core reads memory, since prefetchers work within pages: two, even if lanes
/// exceed the registers; with AVX-512 as many as registers hold chunks, but one for floats, which
/// gain nothing (tuning/dot.md: streams). With lanes in memory one: it is little code.
template <class Terms>
constexpr std::size_t streams = [] {
  constexpr std::size_t chunks = registers / (vectors<Terms> * side_by_side<Terms>);
  if (!in_registers<typename Terms::number> || chunks == 0 || (is_avx512 && chunks > 4)) {
    return std::size_t{1};
  }
  return is_avx512 ? chunks : 2;
}();

/// Chunks in all streams, each of which is in pages of its own (tuning/dot.md: chunks_in_streams).
constexpr std::size_t chunks_in_streams = 128;

/// Returns the root. Compiled once: GCC vectorizes this loop, much code to no avail.
template <class Sum>
HWY_NOINLINE Sum total(const tree<Sum>& nodes) {
  return nodes.total();
}

template <class Terms>
sum_of<Terms> sum_node(Terms t, std::size_t n);

/// Adds nodes of `node` chunks from number i on, `count` chunks in turn. Returns the first number
/// left.
template <std::size_t node, std::size_t count, class Terms>
HWY_INLINE std::size_t add_in_turn(tree<sum_of<Terms>>& chunks, Terms t, std::size_t i,
                                   std::size_t n) {
  constexpr std::size_t apart = node / count;
  for (; i + node * chunk<Terms> <= n; i += node * chunk<Terms>) {
    sum_of<Terms> sums[node];
    for (std::size_t c = 0; c < apart; ++c) {
      sum_in_turn<apart>(std::make_index_sequence<count>(), sums + c, t.from(i + c * chunk<Terms>));
    }
    // Unrolled for floats in the caches (tuning/dot.md: add_in_turn).
#pragma GCC unroll 4
    for (std::size_t c = 0; c < node; ++c) chunks.add(sums[c]);
  }
  return i;
}

template <class Terms>
HWY_NOINLINE sum_of<Terms> sum_chunks(Terms t, std::size_t n) {
  tree<sum_of<Terms>> chunks;
  std::size_t i = 0;
  if constexpr (streams<Terms> > 1) {
    if (!is_avx512 || reads_in_streams(n * sizeof(typename Terms::number))) {
      i = add_in_turn<chunks_in_streams, streams<Terms>>(chunks, t, i, n);
    }
  }
  if constexpr (is_avx512 && vectors<Terms> * side_by_side<Terms> <= registers / 8) {
    // Each lane's additions are a chain, and floats have few (tuning/dot.md: sum_in_turn).
    if (reads_in_streams()) {
      i = add_in_turn<4, 4>(chunks, t, i, n);
      i = add_in_turn<2, 2>(chunks, t, i, n);
    }
  }
  if constexpr (in_registers<typename Terms::number>) {
    for (; i + chunk<Terms> <= n; i += chunk<Terms>) chunks.add(sum_whole_chunk(t.from(i)));
  }
  for (; i < n; i += chunk<Terms>) {
    chunks.add(sum_node(t.from(i), std::min(chunk<Terms>, n - i)));
  }
  return total(chunks);
}

/// Returns the sum of a node's n numbers; a zero is +0. Never inlined: each kernel is compiled
/// once.
template <class Terms>
HWY_NOINLINE sum_of<Terms> sum_node(Terms t, std::size_t n) {
  return (n <= chunk<Terms> ? sum_only_chunk(t, n) : sum_chunks(t, n)) + sum_of<Terms>{};
}

// --- Elements that are not contiguous ------------------------------------------------------------

template <std::size_t size>
void gather(const void* from, std::ptrdiff_t stride, std::size_t n, std::byte* to) {
  const auto* const bytes = static_cast<const std::byte*>(from);
  // Unrolled: the speed of so short a loop depends on where the linker puts it.
#pragma GCC unroll 4
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(to + i * size, bytes + static_cast<std::ptrdiff_t>(i) * stride, size);
  }
}

[[maybe_unused]] void gather(const operand& v, std::byte* to) {
  const std::size_t size = size_of(v.element);
  const std::ptrdiff_t stride = v.increment * static_cast<std::ptrdiff_t>(size);
  switch (size) {
    case 1:
      return gather<1>(v.data, stride, v.size, to);
    case 2:
      return gather<2>(v.data, stride, v.size, to);
    case 4:
      return gather<4>(v.data, stride, v.size, to);
    case 8:
      return gather<8>(v.data, stride, v.size, to);
    default:
      return gather<16>(v.data, stride, v.size, to);
  }
}

/// Calls f(elements, i, n) for each contiguous block of `v`, n elements from i on. Strided elements
/// are gathered in a buffer: small for the stack's sake, but large enough that reads find the
/// stores done, since many small stores are not forwarded to a vector.
template <class F>
void for_each_stretch(const operand& v, const F& f) {
  if (v.increment == 1) return f(v.data, std::size_t{0}, v.size);
  HWY_ALIGN std::byte gathered[4096];
  const std::size_t max_elements = sizeof(gathered) / size_of(v.element);
  for (std::size_t i = 0; i < v.size; i += max_elements) {
    const std::size_t n = std::min(max_elements, v.size - i);
    gather(v.slice(i, n), gathered);
    f(static_cast<const void*>(gathered), i, n);
  }
}

template <class W, class X>
void convert_numbers(const X* from, std::size_t n, W* to) {
  if constexpr (std::is_same_v<X, std::int64_t> && std::is_same_v<W, float>) {
    // Vectorized by the compiler where possible.
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<W>(from[i]);
  } else {
    constexpr tag<W> d;
    std::size_t i = 0;
    for (; i + width<W> <= n; i += width<W>) hn::Store(load<W>(from + i), d, to + i);
    if (i < n) hn::Store(load_first<W>(from + i, n - i), d, to + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
