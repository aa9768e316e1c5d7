// Sums of a vector of rows, a lane each.
//
// Promise: sums in the row order.
#include "backends/common/order/row_order.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SLICES_SUMS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SLICES_SUMS
#undef TALLY_BACKENDS_SIMD_SPMV_SLICES_SUMS
#else
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_SUMS
#endif

#include "backends/simd/spmv/slices/values-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR  // no vectors

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

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
