// Kernels of SELL-C-σ slices of a plan's rows: a vector lane per row, a vector per lane of the row
// order. Packed values are read in order, others transposed in registers, those of a transpose
// gathered; x is gathered unless adjacent rows share a stencil. Adjacent rows with equal columns
// are summed a vector per row instead, and share the gathered elements of x.
//
// Promise: sums in the row order.
#include "backends/common/order/row_order.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/common/sparse/row_kernels.hpp"
#include "backends/simd/spmv/plan.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS
#undef TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS
#else
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS
#endif

#include "backends/simd/spmv/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR  // no vectors

/// Vectors of a slice, which is one or several of them.
template <class W>
using slice_tag = hn::CappedTag<W, rows_of_slice<W>>;
template <class W>
using slice_vec = hn::Vec<slice_tag<W>>;
template <class W>
constexpr std::size_t slice_lanes = hn::MaxLanes(slice_tag<W>());

// --- Values --------------------------------------------------------------------------------------

/// Columns per block: 128 bits of a row.
template <class W>
constexpr std::size_t block_columns = 16 / sizeof(W);

/// Packed values of a vector of rows; column k begins at `values + k * stride`.
template <class W>
struct packed_values {
  const W* values;
  std::size_t stride;

  static constexpr std::size_t columns = block_columns<W>;

  template <std::size_t n = columns>
  HWY_INLINE packed_values block(std::size_t k) const {
    return {values + k * stride, stride};
  }
  template <std::size_t c>
  HWY_INLINE slice_vec<W> column() const {
    return hn::LoadU(slice_tag<W>(), values + c * stride);
  }
};

/// Values of a vector of rows, gathered at packed places.
template <class W>
struct packed_places {
  const std::int32_t* places;
  std::size_t stride;
  const W* values;

  static constexpr std::size_t columns = block_columns<W>;

  template <std::size_t n = columns>
  HWY_INLINE packed_places block(std::size_t k) const {
    return {places + k * stride, stride, values};
  }
  template <std::size_t c>
  HWY_INLINE slice_vec<W> column() const {
    return gathered_at_once(slice_tag<W>(), values, places + c * stride);
  }
};

template <class W>
struct even_rows {
  const W* first;
  std::size_t terms;

  HWY_INLINE const W* operator[](std::size_t r) const { return first + r * terms; }
};

/// Loads 128 bits of each of several rows, `apart` rows from one to the next.
template <class D, class Rows>
HWY_INLINE hn::Vec<D> load_blocks(D d, const Rows& rows, std::size_t r, std::size_t apart,
                                  std::size_t k) {
  if constexpr (sizeof(hn::TFromD<D>) * hn::MaxLanes(d) == 16) {
    return hn::LoadU(d, rows[r] + k);
  } else {
    constexpr hn::Half<D> half;
    constexpr std::size_t blocks = sizeof(hn::TFromD<D>) * hn::MaxLanes(half) / 16;
    return hn::Combine(d, load_blocks(half, rows, r + blocks * apart, apart, k),
                       load_blocks(half, rows, r, apart, k));
  }
}

/// Values of a vector of rows, a vector per column.
template <class W, std::size_t n>
struct block_values {
  slice_vec<W> of[n];

  template <std::size_t c>
  HWY_INLINE slice_vec<W> column() const {
    return of[c];
  }
};

/// Values of a vector of rows, read from the matrix.
template <class W, class Rows>
struct values_in_place {
  Rows rows;

  /// Columns per block: 256 bits of 4 rows take fewer loads, of 8 even ones also fewer shuffles,
  /// per column (tuning/spmv.md: values_in_place).
  static constexpr bool is_square = sizeof(W) == 8 && slice_lanes<W> == 4;
  static constexpr std::size_t columns =
      is_square || (is_avx512 && sizeof(W) == 8 && std::is_same_v<Rows, even_rows<W>>)
          ? 4
          : block_columns<W>;

  /// Loads n columns, transposed.
  template <std::size_t n>
  HWY_INLINE block_values<W, n> block(std::size_t k) const {
    constexpr slice_tag<W> d;
    if constexpr (n == 2) {
      const auto a = load_blocks(d, rows, 0, n, k), b = load_blocks(d, rows, 1, n, k);
      return {{hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)}};
    } else if constexpr (is_square) {
      const auto a = hn::LoadU(d, rows[0] + k), b = hn::LoadU(d, rows[1] + k);
      const auto c = hn::LoadU(d, rows[2] + k), e = hn::LoadU(d, rows[3] + k);
      const auto lower_ab = hn::InterleaveLower(d, a, b), upper_ab = hn::InterleaveUpper(d, a, b);
      const auto lower_ce = hn::InterleaveLower(d, c, e), upper_ce = hn::InterleaveUpper(d, c, e);
      return {{hn::ConcatLowerLower(d, lower_ce, lower_ab),
               hn::ConcatLowerLower(d, upper_ce, upper_ab),
               hn::ConcatUpperUpper(d, lower_ce, lower_ab),
               hn::ConcatUpperUpper(d, upper_ce, upper_ab)}};
#if HWY_TARGET == HWY_AVX3
    } else if constexpr (sizeof(W) == 8) {
      constexpr hn::Half<slice_tag<W>> half;
      const auto load = [&](std::size_t r) HWY_ATTR {
        return hn::Combine(d, hn::LoadU(half, rows[r + 2] + k), hn::LoadU(half, rows[r] + k));
      };
      const auto a = load(0), b = load(1), c = load(4), e = load(5);
      const auto lower_ab = hn::InterleaveLower(d, a, b), upper_ab = hn::InterleaveUpper(d, a, b);
      const auto lower_ce = hn::InterleaveLower(d, c, e), upper_ce = hn::InterleaveUpper(d, c, e);
      // Even 128-bit blocks hold two columns, odd ones the next two.
      return {{{_mm512_shuffle_f64x2(lower_ab.raw, lower_ce.raw, 0x88)},
               {_mm512_shuffle_f64x2(upper_ab.raw, upper_ce.raw, 0x88)},
               {_mm512_shuffle_f64x2(lower_ab.raw, lower_ce.raw, 0xdd)},
               {_mm512_shuffle_f64x2(upper_ab.raw, upper_ce.raw, 0xdd)}}};
#endif
    } else {
      constexpr hn::RepartitionToWide<slice_tag<W>> pairs;
      const auto a = load_blocks(d, rows, 0, n, k), b = load_blocks(d, rows, 1, n, k);
      const auto c = load_blocks(d, rows, 2, n, k), e = load_blocks(d, rows, 3, n, k);
      const auto lower_ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
      const auto upper_ab = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
      const auto lower_ce = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
      const auto upper_ce = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
      return {{hn::BitCast(d, hn::InterleaveLower(pairs, lower_ab, lower_ce)),
               hn::BitCast(d, hn::InterleaveUpper(pairs, lower_ab, lower_ce)),
               hn::BitCast(d, hn::InterleaveLower(pairs, upper_ab, upper_ce)),
               hn::BitCast(d, hn::InterleaveUpper(pairs, upper_ab, upper_ce))}};
    }
  }
};

// --- Elements of x -------------------------------------------------------------------------------

/// Elements of x for adjacent rows with one stencil.
template <class W>
struct adjacent_x {
  const std::int32_t* above;
  const W* x;

  HWY_INLINE slice_vec<W> at(std::size_t k) const {
    return hn::LoadU(slice_tag<W>(), x + above[k]);
  }
};

/// Elements of x for rows with explicit columns.
template <class W, class I>
struct columns_x {
  const I* columns;
  const W* x;

  HWY_INLINE slice_vec<W> at(std::size_t k) const {
    return gathered_at_once(slice_tag<W>(), x, columns + k * rows_of_slice<W>);
  }
};

// --- Sums ----------------------------------------------------------------------------------------

template <std::size_t count, class W>
HWY_INLINE slice_vec<W> fold_slice(const slice_vec<W>* lane) {
  constexpr slice_tag<W> d;
  constexpr std::size_t half = row_order::lanes / 2;
  auto v = fold_halves<half, count>(std::make_index_sequence<half>(), lane);
  v = hn::Add(v, hn::Zero(d));
  return hn::IfThenElse(hn::Eq(v, v), v, hn::Set(d, std::numeric_limits<W>::quiet_NaN()));
}

// Functions, not lambdas, take the terms: GCC leaves some lambdas out of line.

/// Adds the term of a block's column c, column k of all, to lane l < `count`; with `first` it
/// starts the lane.
template <bool first, std::size_t count, std::size_t l, std::size_t c, class W, class Block,
          class X>
HWY_INLINE void take_term(const Block& values, const X& x, std::size_t k, slice_vec<W>* lane) {
  if constexpr (l < count) {
    const auto term = hn::Mul(values.template column<c>(), x.at(k));
    lane[l] = first ? term : hn::Add(lane[l], term);
  }
}

/// Adds the terms of columns k, k + 1, ... to lanes l, l + 1, ...
template <bool first, std::size_t count, std::size_t l, class W, class Values, class X,
          std::size_t... c>
HWY_INLINE void take_block(std::index_sequence<c...>, const Values& values, const X& x,
                           std::size_t k, slice_vec<W>* lane) {
  // Wider blocks would make more loads cross a line.
  constexpr bool few = count - l <= block_columns<W>;
  const auto block = values.template block<few ? block_columns<W> : sizeof...(c)>(k);
  (take_term<first, count, l + c, c, W>(block, x, k + c, lane), ...);
}

template <bool first, std::size_t count, std::size_t l = 0, class W, class Values, class X>
HWY_INLINE void take_columns(const Values& values, const X& x, std::size_t k, slice_vec<W>* lane) {
  if constexpr (l < count) {
    constexpr std::size_t n = Values::columns;
    take_block<first, count, l, W>(std::make_index_sequence<n>(), values, x, k + l, lane);
    take_columns<first, count, l + n, W>(values, x, k, lane);
  }
}

#if HWY_TARGET != HWY_AVX3
/// Masks: all bits set for a slice's rows, then none.
template <class W>
alignas(64) constexpr auto first_rows = []() {
  std::array<hwy::UnsignedFromSize<sizeof(W)>, 2 * rows_of_slice<W>> bits{};
  for (std::size_t r = 0; r < rows_of_slice<W>; ++r) bits[r] = ~bits[r];
  return bits;
}();
#endif

/// Returns v with zeros for rows beyond the first `count` of a slice; v begins at row r.
template <class W>
HWY_INLINE slice_vec<W> only_first_rows(std::size_t count, std::size_t r, slice_vec<W> v) {
  constexpr slice_tag<W> d;
#if HWY_TARGET == HWY_AVX3
  return hn::IfThenElseZero(hn::FirstN(d, count > r ? count - r : 0), v);
#else
  constexpr hn::RebindToUnsigned<slice_tag<W>> bits;
  const auto mask = hn::LoadU(bits, first_rows<W>.data() + rows_of_slice<W> - count + r);
  return hn::And(hn::BitCast(d, mask), v);
#endif
}

/// Lengths of a vector of rows, which begins at row r of a slice.
struct row_shape {
  std::size_t shortest, longest;
  const std::uint8_t* counts;  ///< rows with term k, from `shortest` on
  std::size_t r;
};

/// Adds the term of column k, which some rows or all may lack, to lane l; in shorter rows +0, which
/// changes no lane.
template <std::size_t l, std::size_t c, class W, class Block, class X>
HWY_INLINE void take_last_term(const Block& values, const X& x, std::size_t k,
                               const row_shape& rows, slice_vec<W>* lane) {
  if (k >= rows.longest) return;
  auto term = hn::Mul(values.template column<c>(), x.at(k));
  if (k >= rows.shortest) term = only_first_rows<W>(rows.counts[k - rows.shortest], rows.r, term);
  lane[l] = hn::Add(lane[l], term);
}

template <std::size_t l, class W, class Values, class X, std::size_t... c>
HWY_INLINE void take_last_block(std::index_sequence<c...>, const Values& values, const X& x,
                                std::size_t k, const row_shape& rows, slice_vec<W>* lane) {
  const auto block = values.template block<sizeof...(c)>(k);
  (take_last_term<l + c, c, W>(block, x, k + c, rows, lane), ...);
}

template <std::size_t l = 0, class W, class Values, class X>
HWY_INLINE void take_last_columns(const Values& values, const X& x, std::size_t k,
                                  const row_shape& rows, slice_vec<W>* lane) {
  if constexpr (l < row_order::lanes) {
    if (k + l >= rows.longest) return;
    constexpr std::size_t n = block_columns<W>;
    take_last_block<l, W>(std::make_index_sequence<n>(), values, x, k + l, rows, lane);
    take_last_columns<l + n, W>(values, x, k, rows, lane);
  }
}

/// Sums a vector of rows. `count`: their number of terms, or 0 if they differ or it exceeds 8.
template <std::size_t count, class W, class Values, class X>
HWY_INLINE slice_vec<W> sum_slice(const Values& values, const X& x, const row_shape& rows) {
  constexpr std::size_t lanes = row_order::lanes;
  slice_vec<W> lane[lanes];
  if constexpr (count > 0) {
    take_columns<true, count, 0, W>(values, x, 0, lane);
    return fold_slice<count, W>(lane);
  } else {
    std::size_t k = 0;
    if (lanes <= rows.shortest) {
      take_columns<true, lanes, 0, W>(values, x, 0, lane);
      k = lanes;
    } else {
      for (slice_vec<W>& sum : lane) sum = hn::Zero(slice_tag<W>());
    }
    for (; k + lanes <= rows.shortest; k += lanes) {
      take_columns<false, lanes, 0, W>(values, x, k, lane);
    }
    for (; k < rows.longest; k += lanes) take_last_columns<0, W>(values, x, k, rows, lane);
    return fold_slice<lanes, W>(lane);
  }
}

/// Calls sum(count) with n as a constant, 0 if above 8.
template <std::size_t count = row_order::lanes, class Sum>
HWY_INLINE void with_count(std::size_t n, const Sum& sum) {
  if (count == 0 || n == count) return sum(std::integral_constant<std::size_t, count>());
  if constexpr (count > 0) with_count<count - 1>(n, sum);
}

// --- Groups of slices ----------------------------------------------------------------------------

/// Read positions of a product in its plan.
template <slice_values reads, class W>
struct group_cursor {
  using packed = std::conditional_t<reads == slice_values::gathered, std::int32_t, W>;
  static constexpr bool packs = reads != slice_values::in_place;

  const packed* values;  ///< packed ones of this group, or their places; or the matrix's
  const W* of_matrix;
  index_vector begins;  ///< row offsets from the scope's first row on
  const std::byte* columns;
  const std::uint16_t* rows;
  const std::uint16_t* rows_end;  ///< end of the scope's rows
  const std::uint8_t* counts;
  bool far;  ///< whether values exceed `near_bytes`, or packed ones `near_packed_bytes`
};

/// Prefetch distances for values read from the matrix: rows side by side are many streams
/// (tuning/spmv.md: bytes_ahead).
constexpr std::size_t bytes_ahead = 2048;
constexpr std::size_t slices_ahead = 4;

template <class Packed>
HWY_INLINE void prefetch_adjacent(const Packed* values, std::size_t n) {
  const auto* const begin = reinterpret_cast<const char*>(values) + bytes_ahead;
  for (std::size_t b = 0; b < n * sizeof(Packed); b += 64) hwy::Prefetch(begin + b);
}

/// Bytes of packed values above which short rows are prefetched (tuning/spmv.md:
/// near_packed_bytes).
constexpr std::size_t near_packed_bytes = std::size_t{1} << 22;
template <class Cursor>
HWY_INLINE bool prefetches_packed(const Cursor& at, std::size_t terms) {
  return at.far && terms <= 2 * row_order::lanes;
}

/// Returns packed values from `first` on, or those at such places.
template <slice_values reads, class W>
HWY_INLINE auto packed_from(const group_cursor<reads, W>& at,
                            const typename group_cursor<reads, W>::packed* first,
                            std::size_t stride) {
  if constexpr (reads == slice_values::gathered) {
    return packed_places<W>{first, stride, at.of_matrix};
  } else {
    return packed_values<W>{first, stride};
  }
}

/// Prefetches n values of each row, `slices_ahead` further on. Row ranges may be read as rows
/// there.
template <class W>
HWY_INLINE void prefetch_listed(const group_cursor<slice_values::in_place, W>& at, std::size_t n) {
  constexpr std::size_t slice = rows_of_slice<W>;
  constexpr std::size_t ahead_of_rows = slices_ahead * slice;
  if (static_cast<std::size_t>(at.rows_end - at.rows) < ahead_of_rows + slice) return;
  const std::uint16_t* const rows = at.rows + ahead_of_rows;
  for (std::size_t r = 0; r < slice; ++r) {
    const auto* const begin = reinterpret_cast<const char*>(at.values + at.begins[rows[r]]);
    for (std::size_t b = 0; b < n * sizeof(W); b += 64) hwy::Prefetch(begin + b);
  }
}

/// Stores the first n rows of v.
template <class W>
HWY_INLINE void store_first(slice_vec<W> v, std::size_t n, W* sums) {
  constexpr slice_tag<W> d;
  if (n >= slice_lanes<W>) return hn::StoreU(v, d, sums);
  if constexpr (has_masked_loads) {
    hn::BlendedStore(v, hn::FirstN(d, n), d, sums);
  } else {
    W all[slice_lanes<W>];
    hn::StoreU(v, d, all);
    for (std::size_t r = 0; r < n; ++r) sums[r] = all[r];
  }
}

/// Sums slices of adjacent rows, `full` or of group.adjacent rows each. `sum(values, x, r)` returns
/// the sums of rows r, r + 1, ... of a slice. Copies of members, which stores of sums could alias.
template <bool full, slice_values reads, class W, class Sum>
HWY_INLINE void sum_each_adjacent(const slice_group& group, group_cursor<reads, W>& at, const W* x,
                                  W* sums, const Sum& sum) {
  constexpr bool packs = group_cursor<reads, W>::packs;
  constexpr std::size_t slice = rows_of_slice<W>, lanes = slice_lanes<W>;
  const std::size_t terms = group.longest, rows = full ? slice : group.adjacent;
  const std::int32_t* const above = group.pattern->above;
  const bool prefetches = packs ? prefetches_packed(at, terms) : at.far;
  const index_vector begins = at.begins;
  const std::uint16_t* first = at.rows;
  auto values = at.values;
  std::size_t row = *first;
  if constexpr (!packs) values += begins[row];
  for (std::size_t left = group.size; left > 0; --left, ++first) {
    if constexpr (packs) {
      if (prefetches) prefetch_adjacent(values, terms * rows);
    } else {
      // Within a run, row offsets are not read.
      const std::size_t ahead_of_last = *first - row;
      row = *first;
      values = ahead_of_last <= rows ? values + ahead_of_last * terms : at.values + begins[row];
    }
    for (std::size_t r = 0; r < rows; r += lanes) {
      const adjacent_x<W> of_x{above, x + *first + r};
      slice_vec<W> some;
      if constexpr (packs) {
        some = sum(packed_from(at, values + r, rows), of_x);
      } else {
        if (prefetches) prefetch_adjacent(values + r * terms, lanes * terms);
        some = sum(values_in_place<W, even_rows<W>>{{values + r * terms, terms}}, of_x);
      }
      W* const to = sums + *first + r;
      full ? hn::StoreU(some, slice_tag<W>(), to) : store_first<W>(some, rows - r, to);
    }
    if constexpr (packs) values += terms * rows;
  }
  at.rows = first;
  // Packed values of the next group begin at a cache line.
  if constexpr (packs)
    at.values += (static_cast<std::size_t>(values - at.values) + slice - 1) / slice * slice;
}

/// Sums rows of n terms; `count` as for `sum_slice`.
template <std::size_t count, class W>
struct even_sum {
  std::size_t n;

  template <class Values>
  HWY_INLINE slice_vec<W> operator()(const Values& values, const adjacent_x<W>& x) const {
    return sum_slice<count, W>(values, x, {n, n, nullptr, 0});
  }
};

template <bool full, slice_values reads, class W>
HWY_NOINLINE void sum_adjacent(const slice_group& group, group_cursor<reads, W>& at, const W* x,
                               W* sums) {
  const std::size_t n = group.longest;
  constexpr std::size_t max_counted = group_cursor<reads, W>::packs || full ? row_order::lanes : 0;
  with_count<max_counted>(
      n, [&]<std::size_t count>(std::integral_constant<std::size_t, count>)
             HWY_ATTR { sum_each_adjacent<full>(group, at, x, sums, even_sum<count, W>{n}); });
}

#if HWY_TARGET == HWY_AVX3
/// Returns the concatenation of `low` and `high` from element c on.
template <int c>
HWY_INLINE slice_vec<double> elements_from(slice_vec<double> low, __m128d high) {
  const __m512i behind = _mm512_castpd_si512(_mm512_castpd128_pd512(high));
  return {_mm512_castsi512_pd(_mm512_alignr_epi64(behind, _mm512_castpd_si512(low.raw), c))};
}
template <int c>
HWY_INLINE slice_vec<float> elements_from(slice_vec<float> low, __m128 high) {
  const __m512i behind = _mm512_castps_si512(_mm512_castps128_ps512(high));
  return {_mm512_castsi512_ps(_mm512_alignr_epi32(behind, _mm512_castps_si512(low.raw), c))};
}
#endif

/// Adds the terms of three adjacent columns, k on, of adjacent rows; with `first` they start the
/// lanes.
template <bool first, std::size_t k, class W, std::size_t... c>
HWY_INLINE void add_triple(std::index_sequence<c...>, const packed_values<W>& values,
                           const adjacent_x<W>& x, slice_vec<W>* lane) {
  constexpr slice_tag<W> d;
  const W* const of_x = x.x + x.above[k];
  const auto at_first = hn::LoadU(d, of_x);
#if HWY_TARGET == HWY_AVX3  // one load fewer, and one of them seldom crosses a line
  const auto behind = hn::LoadU(hn::CappedTag<W, 2>(), of_x + slice_lanes<W>).raw;
  const slice_vec<W> elements[] = {at_first, elements_from<1>(at_first, behind),
                                   elements_from<2>(at_first, behind)};
#else
  const slice_vec<W> elements[] = {at_first, hn::LoadU(d, of_x + 1), hn::LoadU(d, of_x + 2)};
#endif
  ((lane[(k + c) % row_order::lanes] =
        first && k + c < row_order::lanes
            ? hn::Mul(values.template column<k + c>(), elements[c])
            : hn::Add(lane[(k + c) % row_order::lanes],
                      hn::Mul(values.template column<k + c>(), elements[c]))),
   ...);
}

/// Triples after which columns start at lane 0 again.
constexpr std::size_t triples_of_lanes = row_order::lanes;

/// Adds the terms of the next n <= `triples_of_lanes` triples. With `first` they start the lanes,
/// and are more than 8 terms.
template <bool first, std::size_t t = 0, class W>
HWY_INLINE void add_triples(const packed_values<W>& values, const adjacent_x<W>& x, std::size_t n,
                            slice_vec<W>* lane) {
  if constexpr (t < triples_of_lanes) {
    constexpr bool sure = first && 3 * t <= row_order::lanes;
    if (!sure && t >= n) return;
    add_triple<first, 3 * t, W>(std::make_index_sequence<3>(), values, x, lane);
    add_triples<first, t + 1, W>(values, x, n, lane);
  }
}

/// Sums rows of n terms, in triples.
template <class W>
struct triples_sum {
  std::size_t n;

  HWY_INLINE slice_vec<W> operator()(packed_values<W> values, adjacent_x<W> x) const {
    slice_vec<W> lane[row_order::lanes];
    add_triples<true>(values, x, n / 3, lane);
    constexpr std::size_t columns = 3 * triples_of_lanes;
    for (std::size_t k = columns; k < n; k += columns) {
      values = values.block(columns);
      x.above += columns;
      add_triples<false>(values, x, (n - k) / 3, lane);
    }
    return fold_slice<row_order::lanes, W>(lane);
  }
};

template <bool full, class W>
HWY_NOINLINE void sum_adjacent_triples(const slice_group& group,
                                       group_cursor<slice_values::copied, W>& at, const W* x,
                                       W* sums) {
  sum_each_adjacent<full>(group, at, x, sums, triples_sum<W>{group.longest});
}

template <slice_values reads, class W>
HWY_INLINE auto listed_values(const group_cursor<reads, W>& at, std::size_t r) {
  if constexpr (group_cursor<reads, W>::packs) {
    return packed_from(at, at.values + r, rows_of_slice<W>);
  } else {
    values_in_place<W, std::array<const W*, slice_lanes<W>>> in_place;
    for (std::size_t l = 0; l < slice_lanes<W>; ++l) {
      in_place.rows[l] = at.values + at.begins[at.rows[r + l]];
    }
    return in_place;
  }
}

/// Whether sums of listed rows of `count` terms are stored from registers: floats, and packed rows
/// of few terms, take longer so (tuning/spmv.md: stores_lanes).
template <bool packs, std::size_t count, class W>
constexpr bool stores_lanes = HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && sizeof(W) == 8 &&
                              slice_lanes<W> <= 4 && (!packs || count == 0 || count > 4);

/// Stores a vector's sums to `sums[rows[l]]`.
template <class W>
HWY_INLINE void store_listed(slice_vec<W> some, const std::uint16_t* rows, W* sums) {
  const auto listed = load_columns<slice_lanes<W>>(rows);
  for (std::size_t l = 0; l < slice_lanes<W>; ++l) sums[listed[l]] = some.raw[l];
}

/// Sums slices of listed rows. x begins at the scope's lowest column.
template <class I, slice_values reads, class W>
HWY_NOINLINE void sum_listed(const slice_group& group, group_cursor<reads, W>& at, const W* x,
                             W* sums) {
  constexpr bool packs = group_cursor<reads, W>::packs;
  constexpr std::size_t slice = rows_of_slice<W>;
  const std::size_t n = group.longest;
  const bool prefetches = packs ? prefetches_packed(at, n) : at.far;
  const auto sum_each =
      [&]<std::size_t count>(std::integral_constant<std::size_t, count>) HWY_ATTR {
        constexpr bool from_registers = stores_lanes<packs, count, W>;
        for (std::size_t i = 0; i < group.size; ++i) {
          HWY_ALIGN W all[slice];
          if (prefetches) {
            if constexpr (packs) {
              prefetch_adjacent(at.values, n * slice);
            } else {
              prefetch_listed(at, n);
            }
          }
          for (std::size_t r = 0; r < slice; r += slice_lanes<W>) {
            const columns_x<W, I> of_x{reinterpret_cast<const I*>(at.columns) + r, x};
            const row_shape rows{group.shortest, n, at.counts, r};
            const auto some = sum_slice<count, W>(listed_values(at, r), of_x, rows);
            if constexpr (from_registers) {
              store_listed<W>(some, at.rows + r, sums);
            } else {
              hn::Store(some, slice_tag<W>(), all + r);
            }
          }
          if constexpr (!from_registers && sizeof(W) == 4) {
            const auto listed = load_columns<slice>(at.rows);  // (tuning/spmv.md: stores_lanes)
            for (std::size_t r = 0; r < slice; ++r) sums[listed[r]] = all[r];
          } else if constexpr (!from_registers) {
            for (std::size_t r = 0; r < slice; ++r) sums[at.rows[r]] = all[r];
          }
          if constexpr (packs) at.values += n * slice;
          at.columns += n * slice * sizeof(I);
          at.rows += slice;
          at.counts += n - group.shortest;
        }
      };
  with_count(group.shortest == n ? n : 0, sum_each);
}

/// Terms of a long row, for the kernel of `dot`. They can be read in whole vectors.
template <class W, class I>
struct long_row_terms {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align = false;
  const W* values;
  const I* columns;
  const W* x;

  HWY_INLINE vec<W> at(std::size_t i) const {
    return hn::Mul(hn::LoadU(tag<W>(), values + i), gathered_at_once(tag<W>(), x, columns + i));
  }
  HWY_INLINE vec<W> first(std::size_t i, std::size_t count) const {
    if (count == 0) return hn::Zero(tag<W>());
    return only_first_rows<W>(std::min(count, width<W>), 0, at(i));
  }
  HWY_INLINE long_row_terms from(std::size_t i) const { return {values + i, columns + i, x}; }
};

/// The same, with values gathered.
template <class W, class I>
struct placed_row_terms {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align = false;
  const W* values;
  const std::int32_t* places;
  const I* columns;
  const W* x;

  HWY_INLINE vec<W> at(std::size_t i) const {
    return hn::Mul(gathered_at_once(tag<W>(), values, places + i),
                   gathered_at_once(tag<W>(), x, columns + i));
  }
  HWY_INLINE vec<W> first(std::size_t i, std::size_t count) const {
    if (count == 0) return hn::Zero(tag<W>());
    return only_first_rows<W>(std::min(count, width<W>), 0, at(i));
  }
  HWY_INLINE placed_row_terms from(std::size_t i) const {
    return {values, places + i, columns + i, x};
  }
};

template <class I, slice_values reads, class W>
HWY_NOINLINE void sum_long_rows(const slice_group& group, group_cursor<reads, W>& at, const W* x,
                                W* sums) {
  constexpr bool packs = group_cursor<reads, W>::packs;
  constexpr std::size_t slice = rows_of_slice<W>;
  for (std::size_t left = group.size; left > 0; --left, ++at.rows) {
    const std::size_t row = *at.rows;
    const std::int64_t begin = at.begins[row];
    const auto n = static_cast<std::size_t>(at.begins[row + 1] - begin);
    const auto* const columns = reinterpret_cast<const I*>(at.columns);
    W sum;
    if constexpr (reads == slice_values::gathered) {
      sum = sum_as_dot(placed_row_terms<W, I>{at.of_matrix, at.values, columns, x}, n);
    } else {
      const W* const values = packs ? at.values : at.values + begin;
      sum = sum_only_chunk(long_row_terms<W, I>{values, columns, x}, n);
    }
    sums[row] = canonical(sum + W{0});
    const std::size_t padded = (n + slice - 1) / slice * slice;
    if constexpr (packs) at.values += padded;
    at.columns += padded * sizeof(I);
  }
}

/// Terms of adjacent rows of equal lengths and columns, eight of each at a time.
template <class W, class I>
struct alike_terms {
#if HWY_TARGET == HWY_AVX3
  static constexpr row_tag<W> d{};
#else
  static constexpr lanes_tag<W> d{};
#endif
  static constexpr std::size_t width = hn::MaxLanes(d), vectors = row_order::lanes / width;
  using lanes = hn::Vec<std::remove_const_t<decltype(d)>>;

  const W* values;
  std::size_t n;  ///< of a row
  const I* columns;
  const W* x;

  /// Adds terms [k, k + 8) of `rows` rows; of the last ones others are zeros. With `first` they
  /// start the lanes.
  template <std::size_t rows, bool first, bool last>
  HWY_INLINE void add(std::size_t k, lanes (&sums)[rows][vectors]) const {
    for (std::size_t v = 0; v < vectors; ++v) {
      const auto of_x = gathered_at_once(d, x, columns + k + v * width);
      for (std::size_t r = 0; r < rows; ++r) {
        auto term = hn::Mul(hn::LoadU(d, values + r * n + k + v * width), of_x);
        if constexpr (last) term = before_end(k + v * width, term);
        sums[r][v] = first ? term : hn::Add(sums[r][v], term);
      }
    }
  }

  HWY_INLINE lanes before_end(std::size_t k, lanes term) const {
#if HWY_TARGET == HWY_AVX3
    return hn::IfThenElseZero(hn::FirstN(d, n - k), term);
#else
    return only_first<W>(n < k ? 0 : n - k, 0, term);
#endif
  }

  template <std::size_t rows>
  HWY_INLINE void sum(W* sums) const {
    lanes all[rows][vectors];
    constexpr std::size_t lanes_of_row = row_order::lanes;
    std::size_t k = lanes_of_row;
    add<rows, true, false>(0, all);
    for (; k + lanes_of_row <= n; k += lanes_of_row) add<rows, false, false>(k, all);
    if (k < n) add<rows, false, true>(k, all);
    lanes_vec<W> halves[4];
    for (std::size_t r = 0; r < 4; ++r) {
      if constexpr (vectors == 1) {
        halves[r] = hn::Add(hn::LowerHalf(all[r % rows][0]),
                            hn::UpperHalf(lanes_tag<W>(), all[r % rows][0]));
      } else {
        halves[r] = fold_vectors<W, vectors>(all[r % rows]);
      }
    }
    W four[4];
    store_sums<W>(halves, four);
    std::copy_n(four, rows, sums);
  }
};

/// Sums ranges of rows with equal columns. x begins at the scope's lowest column.
template <class I, slice_values reads, class W>
HWY_NOINLINE void sum_alike(const slice_group& group, group_cursor<reads, W>& at, const W* x,
                            W* sums) {
  for (std::size_t i = 0; i < group.size; ++i, at.rows += 2) {
    const std::int64_t begin = at.begins[at.rows[0]];
    const auto n = static_cast<std::size_t>(at.begins[at.rows[0] + std::size_t{1}] - begin);
    alike_terms<W, I> terms{at.of_matrix + begin, n, reinterpret_cast<const I*>(at.columns), x};
    W* to = sums + at.rows[0];
    for (std::size_t left = at.rows[1]; left > 0;) {
      const std::size_t some = std::min<std::size_t>(left, 4);
      if (at.far) prefetch_adjacent(terms.values, some * n);
      some == 1   ? terms.template sum<1>(to)
      : some == 2 ? terms.template sum<2>(to)
      : some == 3 ? terms.template sum<3>(to)
                  : terms.template sum<4>(to);
      terms.values += some * n;
      to += some;
      left -= some;
    }
    constexpr std::size_t lanes = row_order::lanes;
    at.columns += (n + lanes - 1) / lanes * lanes * sizeof(I);
  }
}

/// `others` sums rows that are in no slice.
template <slice_values reads, class W>
HWY_INLINE void sum_scope(const csr_product& a, const row_slices& s, const sorting_scope* scope,
                          const row_kernels<W>& others, W* sums) {
  const std::size_t first = scope->first;
  const auto* const x = static_cast<const W*>(a.x.data);
  using cursor = group_cursor<reads, W>;
  const auto* const of_matrix = static_cast<const W*>(a.a.values.data);
  const typename cursor::packed* values;
  if constexpr (reads == slice_values::in_place) {
    values = of_matrix;
  } else if constexpr (reads == slice_values::copied) {
    values = std::get<lines<W>>(s.values).data() + scope->value;
  } else {
    values = s.places.data() + scope->value;
  }
  cursor at{values,
            of_matrix,
            index_vector(a.a.row_offsets.slice(first, 1)),
            s.columns.data() + scope->column,
            s.rows.data() + scope->row,
            s.rows.data() + scope[1].row,
            s.counts.data() + scope->count,
            a.a.nonzeros() * sizeof(W) > (cursor::packs ? near_packed_bytes : near_bytes)};
  for (std::size_t i = scope->group; i < scope[1].group; ++i) {
    const slice_group& group = s.groups[i];
    if (group.rows == slice_rows::apart) {
      for (std::size_t j = 0; j < group.size; ++j, at.rows += 2) {
        sum_rows_alone(others, a, first + at.rows[0], at.rows[1], sums + at.rows[0]);
      }
    } else if (group.rows == slice_rows::adjacent) {
      const bool full = group.adjacent == rows_of_slice<W>;
      auto sum = full ? sum_adjacent<true, reads, W> : sum_adjacent<false, reads, W>;
      if constexpr (reads == slice_values::copied) {
        if (group.pattern->triples) {
          sum = full ? sum_adjacent_triples<true, W> : sum_adjacent_triples<false, W>;
        }
      }
      sum(group, at, x + (static_cast<std::int64_t>(first) + group.pattern->lowest), sums);
    } else {
      constexpr auto narrow =
          std::array{sum_listed<std::uint16_t, reads, W>, sum_long_rows<std::uint16_t, reads, W>,
                     sum_alike<std::uint16_t, reads, W>};
      constexpr auto wide =
          std::array{sum_listed<std::uint32_t, reads, W>, sum_long_rows<std::uint32_t, reads, W>,
                     sum_alike<std::uint32_t, reads, W>};
      const auto kind =
          static_cast<std::size_t>(group.rows) - static_cast<std::size_t>(slice_rows::listed);
      (scope->narrow ? narrow : wide)[kind](group, at, x + scope->lowest, sums);
    }
  }
}

#endif

/// Sums the rows of whole scopes, else rows before the next scope by `others`, at most n. Returns
/// their number.
template <slice_values reads, class W>
std::size_t sum_slices(const csr_product& a, std::size_t first, std::size_t n,
                       const row_kernels<W>& others, W* sums) {
#if HWY_TARGET == HWY_SCALAR  // no slices
  sum_rows_alone(others, a, first, n, sums);
  return n;
#else
  const row_slices& slices = *slices_of<W>(a);
  auto scope = std::ranges::lower_bound(slices.scopes, first, {}, &sorting_scope::first);
  const auto last = slices.scopes.end() - 1;
  if (scope->first != first || scope == last || scope[1].first > first + n) {
    const std::size_t before = scope->first > first ? std::min(scope->first - first, n) : n;
    sum_rows_alone(others, a, first, before, sums);
    return before;
  }
  std::size_t row = first;
  for (; scope != last && scope[1].first <= first + n; ++scope) {
    sum_scope<reads>(a, slices, &*scope, others, sums + (row - first));
    row = scope[1].first;
  }
  return row - first;
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
