// Values and elements of x of a vector of rows, a vector per column. Packed values are read in
// order, others transposed in registers, those of a transpose gathered; x is gathered unless
// adjacent rows share a stencil.
#include "backends/simd/spmv/slices/slices.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SLICES_VALUES) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SLICES_VALUES
#undef TALLY_BACKENDS_SIMD_SPMV_SLICES_VALUES
#else
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_VALUES
#endif

#include "backends/simd/spmv/short_rows-inl.hpp"

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

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
