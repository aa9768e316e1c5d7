// spmm on one thread. A vector has neighbouring columns of a row of x, so that a term is one load
// and no gather, and a row's lanes are 8 vectors.
#include "backends/simd/spmv/spmm.hpp"
#include "backends/simd/simd.hpp"

#include "backends/common/elementwise/blocks.hpp"
#include "backends/common/order/row_order.hpp"
#include "backends/common/sparse/gathered.hpp"
#include "backends/common/sparse/row_results.hpp"
#include "backends/simd/vectors/instruction_set.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <limits>
#include <tuple>

#ifndef TALLY_BACKENDS_SIMD_SPMV_SPMM_CPP  // once per target
#define TALLY_BACKENDS_SIMD_SPMV_SPMM_CPP
namespace tally::backends::simd {
namespace {

/// Kernels by type of columns: int32, int64.
template <class W>
using column_kernel_table = std::array<column_kernels<W>, 2>;

struct implementation {
  instruction_set set;
  std::tuple<const column_kernel_table<float>*, const column_kernel_table<double>*> kernels;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/spmv/spmm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t lanes = row_order::lanes;

template <class W, class I>
struct terms_at {
  const W* values;
  const I* columns;
};

/// Terms of a matrix's rows; permuted values are gathered, at most a chunk of them.
template <class W, class I>
class row_source {
 public:
  explicit row_source(const csr_product& a)
      : a_(a),
        values_(static_cast<const W*>(a.a.values.data)),
        columns_(static_cast<const I*>(a.a.column_indices.data)) {}

  HWY_INLINE terms_at<W, I> at(std::size_t first, std::size_t n) {
    return {a_.is_permuted() ? gather(first, n) : values_ + first, columns_ + first};
  }

 private:
  HWY_NOINLINE const W* gather(std::size_t first, std::size_t n) {
    gathered(a_.a.values, index_vector(a_.places), first, n,
             reinterpret_cast<std::byte*>(gathered_));
    return gathered_;
  }

  const csr_product& a_;
  const W* values_;
  const I* columns_;
  W gathered_[order::chunk];
};

/// Sums of 8 lanes, by column.
template <class D>
using lane_sums = hn::Vec<D>[lanes];

/// Adds terms first, first + step, ..., 8 at a time, before n.
template <class D, class I>
HWY_INLINE void add_terms(D d, const terms_at<hn::TFromD<D>, I>& t, const hn::TFromD<D>* x,
                          std::ptrdiff_t stride, std::size_t first, std::size_t step, std::size_t n,
                          lane_sums<D>& sums) {
  using W = hn::TFromD<D>;
  const auto add = [&](std::size_t l, std::size_t i) HWY_ATTR {
    const W* const row = x + static_cast<std::ptrdiff_t>(t.columns[i]) * stride;
    sums[l] = hn::Add(sums[l], hn::Mul(hn::Set(d, t.values[i]), hn::LoadU(d, row)));
  };
#pragma GCC unroll 8
  for (std::size_t l = 0; l < lanes; ++l) sums[l] = hn::Zero(d);
  std::size_t i = first;
  for (; i + lanes <= n; i += step) {
#pragma GCC unroll 8
    for (std::size_t l = 0; l < lanes; ++l) add(l, i + l);
  }
#pragma GCC unroll 7
  for (std::size_t l = 0; l + 1 < lanes; ++l) {
    if (i + l >= n) break;
    add(l, i + l);
  }
}

template <class D>
HWY_INLINE hn::Vec<D> folded(lane_sums<D>& sums) {
  const auto fold = [&](std::size_t l, std::size_t half)
                        HWY_ATTR { sums[l] = hn::Add(sums[l], sums[l + half]); };
  fold(0, 4), fold(1, 4), fold(2, 4), fold(3, 4);
  fold(0, 2), fold(1, 2);
  fold(0, 1);
  return sums[0];
}

/// Sums of `count` vectors of columns.
template <class D, std::size_t count>
using vectors = hn::Vec<D>[count];

/// Sums the lanes lane, lane + step, ... of a row, which fold in halves, one after another: a term
/// is loaded once for all vectors.
template <std::size_t lane, std::size_t step, std::size_t count, class D, class I>
HWY_INLINE void sum_in_turn(D d, const terms_at<hn::TFromD<D>, I>& t, const hn::TFromD<D>* x,
                            std::ptrdiff_t stride, std::size_t n, vectors<D, count>& sums) {
  if constexpr (step < lanes) {
    sum_in_turn<lane, 2 * step, count>(d, t, x, stride, n, sums);
    vectors<D, count> right;
    sum_in_turn<lane + step, 2 * step, count>(d, t, x, stride, n, right);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < count; ++k) sums[k] = hn::Add(sums[k], right[k]);
  } else {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < count; ++k) sums[k] = hn::Zero(d);
    for (std::size_t i = lane; i < n; i += lanes) {
      const auto* const row = x + static_cast<std::ptrdiff_t>(t.columns[i]) * stride;
      const auto value = hn::Set(d, t.values[i]);
#pragma GCC unroll 4
      for (std::size_t k = 0; k < count; ++k) {
        sums[k] = hn::Add(sums[k], hn::Mul(value, hn::LoadU(d, row + k * hn::MaxLanes(d))));
      }
    }
  }
}

/// The same for a row of n <= 8 terms, without the zeros that lanes begin with.
template <std::size_t n, std::size_t lane, std::size_t step, std::size_t count, class D, class I>
HWY_INLINE void sum_few(D d, const terms_at<hn::TFromD<D>, I>& t, const hn::TFromD<D>* x,
                        std::ptrdiff_t stride, vectors<D, count>& sums) {
  if constexpr (step < lanes) {
    sum_few<n, lane, 2 * step, count>(d, t, x, stride, sums);
    if constexpr (lane + step < n) {
      vectors<D, count> right;
      sum_few<n, lane + step, 2 * step, count>(d, t, x, stride, right);
#pragma GCC unroll 4
      for (std::size_t k = 0; k < count; ++k) sums[k] = hn::Add(sums[k], right[k]);
    }
  } else {
    const auto* const row = x + static_cast<std::ptrdiff_t>(t.columns[lane]) * stride;
    const auto value = hn::Set(d, t.values[lane]);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < count; ++k) {
      sums[k] = hn::Mul(value, hn::LoadU(d, row + k * hn::MaxLanes(d)));
    }
  }
}

/// Pre: 0 < n <= 8. Comparisons in halves, no table of jumps (tuning/spmm.md).
template <std::size_t first, std::size_t last, std::size_t count, class D, class I>
HWY_INLINE void sum_few(D d, const terms_at<hn::TFromD<D>, I>& t, const hn::TFromD<D>* x,
                        std::ptrdiff_t stride, std::size_t n, vectors<D, count>& sums) {
  if constexpr (first == last) {
    sum_few<first, 0, 1, count>(d, t, x, stride, sums);
  } else {
    constexpr std::size_t middle = (first + last) / 2;
    if (n <= middle) {
      sum_few<first, middle, count>(d, t, x, stride, n, sums);
    } else {
      sum_few<middle + 1, last, count>(d, t, x, stride, n, sums);
    }
  }
}

template <std::size_t count, class D, class I>
HWY_INLINE void sum_short_row(D d, const terms_at<hn::TFromD<D>, I>& t, const hn::TFromD<D>* x,
                              std::ptrdiff_t stride, std::size_t n, hn::TFromD<D>* to) {
  vectors<D, count> sums;
  if (count <= 2 && n > 0 && n <= lanes) {
    sum_few<1, lanes, count>(d, t, x, stride, n, sums);
    // A sum that begins with 0 is not -0.
    for (std::size_t k = 0; k < count; ++k) sums[k] = hn::Add(sums[k], hn::Zero(d));
  } else if constexpr (count == 1) {
    lane_sums<D> of_lanes;
    add_terms(d, t, x, stride, 0, lanes, n, of_lanes);
    sums[0] = folded<D>(of_lanes);
  } else {
    sum_in_turn<0, 1, count>(d, t, x, stride, n, sums);
  }
  const auto nan = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::quiet_NaN());
  for (std::size_t k = 0; k < count; ++k) {
    const auto sum = hn::IfThenElse(hn::Eq(sums[k], sums[k]), sums[k], nan);
    hn::StoreU(sum, d, to + k * hn::MaxLanes(d));
  }
}

/// Sums a chunk of n terms in the order of `dot`, whose lanes are taken 8 at a time.
template <class D, class I>
HWY_NOINLINE void sum_chunk(D d, const terms_at<hn::TFromD<D>, I>& t, const hn::TFromD<D>* x,
                            std::ptrdiff_t stride, std::size_t n, hn::TFromD<D>* to) {
  constexpr std::size_t width = hn::MaxLanes(d);
  HWY_ALIGN hn::TFromD<D> all[order::lanes * width];
  for (std::size_t first = 0; first < order::lanes; first += lanes) {
    lane_sums<D> sums;
    add_terms(d, t, x, stride, first, order::lanes, n, sums);
    for (std::size_t l = 0; l < lanes; ++l) hn::Store(sums[l], d, all + (first + l) * width);
  }
  for (std::size_t half = order::lanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      hn::TFromD<D>* const sum = all + l * width;
      hn::Store(hn::Add(hn::Load(d, sum), hn::Load(d, sum + half * width)), d, sum);
    }
  }
  hn::StoreU(hn::Load(d, all), d, to);
}

template <class W>
constexpr std::size_t widest = hn::MaxLanes(hn::CappedTag<W, columns_at_once>());
/// Vectors at once: with their partial sums they fill the registers (tuning/spmm.md).
template <class W>
constexpr std::size_t max_vectors =
    std::min<std::size_t>(HWY_TARGET == HWY_AVX3 ? 4 : 2, columns_at_once / widest<W>);

/// Calls f.operator()<count>(d, c) for blocks of `count` vectors of adjacent columns from c on, the
/// largest that fit; the last one may repeat columns.
template <class W, std::size_t count, std::size_t width = widest<W>, class F>
HWY_INLINE void for_vectors(std::size_t columns, const F& f, std::size_t c = 0) {
  constexpr hn::CappedTag<W, width> d;
  for (; c + count * width <= columns; c += count * width) f.template operator()<count>(d, c);
  if (c == columns) return;
  if constexpr (count > 1) {
    for_vectors<W, count / 2, width>(columns, f, c);
  } else if constexpr (width > min_columns) {
    if (columns < width) return for_vectors<W, 1, width / 2>(columns, f, c);
  }
  if (count == 1) f.template operator()<1>(d, columns - width);
}

/// Whether one call of f has all columns.
template <class W>
constexpr bool is_one_block(std::size_t columns) {
  return std::has_single_bit(columns) && columns >= std::min(min_columns, widest<W>) &&
         columns <= max_vectors<W> * widest<W>;
}

template <class W, class I>
void sum_chunk_of_row(const csr_product& a, const dense_rows<W>& x, std::size_t first,
                      std::size_t n, W* sums) {
  row_source<W, I> source(a);
  const terms_at<W, I> t = source.at(first, n);
  for_vectors<W, 1>(x.columns, [&]<std::size_t>(auto d, std::size_t c) HWY_ATTR {
    sum_chunk(d, t, x.data + c, x.stride, n, sums + c);
  });
}

template <class W, class I>
HWY_NOINLINE void sum_long_row(const csr_product& a, const dense_rows<W>& x, std::size_t first,
                               std::size_t n, W* sums) {
  tree<column_sums<W>> chunks;
  for (std::size_t i = 0; i < n; i += order::chunk) {
    column_sums<W> sum;
    sum_chunk_of_row<W, I>(a, x, first + i, std::min(order::chunk, n - i), sum.of.data());
    chunks.add(sum);
  }
  const column_sums<W> all = chunks.total();
  for (std::size_t j = 0; j < x.columns; ++j) sums[j] = canonical(all.of[j]);
}

template <class W, class I>
void sum_rows(const csr_product& a, const dense_rows<W>& x, std::size_t first, std::size_t n,
              W* sums, std::ptrdiff_t stride) {
  row_source<W, I> source(a);
  const row_bounds rows(a.a);
  /// Calls sum(terms, n, to) for each short row.
  const auto for_rows = [&](const auto& sum) HWY_ATTR {
    W* to = sums;
    for (std::size_t i = first; i < first + n; ++i, to += stride) {
      const std::size_t begin = rows.begin(i), terms = rows.end(i) - begin;
      if (terms > row_order::short_row) {
        sum_long_row<W, I>(a, x, begin, terms, to);
      } else {
        sum(source.at(begin, terms), terms, to);
      }
    }
  };
  const auto in_vectors = [&](const auto& sum)
                              HWY_ATTR { for_vectors<W, max_vectors<W>>(x.columns, sum); };
  if (is_one_block<W>(x.columns)) {  // chosen once, not for each row
    return in_vectors([&]<std::size_t count>(auto d, std::size_t) HWY_ATTR {
      for_rows([&](const terms_at<W, I>& t, std::size_t terms, W* to)
                   HWY_ATTR { sum_short_row<count>(d, t, x.data, x.stride, terms, to); });
    });
  }
  for_rows([&](const terms_at<W, I>& t, std::size_t terms, W* to) HWY_ATTR {
    in_vectors([&]<std::size_t count>(auto d, std::size_t c)
                   HWY_ATTR { sum_short_row<count>(d, t, x.data + c, x.stride, terms, to + c); });
  });
}

template <class W>
constexpr column_kernel_table<W> kernels = {
    {{&sum_rows<W, std::int32_t>, &sum_chunk_of_row<W, std::int32_t>},
     {&sum_rows<W, std::int64_t>, &sum_chunk_of_row<W, std::int64_t>}}};

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), {&kernels<float>, &kernels<double>}};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

template <class W>
const column_kernels<W>* column_kernels_of(instruction_set set, const csr_product& a) {
  if (a.a.values.element != type_of<W>) return nullptr;
  const auto& kernels = *std::get<const column_kernel_table<W>*>(implementation_of(set).kernels);
  return &kernels[a.a.column_indices.element == type::int64];
}

/// Bytes of a block of sums; with those of rows, the stack of a call stays below 48 KiB.
constexpr std::size_t sums_bytes = 8192;

/// Writes n rows of sums, one row behind another.
template <class W>
void write(const csr_products& a, std::size_t first, std::size_t n, const W* sums) {
  const std::size_t k = a.columns;
  const csr_product& of = a.first;
  if (a.y_step == 1) {
    const std::size_t at_once = of.y.increment == static_cast<std::ptrdiff_t>(k) ? n : 1;
    for (std::size_t i = 0; i < n; i += at_once) {
      output_operand row = of.y.slice(first + i, at_once * k);
      row.increment = 1;
      write_rows({row, of.alpha, of.beta}, 0, row.size, sums + i * k);
    }
    return;
  }
  W column[sums_bytes / sizeof(W) / min_columns];
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t i = 0; i < n; ++i) column[i] = sums[i * k + j];
    write_rows({a.slice(j, 1).first.y, of.alpha, of.beta}, first, n, column);
  }
}

template <class W>
void ordered_columns<W>::multiply(std::size_t first, std::size_t n) const {
  if (all.y_step == 1 && a.y.element == type_of<W> && !a.reads_addend() &&
      a.alpha.template as<std::complex<double>>() == 1.0) {
    W* const y = static_cast<W*>(a.y.slice(first, n).data);
    return kernels.rows(a, x, first, n, y, a.y.increment);
  }
  W sums[sums_bytes / sizeof(W)];
  const std::size_t at_once = std::size(sums) / x.columns;
  for (std::size_t i = 0; i < n; i += at_once) {
    const std::size_t count = std::min(at_once, n - i);
    kernels.rows(a, x, first + i, count, sums, static_cast<std::ptrdiff_t>(x.columns));
    simd::write(all, first + i, count, sums);
  }
}

template <class W>
column_sums<W> ordered_columns<W>::rounded(const total& row) const {
  column_sums<W> sums = row.total();
  for (W& sum : sums.of) sum = canonical(sum);
  return sums;
}

template <class W>
void ordered_columns<W>::write(std::size_t row, const column_sums<W>& sums) const {
  simd::write(all, row, 1, sums.of.data());
}

void backend::spmm(const executor& where, const csr_products& a) const {
  const bool has =
      with_columns(where, a, [](const auto& rows) { rows.multiply(0, rows.a.a.rows); });
  if (!has) serial::backend::spmm(where, a);
}

// For the openmp backend.
template const column_kernels<float>* column_kernels_of(instruction_set, const csr_product&);
template const column_kernels<double>* column_kernels_of(instruction_set, const csr_product&);
template struct ordered_columns<float>;
template struct ordered_columns<double>;

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
