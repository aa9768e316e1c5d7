// Rows of one pattern are summed here side by side: each row has a lane of the vectors, and each of
// the row order's 8 lanes a vector of its own. x is read as it lies, and columns are not read.
//
// Promise: the sums are those of the row order.
#include "backends/simd/targets.hpp"
#include "src/core/order/row_order.hpp"
#include "src/core/sparse/pattern_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

// The guard is every target's own.
#if defined(TALLY_BACKENDS_SIMD_SPMV_RUNS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_RUNS
#undef TALLY_BACKENDS_SIMD_SPMV_RUNS
#else
#define TALLY_BACKENDS_SIMD_SPMV_RUNS
#endif

#include "backends/simd/spmv_short_rows-inl.hpp"
#include "backends/simd/vectors-inl.hpp"

#if HWY_TARGET != HWY_SCALAR  // which has vectors of one element
HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// So many rows are summed at once. Two blocks of 128 bits make a vector from 8 rows of floats, or
/// 4 of doubles, by one insertion each; with more blocks insertions would bound the product.
template <class W>
using run_tag = hn::CappedTag<W, 32 / sizeof(W)>;
template <class W>
constexpr std::size_t rows_at_once = hn::MaxLanes(run_tag<W>());

/// Rows of one pattern, some of a run.
template <class W>
struct run_rows {
  const W* values;  ///< of the first row
  std::size_t terms;
  const std::int32_t* above;
  const W* x;  ///< the lowest element that the first row takes

  HWY_INLINE run_rows from(std::size_t rows) const {
    return {values + rows * terms, terms, above, x + rows};
  }
};

/// Loads 128 bits of a row's values, and of the row that has the same place in the next block.
template <class W>
HWY_INLINE hn::Vec<run_tag<W>> load_blocks(const W* p, std::size_t to_next_block) {
  constexpr run_tag<W> d;
  if constexpr (sizeof(W) * hn::MaxLanes(d) == 16) {
    return hn::LoadU(d, p);
  } else {
    constexpr hn::Half<run_tag<W>> half;
    return hn::Combine(d, hn::LoadU(half, p + to_next_block), hn::LoadU(half, p));
  }
}

/// The values of `rows_at_once` rows in 16 / sizeof(W) columns, a vector for each column.
template <class W>
struct value_columns {
  hn::Vec<run_tag<W>> of[16 / sizeof(W)];
};

/// Loads them: blocks of 128 bits are transposed.
template <class W>
HWY_INLINE value_columns<W> load_value_columns(const W* values, std::size_t terms) {
  constexpr run_tag<W> d;
  constexpr std::size_t rows = 16 / sizeof(W);  // of a block
  const auto row = [&](std::size_t r)
                       HWY_ATTR { return load_blocks(values + r * terms, rows * terms); };
  if constexpr (rows == 2) {
    const auto a = row(0), b = row(1);
    return {{hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)}};
  } else {
    constexpr hn::RepartitionToWide<run_tag<W>> pairs;
    const auto a = row(0), b = row(1), c = row(2), e = row(3);
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

/// Returns the terms of column k + c of all rows.
template <class W>
HWY_INLINE hn::Vec<run_tag<W>> terms_of_column(const run_rows<W>& rows, std::size_t k,
                                               hn::Vec<run_tag<W>> values) {
  return hn::Mul(values, hn::LoadU(run_tag<W>(), rows.x + rows.above[k]));
}

/// Takes the terms of columns k, k + 1, ... to lanes l, l + 1, ... of `count`, as many as a block
/// has: the first of each lane, or added to it.
template <bool first, std::size_t count, std::size_t l, class W, std::size_t... c>
HWY_INLINE void take_block(std::index_sequence<c...>, const run_rows<W>& rows, std::size_t k,
                           hn::Vec<run_tag<W>>* lane) {
  const value_columns<W> values = load_value_columns(rows.values + k, rows.terms);
  const auto take = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) HWY_ATTR {
    if constexpr (l + i < count) {
      const auto terms = terms_of_column(rows, k + i, values.of[i]);
      lane[l + i] = first ? terms : hn::Add(lane[l + i], terms);
    }
  };
  (take(std::integral_constant<std::size_t, c>()), ...);
}

/// Takes the terms of `count` columns from column k on.
template <bool first, std::size_t count, class W>
HWY_INLINE void take_columns(const run_rows<W>& rows, std::size_t k, hn::Vec<run_tag<W>>* lane) {
  constexpr std::size_t block = 16 / sizeof(W);
  constexpr std::make_index_sequence<block> columns;
  take_block<first, count, 0>(columns, rows, k, lane);
  if constexpr (block < count) {
    take_block<first, count, block>(columns, rows, k + block, lane);
  }
  if constexpr (2 * block < count) {
    take_block<first, count, 2 * block>(columns, rows, k + 2 * block, lane);
  }
  if constexpr (3 * block < count) {
    take_block<first, count, 3 * block>(columns, rows, k + 3 * block, lane);
  }
}

/// Calls f with the integral constant n, one of 0 ... 7.
template <class F>
HWY_INLINE void with_rest(std::size_t n, const F& f) {
  switch (n) {
    case 1:
      return f(std::integral_constant<std::size_t, 1>());
    case 2:
      return f(std::integral_constant<std::size_t, 2>());
    case 3:
      return f(std::integral_constant<std::size_t, 3>());
    case 4:
      return f(std::integral_constant<std::size_t, 4>());
    case 5:
      return f(std::integral_constant<std::size_t, 5>());
    case 6:
      return f(std::integral_constant<std::size_t, 6>());
    case 7:
      return f(std::integral_constant<std::size_t, 7>());
    default:
      return;
  }
}

/// Folds the first `count` lanes of all rows, and writes the rows' sums.
template <std::size_t count, class W>
HWY_INLINE void store_run(const hn::Vec<run_tag<W>>* lane, W* sums) {
  constexpr run_tag<W> d;
  constexpr std::size_t half = row_order::lanes / 2;
  auto v = fold_halves<half, count>(std::make_index_sequence<half>(), lane);
  v = hn::Add(v, hn::Zero(d));
  const auto nan = hn::Set(d, std::numeric_limits<W>::quiet_NaN());
  hn::StoreU(hn::IfThenElse(hn::Eq(v, v), v, nan), d, sums);
}

/// Values so many bytes ahead are prefetched where they are far: rows read side by side are too
/// many streams for a processor's own prefetchers. With it 27 points of 64^3 took 2.1 ms and
/// without 3.9 (doubles, one core of a Sapphire Rapids); more than 2 KiB were slower where values
/// came from memory.
constexpr std::size_t bytes_ahead = 2048;

/// Prefetches as many values as the rows of one step have in `columns` columns.
template <class W>
HWY_INLINE void prefetch_values(const run_rows<W>& rows, std::size_t k, std::size_t columns) {
  const auto* const begin = reinterpret_cast<const char*>(rows.values + k * rows_at_once<W>);
  for (std::size_t b = 0; b < columns * rows_at_once<W> * sizeof(W); b += 64) {
    hwy::Prefetch(begin + bytes_ahead + b);
  }
}

/// Sums `rows_at_once` rows of up to 8 terms.
template <std::size_t count, class W>
HWY_INLINE void sum_few_terms(const run_rows<W>& rows, bool far, W* sums) {
  hn::Vec<run_tag<W>> lane[row_order::lanes];
  if (far) prefetch_values(rows, 0, count);
  take_columns<true, count>(rows, 0, lane);
  store_run<count>(lane, sums);
}

/// Sums `rows_at_once` rows of more than 8 terms, `rest` of them behind the last eight.
template <std::size_t rest, class W>
HWY_INLINE void sum_many_terms(const run_rows<W>& rows, bool far, W* sums) {
  constexpr std::size_t lanes = row_order::lanes;
  hn::Vec<run_tag<W>> lane[lanes];
  if (far) prefetch_values(rows, 0, lanes);
  take_columns<true, lanes>(rows, 0, lane);
  std::size_t k = lanes;
  for (; k + lanes <= rows.terms; k += lanes) {
    if (far) prefetch_values(rows, k, lanes);
    take_columns<false, lanes>(rows, k, lane);
  }
  if constexpr (rest > 0) {
    if (far) prefetch_values(rows, k, rest);
    take_columns<false, rest>(rows, k, lane);
  }
  store_run<lanes>(lane, sums);
}

/// Calls sum(i) for each i at which so many rows begin: the last ones overlap the ones before.
template <class W, class Sum>
HWY_INLINE void for_rows_at_once(std::size_t n, const Sum& sum) {
  std::size_t i = 0;
  for (; i + rows_at_once<W> <= n; i += rows_at_once<W>) sum(i);
  if (i < n) sum(n - rows_at_once<W>);
}

/// Sums n rows of a run, at least `rows_at_once`.
template <class W>
HWY_NOINLINE void sum_run(const run_rows<W> rows, std::size_t n, bool far, W* sums) {
  constexpr std::size_t lanes = row_order::lanes;
  const auto few = [&](auto count) HWY_ATTR {
    for_rows_at_once<W>(
        n, [&](std::size_t i) HWY_ATTR { sum_few_terms<count()>(rows.from(i), far, sums + i); });
  };
  const auto many = [&](auto rest) HWY_ATTR {
    for_rows_at_once<W>(
        n, [&](std::size_t i) HWY_ATTR { sum_many_terms<rest()>(rows.from(i), far, sums + i); });
  };
  if (rows.terms == lanes) return few(std::integral_constant<std::size_t, lanes>());
  if (rows.terms < lanes) return with_rest(rows.terms, few);
  if (rows.terms % lanes == 0) return many(std::integral_constant<std::size_t, 0>());
  with_rest(rows.terms % lanes, many);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();
#endif

#endif
