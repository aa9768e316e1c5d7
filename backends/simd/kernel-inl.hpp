// All sums of the simd column share this: loads that convert, the lanes of a chunk in vectors, and
// the order's tree over the chunks. It is compiled once for every instruction set, like the sources
// that include it after <hwy/foreach_target.h>.
//
// `Terms` tells a kernel what to add. It is a small value that knows where its operands lie.
// `at(i)` is a vector of terms from element i on, or two vectors that are summed side by side;
// `first(i, count)` has the first `count` of them and zeros; `from(i)` is the terms from element i
// on. `number` is the type that they are summed in, `sum` is the type of the result, and `parts`
// says how many numbers make an element. All of them count numbers: a complex element is two.
#include "backends/simd/targets.hpp"
#include "src/core/order/reduce_sum.hpp"
#include "src/core/order/tree.hpp"
#include "src/core/types/tables.hpp"

#include <tally/operand.hpp>
#include <tally/order.hpp>

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

// The guard is every target's own.
#if defined(TALLY_BACKENDS_SIMD_KERNEL) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_KERNEL
#undef TALLY_BACKENDS_SIMD_KERNEL
#else
#define TALLY_BACKENDS_SIMD_KERNEL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// --- Vectors -------------------------------------------------------------------------------------

/// A real accumulator is summed in this type: int64 as uint64, modulo 2^64.
template <class R>
using word = std::conditional_t<std::is_integral_v<R>, std::uint64_t, R>;

template <class W>
using tag = hn::ScalableTag<W>;
template <class W>
using vec = hn::Vec<tag<W>>;

/// A vector has so many numbers.
template <class W>
constexpr std::size_t width = hn::MaxLanes(tag<W>());

/// This instruction set has so many vector registers.
constexpr bool is_avx512 = HWY_TARGET == HWY_AVX3;
constexpr bool is_neon = HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_NEON_WITHOUT_AES;
constexpr std::size_t registers = is_avx512 || is_neon ? 32 : 16;

/// Says whether there are loads of 32- and 64-bit elements under a mask that touch nothing where
/// the mask is false.
constexpr bool has_masked_loads = is_avx512 || HWY_TARGET == HWY_AVX2;

/// Converts half-precision numbers to float, exactly: subnormals, infinities and NaNs too.
template <class D>
HWY_INLINE hn::Vec<D> from_float16(D d, const float16* p) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  return hn::PromoteTo(
      d, hn::LoadU(hn::Rebind<hwy::float16_t, D>(), reinterpret_cast<const hwy::float16_t*>(p)));
#else
  // The bits below the sign, moved up to float's exponent and fraction, are the number times
  // 2^-112. A multiplication sets the bias right and makes subnormals normal. Only the largest
  // exponent, which infinities and NaNs have, doesn't end up as the largest.
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::PromoteTo(
      du, hn::LoadU(hn::Rebind<std::uint16_t, D>(), reinterpret_cast<const std::uint16_t*>(p)));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffu));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
  const auto finite = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f));
  const auto past = hn::Gt(hn::BitCast(hn::RebindToSigned<D>(), magnitude),
                           hn::Set(hn::RebindToSigned<D>(), 0x7bff));
  const auto top = hn::IfThenElseZero(hn::RebindMask(du, past), hn::Set(du, 0x7f800000u));
  return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(du, finite), top), sign));
#endif
}

using types::bool8;

/// int64 is summed as uint64.
template <class X>
using stored =
    std::conditional_t<std::is_same_v<X, std::int64_t>, std::uint64_t, types::stored_t<X>>;

/// Makes 0 and 1 of the bytes of bool, or of what they were promoted to.
template <class V>
HWY_INLINE V truth(V v) {
  const hn::DFromV<V> d;
  return hn::Min(v, hn::Set(d, hn::TFromD<decltype(d)>{1}));
}

template <class X>
constexpr bool is_whole = std::is_integral_v<X> || std::is_same_v<X, bool8>;

/// Converts elements of 32 bits or fewer to float, or integers to int32, exactly.
template <class X>
using word32 = std::conditional_t<is_whole<X>, std::int32_t, float>;

template <class D, class X>
HWY_INLINE hn::Vec<D> load32(D d, const X* p) {
  if constexpr (std::is_same_v<X, hn::TFromD<D>>) {
    return hn::LoadU(d, p);
  } else if constexpr (std::is_same_v<X, float16>) {
    return from_float16(d, p);
  } else if constexpr (std::is_same_v<X, bfloat16>) {
    const hn::RebindToUnsigned<D> du;
    const auto bits =
        hn::LoadU(hn::Rebind<std::uint16_t, D>(), reinterpret_cast<const std::uint16_t*>(p));
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
  } else if constexpr (std::is_same_v<X, bool8>) {
    return truth(load32(d, &p->byte));
  } else {  // the elements are bytes
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<X, D>(), p));
  }
}

/// Returns 1 where a bool is true and 0 elsewhere. It takes two instructions, as many as a byte
/// takes to become a float.
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

/// Loads the next elements at p and converts them to W, rounded to nearest even.
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
    } else {  // few instruction sets have this conversion; the scalar one rounds once
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

/// Loads the first `count` of them, and zeros; it touches nothing beyond. If `count` is more than a
/// vector has, it loads a whole one.
template <class W, class X>
HWY_INLINE vec<W> load_first(const X* p, std::size_t count) {
  if constexpr (has_masked_loads && std::is_same_v<W, X>) {
    return hn::MaskedLoad(hn::FirstN(tag<W>(), count), tag<W>(), p);
  } else {
    if (count >= width<W>) return load<W>(p);
    X first[width<W>] = {};
    for (std::size_t i = 0; i < count; ++i) first[i] = p[i];
    return load<W>(first);
  }
}

// --- A chunk -------------------------------------------------------------------------------------
//
// A chunk's 64 lanes are an array of vectors. Complex elements are summed as the pairs of numbers
// that they are, so they have 128 lanes. Every index into the array is a constant, by index
// sequences: in a loop, even one that is to be unrolled, GCC 12 keeps the array in memory (100
// doubles take 20 ns, not 9.5).
//
// A lane starts as its first term rather than as +0 plus that, so it may hold -0 where the order
// has +0, and so may sums of such lanes. Nothing else can come of it, and adding +0 to the sum of a
// node puts it right. Absent terms are added as +0.

/// Is a sum of terms: one number, two for complex elements, four for their products.
template <class Terms>
using sum_of = typename Terms::sum;

/// These say how many numbers a row of the order's lanes has, how many a chunk has, and how many
/// vectors a row has.
template <class Terms>
constexpr std::size_t row{order::lanes * Terms::parts};
template <class Terms>
constexpr std::size_t chunk{order::chunk * Terms::parts};
template <class Terms>
[[maybe_unused]] constexpr std::size_t vectors = row<Terms> / width<typename Terms::number>;

/// Holds two vectors of terms of the same elements.
template <class V>
struct two_vectors {
  V first, second;
};

/// Is a vector of terms, or two.
template <class Terms>
using vec_of = decltype(std::declval<Terms>().at(0));

/// Says how many vectors that is.
template <class Terms>
constexpr std::size_t side_by_side = sizeof(vec_of<Terms>) / sizeof(vec<typename Terms::number>);

template <class V>
HWY_INLINE V added(V a, V b) {
  return hn::Add(a, b);
}
template <class V>
HWY_INLINE two_vectors<V> added(two_vectors<V> a, two_vectors<V> b) {
  return {hn::Add(a.first, b.first), hn::Add(a.second, b.second)};
}

template <std::size_t first, class Sequence>
struct shifted;
template <std::size_t first, std::size_t... v>
struct shifted<first, std::index_sequence<v...>> {
  using type = std::index_sequence<first + v...>;
};
/// Adds the vectors first ... last - 1 of a row.
template <std::size_t first, std::size_t last>
using range = typename shifted<first, std::make_index_sequence<last - first>>::type;

template <class Terms, std::size_t... v>
HWY_INLINE void start(std::index_sequence<v...>, vec_of<Terms>* lanes, Terms t) {
  constexpr std::size_t w = width<typename Terms::number>;
  ((lanes[v] = t.at(v * w)), ...);
}

/// Starts as `start` does, with the first `count` terms of the row only.
template <class Terms, std::size_t... v>
HWY_INLINE void start_first(std::index_sequence<v...>, vec_of<Terms>* lanes, Terms t,
                            std::size_t count) {
  constexpr std::size_t w = width<typename Terms::number>;
  ((lanes[v] = t.first(v * w, count > v * w ? count - v * w : 0)), ...);
}

template <class Terms, std::size_t... v>
HWY_INLINE void add(std::index_sequence<v...>, vec_of<Terms>* lanes, Terms t) {
  constexpr std::size_t w = width<typename Terms::number>;
  ((lanes[v] = added(lanes[v], t.at(v * w))), ...);
}

/// Adds the first `count` terms of a row, from vector v on. It goes vector by vector: 100 doubles
/// take 9.5 ns; with masks for every vector of a quarter row they take 10.8.
template <std::size_t v, class Terms>
HWY_INLINE void add_first(vec_of<Terms>* lanes, Terms t, std::size_t count) {
  constexpr std::size_t w = width<typename Terms::number>;
  constexpr std::size_t begin = v * w;
  if (count >= begin + w) {
    add(std::index_sequence<v>(), lanes, t);
    if constexpr (v + 1 < vectors<Terms>) add_first<v + 1>(lanes, t, count);
  } else if (count > begin) {
    lanes[v] = added(lanes[v], t.first(begin, count - begin));
  }
}

// Vectors start where malloc puts them, as a rule 16 bytes past a multiple of 64, and a load that
// crosses a cache line costs two. So the rows may begin with term `head`, the first one at a
// multiple of a vector's size. Then register v holds lanes `head` + v * width ... modulo 64, and
// the head's terms belong to the last places of the last register. The fold is the same, since lane
// l meets lane l + 32, then l + 16, ... whichever lane is called the first.

/// Returns how many terms come before the first row.
template <class Terms>
HWY_INLINE std::size_t head_of([[maybe_unused]] Terms t, [[maybe_unused]] std::size_t n) {
  if constexpr (Terms::can_align) {
    if (n < 2 * row<Terms>) return 0;
    using W = typename Terms::number;
    const std::size_t head =
        -(reinterpret_cast<std::uintptr_t>(t.address()) / sizeof(W)) % width<W>;
    return head % Terms::parts == 0 ? head : 0;
  } else {
    return 0;
  }
}

/// Adds the `head` terms that come before the row.
template <class Terms>
HWY_INLINE void add_head([[maybe_unused]] vec_of<Terms>* lanes, [[maybe_unused]] Terms t,
                         std::size_t head) {
  if constexpr (Terms::can_align) {
    if (head == 0) return;
    constexpr tag<typename Terms::number> d;
    constexpr std::size_t w = hn::MaxLanes(d);
    vec_of<Terms>& lane = lanes[vectors<Terms> - 1];
    lane = added(lane, t.masked(hn::Not(hn::FirstN(d, w - head)), -static_cast<std::ptrdiff_t>(w)));
  }
}

/// Adds what the rows leave of a whole chunk that began with `head` terms.
template <class Terms>
HWY_INLINE void add_tail(vec_of<Terms>* lanes, Terms t, std::size_t head) {
  constexpr std::size_t w = width<typename Terms::number>;
  constexpr std::size_t last = vectors<Terms> - 1;
  add(std::make_index_sequence<last>(), lanes, t);
  lanes[last] = added(lanes[last], t.first(last * w, w - head));
}

/// Adds whole rows, `sweep` vectors of each at a time; `head` terms come before them (see
/// `head_of`).
template <std::size_t sweep, std::size_t v, class Terms>
HWY_INLINE void sum_rows(vec_of<Terms>* lanes, Terms t, std::size_t rows, std::size_t head) {
  constexpr std::size_t end = std::min(v + sweep, vectors<Terms>);
  using part = range<v, end>;
  start(part(), lanes, t);
  if constexpr (end == vectors<Terms>) add_head(lanes, t, head);
  // It is not unrolled: with more load instructions than this the prefetcher loses track (a chunk
  // that was written out ran at half the speed from memory).
#pragma GCC unroll 1
  for (std::size_t r = 1; r < rows; ++r) add(part(), lanes, t.from(r * row<Terms>));
  if constexpr (end < vectors<Terms>) sum_rows<sweep, end>(lanes, t, rows, head);
}

/// Does the last folds, within a vector, down to one number, or to two.
template <class Sum, class D>
HWY_INLINE Sum fold_vector([[maybe_unused]] D d, hn::Vec<D> v) {
  using W = hn::TFromD<D>;
  if constexpr (std::is_same_v<Sum, W>) {
#if HWY_TARGET != HWY_SCALAR  // it has no halves
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

/// Counts how many of n bools are true. `at(i)` is bool i, and `at(i, d)` has bytes of vector type
/// d from i on, which are 0 for false bools. They are counted in bytes, which hold up to 255.
template <class At>
HWY_INLINE std::uint64_t count_true(std::size_t n, At at) {
  std::size_t i = 0;
  std::uint64_t count = 0;
#if HWY_TARGET != HWY_SCALAR  // its vectors are single numbers
  const tag<std::uint64_t> d;
  const hn::Repartition<std::uint8_t, tag<std::uint64_t>> bytes;
  constexpr std::size_t step = hn::MaxLanes(bytes);
  auto sum = hn::Zero(d);
  while (i + step <= n) {
    const std::size_t end = i + std::min<std::size_t>((n - i) / step, 255) * step;
    auto here = hn::Zero(bytes);
#pragma GCC unroll 4
    for (; i < end; i += step) here = hn::Add(here, truth(at(i, bytes)));
    sum = hn::Add(sum, hn::SumsOf8(here));
  }
  count = fold_vector<std::uint64_t>(d, sum);
#endif
  for (; i < n; ++i) count += at(i);
  return count;
}

/// Folds two vectors, down to two numbers each.
template <class Sum, class D>
HWY_INLINE Sum fold_vector(D d, two_vectors<hn::Vec<D>> v) {
  using pair = reduce_sum<std::complex<hn::TFromD<D>>>;
  const auto first = fold_vector<pair>(d, v.first), second = fold_vector<pair>(d, v.second);
  return {first.re, first.im, second.re, second.im};
}

template <class V, std::size_t... v>
HWY_INLINE void halve(std::index_sequence<v...>, V* lanes) {
  ((lanes[v] = added(lanes[v], lanes[v + sizeof...(v)])), ...);
}

/// Folds the first `count` vectors in halves.
template <std::size_t count, class Terms>
HWY_INLINE sum_of<Terms> fold(vec_of<Terms>* lanes) {
  if constexpr (count == 1) {
    return fold_vector<sum_of<Terms>>(tag<typename Terms::number>(), lanes[0]);
  } else {
    halve(std::make_index_sequence<count / 2>(), lanes);
    return fold<count / 2, Terms>(lanes);
  }
}

/// Sums fewer terms than there are lanes. It uses only as many vectors as there are terms for,
/// rounded up to a power of two. 8 doubles take 3.8 ns, as long as a plain loop takes; through the
/// code for a chunk they take 12.
template <class Terms>
HWY_INLINE sum_of<Terms> sum_short(Terms t, std::size_t n) {
  constexpr std::size_t quarter = vectors<Terms> / 4;
  vec_of<Terms> lanes[vectors<Terms>];
  if (n <= row<Terms> / 4) {
    start_first(range<0, quarter>(), lanes, t, n);
    return fold<quarter, Terms>(lanes);
  }
  start(range<0, quarter>(), lanes, t);
  if (n <= row<Terms> / 2) {
    start_first(range<quarter, 2 * quarter>(), lanes, t, n);
    return fold<2 * quarter, Terms>(lanes);
  }
  start(range<quarter, 2 * quarter>(), lanes, t);
  start_first(range<2 * quarter, 4 * quarter>(), lanes, t, n);
  return fold<4 * quarter, Terms>(lanes);
}

/// Says whether a chunk's lanes are kept in registers: they are with AVX2, AVX-512 and NEON. SSE4
/// and the baseline, for machines of before 2013, have too few registers for doubles, and take
/// little code instead.
template <class W>
constexpr bool in_registers = width<W> > 16 / sizeof(W) || is_neon;

/// Sums a chunk's n terms with its lanes in memory. That is little code, and takes a store a term.
template <class Terms>
HWY_INLINE sum_of<Terms> sum_chunk_in_memory(Terms t, std::size_t n) {
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

/// Sums a chunk's n terms; the sum of none is +-0.
template <std::size_t sweep, class Terms>
HWY_INLINE sum_of<Terms> sum_chunk(Terms t, std::size_t n) {
  if constexpr (!in_registers<typename Terms::number>) {
    return sum_chunk_in_memory(t, n);
  } else {
    if (n < row<Terms>) return sum_short(t, n);
    const std::size_t head = head_of(t, n);
    const std::size_t rows = (n - head) / row<Terms>;
    const std::size_t whole = head + rows * row<Terms>;
    vec_of<Terms> lanes[vectors<Terms>];
    sum_rows<sweep, 0>(lanes, t.from(head), rows, head);
    if (head > 0 && n == chunk<Terms>) {
      add_tail(lanes, t.from(whole), head);
    } else {
      add_first<0>(lanes, t.from(whole), n - whole);
    }
    return fold<vectors<Terms>, Terms>(lanes);
  }
}

/// Sums one of many chunks, in one sweep. What matters then is to read memory in order, and sums
/// that have no register are better kept in memory. AVX2's doubles are 16 sums and a product in 16
/// registers: two sweeps were 12 % slower at 10^6, and 15 + 1 and 12 + 4 vectors were slower too.
/// Complex doubles are 32 sums, and 64 for products: from memory several sweeps take twice the time
/// (Zen 4, the products of 10^6: 0.94 ms in one sweep, 2.5 ms in two or in eight).
template <class Terms>
HWY_INLINE sum_of<Terms> sum_chunk_of_many(Terms t, std::size_t n) {
  return sum_chunk<vectors<Terms>>(t, n);
}

/// Sums a chunk on its own: its sums stay in registers. 1000 doubles take 4 % less than in one
/// sweep.
template <class Terms>
HWY_INLINE sum_of<Terms> sum_only_chunk(Terms t, std::size_t n) {
  return sum_chunk<registers / 2 / side_by_side<Terms>>(t, n);
}

// --- Many chunks ---------------------------------------------------------------------------------

/// Sums two chunks that are `distance` numbers apart, row by row in turn.
template <class Terms>
HWY_INLINE std::pair<sum_of<Terms>, sum_of<Terms>> sum_two_chunks(Terms t, std::size_t distance) {
  using all = std::make_index_sequence<vectors<Terms>>;
  vec_of<Terms> near[vectors<Terms>], far[vectors<Terms>];
  const std::size_t head = head_of(t, chunk<Terms>);
  t = t.from(head);
  start(all(), near, t);
  start(all(), far, t.from(distance));
  add_head(near, t, head);
  add_head(far, t.from(distance), head);
  std::size_t i = row<Terms>;
#pragma GCC unroll 1
  for (; i + head <= chunk<Terms> - row<Terms>; i += row<Terms>) {
    add(all(), near, t.from(i));
    add(all(), far, t.from(distance + i));
  }
  if (head > 0) {
    add_tail(near, t.from(i), head);
    add_tail(far, t.from(distance + i), head);
  }
  return {fold<vectors<Terms>, Terms>(near), fold<vectors<Terms>, Terms>(far)};
}

/// From memory two streams keep more of it busy than one, since prefetchers work within pages: on
/// Zen 3, 2^26 doubles are 1.12 to 1.15 times as fast, floats 1.14 to 1.17; from the caches there
/// is no difference. The streams must be in different pages (16 chunks apart they are 1.09 times as
/// fast, 64 to 2048 apart 1.12, 8192 apart 0.99) and take turns within one (in turns of 4 KiB there
/// is no gain). SSE4's doubles, in four times as many vectors as registers, are left in one stream.
/// So is AVX-512: with one stream a Sapphire Rapids Xeon is 2 % faster at 2^26 and 3 % at 2^22, Zen
/// 4 14 % and 8 %.
constexpr std::size_t stream = 64;  // it counts chunks

/// Combines the chunk sums of a node of at most 2 * stream chunks.
template <class Terms>
sum_of<Terms> sum_block(Terms t, std::size_t n) {
  if constexpr (in_registers<typename Terms::number> &&
                vectors<Terms> * side_by_side<Terms> <= registers && !is_avx512) {
    if (n == 2 * stream * chunk<Terms>) {
      tree<sum_of<Terms>> left, right;
      for (std::size_t i = 0; i < stream * chunk<Terms>; i += chunk<Terms>) {
        const auto sums = sum_two_chunks(t.from(i), stream * chunk<Terms>);
        left.add(sums.first);
        right.add(sums.second);
      }
      return left.total() + right.total();
    }
  }
  tree<sum_of<Terms>> chunks;
  for (std::size_t i = 0; i < n; i += chunk<Terms>) {
    chunks.add(sum_chunk_of_many(t.from(i), std::min(chunk<Terms>, n - i)));
  }
  return chunks.total();
}

template <class Terms>
sum_of<Terms> sum_chunks(Terms t, std::size_t n) {
  constexpr std::size_t block = 2 * stream * chunk<Terms>;
  if (n <= block) return sum_block(t, n);
  tree<sum_of<Terms>> blocks;
  for (std::size_t i = 0; i < n; i += block) {
    blocks.add(sum_block(t.from(i), std::min(block, n - i)));
  }
  return blocks.total();
}

/// Returns the sum of a node's n numbers; a zero is +0.
template <class Terms>
HWY_INLINE sum_of<Terms> sum_node(Terms t, std::size_t n) {
  return (n <= chunk<Terms> ? sum_only_chunk(t, n) : sum_chunks(t, n)) + sum_of<Terms>{};
}

// --- Elements that are not contiguous ------------------------------------------------------------

/// Copies n elements of `size` bytes, which are `stride` bytes apart.
template <std::size_t size>
void gather(const void* from, std::ptrdiff_t stride, std::size_t n, std::byte* to) {
  const auto* const bytes = static_cast<const std::byte*>(from);
  // It is unrolled, because the loop is so short that a third of its speed depended on where the
  // linker put it.
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

/// Calls f(elements, i, n) for each stretch of `v`: n elements that lie side by side, of which the
/// first is element i. Elements of a strided vector are gathered first, in a buffer. It is small
/// for the stack's sake, but so large that what is read next was stored long before: processors
/// don't forward vectors from many small stores.
template <class F>
void for_each_piece(const operand& v, const F& f) {
  if (v.increment == 1) return f(v.data, std::size_t{0}, v.size);
  HWY_ALIGN std::byte gathered[4096];
  const std::size_t most = sizeof(gathered) / size_of(v.element);
  for (std::size_t i = 0; i < v.size; i += most) {
    const std::size_t n = std::min(most, v.size - i);
    gather(v.slice(i, n), gathered);
    f(static_cast<const void*>(gathered), i, n);
  }
}

/// Converts n contiguous numbers.
template <class W, class X>
void convert_numbers(const X* from, std::size_t n, W* to) {
  constexpr tag<W> d;
  std::size_t i = 0;
  for (; i + width<W> <= n; i += width<W>) hn::Store(load<W>(from + i), d, to + i);
  if (i < n) hn::Store(load_first<W>(from + i, n - i), d, to + i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
