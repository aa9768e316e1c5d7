// Rows of any length in vectors.
//
// Promise: sums in the row order.
#include "backends/common/order/row_order.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/serial/order.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_ROWS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_ROWS
#undef TALLY_BACKENDS_SIMD_SPMV_ROWS
#else
#define TALLY_BACKENDS_SIMD_SPMV_ROWS
#endif

#include "backends/simd/spmv/short_rows-inl.hpp"
#include "backends/simd/sums/kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Sums a long row, or a node of its tree, in the order of `dot`.
template <class Terms>
HWY_NOINLINE typename Terms::number sum_as_dot(Terms t, std::size_t n) {
  tree<typename Terms::number> chunks;
  for (; n > 0; t = t.from(order::chunk)) {
    const std::size_t count = std::min(order::chunk, n);
    chunks.add(sum_only_chunk(t, count));
    n -= count;
  }
  return chunks.total();
}

template <bool gathers, class W, class V, class I>
HWY_NOINLINE void sum_rows_of_any_length(const row_terms<W, V, I> all, const std::int64_t* offsets,
                                         std::size_t n, bool far, W* sums) {
  constexpr std::size_t lanes = row_order::lanes;
  for (std::size_t i = 0; i + 4 <= n; i += 4) {
    if (longest_of_four(offsets + i) <= lanes) {
      sum_four_rows_up_to<lanes>(all, offsets + i, far, sums + i);
      continue;
    }
    lanes_vec<W> rows[4];
#pragma GCC unroll 1
    for (std::size_t r = 0; r < 4; ++r) {
      const auto begin = static_cast<std::size_t>(offsets[i + r]);
      const std::size_t length = static_cast<std::size_t>(offsets[i + r + 1]) - begin;
      const auto terms = all.template gathered_so<gathers>().from(begin);
      rows[r] = length <= row_order::short_row
                    ? sum_in_lanes(terms, length, far)
                    : only_first<W>(1, 0, hn::Set(lanes_tag<W>(), sum_as_dot(terms, length)));
    }
    store_sums<W>(rows, sums + i);
  }
}

#if HWY_TARGET == HWY_AVX3
/// Sums rows of up to `short_row` terms, four at a time, until one is longer; returns their number.
/// Apart from rows of any length, whose code leaves too few registers.
template <class W, class V, class I>
HWY_NOINLINE std::size_t sum_rows_in_one_vector(const row_terms<W, V, I, true> all,
                                                const std::int64_t* offsets, std::size_t n,
                                                bool far, W* sums) {
  const auto row = [&](std::size_t r) HWY_ATTR {
    const auto begin = static_cast<std::size_t>(offsets[r]);
    return sum_in_one_vector(all.from(begin), static_cast<std::size_t>(offsets[r + 1]) - begin,
                             far);
  };
  std::size_t i = 0;
  for (; i + 4 <= n && longest_of_four(offsets + i) <= row_order::short_row; i += 4) {
    const lanes_vec<W> rows[] = {row(i), row(i + 1), row(i + 2), row(i + 3)};
    store_sums<W>(rows, sums + i);
  }
  return i;
}
#endif

/// Reads no other row's terms.
template <class W, class V, class I>
HWY_NOINLINE W sum_row(const row_terms<W, V, I> terms, std::size_t n) {
  if (n > row_order::short_row) return canonical(sum_as_dot(terms, n) + W{0});
  return canonical(serial::sum_in_lanes<W, row_order::lanes>(
      0, n, [&](std::size_t i) HWY_ATTR { return terms.term(i); }));
}

/// `far_x`: whether x has more than `near_x` bytes of doubles. `fast`: `gathers_fast`, which tests
/// choose.
template <class W, class V, class I>
void sum_rows(const row_terms<W, V, I> all, std::size_t nonzeros, bool far_x, bool fast,
              const std::int64_t* offsets, std::size_t n, W* sums) {
  const bool gathers = far_x || (is_avx512 && fast);
  const bool far = nonzeros * all.bytes > near_bytes;
  // Longest rows of `sum_rows_up_to`: one fast gather beats 8 loads, but not 6 (tuning/spmv.md:
  // few).
  const std::size_t few = is_avx512 && fast ? 6 : row_order::lanes;
  // Rows before this one may be read 8 terms past their end.
  std::size_t readable = n;
  while (readable > 0 &&
         static_cast<std::size_t>(offsets[readable]) + row_order::lanes > nonzeros) {
    --readable;
  }
  std::size_t i = 0;
  while (i + 4 <= readable) {
    std::size_t count = std::min(readable - i, rows_of_one_kind);
    const std::size_t longest = longest_of_four(offsets + i);
    if (longest <= 4) {
      i += sum_rows_up_to<4>(all, offsets + i, count, far, sums + i);
    } else if (longest <= 6) {
      i += sum_rows_up_to<6>(all, offsets + i, count, far, sums + i);
    } else if (longest <= few) {
      i += sum_rows_up_to<row_order::lanes>(all, offsets + i, count, far, sums + i);
    } else {
      count = std::min(count, rows_of_any_length) / 4 * 4;
#if HWY_TARGET == HWY_AVX3
      if (gathers) {
        const auto gathered = all.template gathered_so<true>();
        const std::size_t summed =
            sum_rows_in_one_vector(gathered, offsets + i, count, far, sums + i);
        i += summed;
        if (summed > 0) continue;
        count = 4;
      }
#endif
      gathers ? sum_rows_of_any_length<has_gather<W>>(all, offsets + i, count, far, sums + i)
              : sum_rows_of_any_length<false>(all, offsets + i, count, far, sums + i);
      i += count;
    }
  }
  for (; i < n; ++i) {
    const auto begin = static_cast<std::size_t>(offsets[i]);
    sums[i] = sum_row(all.from(begin), static_cast<std::size_t>(offsets[i + 1]) - begin);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
