// Kernels of SELL-C-σ slices of a plan's rows: a vector lane per row, a vector per lane of the row
// order. Packed values are read in order, others are transposed in registers; x is gathered unless
// adjacent rows share a stencil. Longer rows are summed one by one, in the lanes of `dot`.
//
// Promise: sums in the row order.
#include "backends/common/order/row_order.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/common/sparse/host_analysis.hpp"
#include "backends/common/sparse/row_kernels.hpp"
#include "backends/common/sparse/row_slices.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/order.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SLICES) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SLICES
#undef TALLY_BACKENDS_SIMD_SPMV_SLICES
#else
#define TALLY_BACKENDS_SIMD_SPMV_SLICES
#endif

#include "backends/simd/spmv/short_rows-inl.hpp"
#include "backends/simd/vectors/vectors-inl.hpp"

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

/// Columns per block: 128 bits of a row.
template <class W>
constexpr std::size_t block_columns = 16 / sizeof(W);

// --- Values --------------------------------------------------------------------------------------

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

  /// Columns per block. 256 bits of 8 even rows take fewer loads and shuffles per column.
  static constexpr std::size_t columns =
      is_avx512 && sizeof(W) == 8 && std::is_same_v<Rows, even_rows<W>> ? 4 : block_columns<W>;

  /// Loads n columns, transposed.
  template <std::size_t n>
  HWY_INLINE block_values<W, n> block(std::size_t k) const {
    constexpr slice_tag<W> d;
    if constexpr (n == 2) {
      const auto a = load_blocks(d, rows, 0, n, k), b = load_blocks(d, rows, 1, n, k);
      return {{hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)}};
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
      const auto even = [](slice_vec<W> low, slice_vec<W> high)
                            HWY_ATTR { return _mm512_shuffle_f64x2(low.raw, high.raw, 0x88); };
      const auto odd = [](slice_vec<W> low, slice_vec<W> high)
                           HWY_ATTR { return _mm512_shuffle_f64x2(low.raw, high.raw, 0xdd); };
      return {{{even(lower_ab, lower_ce)},
               {even(upper_ab, upper_ce)},
               {odd(lower_ab, lower_ce)},
               {odd(upper_ab, upper_ce)}}};
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

/// Gather indices: 32 bits, or the element's size.
template <class W>
using index_tag = std::conditional_t<HWY_TARGET == HWY_AVX3, hn::Rebind<std::int32_t, slice_tag<W>>,
                                     hn::RebindToSigned<slice_tag<W>>>;

/// Returns a vector of columns, or of rows, as gather indices.
/// @pre All are less than 2^31 (a plan's slices have at most 2^31 columns).
template <class W, class I>
HWY_INLINE hn::Vec<index_tag<W>> load_indices(const I* indices) {
  constexpr hn::RebindToUnsigned<index_tag<W>> wide;
  constexpr index_tag<W> as_signed;
  constexpr std::size_t size = sizeof(hn::TFromD<index_tag<W>>);
  const auto loaded = hn::LoadU(hn::Rebind<I, slice_tag<W>>(), indices);
  if constexpr (sizeof(I) == size) {
    return hn::BitCast(as_signed, loaded);
  } else if constexpr (2 * sizeof(I) == size) {
    return hn::BitCast(as_signed, hn::PromoteTo(wide, loaded));
  } else {
    constexpr hn::Rebind<std::uint32_t, slice_tag<W>> half;
    return hn::BitCast(as_signed, hn::PromoteTo(wide, hn::PromoteTo(half, loaded)));
  }
}

/// Whether x is gathered by instructions (tuning/spmv.md: gathers_indices).
template <class I>
constexpr bool gathers_indices =
    HWY_TARGET == HWY_AVX3 || (HWY_TARGET == HWY_AVX2 && sizeof(I) == 4);

template <class W, class I, bool at_once = gathers_indices<I>>
struct slice_indices {
  const I* indices;

  HWY_INLINE explicit slice_indices(const I* all) : indices(all) {}
  HWY_INLINE slice_vec<W> of(const W* x) const {
    return gathered<slice_lanes<W>>(slice_tag<W>(), x, indices);
  }
};
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
template <class W, class I>
struct slice_indices<W, I, true> {
  hn::Vec<index_tag<W>> loaded;

  HWY_INLINE explicit slice_indices(const I* indices) : loaded(load_indices<W>(indices)) {}
  HWY_INLINE slice_vec<W> of(const W* x) const { return gathered_by(slice_tag<W>(), x, loaded); }
};
#endif

/// Elements of x for rows with one stencil.
template <class W>
struct stencil_x {
  const std::int32_t* above;
  slice_indices<W, std::uint16_t> rows;
  const W* x;

  HWY_INLINE slice_vec<W> at(std::size_t k) const { return rows.of(x + above[k]); }
};

/// Elements of x for rows with explicit columns.
template <class W, class I>
struct columns_x {
  const I* columns;
  const W* x;

  HWY_INLINE slice_vec<W> at(std::size_t k) const {
    return slice_indices<W, I>(columns + k * rows_of_slice<W>).of(x);
  }
};

/// Elements of x for rows with a stencil whose columns are adjacent two by two.
template <class W>
struct pairs_x {
  const std::int32_t* above;
  values_in_place<W, std::array<const W*, slice_lanes<W>>> from;
};

template <class X>
struct x_from {
  const X& x;
  std::size_t k;

  template <std::size_t c>
  HWY_INLINE auto column() const {
    return x.at(k + c);
  }
};
template <class X>
HWY_INLINE x_from<X> block_of(const X& x, std::size_t k) {
  return {x, k};
}
template <class W>
HWY_INLINE block_values<W, 2> block_of(const pairs_x<W>& x, std::size_t k) {
  return x.from.template block<2>(static_cast<std::size_t>(x.above[k]));
}

// --- Sums ----------------------------------------------------------------------------------------

template <std::size_t count, class W>
HWY_INLINE slice_vec<W> fold_slice(const slice_vec<W>* lane) {
  constexpr slice_tag<W> d;
  constexpr std::size_t half = row_order::lanes / 2;
  auto v = fold_halves<half, count>(std::make_index_sequence<half>(), lane);
  v = hn::Add(v, hn::Zero(d));
  return hn::IfThenElse(hn::Eq(v, v), v, hn::Set(d, std::numeric_limits<W>::quiet_NaN()));
}

/// Adds the term of column c of a block to lane l + c < `count`.
template <bool first, std::size_t count, std::size_t l, std::size_t c, class W, class Block,
          class X>
HWY_INLINE void take_term(const Block& values, const X& x, slice_vec<W>* lane) {
  if constexpr (l + c < count) {
    const auto term = hn::Mul(values.template column<c>(), x.template column<c>());
    lane[l + c] = first ? term : hn::Add(lane[l + c], term);
  }
}

/// Adds the terms of columns k, k + 1, ... to lanes l, l + 1, ...; with `first` they start the
/// lanes.
template <bool first, std::size_t count, std::size_t l, class W, class Values, class X,
          std::size_t... c>
HWY_INLINE void add_block(std::index_sequence<c...>, const Values& values, const X& x,
                          std::size_t k, slice_vec<W>* lane) {
  // Wider blocks would make more loads cross a line.
  constexpr bool few = count - l <= block_columns<W>;
  const auto block = values.template block<few ? block_columns<W> : sizeof...(c)>(k);
  const auto of_x = block_of(x, k);
  (take_term<first, count, l, c, W>(block, of_x, lane), ...);
}

template <bool first, std::size_t count, std::size_t l = 0, class W, class Values, class X>
HWY_INLINE void take_columns(const Values& values, const X& x, std::size_t k, slice_vec<W>* lane) {
  if constexpr (l < count) {
    add_block<first, count, l, W>(std::make_index_sequence<Values::columns>(), values, x, k + l,
                                  lane);
    take_columns<first, count, l + Values::columns, W>(values, x, k, lane);
  }
}

/// Adds the last terms, fewer than 8, to lanes 0, 1, ...
template <std::size_t l = 0, class W, class Values, class X>
HWY_INLINE void add_rest(const Values& values, const X& x, std::size_t k, std::size_t rest,
                         slice_vec<W>* lane) {
  if constexpr (l < row_order::lanes) {
    if (l >= rest) return;
    constexpr std::size_t n = block_columns<W>;
    if (l + n <= rest) {
      add_block<false, row_order::lanes, l, W>(std::make_index_sequence<n>(), values, x, k + l,
                                               lane);
    } else {
      const auto block = values.template block<n>(k + l);
      const auto of_x = block_of(x, k + l);
      take_term<false, row_order::lanes, l, 0, W>(block, of_x, lane);
      if constexpr (n > 2) {
        if (l + 1 < rest) take_term<false, row_order::lanes, l, 1, W>(block, of_x, lane);
        if (l + 2 < rest) take_term<false, row_order::lanes, l, 2, W>(block, of_x, lane);
      }
    }
    add_rest<l + n, W>(values, x, k, rest, lane);
  }
}

/// Sums a vector of rows of n terms. `count` is n, or 0 if n > 8.
template <std::size_t count, class W, class Values, class X>
HWY_INLINE slice_vec<W> sum_rows_of(const Values& values, const X& x, std::size_t n) {
  constexpr std::size_t lanes = row_order::lanes;
  slice_vec<W> lane[lanes];
  if constexpr (count > 0) {
    take_columns<true, count, 0, W>(values, x, 0, lane);
    return fold_slice<count, W>(lane);
  } else {
    take_columns<true, lanes, 0, W>(values, x, 0, lane);
    std::size_t k = lanes;
    for (; k + lanes <= n; k += lanes) take_columns<false, lanes, 0, W>(values, x, k, lane);
    add_rest<0, W>(values, x, k, n - k, lane);
    return fold_slice<lanes, W>(lane);
  }
}

template <class Sum>
HWY_INLINE void with_count(std::size_t n, const Sum& sum) {
  switch (n) {
    case 1:
      return sum(std::integral_constant<std::size_t, 1>());
    case 2:
      return sum(std::integral_constant<std::size_t, 2>());
    case 3:
      return sum(std::integral_constant<std::size_t, 3>());
    case 4:
      return sum(std::integral_constant<std::size_t, 4>());
    case 5:
      return sum(std::integral_constant<std::size_t, 5>());
    case 6:
      return sum(std::integral_constant<std::size_t, 6>());
    case 7:
      return sum(std::integral_constant<std::size_t, 7>());
    case 8:
      return sum(std::integral_constant<std::size_t, 8>());
    default:
      return sum(std::integral_constant<std::size_t, 0>());
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

/// Adds the term of column k + c to lane l + c; in shorter rows +0, which changes no lane.
template <std::size_t l, std::size_t c, class W, class Block, class X>
HWY_INLINE void add_uneven_term(const Block& values, const X& x, std::size_t k,
                                const slice_group& series, const std::uint8_t* counts,
                                std::size_t r, slice_vec<W>* lane) {
  const std::size_t j = k + c;
  if (j >= series.longest) return;
  auto term = hn::Mul(values.template column<c>(), x.template column<c>());
  if (j >= series.shortest) term = only_first_rows<W>(counts[j - series.shortest], r, term);
  lane[l + c] = hn::Add(lane[l + c], term);
}

template <std::size_t l, class W, class Values, class X, std::size_t... c>
HWY_INLINE void add_uneven_columns(std::index_sequence<c...> block, const Values& values,
                                   const X& x, std::size_t k, const slice_group& series,
                                   const std::uint8_t* counts, std::size_t r, slice_vec<W>* lane) {
  if constexpr (l < row_order::lanes) {
    if (k + l >= series.longest) return;
    const auto loaded = values.template block<sizeof...(c)>(k + l);
    const auto of_x = block_of(x, k + l);
    (add_uneven_term<l, c, W>(loaded, of_x, k + l, series, counts, r, lane), ...);
    add_uneven_columns<l + sizeof...(c), W>(block, values, x, k, series, counts, r, lane);
  }
}

template <class W, class Values, class X, std::size_t... l>
HWY_INLINE slice_vec<W> sum_uneven_rows(std::index_sequence<l...>, const Values& values, const X& x,
                                        const slice_group& series, const std::uint8_t* counts,
                                        std::size_t r) {
  constexpr std::size_t lanes = row_order::lanes;
  slice_vec<W> lane[] = {((void)l, hn::Zero(slice_tag<W>()))...};
  std::size_t k = 0;
  for (; k + lanes <= series.shortest; k += lanes) {
    take_columns<false, lanes, 0, W>(values, x, k, lane);
  }
  for (; k < series.longest; k += lanes) {
    add_uneven_columns<0, W>(std::make_index_sequence<block_columns<W>>(), values, x, k, series,
                             counts, r, lane);
  }
  return fold_slice<lanes, W>(lane);
}

// --- Groups of slices ----------------------------------------------------------------------------

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

/// Read positions of a product in its plan.
template <class W>
struct group_cursor {
  const W* values;      ///< packed ones of this group, or the matrix's
  index_vector begins;  ///< row offsets from the window's first row on
  const std::uint16_t* narrow;
  const std::uint32_t* wide;
  const std::uint16_t* rows;
  const std::uint16_t* rows_end;  ///< end of the window's rows
  const std::uint8_t* counts;
  bool far;  ///< whether values exceed `near_bytes`, or packed ones `near_packed_bytes`
};

/// Prefetch distances for values read from the matrix: rows side by side are more streams than
/// hardware prefetchers follow (tuning/spmv.md: bytes_ahead).
constexpr std::size_t bytes_ahead = 2048;
constexpr std::size_t slices_ahead = 4;

template <class W>
HWY_INLINE void prefetch_adjacent(const W* values, std::size_t n) {
  const auto* const begin = reinterpret_cast<const char*>(values) + bytes_ahead;
  for (std::size_t b = 0; b < n * sizeof(W); b += 64) hwy::Prefetch(begin + b);
}

/// Bytes of packed values above which short rows are prefetched; longer ones would need more
/// outstanding lines than a core has (tuning/spmv.md: near_packed_bytes).
constexpr std::size_t near_packed_bytes = std::size_t{1} << 22;
template <class W>
HWY_INLINE bool prefetches_packed(const group_cursor<W>& at, std::size_t terms) {
  return at.far && terms <= 2 * row_order::lanes;
}

/// Prefetches n values of each row, `slices_ahead` further on. Row ranges may be read as rows
/// there; their entries are in range, too.
template <class W>
HWY_INLINE void prefetch_listed(const group_cursor<W>& at, std::size_t n) {
  constexpr std::size_t slice = rows_of_slice<W>;
  constexpr std::size_t ahead_of_rows = slices_ahead * slice;
  if (static_cast<std::size_t>(at.rows_end - at.rows) < ahead_of_rows + slice) return;
  const std::uint16_t* const rows = at.rows + ahead_of_rows;
  for (std::size_t r = 0; r < slice; ++r) {
    const auto* const begin = reinterpret_cast<const char*>(at.values + at.begins[rows[r]]);
    for (std::size_t b = 0; b < n * sizeof(W); b += 64) hwy::Prefetch(begin + b);
  }
}

/// Slices of adjacent rows: a copy of the group, which stores of sums could alias.
template <bool full, class W>
struct adjacent_slices {
  const std::uint16_t* first;  ///< first row of each slice
  const W* values;             ///< next slice's, or the matrix's
  const std::int32_t* above;   ///< the stencil's offsets
  std::size_t terms;           ///< per row
  std::size_t some_rows;       ///< per partial slice

  HWY_INLINE adjacent_slices(const slice_group& series, const group_cursor<W>& at)
      : first(at.rows),
        values(at.values),
        above(series.pattern->above),
        terms(series.longest),
        some_rows(series.adjacent) {}

  HWY_INLINE std::size_t rows() const { return full ? rows_of_slice<W> : some_rows; }
  HWY_INLINE void store(slice_vec<W> some, std::size_t r, W* sums) const {
    W* const to = sums + *first + r;
    full ? hn::StoreU(some, slice_tag<W>(), to) : store_first<W>(some, some_rows - r, to);
  }
  HWY_INLINE packed_values<W> kept(std::size_t r) const { return {values + r, rows()}; }
  HWY_INLINE adjacent_x<W> of_x(const W* x, std::size_t r) const { return {above, x + *first + r}; }
  HWY_INLINE void next() { ++first; }
  HWY_INLINE void next_packed() {
    values += terms * rows();
    next();
  }
};

/// Advances to the next group: packed values begin at a cache line.
template <bool full, class W>
HWY_INLINE void end_packed(const adjacent_slices<full, W>& slices, group_cursor<W>& at) {
  constexpr std::size_t slice = rows_of_slice<W>;
  at.rows = slices.first;
  at.values += (static_cast<std::size_t>(slices.values - at.values) + slice - 1) / slice * slice;
}

/// Values packed; x belongs to the window's first row.
template <bool full, class W>
HWY_NOINLINE void sum_adjacent_packed(const slice_group& series, group_cursor<W>& at, const W* x,
                                      W* sums) {
  adjacent_slices<full, W> slices(series, at);
  const bool prefetches = prefetches_packed(at, slices.terms);
  with_count(slices.terms, [&](auto count) HWY_ATTR {
    for (std::size_t left = series.size; left > 0; --left, slices.next_packed()) {
      if (prefetches) prefetch_adjacent(slices.values, slices.terms * slices.rows());
      for (std::size_t r = 0; r < slices.rows(); r += slice_lanes<W>) {
        slices.store(sum_rows_of<count(), W>(slices.kept(r), slices.of_x(x, r), slices.terms), r,
                     sums);
      }
    }
  });
  end_packed(slices, at);
}

/// The same with values read from the matrix.
template <class W>
HWY_NOINLINE void sum_adjacent_in_place(const slice_group& series, group_cursor<W>& at, const W* x,
                                        W* sums) {
  constexpr std::size_t slice = rows_of_slice<W>, lanes = slice_lanes<W>;
  adjacent_slices<true, W> slices(series, at);
  const index_vector begins = at.begins;
  const bool far = at.far;
  const std::size_t terms = slices.terms;
  std::size_t row = *slices.first;
  const W* values = slices.values + begins[row];
  with_count(terms, [&](auto count) HWY_ATTR {
    for (std::size_t left = series.size; left > 0; --left, slices.next()) {
      // Within a run, row offsets are not read.
      const std::size_t ahead_of_last = *slices.first - row;
      row = *slices.first;
      values =
          ahead_of_last <= slice ? values + ahead_of_last * terms : slices.values + begins[row];
      for (std::size_t r = 0; r < slice; r += lanes) {
        if (far) prefetch_adjacent(values + r * terms, lanes * terms);
        const values_in_place<W, even_rows<W>> in_place{{values + r * terms, terms}};
        slices.store(sum_rows_of<count(), W>(in_place, slices.of_x(x, r), terms), r, sums);
      }
    }
  });
  at.rows = slices.first;
}

/// The same with partial slices and more than 8 terms: a branch above would slow full ones
/// (tuning/spmv.md: sum_partial_adjacent_in_place).
template <class W>
HWY_NOINLINE void sum_partial_adjacent_in_place(const slice_group& series, group_cursor<W>& at,
                                                const W* x, W* sums) {
  adjacent_slices<false, W> slices(series, at);
  const std::size_t rows = slices.rows(), terms = slices.terms;
  for (std::size_t left = series.size; left > 0; --left, slices.next()) {
    const W* const values = slices.values + at.begins[*slices.first];
    for (std::size_t r = 0; r < rows; r += slice_lanes<W>) {
      if (at.far) prefetch_adjacent(values + r * terms, slice_lanes<W> * terms);
      const values_in_place<W, even_rows<W>> in_place{{values + r * terms, terms}};
      slices.store(sum_rows_of<0, W>(in_place, slices.of_x(x, r), terms), r, sums);
    }
  }
  at.rows = slices.first;
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

/// Elements of x for adjacent rows in three adjacent columns.
template <class W>
struct triple_x {
#if HWY_TARGET == HWY_AVX3  // one load fewer, and one of them seldom crosses a line
  slice_vec<W> first;
  hn::Vec<hn::CappedTag<W, 2>> behind;

  HWY_INLINE explicit triple_x(const W* x)
      : first(hn::LoadU(slice_tag<W>(), x)),
        behind(hn::LoadU(hn::CappedTag<W, 2>(), x + slice_lanes<W>)) {}
  template <int c>
  HWY_INLINE slice_vec<W> of() const {
    if constexpr (c == 0) {
      return first;
    } else {
      return elements_from<c>(first, behind.raw);
    }
  }
#else
  const W* x;

  HWY_INLINE explicit triple_x(const W* first) : x(first) {}
  template <int c>
  HWY_INLINE slice_vec<W> of() const {
    return hn::LoadU(slice_tag<W>(), x + c);
  }
#endif
};

template <bool first, std::size_t k, class W, int... c>
HWY_INLINE void add_triple(std::integer_sequence<int, c...>, const packed_values<W>& values,
                           const adjacent_x<W>& x, slice_vec<W>* lane) {
  const auto take = [&](slice_vec<W> value, slice_vec<W> of_x, std::size_t l) HWY_ATTR {
    const auto term = hn::Mul(value, of_x);
    lane[l % row_order::lanes] =
        first && l < row_order::lanes ? term : hn::Add(lane[l % row_order::lanes], term);
  };
  const triple_x<W> of_x(x.x + x.above[k]);
  (take(values.template column<k + static_cast<std::size_t>(c)>(), of_x.template of<c>(),
        k + static_cast<std::size_t>(c)),
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
    add_triple<first, 3 * t, W>(std::make_integer_sequence<int, 3>(), values, x, lane);
    add_triples<first, t + 1, W>(values, x, n, lane);
  }
}

template <bool full, class W>
HWY_NOINLINE void sum_adjacent_triples(const slice_group& series, group_cursor<W>& at, const W* x,
                                       W* sums) {
  adjacent_slices<full, W> slices(series, at);
  const std::size_t n = slices.terms;
  for (std::size_t left = series.size; left > 0; --left, slices.next_packed()) {
    for (std::size_t r = 0; r < slices.rows(); r += slice_lanes<W>) {
      slice_vec<W> lane[row_order::lanes];
      packed_values<W> values = slices.kept(r);
      adjacent_x<W> of_x = slices.of_x(x, r);
      add_triples<true>(values, of_x, n / 3, lane);
      constexpr std::size_t columns = 3 * triples_of_lanes;
      for (std::size_t k = columns; k < n; k += columns) {
        values = values.block(columns);
        of_x.above += columns;
        add_triples<false>(values, of_x, (n - k) / 3, lane);
      }
      slices.store(fold_slice<row_order::lanes, W>(lane), r, sums);
    }
  }
  end_packed(slices, at);
}

template <bool keeps, class W>
HWY_INLINE auto listed_values(const group_cursor<W>& at, std::size_t r) {
  if constexpr (keeps) {
    return packed_values<W>{at.values + r, rows_of_slice<W>};
  } else {
    values_in_place<W, std::array<const W*, slice_lanes<W>>> in_place;
    for (std::size_t l = 0; l < slice_lanes<W>; ++l) {
      in_place.rows[l] = at.values + at.begins[at.rows[r + l]];
    }
    return in_place;
  }
}

/// Sums slices of listed rows. `x_of(at, r)`: elements of x for rows from r on.
template <bool keeps, class W, class X>
HWY_INLINE void sum_listed(const slice_group& series, group_cursor<W>& at, const X& x_of, W* sums) {
  constexpr std::size_t slice = rows_of_slice<W>;
  const std::size_t n = series.longest;
  [[maybe_unused]] const bool prefetches = keeps && prefetches_packed(at, n);
  const auto sum_each = [&](const auto& sum) HWY_ATTR {
    for (std::size_t i = 0; i < series.size; ++i) {
      HWY_ALIGN W some[slice];
      if constexpr (keeps) {
        if (prefetches) prefetch_adjacent(at.values, n * slice);
      } else {
        if (at.far) prefetch_listed(at, n);
      }
      for (std::size_t r = 0; r < slice; r += slice_lanes<W>) {
        hn::Store(sum(listed_values<keeps>(at, r), x_of(at, r), r), slice_tag<W>(), some + r);
      }
      for (std::size_t r = 0; r < slice; ++r) sums[at.rows[r]] = some[r];
      if constexpr (keeps) at.values += n * slice;
      if (series.pattern == nullptr) {  // the other is null in this window
        if (at.narrow != nullptr) at.narrow += n * slice;
        if (at.wide != nullptr) at.wide += n * slice;
      }
      at.rows += slice;
      at.counts += n - series.shortest;
    }
  };
  if (n == 0) {
    return sum_each([&](const auto&, const auto&, std::size_t)
                        HWY_ATTR { return hn::Zero(slice_tag<W>()); });
  }
  if (series.shortest == n) {
    return with_count(n, [&](auto count) HWY_ATTR {
      sum_each([&](const auto& values, const auto& x, std::size_t)
                   HWY_ATTR { return sum_rows_of<count(), W>(values, x, n); });
    });
  }
  sum_each([&](const auto& values, const auto& x, std::size_t r) HWY_ATTR {
    return sum_uneven_rows<W>(std::make_index_sequence<row_order::lanes>(), values, x, series,
                              at.counts, r);
  });
}

/// x belongs to the window's first row.
template <bool keeps, class W>
HWY_NOINLINE void sum_with_stencil(const slice_group& series, group_cursor<W>& at, const W* x,
                                   W* sums) {
  sum_listed<keeps>(
      series, at,
      [&](const group_cursor<W>& p, std::size_t r) HWY_ATTR {
        return stencil_x<W>{series.pattern->above, slice_indices<W, std::uint16_t>(p.rows + r), x};
      },
      sums);
}

template <bool keeps, class W>
HWY_NOINLINE void sum_with_pairs(const slice_group& series, group_cursor<W>& at, const W* x,
                                 W* sums) {
  sum_listed<keeps>(
      series, at,
      [&](const group_cursor<W>& p, std::size_t r) HWY_ATTR {
        pairs_x<W> of_x;
        of_x.above = series.pattern->above;
        for (std::size_t l = 0; l < slice_lanes<W>; ++l) of_x.from.rows[l] = x + p.rows[r + l];
        return of_x;
      },
      sums);
}

template <bool keeps, class W>
HWY_NOINLINE void sum_with_narrow_columns(const slice_group& series, group_cursor<W>& at,
                                          const W* x, W* sums) {
  sum_listed<keeps>(
      series, at,
      [&](const group_cursor<W>& p, std::size_t r)
          HWY_ATTR { return columns_x<W, std::uint16_t>{p.narrow + r, x}; },
      sums);
}

template <bool keeps, class W>
HWY_NOINLINE void sum_with_wide_columns(const slice_group& series, group_cursor<W>& at, const W* x,
                                        W* sums) {
  sum_listed<keeps>(
      series, at,
      [&](const group_cursor<W>& p, std::size_t r)
          HWY_ATTR { return columns_x<W, std::uint32_t>{p.wide + r, x}; },
      sums);
}

/// Sweeps over a long row, each of at most 8 vectors of `dot`'s lanes.
template <class W>
constexpr std::size_t vectors_of_sweep = std::min<std::size_t>(order::lanes / slice_lanes<W>, 8);
template <class W>
constexpr std::size_t sweeps_of_row = order::lanes / slice_lanes<W> / vectors_of_sweep<W>;

/// Adds terms from j on to vectors v, v + 1, ... of a sweep. With `first` they start the lanes;
/// without `all` those from n on are left out.
template <bool first, bool all, std::size_t v, class W, class I>
HWY_INLINE void add_vectors(const W* values, const columns_x<W, I>& x, std::size_t j, std::size_t n,
                            slice_vec<W>* lane) {
  if constexpr (v < vectors_of_sweep<W>) {
    if (!all && j >= n) return;
    auto term =
        hn::Mul(hn::LoadU(slice_tag<W>(), values + j), slice_indices<W, I>(x.columns + j).of(x.x));
    if (!all && n - j < slice_lanes<W>) term = only_first_rows<W>(n - j, 0, term);
    lane[v] = first ? term : hn::Add(lane[v], term);
    add_vectors<first, all, v + 1, W>(values, x, j + order::lanes / vectors_of_sweep<W>, n, lane);
  }
}

template <class D>
HWY_INLINE hn::TFromD<D> fold_lanes(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) == 1) {
    return hn::GetLane(v);
  } else {
    constexpr hn::Half<D> half;
    return fold_lanes(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// Sums a row of at most a chunk in the order of `dot`.
template <class W, class I>
HWY_INLINE W sum_long_row(const W* values, const columns_x<W, I>& x, std::size_t n) {
  constexpr std::size_t vectors = vectors_of_sweep<W>, sweeps = sweeps_of_row<W>;
  slice_vec<W> folded[sweeps];
#pragma GCC unroll 1
  for (std::size_t s = 0; s < sweeps; ++s) {
    slice_vec<W> lane[vectors];
    std::size_t j = s * slice_lanes<W>;
    add_vectors<true, true, 0, W>(values, x, j, n, lane);
#pragma GCC unroll 1
    for (std::size_t end = 2 * order::lanes; end <= n; end += order::lanes) {
      add_vectors<false, true, 0, W>(values, x, j += order::lanes, n, lane);
    }
    add_vectors<false, false, 0, W>(values, x, j + order::lanes, n, lane);
    folded[s] = fold_halves<vectors / 2, vectors>(std::make_index_sequence<vectors / 2>(), lane);
  }
  const W sum = fold_lanes(slice_tag<W>(), fold_halves<sweeps / 2, sweeps>(
                                               std::make_index_sequence<sweeps / 2>(), folded)) +
                W{0};
  return sum == sum ? sum : std::numeric_limits<W>::quiet_NaN();
}

/// `columns` advances to the next group.
template <class W, class I>
HWY_NOINLINE void sum_long_rows(const slice_group& series, group_cursor<W>& at, bool kept,
                                const I*& columns, const W* x, W* sums) {
  constexpr std::size_t slice = rows_of_slice<W>;
  for (std::size_t left = series.size; left > 0; --left, ++at.rows) {
    const std::size_t row = *at.rows;
    const std::int64_t begin = at.begins[row];
    const auto n = static_cast<std::size_t>(at.begins[row + 1] - begin);
    const W* const values = kept ? at.values : at.values + begin;
    sums[row] = sum_long_row<W>(values, columns_x<W, I>{columns, x}, n);
    const std::size_t places = (n + slice - 1) / slice * slice;
    if (kept) at.values += places;
    columns += places;
  }
}

/// `others` sums rows that are in no slice.
template <bool keeps, class W>
HWY_INLINE void sum_window(const csr_product& a, const row_slices& s, std::size_t w,
                           const row_kernels<W>& others, W* sums) {
  const sorting_scope& window = s.windows[w];
  const std::size_t first = window.first;
  const auto* const x = static_cast<const W*>(a.x.data);
  const W* const kept = std::get<lines<W>>(s.values).data() + window.value;
  group_cursor<W> at{keeps ? kept : static_cast<const W*>(a.a.values.data),
                     index_vector(a.a.row_offsets.slice(first, 1)),
                     window.narrow ? s.narrow.data() + window.column : nullptr,
                     window.narrow ? nullptr : s.wide.data() + window.column,
                     s.rows.data() + window.row,
                     s.rows.data() + s.windows[w + 1].row,
                     s.counts.data() + window.count,
                     a.a.nonzeros() * sizeof(W) > (keeps ? near_packed_bytes : near_bytes)};
  const W* const listed = others.listed_x + window.lowest;
  for (std::size_t i = window.series; i < s.windows[w + 1].series; ++i) {
    const slice_group& series = s.series[i];
    if (series.rows == slice_rows::apart) {
      for (std::size_t j = 0; j < series.size; ++j, at.rows += 2) {
        others.rows(a, first + at.rows[0], at.rows[1], sums + at.rows[0]);
      }
    } else if (series.pattern != nullptr) {
      const W* const from = x + (static_cast<std::int64_t>(first) + series.pattern->lowest);
      if (series.rows == slice_rows::adjacent) {
        if constexpr (keeps) {
          const bool full = series.adjacent == rows_of_slice<W>;
          const auto sum =
              series.pattern->triples
                  ? (full ? sum_adjacent_triples<true, W> : sum_adjacent_triples<false, W>)
                  : (full ? sum_adjacent_packed<true, W> : sum_adjacent_packed<false, W>);
          sum(series, at, from, sums);
        } else {
          series.adjacent == rows_of_slice<W>
              ? sum_adjacent_in_place(series, at, from, sums)
              : sum_partial_adjacent_in_place(series, at, from, sums);
        }
      } else {
        // Without masked loads, rows in the matrix take a load per element anyway.
        if constexpr (block_columns<W> == 2 && (keeps || has_masked_loads)) {
          if (series.pattern->pairs) {
            sum_with_pairs<keeps>(series, at, from, sums);
            continue;
          }
        }
        sum_with_stencil<keeps>(series, at, from, sums);
      }
    } else if (series.rows == slice_rows::alone) {
      window.narrow ? sum_long_rows(series, at, keeps, at.narrow, listed, sums)
                    : sum_long_rows(series, at, keeps, at.wide, listed, sums);
    } else {
      window.narrow ? sum_with_narrow_columns<keeps>(series, at, listed, sums)
                    : sum_with_wide_columns<keeps>(series, at, listed, sums);
    }
  }
}

#endif

/// Sums the rows of whole windows, else rows before the next window by `others`, at most n. Returns
/// their number.
template <bool keeps, class W>
std::size_t sum_slices(const csr_product& a, std::size_t first, std::size_t n,
                       const row_kernels<W>& others, W* sums) {
#if HWY_TARGET == HWY_SCALAR  // no slices
  others.rows(a, first, n, sums);
  return n;
#else
  const row_slices& slices = *analysis_of(a)->slices;
  const std::vector<sorting_scope>& windows = slices.windows;
  const auto next = std::ranges::lower_bound(windows, first, {}, &sorting_scope::first);
  auto w = static_cast<std::size_t>(next - windows.begin());
  if (next->first != first || w + 1 == windows.size() || windows[w + 1].first > first + n) {
    const std::size_t before = next->first > first ? std::min(next->first - first, n) : n;
    others.rows(a, first, before, sums);
    return before;
  }
  std::size_t row = first;
  for (; w + 1 < windows.size() && windows[w + 1].first <= first + n; ++w) {
    sum_window<keeps>(a, slices, w, others, sums + (row - first));
    row = windows[w + 1].first;
  }
  return row - first;
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
