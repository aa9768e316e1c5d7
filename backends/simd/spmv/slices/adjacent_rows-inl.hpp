// Slices of adjacent rows with one stencil.
//
// Promise: sums in the row order.
#include "backends/common/order/row_order.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SLICES_ADJACENT_ROWS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SLICES_ADJACENT_ROWS
#undef TALLY_BACKENDS_SIMD_SPMV_SLICES_ADJACENT_ROWS
#else
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_ADJACENT_ROWS
#endif

#include "backends/simd/spmv/slices/cursor-inl.hpp"
#include "backends/simd/spmv/slices/sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR  // no vectors

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

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
