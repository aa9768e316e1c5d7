// Rows in no slice, in vectors of their own terms: long ones, and adjacent ones with equal columns,
// which share the gathered elements of x.
//
// Promise: sums in the row order.
#include "backends/common/order/row_order.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SLICES_SINGLE_ROWS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SLICES_SINGLE_ROWS
#undef TALLY_BACKENDS_SIMD_SPMV_SLICES_SINGLE_ROWS
#else
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_SINGLE_ROWS
#endif

#include "backends/simd/spmv/rows-inl.hpp"
#include "backends/simd/spmv/slices/cursor-inl.hpp"
#include "backends/simd/spmv/slices/sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR  // no vectors

/// Terms of a long row, for the kernel of `dot`. They can be read in whole vectors. `gathers`:
/// whether values are at `places`.
template <class W, class I, bool gathers>
struct long_row_terms {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align = false;
  const W* values;
  const std::int32_t* places;
  const I* columns;
  const W* x;

  HWY_INLINE vec<W> values_at(std::size_t i) const {
    if constexpr (gathers) return gathered_at_once(tag<W>(), values, places + i);
    return hn::LoadU(tag<W>(), values + i);
  }
  HWY_INLINE vec<W> at(std::size_t i) const {
    return hn::Mul(values_at(i), gathered_at_once(tag<W>(), x, columns + i));
  }
  HWY_INLINE vec<W> first(std::size_t i, std::size_t count) const {
    if (count == 0) return hn::Zero(tag<W>());
    return only_first_rows<W>(std::min(count, width<W>), 0, at(i));
  }
  HWY_INLINE long_row_terms from(std::size_t i) const {
    return {gathers ? values : values + i, gathers ? places + i : places, columns + i, x};
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
      sum = sum_as_dot(long_row_terms<W, I, true>{at.of_matrix, at.values, columns, x}, n);
    } else {
      const W* const values = packs ? at.values : at.values + begin;
      sum = sum_only_chunk(long_row_terms<W, I, false>{values, nullptr, columns, x}, n);
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

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
