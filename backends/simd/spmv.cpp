// spmv on one thread in vector instructions: values of 32 and 64 bits, x of the accumulator's type.
// Rows of values of 16 bits, and complex ones, are the serial column's.
//
// Rows are summed four at a time, their 8 lanes in vectors of up to 4, and folded together. Where
// all four are short, no branch depends on their lengths: a vector reads on into the next row, and
// what isn't the row's is masked. Rows of more than `short_row` terms are summed by the kernel of
// `dot`.
#include "backends/simd/spmv.hpp"
#include "backends/simd/simd.hpp"

#include "backends/serial/order.hpp"
#include "backends/serial/spmv.hpp"
#include "backends/simd/exact.hpp"
#include "backends/simd/targets.hpp"
#include "src/core/order/row_order.hpp"
#include "src/core/sparse/csr.hpp"
#include "src/core/sparse/exact_rows.hpp"
#include "src/core/sparse/row_lengths.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#ifndef TALLY_BACKENDS_SIMD_SPMV_CPP  // this file is compiled once for every target
#define TALLY_BACKENDS_SIMD_SPMV_CPP
namespace tally::backends::simd {
namespace {

/// The types of values, and for each the kernels with int32 and with int64 columns. (They
/// take 13 seconds to compile, with 16 bits and each type of offsets 100.)
using wide_values = type_list<float, double>;
template <class A>
using kernel_table = type_table<std::array<row_kernels<A>, 2>>;

/// What one instruction set has.
struct implementation {
  instruction_set set;
  const kernel_table<float>* floats;
  const kernel_table<double>* doubles;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/spmv.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// The next values at p as numbers of D.
template <class D, class V>
HWY_INLINE hn::Vec<D> load_values(D d, const V* p) {
  using W = hn::TFromD<D>;
  if constexpr (std::is_same_v<W, V> || std::is_same_v<W, float>) {
    return load32(d, p);
  } else {
    return hn::PromoteTo(d, load32(hn::Rebind<float, D>(), p));
  }
}

/// A row's lanes are in vectors of at most 4. (8 doubles of AVX-512 were no faster on Zen 4.)
template <class W>
using lanes_tag = hn::CappedTag<W, row_order::lanes / 2>;
template <class W>
using lanes_vec = hn::Vec<lanes_tag<W>>;

/// Columns of a vector's elements, of int32 loaded as pairs: loads are what a product in the caches
/// is bounded by (Zen 4: up to 15 % faster).
template <std::size_t count, class I>
HWY_INLINE std::array<std::size_t, count> load_columns(const I* columns) {
  std::array<std::size_t, count> loaded;
  if constexpr (sizeof(I) == 4 && count % 2 == 0 && std::endian::native == std::endian::little) {
    for (std::size_t i = 0; i < count; i += 2) {
      std::uint64_t pair;
      std::memcpy(&pair, columns + i, sizeof pair);
      loaded[i] = static_cast<std::uint32_t>(pair);
      loaded[i + 1] = pair >> 32;
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) loaded[i] = static_cast<std::size_t>(columns[i]);
  }
  return loaded;
}

template <class D, std::size_t... i>
HWY_INLINE hn::Vec<D> gathered(std::index_sequence<i...>, D, const hn::TFromD<D>* x,
                               const std::array<std::size_t, sizeof...(i)>& columns) {
#if HWY_TARGET == HWY_SCALAR || \
    HWY_TARGET == HWY_EMU128  // whose vectors are no type of the compiler
  const hn::TFromD<D> elements[hn::MaxLanes(D())] = {x[columns[i]]...};
  return hn::LoadU(D(), elements);
#else
  return hn::Vec<D>{decltype(hn::Vec<D>::raw){x[columns[i]]...}};
#endif
}

/// x[columns[0]], x[columns[1]], ..., `count` of them, and zeros.
template <std::size_t count, class D, class I>
HWY_INLINE hn::Vec<D> gathered(D d, const hn::TFromD<D>* x, const I* columns) {
  return gathered(std::make_index_sequence<count>(), d, x, load_columns<count>(columns));
}

/// Whether there are instructions that gather such elements.
template <class W>
constexpr bool has_gather = std::is_same_v<W, double> && (is_avx512 || HWY_TARGET == HWY_AVX2);

/// The same by these instructions.
template <class D, class I>
HWY_INLINE hn::Vec<D> gathered_at_once(D d, const hn::TFromD<D>* x, const I* columns) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  constexpr hn::RebindToSigned<D> wide;
  if constexpr (sizeof(I) == 4) {
    return hn::GatherIndex(d, x, hn::PromoteTo(wide, hn::LoadU(hn::Rebind<I, D>(), columns)));
  } else {
    return hn::GatherIndex(d, x, hn::LoadU(wide, columns));
  }
#else
  return gathered<hn::MaxLanes(d)>(d, x, columns);
#endif
}

/// All bits set for the first 8 lanes, none for the next: masks are loaded from it.
template <class W>
alignas(64) constexpr auto first_lanes = []() {
  std::array<hwy::UnsignedFromSize<sizeof(W)>, 2 * row_order::lanes> bits{};
  for (std::size_t l = 0; l < row_order::lanes; ++l) bits[l] = ~bits[l];
  return bits;
}();

/// Values and columns so many terms ahead are prefetched, of matrices that are *far*: of more than
/// `near_bytes`. On Zen 4 a plain loop's time over this one's was 1.12 without and 1.55 with it for
/// the 5-point stencil of 2048^2 (1.02 and 1.57: 7-point, 100^3), and 4 to 8 % less with it where
/// the caches hold the matrix. 512 terms were up to 5 % slower, 128 up to 10 %. Where caches end is
/// the machine's, and this limit a guess.
constexpr std::size_t ahead = 256;
constexpr std::size_t near_bytes = std::size_t{1} << 24;

/// In rows of more than 8 terms an x of more bytes than this is gathered by the instructions for
/// that. They take longer than a load for each element where these hit (1.7 times on Zen 4), and
/// less time where they miss: with 2^18 columns at random, two threads went from 0.77 to 1.06 times
/// the best peer's speed. The limit itself is not tuned.
constexpr std::size_t near_x = std::size_t{1} << 20;

/// Rows that are summed by one kind of code before their lengths are asked for again. Not tuned;
/// with 4 of any length, memplus and R-MAT 2^14 took 10 % longer.
constexpr std::size_t rows_of_one_kind = 256;
constexpr std::size_t rows_of_any_length = 64;

/// A row's terms.
template <class W, class V, class I, bool gathers = false>
struct row_terms {
  using number = W;
  const V* values;
  const I* columns;
  const W* x;

  HWY_INLINE W term(std::size_t i) const { return static_cast<W>(values[i]) * x[columns[i]]; }
  /// A vector of terms, of which those from `count` on are of no use.
  template <std::size_t count, class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    if constexpr (gathers && count == hn::MaxLanes(d)) {
      return hn::Mul(load_values(d, values + i), gathered_at_once(d, x, columns + i));
    } else {
      return hn::Mul(load_values(d, values + i), gathered<count>(d, x, columns + i));
    }
  }
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    return at<hn::MaxLanes(d)>(d, i);
  }
  HWY_INLINE void prefetch(std::size_t i) const {
    hwy::Prefetch(values + ahead + i);
    hwy::Prefetch(columns + ahead + i);
  }
  HWY_INLINE row_terms from(std::size_t i) const { return {values + i, columns + i, x}; }
};

// --- Short rows ----------------------------------------------------------------------------------
//
// Rows are summed in the order of memory, and braces say so: GCC evaluates a call's arguments from
// the last on, and four rows from the last to the first took 2.3 times as long on Zen 4 (27-point
// stencil of 100^3), since prefetchers follow what they are used to.
//
// What takes index sequences is a function rather than a lambda, which GCC may leave out of line,
// its captures in memory.

/// The sum of lane v and of lane v + half, where there is one.
template <std::size_t half, std::size_t count, std::size_t v, class V>
HWY_INLINE V with_other_half(const V* lane) {
  if constexpr (v + half < count) {
    return hn::Add(lane[v], lane[v + half]);
  } else {
    return lane[v];
  }
}

template <std::size_t half, std::size_t count, class V, std::size_t... v>
HWY_INLINE V fold_halves(std::index_sequence<v...>, const V* lane) {
  if constexpr (half == 0) {
    return lane[0];
  } else if constexpr (count <= half) {
    return fold_halves<half / 2, count>(std::make_index_sequence<half / 2>(), lane);
  } else {
    const V sums[] = {with_other_half<half, count, v>(lane)...};
    return fold_halves<half / 2, half>(std::make_index_sequence<half / 2>(), sums);
  }
}

/// Folds the first `count` vectors of a row's lanes to one.
template <class W, std::size_t count>
HWY_INLINE lanes_vec<W> fold_vectors(const lanes_vec<W>* lane) {
  constexpr std::size_t half = row_order::lanes / 2 / hn::MaxLanes(lanes_tag<W>());
  return fold_halves<half, count>(std::make_index_sequence<half>(), lane);
}

/// Lanes from l on, +0 from lane n on; n is at most 8.
template <class W>
HWY_INLINE lanes_vec<W> only_first(std::size_t n, std::size_t l, lanes_vec<W> v) {
  constexpr lanes_tag<W> d;
  constexpr hn::RebindToUnsigned<lanes_tag<W>> bits;
  const auto mask = hn::LoadU(bits, first_lanes<W>.data() + row_order::lanes - n + l);
  return hn::And(hn::BitCast(d, mask), v);
}

/// Folds what is left of four rows' lanes, and writes the rows' sums. They may be sums of lanes
/// that started as their first term, and so be -0.
template <class W>
HWY_INLINE void store_sums(const lanes_vec<W>* rows, W* sums) {
  constexpr lanes_tag<W> d;
  const auto store = [&](lanes_vec<W> v, W* to) HWY_ATTR {
    v = hn::Add(v, hn::Zero(d));
    const auto nan = hn::Set(d, std::numeric_limits<W>::quiet_NaN());
    hn::StoreU(hn::IfThenElse(hn::Eq(v, v), v, nan), d, to);
  };
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t r = 0; r < 4; ++r) store(rows[r], sums + r);
#else
  if constexpr (hn::MaxLanes(d) == 2) {
    const auto both = [&](lanes_vec<W> a, lanes_vec<W> b) HWY_ATTR {
      return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
    };
    store(both(rows[0], rows[1]), sums);
    store(both(rows[2], rows[3]), sums + 2);
  } else {
    const auto halved = [&](lanes_vec<W> a, lanes_vec<W> b) HWY_ATTR {
      return hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
    };
    if constexpr (sizeof(W) == 8) {  // halves are blocks of two lanes
      const auto a = halved(rows[0], rows[2]), b = halved(rows[1], rows[3]);
      store(hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)), sums);
    } else {
      const auto a = halved(rows[0], rows[1]), b = halved(rows[2], rows[3]);
      store(hn::Add(hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a)), sums);
    }
  }
#endif
}

/// A row of up to `most` terms, a lane each; its lanes folded to a vector. So many terms are read,
/// though not added, whatever n is.
template <std::size_t most, class Terms, std::size_t... v>
HWY_INLINE lanes_vec<typename Terms::number> sum_lane_each(std::index_sequence<v...>, Terms t,
                                                           std::size_t n) {
  using W = typename Terms::number;
  constexpr lanes_tag<W> d;
  constexpr std::size_t w = hn::MaxLanes(d);
  const lanes_vec<W> lane[] = {
      only_first<W>(n, v * w, t.template at<std::min(w, most - v * w)>(d, v * w))...};
  return fold_vectors<W, sizeof...(v)>(lane);
}

template <std::size_t most, class Terms>
HWY_INLINE lanes_vec<typename Terms::number> sum_lane_each(Terms t, std::size_t n) {
  constexpr std::size_t w = hn::MaxLanes(lanes_tag<typename Terms::number>());
  return sum_lane_each<most>(std::make_index_sequence<(most + w - 1) / w>(), t, n);
}

/// A row of more than 8 terms.
template <class Terms, std::size_t... v>
HWY_INLINE lanes_vec<typename Terms::number> sum_in_lanes(std::index_sequence<v...>, Terms t,
                                                          std::size_t n, bool far) {
  using W = typename Terms::number;
  constexpr lanes_tag<W> d;
  constexpr std::size_t w = hn::MaxLanes(d);
  constexpr std::size_t lanes = row_order::lanes;
  lanes_vec<W> lane[] = {t.at(d, v * w)...};
  // Not unrolled, since a prefetcher follows few load instructions.
#pragma GCC unroll 1
  for (t = t.from(lanes), n -= lanes; n > lanes; t = t.from(lanes), n -= lanes) {
    if (far) t.prefetch(0);
    ((lane[v] = hn::Add(lane[v], t.at(d, v * w))), ...);
  }
  if (far) t.prefetch(0);
  ((v * w < n ? void(lane[v] = hn::Add(lane[v], only_first<W>(n, v * w, t.at(d, v * w)))) : void()),
   ...);
  return fold_vectors<W, sizeof...(v)>(lane);
}

/// A row of up to `short_row` terms, its lanes folded to a vector. Up to 8 terms past its begin or
/// its last 8 are read, though not added.
template <class Terms>
HWY_INLINE lanes_vec<typename Terms::number> sum_in_lanes(Terms t, std::size_t n, bool far) {
  constexpr std::size_t w = hn::MaxLanes(lanes_tag<typename Terms::number>());
  if (far) t.prefetch(0);
  if (n <= row_order::lanes) return sum_lane_each<row_order::lanes>(t, n);
  return sum_in_lanes(std::make_index_sequence<row_order::lanes / w>(), t, n, far);
}

/// The longest of four rows.
HWY_INLINE std::size_t longest_of_four(const std::int64_t* offsets) {
  const auto length = [&](std::size_t r) HWY_ATTR {
    return static_cast<std::size_t>(offsets[r + 1] - offsets[r]);
  };
  return std::max(std::max(length(0), length(1)), std::max(length(2), length(3)));
}

template <std::size_t most, class Terms>
HWY_INLINE lanes_vec<typename Terms::number> sum_row_up_to(Terms all, const std::int64_t* offsets) {
  const auto begin = static_cast<std::size_t>(offsets[0]);
  return sum_lane_each<most>(all.from(begin), static_cast<std::size_t>(offsets[1]) - begin);
}

template <std::size_t most, class W, class V, class I>
HWY_INLINE void sum_four_rows_up_to(const row_terms<W, V, I> all, const std::int64_t* offsets,
                                    bool far, W* sums) {
  if (far) {
    const auto terms = all.from(static_cast<std::size_t>(offsets[0]));
    for (std::size_t k = 0; k < 4 * most; k += 8) terms.prefetch(k);
  }
  const lanes_vec<W> rows[] = {
      sum_row_up_to<most>(all, offsets), sum_row_up_to<most>(all, offsets + 1),
      sum_row_up_to<most>(all, offsets + 2), sum_row_up_to<most>(all, offsets + 3)};
  store_sums<W>(rows, sums);
}

/// Sums four rows at a time while none has more than `most` terms, at least the first four; returns
/// how many.
template <std::size_t most, class W, class V, class I>
HWY_NOINLINE std::size_t sum_rows_up_to(const row_terms<W, V, I> all, const std::int64_t* offsets,
                                        std::size_t n, bool far, W* sums) {
  std::size_t i = 0;
  do {
    sum_four_rows_up_to<most>(all, offsets + i, far, sums + i);
    i += 4;
  } while (i + 4 <= n && longest_of_four(offsets + i) <= most);
  return i;
}

// --- Rows of any length --------------------------------------------------------------------------

/// Terms that have been computed.
template <class W>
struct stored_terms {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align = false;
  const W* terms;

  HWY_INLINE vec<W> at(std::size_t i) const { return hn::LoadU(tag<W>(), terms + i); }
  HWY_INLINE vec<W> first(std::size_t i, std::size_t count) const {
    return load_first<W>(terms + i, count);
  }
  HWY_INLINE stored_terms from(std::size_t i) const { return {terms + i}; }
};

template <class W>
HWY_NOINLINE W sum_of_chunk(const W* terms, std::size_t n) {
  return sum_only_chunk(stored_terms<W>{terms}, n);
}

/// A longer row, or a node of its tree, as `dot` sums it: a chunk's terms are computed first, and
/// then added up from the cache. That way all types of values and columns share one kernel, which
/// takes a second to compile.
template <class Terms>
HWY_NOINLINE typename Terms::number sum_as_dot(Terms t, std::size_t n) {
  using W = typename Terms::number;
  constexpr tag<W> d;
  HWY_ALIGN W terms[order::chunk];
  tree<W> chunks;
  for (; n > 0; t = t.from(order::chunk)) {
    const std::size_t count = std::min(order::chunk, n);
    std::size_t i = 0;
    for (; i + width<W> <= count; i += width<W>) hn::Store(t.at(d, i), d, terms + i);
    for (; i < count; ++i) terms[i] = t.term(i);
    chunks.add(sum_of_chunk(terms, count));
    n -= count;
  }
  return chunks.total();
}

template <class W, class V, class I>
row_terms<W, V, I> terms_of(const spmv_arguments& a) {
  return {static_cast<const V*>(a.a.values.data), static_cast<const I*>(a.a.column_indices.data),
          static_cast<const W*>(a.x.data)};
}

/// Sums rows of any lengths, four at a time.
template <bool gathers, class W, class V, class I>
HWY_NOINLINE void sum_rows_of_any_length(const row_terms<W, V, I> all, const std::int64_t* offsets,
                                         std::size_t n, bool far, W* sums) {
  constexpr std::size_t lanes = row_order::lanes;
  for (std::size_t i = 0; i + 4 <= n; i += 4) {
    if (longest_of_four(offsets + i) <= lanes) {
      sum_four_rows_up_to<lanes>(all, offsets + i, far, sums + i);
      continue;
    }
    lanes_vec<W> rows[4];
#pragma GCC unroll 1
    for (std::size_t r = 0; r < 4; ++r) {
      const auto begin = static_cast<std::size_t>(offsets[i + r]);
      const std::size_t length = static_cast<std::size_t>(offsets[i + r + 1]) - begin;
      const auto terms = all.from(begin);
      rows[r] =
          length <= row_order::short_row
              ? sum_in_lanes(row_terms<W, V, I, gathers>{terms.values, terms.columns, terms.x},
                             length, far)
              : only_first<W>(1, 0, hn::Set(lanes_tag<W>(), sum_as_dot(terms, length)));
    }
    store_sums<W>(rows, sums + i);
  }
}

/// Sums one row, and reads no other's terms.
template <class W, class V, class I>
HWY_NOINLINE W sum_row(const row_terms<W, V, I> terms, std::size_t n) {
  if (n > row_order::short_row) return canonical(sum_as_dot(terms, n) + W{0});
  return canonical(serial::sum_in_lanes<W, row_order::lanes>(
      0, n, [&](std::size_t i) HWY_ATTR { return terms.term(i); }));
}

template <class W, class V, class I>
void sum_rows(const row_terms<W, V, I> all, std::size_t nonzeros, bool scattered,
              const std::int64_t* offsets, std::size_t n, W* sums) {
  const bool far = nonzeros * (sizeof(V) + sizeof(I)) > near_bytes;
  // The rows before this one may be read 8 terms past their end.
  std::size_t readable = n;
  while (readable > 0 &&
         static_cast<std::size_t>(offsets[readable]) + row_order::lanes > nonzeros) {
    --readable;
  }
  std::size_t i = 0;
  while (i + 4 <= readable) {
    std::size_t count = std::min(readable - i, rows_of_one_kind);
    const std::size_t longest = longest_of_four(offsets + i);
    if (longest <= 4) {
      i += sum_rows_up_to<4>(all, offsets + i, count, far, sums + i);
    } else if (longest <= 6) {
      i += sum_rows_up_to<6>(all, offsets + i, count, far, sums + i);
    } else if (longest <= row_order::lanes) {
      i += sum_rows_up_to<row_order::lanes>(all, offsets + i, count, far, sums + i);
    } else {
      count = std::min(count, rows_of_any_length) / 4 * 4;
      scattered ? sum_rows_of_any_length<has_gather<W>>(all, offsets + i, count, far, sums + i)
                : sum_rows_of_any_length<false>(all, offsets + i, count, far, sums + i);
      i += count;
    }
  }
  for (; i < n; ++i) {
    const auto begin = static_cast<std::size_t>(offsets[i]);
    sums[i] = sum_row(all.from(begin), static_cast<std::size_t>(offsets[i + 1]) - begin);
  }
}

template <class W, class V, class I>
void sum_rows(const spmv_arguments& a, std::size_t first, std::size_t n, W* sums) {
  const auto sum = [&](const std::int64_t* offsets, std::size_t count, W* to) {
    sum_rows(terms_of<W, V, I>(a), a.a.nonzeros(), a.a.columns * sizeof(W) > near_x, offsets, count,
             to);
  };
  if (a.a.row_offsets.element == type::int64) {
    return sum(static_cast<const std::int64_t*>(a.a.row_offsets.data) + first, n, sums);
  }
  const auto* const offsets = static_cast<const std::int32_t*>(a.a.row_offsets.data) + first;
  constexpr std::size_t at_once = 512;  // a multiple of 4
  std::int64_t wide[at_once + 1];
  for (std::size_t i = 0; i < n; i += at_once) {
    const std::size_t count = std::min(at_once, n - i);
    std::copy_n(offsets + i, count + 1, wide);
    sum(wide, count, sums + i);
  }
}

template <class W, class V, class I>
dot_sum<W> sum_part(const spmv_arguments& a, std::size_t first, std::size_t n) {
  return {sum_as_dot(terms_of<W, V, I>(a).from(first), n) + W{0}};
}

template <class W>
constexpr auto kernels = table_over<wide_values>([]<class V>() -> std::array<row_kernels<W>, 2> {
  if constexpr (sizeof(V) <= sizeof(W)) {
    return {{{&sum_rows<W, V, std::int32_t>, &sum_part<W, V, std::int32_t>},
             {&sum_rows<W, V, std::int64_t>, &sum_part<W, V, std::int64_t>}}};
  } else {
    return {};
  }
});

}  // namespace

constexpr implementation here = {set_of(HWY_TARGET), &kernels<float>, &kernels<double>};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/implementations-inl.hpp"

namespace tally::backends::simd {

template <class A>
row_kernels<A> row_kernels_of(instruction_set set, const spmv_arguments& a) {
  if constexpr (is_complex_v<A>) {
    return serial::row_kernels_of<A>(a);
  } else if (!is_in<wide_values>(a.a.values.element)) {
    return serial::row_kernels_of<A>(a);
  } else {
    const implementation& chosen = implementation_of(set);
    const auto pick = [&](const auto& kernels) {
      return kernels[a.a.values.element][a.a.column_indices.element == type::int64];
    };
    if constexpr (std::is_same_v<A, float>) {
      return pick(*chosen.floats);
    } else {
      return pick(*chosen.doubles);
    }
  }
}

template <class A>
readable_x<A>::readable_x(const spmv_arguments& a) : arguments_(a) {
  if constexpr (!is_complex_v<A>) {
    if (a.x.increment == 1 && a.x.element == type_of<A>) return;
    elements_.reset(new A[a.x.size]);
    blocks::fetchers<A>[a.x.element](a.x, elements_.get());
    arguments_.x = {elements_.get(), a.x.size, 1, type_of<A>};
  }
}

void spmv(const executor& where, const spmv_arguments& a) {
  with_row_accumulator(a, [&]<class A>() {
    if (a.exact)
      return multiply_rows_exactly<A>(a, 0, a.a.rows, *exact_node_of(where.instructions()));
    const readable_x<A> x(a);
    multiply_rows(row_kernels_of<A>(where.instructions(), a), x.arguments(), 0, a.a.rows);
  });
}

std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand& matrix) {
  auto analysis = std::make_shared<spmv_analysis>();
  analysis->description = "row after row on one thread; " + describe(lengths_of_rows(matrix));
  return analysis;
}

// The openmp column calls these on its threads' shares.
template row_kernels<float> row_kernels_of(instruction_set, const spmv_arguments&);
template row_kernels<double> row_kernels_of(instruction_set, const spmv_arguments&);
template row_kernels<std::complex<float>> row_kernels_of(instruction_set, const spmv_arguments&);
template row_kernels<std::complex<double>> row_kernels_of(instruction_set, const spmv_arguments&);
template class readable_x<float>;
template class readable_x<double>;
template class readable_x<std::complex<float>>;
template class readable_x<std::complex<double>>;

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
