// Slices of listed rows, sorted by length.
//
// Promise: sums in the row order.
#include "backends/simd/vectors/targets.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SLICES_LISTED_ROWS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SLICES_LISTED_ROWS
#undef TALLY_BACKENDS_SIMD_SPMV_SLICES_LISTED_ROWS
#else
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_LISTED_ROWS
#endif

#include "backends/simd/spmv/slices/cursor-inl.hpp"
#include "backends/simd/spmv/slices/sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR  // no vectors

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

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
