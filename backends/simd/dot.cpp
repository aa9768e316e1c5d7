// dot on one thread in vector instructions. One source for all instruction sets: foreach_target
// compiles this file once for each, in a namespace of its own; which of them runs was decided when
// the executor was made.
//
// Two paths. Operands that are contiguous and convert to the accumulator in registers are summed
// where they lie (`sum_in_place`). All others are brought chunk by chunk into small buffers of the
// accumulator's real type - gathered, converted, complex numbers parted - and summed there by the
// same kernel (`sum_packed`), so that 66 pairs of types need five accumulators' worth of code. A
// chunk and its buffers stay in the first-level cache.
#include "backends/simd/dot.hpp"

#include "backends/floating_point_environment.hpp"
#include "backends/pairs.hpp"
#include "backends/simd/targets.hpp"
#include "backends/tree.hpp"

#include <tally/order.hpp>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#ifndef TALLY_BACKENDS_SIMD_DOT_CPP  // this file is compiled once for every target
#define TALLY_BACKENDS_SIMD_DOT_CPP
namespace tally::backends::simd {
namespace {

template <class... A>
constexpr std::tuple<const pair_table<dot_node<A>>*...> node_tables(type_list<A...>);

/// `dot` for one pair of types and an accumulator.
using whole_dot = void(const dot_arguments& a);

/// What one instruction set has: functions by accumulator, in the order of `accumulator_types`, and
/// by pair of types.
struct implementation {
  instruction_set set;
  decltype(node_tables(accumulator_types{})) nodes;
  std::array<pair_table<whole_dot>, accumulator_types::size> dots;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/dot.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// --- Vectors -------------------------------------------------------------------------------------

/// What a real accumulator is summed in: int64 modulo 2^64.
template <class R>
using word = std::conditional_t<std::is_integral_v<R>, std::uint64_t, R>;

template <class W>
using tag = hn::ScalableTag<W>;
template <class W>
using vec = hn::Vec<tag<W>>;

/// Elements of a vector, and vectors of a row: the 64 lanes of the order.
template <class W>
constexpr std::size_t width = hn::MaxLanes(tag<W>());
template <class W>
[[maybe_unused]] constexpr std::size_t vectors = order::lanes / width<W>;

/// Vector registers of this instruction set.
constexpr bool is_avx512 = HWY_TARGET == HWY_AVX3;
constexpr bool is_neon = HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_NEON_WITHOUT_AES;
constexpr std::size_t registers = is_avx512 || is_neon ? 32 : 16;

/// Loads of 32- and 64-bit elements under a mask that touch nothing where it is false.
constexpr bool has_masked_loads = is_avx512 || HWY_TARGET == HWY_AVX2;

/// Half-precision numbers as float, exactly: subnormals, infinities and NaNs too.
template <class D>
HWY_INLINE hn::Vec<D> from_float16(D d, const float16* p) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  return hn::PromoteTo(
      d, hn::LoadU(hn::Rebind<hwy::float16_t, D>(), reinterpret_cast<const hwy::float16_t*>(p)));
#else
  // The bits below the sign, moved up to float's exponent and fraction, are the number times
  // 2^-112: a multiplication sets the bias right and makes subnormals normal. Only the largest
  // exponent, of infinities and NaNs, doesn't end up as the largest.
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

/// bool is loaded as the byte that it is, uint8; int64 summed as uint64.
template <class X>
using stored =
    std::conditional_t<std::is_same_v<X, bool>, std::uint8_t,
                       std::conditional_t<std::is_same_v<X, std::int64_t>, std::uint64_t, X>>;

/// Elements of 32 bits or fewer as float or, integers, as int32, exactly.
template <class X>
using word32 = std::conditional_t<std::is_integral_v<X>, std::int32_t, float>;

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
  } else {  // bytes
    return hn::PromoteTo(
        d, hn::LoadU(hn::Rebind<stored<X>, D>(), reinterpret_cast<const stored<X>*>(p)));
  }
}

/// The next elements at p, converted to W to nearest even.
template <class W, class X>
HWY_INLINE vec<W> load(const X* p) {
  const tag<W> d;
  if constexpr (std::is_same_v<W, X>) {
    return hn::LoadU(d, p);
  } else if constexpr (std::is_same_v<X, std::int64_t>) {
    if constexpr (std::is_integral_v<W>) {
      return hn::LoadU(d, reinterpret_cast<const W*>(p));
    } else {  // few instruction sets have this conversion; the scalar one rounds once
      HWY_ALIGN W converted[width<W>];
      for (std::size_t i = 0; i < width<W>; ++i) converted[i] = static_cast<W>(p[i]);
      return hn::Load(d, converted);
    }
  } else if constexpr (std::is_same_v<W, float>) {
    if constexpr (std::is_integral_v<X>) {
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

/// The first `count` of them, and zeros; nothing beyond is touched. A `count` of more than a vector
/// is a whole one.
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

/// Products, rounded: no fused multiply-add.
template <class W, class X, class Y>
HWY_INLINE vec<W> products(const X* x, const Y* y) {
  return hn::Mul(load<W>(x), load<W>(y));
}

template <class W, class X, class Y>
HWY_INLINE vec<W> first_products(const X* x, const Y* y, std::size_t count) {
  return hn::Mul(load_first<W>(x, count), load_first<W>(y, count));
}

// --- A chunk -------------------------------------------------------------------------------------
//
// Its 64 lanes are an array of vectors. Every index into it is a constant, by index sequences: in a
// loop, even one to be unrolled, GCC 12 keeps the array in memory (100 doubles: 20 ns, not 9.5).
//
// A lane starts as its first product rather than as +0 plus that, so it may hold -0 where the order
// has +0, and so may sums of such lanes. Nothing else can come of it, and adding +0 to the sum of a
// node puts it right. Absent terms are added as +0.

template <std::size_t first, class Sequence>
struct shifted;
template <std::size_t first, std::size_t... v>
struct shifted<first, std::index_sequence<v...>> {
  using type = std::index_sequence<first + v...>;
};
/// The vectors first ... last - 1 of a row.
template <std::size_t first, std::size_t last>
using range = typename shifted<first, std::make_index_sequence<last - first>>::type;

template <class W, class X, class Y, std::size_t... v>
HWY_INLINE void start(std::index_sequence<v...>, vec<W>* lanes, const X* x, const Y* y) {
  ((lanes[v] = products<W>(x + v * width<W>, y + v * width<W>)), ...);
}

/// As `start`, of the first `count` terms of the row only.
template <class W, class X, class Y, std::size_t... v>
HWY_INLINE void start_first(std::index_sequence<v...>, vec<W>* lanes, const X* x, const Y* y,
                            std::size_t count) {
  ((lanes[v] = first_products<W>(x + v * width<W>, y + v * width<W>,
                                 count > v * width<W> ? count - v * width<W> : 0)),
   ...);
}

template <class W, class X, class Y, std::size_t... v>
HWY_INLINE void add(std::index_sequence<v...>, vec<W>* lanes, const X* x, const Y* y) {
  ((lanes[v] = hn::Add(lanes[v], products<W>(x + v * width<W>, y + v * width<W>))), ...);
}

/// Adds the first `count` terms of a row, from vector v on. Vector by vector: of 100 doubles, 9.5
/// ns; with masks for every vector of a quarter row, 10.8.
template <std::size_t v, class W, class X, class Y>
HWY_INLINE void add_first(vec<W>* lanes, const X* x, const Y* y, std::size_t count) {
  constexpr std::size_t begin = v * width<W>;
  if (count >= begin + width<W>) {
    add<W>(std::index_sequence<v>(), lanes, x, y);
    if constexpr (v + 1 < vectors<W>) add_first<v + 1, W>(lanes, x, y, count);
  } else if (count > begin) {
    lanes[v] = hn::Add(lanes[v], first_products<W>(x + begin, y + begin, count - begin));
  }
}

// Vectors start where malloc puts them, 16 bytes past a multiple of 64 as a rule, and a load that
// crosses a cache line costs two. So the rows may begin with term `head`, the first one at a multiple
// of a vector's size: then register v holds lanes `head` + v * width ... modulo 64, the head's
// terms belong to the last places of the last register, and the fold is the same, since lane l
// meets lane l + 32, then l + 16, ... whatever lane is called the first.

/// How many terms come before the first row.
template <class W, class X, class Y>
HWY_INLINE std::size_t head_of([[maybe_unused]] const X* x, [[maybe_unused]] std::size_t n) {
  if constexpr (has_masked_loads && std::is_same_v<W, X> && std::is_same_v<W, Y>) {
    if (n < 2 * order::lanes) return 0;
    return -(reinterpret_cast<std::uintptr_t>(x) / sizeof(W)) % width<W>;
  } else {
    return 0;
  }
}

/// Adds the `head` terms that come before the row at x and y.
template <class W, class X, class Y>
HWY_INLINE void add_head([[maybe_unused]] vec<W>* lanes, [[maybe_unused]] const X* x,
                         [[maybe_unused]] const Y* y, std::size_t head) {
  if constexpr (has_masked_loads && std::is_same_v<W, X> && std::is_same_v<W, Y>) {
    if (head == 0) return;
    const tag<W> d;
    const auto last = hn::Not(hn::FirstN(d, width<W> - head));
    vec<W>& lane = lanes[vectors<W> - 1];
    lane = hn::Add(lane, hn::Mul(hn::MaskedLoad(last, d, x - width<W>),
                                 hn::MaskedLoad(last, d, y - width<W>)));
  }
}

/// Adds what the rows leave of a whole chunk that began with `head` terms.
template <class W, class X, class Y>
HWY_INLINE void add_tail(vec<W>* lanes, const X* x, const Y* y, std::size_t head) {
  constexpr std::size_t last = vectors<W> - 1;
  add<W>(std::make_index_sequence<last>(), lanes, x, y);
  lanes[last] = hn::Add(lanes[last], first_products<W>(x + last * width<W>, y + last * width<W>,
                                                       width<W> - head));
}

/// Whole rows, `sweep` vectors of each at a time; `head` terms come before them (see `head_of`).
template <std::size_t sweep, std::size_t v, class W, class X, class Y>
HWY_INLINE void sum_rows(vec<W>* lanes, const X* x, const Y* y, std::size_t rows,
                         std::size_t head) {
  constexpr std::size_t end = std::min(v + sweep, vectors<W>);
  using part = range<v, end>;
  start<W>(part(), lanes, x, y);
  if constexpr (end == vectors<W>) add_head<W>(lanes, x, y, head);
  // Not unrolled: with more load instructions than this the prefetcher loses track (a chunk written
  // out ran at half the speed from memory).
#pragma GCC unroll 1
  for (std::size_t row = 1; row < rows; ++row) {
    add<W>(part(), lanes, x + row * order::lanes, y + row * order::lanes);
  }
  if constexpr (end < vectors<W>) sum_rows<sweep, end, W>(lanes, x, y, rows, head);
}

template <class D>
HWY_INLINE hn::TFromD<D> fold_vector([[maybe_unused]] D d, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR  // which has no halves
  if constexpr (hn::MaxLanes(d) > 1) {
    const hn::Half<D> half;
    return fold_vector(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

template <class W, std::size_t... v>
HWY_INLINE void halve(std::index_sequence<v...>, vec<W>* lanes) {
  ((lanes[v] = hn::Add(lanes[v], lanes[v + sizeof...(v)])), ...);
}

/// Folds the first `count` vectors in halves.
template <std::size_t count, class W>
HWY_INLINE W fold(vec<W>* lanes) {
  if constexpr (count == 1) {
    return fold_vector(tag<W>(), lanes[0]);
  } else {
    halve<W>(std::make_index_sequence<count / 2>(), lanes);
    return fold<count / 2, W>(lanes);
  }
}

/// Fewer terms than lanes: only as many vectors as there are, to a power of two. 8 doubles take
/// 3.8 ns, as long as a plain loop; through the code for a chunk, 12.
template <class W, class X, class Y>
HWY_INLINE W sum_short(const X* x, const Y* y, std::size_t n) {
  constexpr std::size_t quarter = vectors<W> / 4;
  vec<W> lanes[vectors<W>];
  if (n <= order::lanes / 4) {
    start_first<W>(range<0, quarter>(), lanes, x, y, n);
    return fold<quarter, W>(lanes);
  }
  start<W>(range<0, quarter>(), lanes, x, y);
  if (n <= order::lanes / 2) {
    start_first<W>(range<quarter, 2 * quarter>(), lanes, x, y, n);
    return fold<2 * quarter, W>(lanes);
  }
  start<W>(range<quarter, 2 * quarter>(), lanes, x, y);
  start_first<W>(range<2 * quarter, 4 * quarter>(), lanes, x, y, n);
  return fold<4 * quarter, W>(lanes);
}

/// Whether a chunk's lanes are kept in registers: AVX2, AVX-512 and NEON. SSE4 and the baseline,
/// for machines of before 2013, have too few for doubles, and take little code instead.
template <class W>
constexpr bool in_registers = width<W> > 16 / sizeof(W) || is_neon;

/// The sum of a chunk's n terms with its lanes in memory: little code, at a store a product.
template <class W, class X, class Y>
HWY_INLINE W sum_chunk_in_memory(const X* x, const Y* y, std::size_t n) {
  constexpr tag<W> d;
  HWY_ALIGN W lanes[order::lanes] = {};
  const auto add_to = [&](W* lane, vec<W> terms)
                          HWY_ATTR { hn::Store(hn::Add(hn::Load(d, lane), terms), d, lane); };
  for (; n >= order::lanes; n -= order::lanes, x += order::lanes, y += order::lanes) {
    for (std::size_t l = 0; l < order::lanes; l += width<W>) {
      add_to(lanes + l, products<W>(x + l, y + l));
    }
  }
  for (std::size_t l = 0; l < n; l += width<W>) {
    add_to(lanes + l, first_products<W>(x + l, y + l, n - l));
  }
  for (std::size_t half = order::lanes / 2; half >= width<W>; half /= 2) {
    for (std::size_t l = 0; l < half; l += width<W>)
      add_to(lanes + l, hn::Load(d, lanes + l + half));
  }
  return fold_vector(d, hn::Load(d, lanes));
}

/// The sum of a chunk's n terms; +-0 for none.
template <std::size_t sweep, class W, class X, class Y>
HWY_INLINE W sum_chunk(const X* x, const Y* y, std::size_t n) {
  if constexpr (!in_registers<W>) {
    return sum_chunk_in_memory<W>(x, y, n);
  } else {
    if (n < order::lanes) return sum_short<W>(x, y, n);
    const std::size_t head = head_of<W, X, Y>(x, n);
    const std::size_t rows = (n - head) / order::lanes;
    const std::size_t whole = head + rows * order::lanes;
    vec<W> lanes[vectors<W>];
    sum_rows<sweep, 0, W>(lanes, x + head, y + head, rows, head);
    if (head > 0 && n == order::chunk) {
      add_tail<W>(lanes, x + whole, y + whole, head);
    } else {
      add_first<0, W>(lanes, x + whole, y + whole, n - whole);
    }
    return fold<vectors<W>, W>(lanes);
  }
}

/// The same for one of many chunks, in one sweep where there are about as many registers as
/// vectors: what matters is to read memory in order, and one sum that has no register is better
/// kept in memory (AVX2's doubles: 16 sums and a product in 16 registers). Two sweeps were 12 %
/// slower at 10^6 doubles, 15 + 1 and 12 + 4 vectors slower too.
template <class W, class X, class Y>
HWY_INLINE W sum_chunk_of_many(const X* x, const Y* y, std::size_t n) {
  return sum_chunk<registers, W>(x, y, n);
}

/// A chunk on its own: sums stay in registers. 1000 doubles take 4 % less than in one sweep.
template <class W, class X, class Y>
HWY_INLINE W sum_only_chunk(const X* x, const Y* y, std::size_t n) {
  return sum_chunk<registers / 2, W>(x, y, n);
}

// --- Contiguous operands -------------------------------------------------------------------------

/// Two chunks `distance` elements apart, row by row in turn.
template <class W, class X, class Y>
HWY_INLINE std::pair<W, W> sum_two_chunks(const X* x, const Y* y, std::size_t distance) {
  using row = std::make_index_sequence<vectors<W>>;
  vec<W> near[vectors<W>], far[vectors<W>];
  const std::size_t head = head_of<W, X, Y>(x, order::chunk);
  x += head, y += head;
  start<W>(row(), near, x, y);
  start<W>(row(), far, x + distance, y + distance);
  add_head<W>(near, x, y, head);
  add_head<W>(far, x + distance, y + distance, head);
  std::size_t i = order::lanes;
#pragma GCC unroll 1
  for (; i + head <= order::chunk - order::lanes; i += order::lanes) {
    add<W>(row(), near, x + i, y + i);
    add<W>(row(), far, x + distance + i, y + distance + i);
  }
  if (head > 0) {
    add_tail<W>(near, x + i, y + i, head);
    add_tail<W>(far, x + distance + i, y + distance + i, head);
  }
  return {fold<vectors<W>, W>(near), fold<vectors<W>, W>(far)};
}

/// From memory, two streams keep more of it busy than one, since prefetchers work within pages: on
/// Zen 3, 2^26 doubles are 1.12 to 1.15 times as fast, floats 1.14 to 1.17; from the caches there
/// is no difference. The streams must be in different pages (16 chunks apart: 1.09; 64 to
/// 2048: 1.12; 8192: 0.99) and take turns within one (in turns of 4 KiB: no gain). SSE4's doubles,
/// in four times as many vectors as registers, are left in one.
constexpr std::size_t stream = 64;  // chunks

/// The chunk sums of a node of at most 2 * stream chunks, combined.
template <class W, class X, class Y>
W sum_block(const X* x, const Y* y, std::size_t n) {
  if constexpr (in_registers<W>) {
    if (n == 2 * stream * order::chunk) {
      tree<W> left, right;
      for (std::size_t i = 0; i < stream * order::chunk; i += order::chunk) {
        const auto sums = sum_two_chunks<W>(x + i, y + i, stream * order::chunk);
        left.add(sums.first);
        right.add(sums.second);
      }
      return left.total() + right.total();
    }
  }
  tree<W> chunks;
  for (std::size_t i = 0; i < n; i += order::chunk) {
    chunks.add(sum_chunk_of_many<W>(x + i, y + i, std::min(order::chunk, n - i)));
  }
  return chunks.total();
}

template <class W, class X, class Y>
W sum_chunks(const X* x, const Y* y, std::size_t n) {
  constexpr std::size_t block = 2 * stream * order::chunk;
  if (n <= block) return sum_block<W>(x, y, n);
  tree<W> blocks;
  for (std::size_t i = 0; i < n; i += block) {
    blocks.add(sum_block<W>(x + i, y + i, std::min(block, n - i)));
  }
  return blocks.total();
}

/// Integers: the sum is exact modulo 2^64, so it may be taken in any order. Of 32 bits or fewer,
/// the products of the even and of the odd elements are 64 bits wide by themselves.
template <class X, class Y>
std::uint64_t sum_integers(const X* x, const Y* y, std::size_t n) {
  constexpr bool narrow = sizeof(X) <= 4 && sizeof(Y) <= 4;
  using W = std::conditional_t<narrow, std::int32_t, std::uint64_t>;
  const tag<std::uint64_t> d;
  std::size_t i = 0;
  std::uint64_t sum = 0;
  if constexpr (width < W >> 1) {
    auto even = hn::Zero(d), odd = hn::Zero(d);
    for (; i + width<W> <= n; i += width<W>) {
      if constexpr (narrow) {
        const tag<W> d32;
        const auto a = load32(d32, x + i), b = load32(d32, y + i);
        const auto high = [&](vec<W> v) HWY_ATTR {
          return hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d, v)));
        };
        even = hn::Add(even, hn::BitCast(d, hn::MulEven(a, b)));
        odd = hn::Add(odd, hn::BitCast(d, hn::MulEven(high(a), high(b))));
      } else {  // the low half of a product of three products of halves
        const hn::Repartition<std::uint32_t, tag<W>> halves;
        const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, y + i);
        const auto low = [&](vec<W> v) HWY_ATTR { return hn::BitCast(halves, v); };
        const auto high = [&](vec<W> v)
                              HWY_ATTR { return hn::BitCast(halves, hn::ShiftRight<32>(v)); };
        const auto crossed = hn::Add(hn::MulEven(high(a), low(b)), hn::MulEven(low(a), high(b)));
        even = hn::Add(even, hn::MulEven(low(a), low(b)));
        odd = hn::Add(odd, hn::ShiftLeft<32>(crossed));
      }
    }
    sum = fold_vector(d, hn::Add(even, odd));
  }
  for (; i < n; ++i) {
    sum += static_cast<std::uint64_t>(x[i]) * static_cast<std::uint64_t>(y[i]);
  }
  return sum;
}

/// The sum of a node's n terms, in the accumulator R.
template <class R, class X, class Y>
HWY_INLINE R sum_contiguous(const X* x, const Y* y, std::size_t n) {
  if constexpr (std::is_integral_v<R>) {
    return static_cast<R>(sum_integers(x, y, n));
  } else {
    return (n <= order::chunk ? sum_only_chunk<R>(x, y, n) : sum_chunks<R>(x, y, n)) + R{0};
  }
}

// --- All other operands --------------------------------------------------------------------------

/// A chunk's elements in the accumulator's real type; `im` is null for real elements.
template <class W>
struct parts {
  const W* re;
  const W* im;
};

template <class W>
struct buffers {
  HWY_ALIGN W re[order::chunk];
  HWY_ALIGN W im[order::chunk];
  HWY_ALIGN std::byte gathered[order::chunk * sizeof(std::complex<double>)];
};

/// Copies n elements of `size` bytes, `stride` bytes apart.
template <std::size_t size>
void gather(const void* from, std::ptrdiff_t stride, std::size_t n, std::byte* to) {
  const auto* const bytes = static_cast<const std::byte*>(from);
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(to + i * size, bytes + static_cast<std::ptrdiff_t>(i) * stride, size);
  }
}

void gather(const operand& v, std::byte* to) {
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

/// Converts n contiguous elements, complex ones parted.
template <class W, class X>
void convert(const void* from, std::size_t n, buffers<W>& to) {
  constexpr tag<W> d;
  if constexpr (is_complex_v<X>) {
    using T = real_t<X>;
    const T* const p = static_cast<const T*>(from);  // re and im in turn
    std::size_t i = 0;
    if constexpr (std::is_same_v<T, W>) {
      for (; i + width<W> <= n; i += width<W>) {
        vec<W> re, im;
        hn::LoadInterleaved2(d, p + 2 * i, re, im);
        hn::Store(re, d, to.re + i);
        hn::Store(im, d, to.im + i);
      }
    }
    for (; i < n; ++i) {
      to.re[i] = p[2 * i];
      to.im[i] = p[2 * i + 1];
    }
  } else {
    const X* const p = static_cast<const X*>(from);
    std::size_t i = 0;
    for (; i + width<W> <= n; i += width<W>) hn::Store(load<W>(p + i), d, to.re + i);
    if (i < n) hn::Store(load_first<W>(p + i, n - i), d, to.re + i);
  }
}

template <class W>
using converter = void(const void* from, std::size_t n, buffers<W>& to);

/// The converters from every element type; null where `W` doesn't take it.
template <class W>
constexpr auto converters = []<class... X>(type_list<X...>) {
  const auto one = []<class T>(std::type_identity<T>) -> converter<W>* {
    if constexpr (std::is_integral_v<W>
                      ? std::is_integral_v<T>
                      : std::is_same_v<W, double> || !std::is_same_v<real_t<T>, double>) {
      return &convert<W, T>;
    } else {
      return nullptr;
    }
  };
  return std::array<converter<W>*, type_count>{one(std::type_identity<X>{})...};
}(element_types{});

/// The elements of `v`, at most a chunk of them.
template <class R>
parts<word<R>> fetch(const operand& v, buffers<word<R>>& to) {
  const void* data = v.data;
  if (v.increment != 1) {
    gather(v, to.gathered);
    data = to.gathered;
  }
  if (v.element == type_of<R>) return {static_cast<const word<R>*>(data), nullptr};
  converters<word<R>>[static_cast<std::size_t>(v.element)](data, v.size, to);
  const bool is_complex = v.element == type::complex64 || v.element == type::complex128;
  return {to.re, is_complex ? to.im : nullptr};
}

template <class A>
dot_sum<A> sum_packed(const operand& x, const operand& y) {
  using R = real_t<A>;
  using W = word<R>;
  buffers<W> x_buffers, y_buffers;
  tree<dot_sum<A>> chunks;
  for (std::size_t i = 0; i < x.size; i += order::chunk) {
    const std::size_t n = std::min(order::chunk, x.size - i);
    const parts<W> px = fetch<R>(x.slice(i, n), x_buffers);
    const parts<W> py = fetch<R>(y.slice(i, n), y_buffers);
    const auto sum = [n](const W* a, const W* b) {
      return a && b ? sum_contiguous<R>(a, b, n) : R{};
    };
    if constexpr (is_complex_v<A>) {
      chunks.add({sum(px.re, py.re), sum(px.im, py.im), sum(px.re, py.im), sum(px.im, py.re)});
    } else {
      chunks.add({sum(px.re, py.re)});
    }
  }
  return chunks.total();
}

// --- The table -----------------------------------------------------------------------------------

/// Pairs summed where they lie: those of equal types, float with bool, narrow integers. Through
/// buffers they run at half the speed in cache (Zen 3, 10^5 elements: float with bool 8.0 instead
/// of 15.9 billion elements a second, float16 6.3 instead of 13.6, int8 2.6 instead of 10.8), and
/// half-precision operands no faster than memory. Each pair takes about a second to compile.
template <class A, class X, class Y>
constexpr bool converts_in_registers = [] {
  if constexpr (is_complex_v<A> || (std::is_same_v<A, double> && !std::is_same_v<X, double>)) {
    return false;
  } else if constexpr (std::is_same_v<A, std::int64_t>) {
    return (sizeof(X) == 8) == (sizeof(Y) == 8);
  } else {
    return std::is_same_v<X, Y> || (std::is_same_v<X, bool> && std::is_same_v<Y, float>);
  }
}();

template <class A, class X, class Y>
dot_sum<A> sum_in_place(const operand& x, const operand& y) {
  if (x.increment != 1 || y.increment != 1) return sum_packed<A>(x, y);
  return {sum_contiguous<A>(static_cast<const X*>(x.data), static_cast<const Y*>(y.data), x.size)};
}

template <class A>
constexpr auto nodes = make_pair_table<dot_node<A>, A>([]<class X, class Y>() -> dot_node<A>* {
  if constexpr (converts_in_registers<A, X, Y>) {
    return &sum_in_place<A, stored<X>, stored<Y>>;
  } else {
    return &sum_packed<A>;
  }
});

/// `dot` for the pairs of types that `node` sums.
template <class A, dot_node<A>* node>
void run(const dot_arguments& a) {
  const default_environment environment;
  *static_cast<A*>(a.result.data) = finish(node(a.x, a.y), a.conjugated);
}

}  // namespace

constexpr implementation here = {
    set_of(HWY_TARGET),
    []<class... A>(type_list<A...>) { return std::tuple(&nodes<A>...); }(accumulator_types{}),
    []<class... A>(type_list<A...>) {
      const auto pairs = []<class T>(std::type_identity<T>) {
        return make_pair_table<whole_dot, T>(
            []<class X, class Y>() { return &run<T, at(nodes<T>, type_of<X>, type_of<Y>)>; });
      };
      return std::array{pairs(std::type_identity<A>{})...};
    }(accumulator_types{}),
};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tally::backends::simd {
namespace {

/// All that this build has. The last is what the compiler's own flags allow.
constexpr const implementation* implementations[] = {
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_SSE4
    &N_SSE4::here,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_AVX2
    &N_AVX2::here,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_AVX3
    &N_AVX3::here,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_NEON
    &N_NEON::here,
#endif
    &HWY_NAMESPACE::here,
};

constexpr std::size_t set_count = static_cast<std::size_t>(instruction_set::neon) + 1;

/// The same by instruction set; null for those that this build lacks, which no executor has.
constexpr auto by_set = [] {
  std::array<const implementation*, set_count> table{};
  for (const implementation* i : implementations) table[static_cast<std::size_t>(i->set)] = i;
  return table;
}();

const implementation& implementation_of(instruction_set set) {
  return *by_set[static_cast<std::size_t>(set)];
}

/// The place of an accumulator in `accumulator_types`, by its element type.
constexpr auto accumulator_index = []<class... A>(type_list<A...> accumulators) {
  std::array<std::uint8_t, type_count> table{};
  ((table[static_cast<std::size_t>(type_of<A>)] = types::index_in<A>(accumulators)), ...);
  return table;
}(accumulator_types{});

}  // namespace

template <class A>
dot_node<A>* node_of(instruction_set set, type x, type y) {
  return at(*std::get<const pair_table<dot_node<A>>*>(implementation_of(set).nodes), x, y);
}

void dot(const executor& where, const dot_arguments& a) {
  const auto& dots = implementation_of(where.instructions()).dots;
  const auto accumulator = accumulator_index[static_cast<std::size_t>(a.result.element)];
  at(dots[accumulator], a.x.element, a.y.element)(a);
}

// The openmp column calls these on its threads' shares.
template dot_node<std::int64_t>* node_of<std::int64_t>(instruction_set, type, type);
template dot_node<float>* node_of<float>(instruction_set, type, type);
template dot_node<double>* node_of<double>(instruction_set, type, type);
template dot_node<std::complex<float>>* node_of<std::complex<float>>(instruction_set, type, type);
template dot_node<std::complex<double>>* node_of<std::complex<double>>(instruction_set, type, type);

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
