// Read positions of a product in its plan, and prefetches behind them.
#include "backends/common/sparse/csr.hpp"
#include "backends/simd/spmv/slices/slices.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SLICES_CURSOR) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SLICES_CURSOR
#undef TALLY_BACKENDS_SIMD_SPMV_SLICES_CURSOR
#else
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_CURSOR
#endif

#include "backends/simd/spmv/slices/values-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR  // no vectors

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

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
