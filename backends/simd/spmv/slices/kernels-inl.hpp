// Kernels of SELL-C-σ slices of a plan's rows: a vector lane per row, a vector per lane of the row
// order; and of rows that no slice has.
//
// Promise: sums in the row order.
#include "backends/common/sparse/csr.hpp"
#include "backends/common/sparse/row_kernels.hpp"
#include "backends/simd/spmv/plan.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS
#undef TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS
#else
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS
#endif

#include "backends/simd/spmv/slices/adjacent_rows-inl.hpp"
#include "backends/simd/spmv/slices/listed_rows-inl.hpp"
#include "backends/simd/spmv/slices/single_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR  // no vectors

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
