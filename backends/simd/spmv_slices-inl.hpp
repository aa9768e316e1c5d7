// Slices of a plan's rows are summed here: each row has a lane of the vectors, and each of the row
// order's 8 lanes a vector of its own. Values are read as they lie, and so is x where the rows have
// one pattern; elsewhere its elements are gathered.
//
// Promise: the sums are those of the row order.
#include "backends/simd/targets.hpp"
#include "src/core/order/row_order.hpp"
#include "src/core/sparse/row_slices.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

// The guard is every target's own.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SLICES) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SLICES
#undef TALLY_BACKENDS_SIMD_SPMV_SLICES
#else
#define TALLY_BACKENDS_SIMD_SPMV_SLICES
#endif

#include "backends/simd/spmv_runs-inl.hpp"
#include "backends/simd/spmv_short_rows-inl.hpp"
#include "backends/simd/vectors-inl.hpp"

#if HWY_TARGET != HWY_SCALAR  // which has vectors of one element
HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// A slice is one vector, or several of them one after another.
template <class W>
using slice_tag = hn::CappedTag<W, rows_of_slice<W>>;
template <class W>
using slice_vec = hn::Vec<slice_tag<W>>;
template <class W>
constexpr std::size_t slice_lanes = hn::MaxLanes(slice_tag<W>());

/// Folds the first `count` lanes of a vector of rows to their sums.
template <std::size_t count, class W>
HWY_INLINE slice_vec<W> fold_slice(const slice_vec<W>* lane) {
  constexpr slice_tag<W> d;
  constexpr std::size_t half = row_order::lanes / 2;
  auto v = fold_halves<half, count>(std::make_index_sequence<half>(), lane);
  v = hn::Add(v, hn::Zero(d));
  return hn::IfThenElse(hn::Eq(v, v), v, hn::Set(d, std::numeric_limits<W>::quiet_NaN()));
}

/// Writes the first n sums of a vector.
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

// --- Rows of one pattern -------------------------------------------------------------------------

/// Is where the terms of a vector of rows are: those of column k have values[k * stride] and
/// x[above[k]].
template <class W>
struct pattern_terms {
  const W* values;
  std::size_t stride;
  const std::int32_t* above;
  const W* x;

  HWY_INLINE slice_vec<W> at(std::size_t k) const {
    constexpr slice_tag<W> d;
    return hn::Mul(hn::LoadU(d, values + k * stride), hn::LoadU(d, x + above[k]));
  }
};

/// Takes the terms of columns k, k + 1, ... to lanes 0, 1, ...: the first of each, or added to it.
template <bool first, class W, class Terms, std::size_t... l>
HWY_INLINE void take_terms(std::index_sequence<l...>, const Terms& terms,
                           [[maybe_unused]] std::size_t k, [[maybe_unused]] slice_vec<W>* lane) {
  ((lane[l] = first ? terms.at(k + l) : hn::Add(lane[l], terms.at(k + l))), ...);
}

/// Sums vectors of rows of n terms: of `count`, where they are at most 8, and elsewhere of `count`
/// behind the last eight.
template <bool few, std::size_t count, class W, class Terms, std::size_t... v>
HWY_INLINE void sum_vectors(std::index_sequence<v...>, const Terms* terms, std::size_t n,
                            slice_vec<W>* sums) {
  constexpr std::size_t lanes = row_order::lanes;
  slice_vec<W> lane[sizeof...(v)][lanes];
  if constexpr (few) {
    (take_terms<true, W>(std::make_index_sequence<count>(), terms[v], 0, lane[v]), ...);
    ((sums[v] = fold_slice<count, W>(lane[v])), ...);
  } else {
    constexpr std::make_index_sequence<lanes> all;
    (take_terms<true, W>(all, terms[v], 0, lane[v]), ...);
    std::size_t k = lanes;
    for (; k + lanes <= n; k += lanes) (take_terms<false, W>(all, terms[v], k, lane[v]), ...);
    (take_terms<false, W>(std::make_index_sequence<count>(), terms[v], k, lane[v]), ...);
    ((sums[v] = fold_slice<lanes, W>(lane[v])), ...);
  }
}

/// Calls sum(few, count) with the constants that `sum_vectors` takes for n terms, at least one.
template <class Sum>
HWY_INLINE void with_count(std::size_t n, const Sum& sum) {
  constexpr std::size_t lanes = row_order::lanes;
  const auto few = [&](auto count) HWY_ATTR { sum(std::true_type(), count); };
  const auto many = [&](auto count) HWY_ATTR { sum(std::false_type(), count); };
  if (n == lanes) return few(std::integral_constant<std::size_t, lanes>());
  if (n < lanes) return with_rest(n, few);
  if (n % lanes == 0) return many(std::integral_constant<std::size_t, 0>());
  with_rest(n % lanes, many);
}

/// Sums a run of rows with a pattern; x is what the first one reads. Where there are registers for
/// it, two slices at a time: the 5-point stencil of 128^2 took 10 % less so, others as long (one
/// core of a Sapphire Rapids). What vectors read behind the last row is not kept.
template <bool few, std::size_t count, class W>
HWY_INLINE void sum_slices_of_pattern(const W* values, const row_pattern& pattern, const W* x,
                                      std::size_t rows, W* sums) {
  constexpr std::size_t slice = rows_of_slice<W>, lanes = slice_lanes<W>;
  const std::size_t n = pattern.terms;
  const std::int32_t* const above = pattern.above;
  const auto go_on = [&](std::size_t summed) HWY_ATTR {
    values += summed * n;
    x += summed;
    sums += summed;
    rows -= summed;
  };
  if constexpr (slice == lanes && registers == 32) {
    const auto sum_two = [&](std::size_t second) HWY_ATTR {
      const pattern_terms<W> both[] = {{values, slice, above, x},
                                       {values + slice * n, second, above, x + slice}};
      slice_vec<W> sum[2];
      sum_vectors<few, count, W>(std::make_index_sequence<2>(), both, n, sum);
      hn::StoreU(sum[0], slice_tag<W>(), sums);
      store_first(sum[1], second, sums + slice);
      go_on(slice + second);
    };
    while (rows >= 2 * slice) sum_two(slice);
    if (rows > slice) sum_two(rows - slice);
  }
  while (rows > 0) {
    const std::size_t some = std::min(rows, slice);
    for (std::size_t r = 0; r < some; r += lanes) {
      const pattern_terms<W> terms{values + r, some, above, x + r};
      slice_vec<W> sum;
      sum_vectors<few, count, W>(std::make_index_sequence<1>(), &terms, n, &sum);
      store_first(sum, some - r, sums + r);
    }
    go_on(some);
  }
}

template <class W>
HWY_NOINLINE void sum_pattern_run(const W* values, const row_pattern& pattern, const W* x,
                                  std::size_t rows, W* sums) {
  with_count(pattern.terms, [&](auto few, auto count) HWY_ATTR {
    sum_slices_of_pattern<few(), count()>(values, pattern, x, rows, sums);
  });
}

// --- Rows anywhere -------------------------------------------------------------------------------

/// Returns a vector of columns, or of rows, as integers of as many bits as an element of x.
template <class W, class I>
HWY_INLINE hn::Vec<hn::RebindToSigned<slice_tag<W>>> load_indices(const I* indices) {
  constexpr hn::RebindToUnsigned<slice_tag<W>> wide;
  constexpr hn::RebindToSigned<slice_tag<W>> as_signed;
  const auto loaded = hn::LoadU(hn::Rebind<I, slice_tag<W>>(), indices);
  if constexpr (sizeof(I) == sizeof(W)) {
    return hn::BitCast(as_signed, loaded);
  } else if constexpr (2 * sizeof(I) == sizeof(W)) {
    return hn::BitCast(as_signed, hn::PromoteTo(wide, loaded));
  } else {
    constexpr hn::Rebind<std::uint32_t, slice_tag<W>> half;
    return hn::BitCast(as_signed, hn::PromoteTo(wide, hn::PromoteTo(half, loaded)));
  }
}

/// Indices that elements of x are gathered by. The instructions for that are used wherever they
/// are: without them fem-like matrices took up to 1.2 times as long (one core of a Sapphire
/// Rapids).
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
template <class W, class I>
struct slice_indices {
  hn::Vec<hn::RebindToSigned<slice_tag<W>>> loaded;

  HWY_INLINE explicit slice_indices(const I* indices) : loaded(load_indices<W>(indices)) {}
  HWY_INLINE slice_vec<W> of(const W* x) const {
    return hn::GatherIndex(slice_tag<W>(), x, loaded);
  }
};
#else
template <class W, class I>
struct slice_indices {
  const I* indices;

  HWY_INLINE explicit slice_indices(const I* all) : indices(all) {}
  HWY_INLINE slice_vec<W> of(const W* x) const {
    return gathered<slice_lanes<W>>(slice_tag<W>(), x, indices);
  }
};
#endif

/// Are the terms of a vector of rows of one slice, whose columns are listed.
template <class W, class I>
struct terms_with_columns {
  const W* values;
  const I* columns;
  const W* x;

  HWY_INLINE slice_vec<W> at(std::size_t k) const {
    const std::size_t i = k * rows_of_slice<W>;
    return hn::Mul(hn::LoadU(slice_tag<W>(), values + i), slice_indices<W, I>(columns + i).of(x));
  }
};

/// Are the terms of such rows of one pattern.
template <class W>
struct terms_with_pattern {
  const W* values;
  const std::int32_t* above;
  slice_indices<W, std::uint16_t> rows;
  const W* x;

  HWY_INLINE slice_vec<W> at(std::size_t k) const {
    return hn::Mul(hn::LoadU(slice_tag<W>(), values + k * rows_of_slice<W>), rows.of(x + above[k]));
  }
};

/// Sums a vector of rows of n terms each.
template <class W, class Terms>
HWY_INLINE void sum_even_rows(const Terms& terms, std::size_t n, W* sums) {
  if (n == 0) return hn::StoreU(hn::Zero(slice_tag<W>()), slice_tag<W>(), sums);
  with_count(n, [&](auto few, auto count) HWY_ATTR {
    slice_vec<W> sum;
    sum_vectors<few(), count(), W>(std::make_index_sequence<1>(), &terms, n, &sum);
    hn::StoreU(sum, slice_tag<W>(), sums);
  });
}

/// Sums rows r and following ones of a slice whose rows differ in length.
template <class W, class Terms, std::size_t... l>
HWY_INLINE void sum_uneven_rows(std::index_sequence<l...>, const Terms& terms, const slice_run& run,
                                const std::uint8_t* counts, std::size_t r, W* sums) {
  constexpr slice_tag<W> d;
  constexpr std::size_t lanes = row_order::lanes;
  const std::size_t shortest = run.shortest, longest = run.longest;
  slice_vec<W> lane[] = {((void)l, hn::Zero(d))...};
  std::size_t k = 0;
  for (; k + lanes <= shortest; k += lanes) {
    ((lane[l] = hn::Add(lane[l], terms.at(k + l))), ...);
  }
  const auto added = [&](slice_vec<W> to, std::size_t j) HWY_ATTR {
    if (j >= longest) return to;
    const auto sum = hn::Add(to, terms.at(j));
    if (j < shortest) return sum;
    const std::size_t count = counts[j - shortest];
    return hn::IfThenElse(hn::FirstN(d, count > r ? count - r : 0), sum, to);
  };
  for (; k < longest; k += lanes) ((lane[l] = added(lane[l], k + l)), ...);
  hn::StoreU(fold_slice<lanes, W>(lane), d, sums);
}

/// Sums a slice whose columns are listed.
template <class W, class I>
HWY_NOINLINE void sum_with_columns(const slice_run& run, const W* values, const I* columns,
                                   const std::uint8_t* counts, const W* x, W* sums) {
  for (std::size_t r = 0; r < run.rows; r += slice_lanes<W>) {
    const terms_with_columns<W, I> terms{values + r, columns + r, x};
    if (run.shortest == run.longest) {
      sum_even_rows(terms, run.longest, sums + r);
    } else {
      sum_uneven_rows(std::make_index_sequence<row_order::lanes>(), terms, run, counts, r,
                      sums + r);
    }
  }
}

/// Sums a slice of rows of one pattern; x is what the window's first row would read.
template <class W>
HWY_NOINLINE void sum_with_pattern(const slice_run& run, const W* values, const std::uint16_t* rows,
                                   const W* x, W* sums) {
  for (std::size_t r = 0; r < run.rows; r += slice_lanes<W>) {
    const terms_with_pattern<W> terms{values + r, run.pattern->above,
                                      slice_indices<W, std::uint16_t>(rows + r), x};
    sum_even_rows(terms, run.longest, sums + r);
  }
}

/// Sums the rows of one window; `long_row(i)` sums its row i where it is.
template <class W, class LongRow>
HWY_INLINE void sum_window(const row_slices& s, std::size_t w, const W* x, const LongRow& long_row,
                           W* sums) {
  constexpr std::size_t slice = rows_of_slice<W>;
  const slice_window& window = s.windows[w];
  const std::size_t end = s.windows[w + 1].run;
  const W* values = std::get<lines<W>>(s.values).data() + window.value;
  const std::uint16_t* narrow = s.narrow.data() + (window.narrow ? window.column : 0);
  const std::uint32_t* wide = s.wide.data() + (window.narrow ? 0 : window.column);
  const std::uint16_t* rows = s.rows.data() + window.row;
  const std::uint8_t* counts = s.counts.data() + window.count;
  const auto first = static_cast<std::int64_t>(w * row_slices::window);
  for (std::size_t i = window.run; i < end; ++i) {
    const slice_run& run = s.runs[i];
    if (run.adjacent) {
      sum_pattern_run(values, *run.pattern, x + (first + run.row + run.pattern->lowest), run.rows,
                      sums + run.row);
      values += (run.rows * run.pattern->terms + slice - 1) / slice * slice;
    } else if (run.rows == 0) {
      sums[run.row] = long_row(run.row);
    } else {
      W some[slice];
      const std::size_t read = run.longest * slice;
      if (run.pattern != nullptr) {
        sum_with_pattern(run, values, rows, x + (first + run.pattern->lowest), some);
      } else if (window.narrow) {
        sum_with_columns(run, values, narrow, counts, x + window.lowest, some);
        narrow += read;
      } else {
        sum_with_columns(run, values, wide, counts, x + window.lowest, some);
        wide += read;
      }
      for (std::size_t r = 0; r < run.rows; ++r) sums[rows[r]] = some[r];
      values += read;
      rows += slice;
      counts += run.longest - run.shortest;
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();
#endif

#endif
