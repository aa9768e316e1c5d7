// spmv runs on one thread, in vector instructions, for values of 32 and 64 bits and an x of the
// accumulator's type. Rows of values of 16 bits, and complex ones, are the serial column's.
//
// Four rows are summed at a time: the 8 lanes of each are in vectors of up to 4, and the rows are
// folded together. Where all four are short, no branch depends on their lengths: a vector reads on
// into the next row, and what isn't the row's is masked. The kernel of `dot` sums rows of more than
// `short_row` terms. Where a plan has found runs of rows with one pattern, as many rows as a vector
// has lanes are summed side by side.
#include "backends/simd/spmv.hpp"
#include "backends/simd/simd.hpp"

#include "backends/serial/order.hpp"
#include "backends/serial/spmv.hpp"
#include "backends/simd/exact.hpp"
#include "backends/simd/instruction_set.hpp"
#include "backends/simd/targets.hpp"
#include "src/core/elementwise/blocks.hpp"
#include "src/core/order/row_order.hpp"
#include "src/core/sparse/csr.hpp"
#include "src/core/sparse/exact_rows.hpp"
#include "src/core/sparse/host_analysis.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#ifndef TALLY_BACKENDS_SIMD_SPMV_CPP  // this file is compiled once for every target
#define TALLY_BACKENDS_SIMD_SPMV_CPP
namespace tally::backends::simd {
namespace {

/// These are the types of values; each has kernels with int32 and with int64 columns. (With 16 bits
/// and each type of offsets they took 100 seconds to compile instead of 10.)
using wide_values = type_list<float, double>;
template <class A>
using kernel_table = type_table<std::array<row_kernels<A>, 2>>;

/// Is what one instruction set has.
struct implementation {
  instruction_set set;
  const kernel_table<float>* floats;
  const kernel_table<double>* doubles;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/spmv.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/kernel-inl.hpp"
#include "backends/simd/spmv_short_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

// --- Rows of any length --------------------------------------------------------------------------

/// Are terms that have been computed.
template <class W>
struct stored_terms {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align = false;
  const W* terms;

  HWY_INLINE vec<W> at(std::size_t i) const { return hn::LoadU(tag<W>(), terms + i); }
  HWY_INLINE vec<W> first(std::size_t i, std::size_t count) const {
    return load_first<W>(terms + i, count);
  }
  HWY_INLINE stored_terms from(std::size_t i) const { return {terms + i}; }
};

template <class W>
HWY_NOINLINE W sum_of_chunk(const W* terms, std::size_t n) {
  return sum_only_chunk(stored_terms<W>{terms}, n);
}

/// Sums a longer row, or a node of its tree, as `dot` sums it: a chunk's terms are computed first,
/// and then added up from the cache. That way all types of values and columns share one kernel,
/// which takes a second to compile.
template <class Terms>
HWY_NOINLINE typename Terms::number sum_as_dot(Terms t, std::size_t n) {
  using W = typename Terms::number;
  constexpr tag<W> d;
  HWY_ALIGN W terms[order::chunk];
  tree<W> chunks;
  for (; n > 0; t = t.from(order::chunk)) {
    const std::size_t count = std::min(order::chunk, n);
    std::size_t i = 0;
    for (; i + width<W> <= count; i += width<W>) hn::Store(t.at(d, i), d, terms + i);
    for (; i < count; ++i) terms[i] = t.term(i);
    chunks.add(sum_of_chunk(terms, count));
    n -= count;
  }
  return chunks.total();
}

template <class W, class V, class I>
row_terms<W, V, I> terms_of(const csr_product& a) {
  return {static_cast<const V*>(a.a.values.data), static_cast<const I*>(a.a.column_indices.data),
          static_cast<const W*>(a.x.data)};
}

/// Sums rows of any lengths, four at a time.
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
      const auto terms = all.from(begin);
      rows[r] =
          length <= row_order::short_row
              ? sum_in_lanes(row_terms<W, V, I, gathers>{terms.values, terms.columns, terms.x},
                             length, far)
              : only_first<W>(1, 0, hn::Set(lanes_tag<W>(), sum_as_dot(terms, length)));
    }
    store_sums<W>(rows, sums + i);
  }
}

#if HWY_TARGET == HWY_AVX3
/// Sums rows of up to `short_row` terms, four at a time, until one is longer, and returns how many
/// they were. (Apart from rows of any length, whose code leaves too few registers.)
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

/// Sums one row, and reads no other's terms.
template <class W, class V, class I>
HWY_NOINLINE W sum_row(const row_terms<W, V, I> terms, std::size_t n) {
  if (n > row_order::short_row) return canonical(sum_as_dot(terms, n) + W{0});
  return canonical(serial::sum_in_lanes<W, row_order::lanes>(
      0, n, [&](std::size_t i) HWY_ATTR { return terms.term(i); }));
}

template <class W, class V, class I>
void sum_rows(const row_terms<W, V, I> all, std::size_t nonzeros, bool gathers,
              const std::int64_t* offsets, std::size_t n, W* sums) {
  const bool far = nonzeros * (sizeof(V) + sizeof(I)) > near_bytes;
  // Rows of 7 and 8 terms are rows of any length where one instruction gathers as many elements at
  // less than a load for each: 7 points of 20^3 took 8 % less so. Rows of up to 6 are not: 5 points
  // of 128^2 took 6 % longer. (Both on one core of a Sapphire Rapids; other processors are not
  // tuned.)
  const std::size_t few = is_avx512 && gathers_fast() ? 6 : row_order::lanes;
  // The rows before this one may be read 8 terms past their end.
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
        const row_terms<W, V, I, true> gathered{all.values, all.columns, all.x};
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

template <class W, class V, class I>
void sum_rows(const csr_product& a, std::size_t first, std::size_t n, W* sums) {
  const bool scattered = std::is_same_v<W, double> && a.a.columns * sizeof(W) > near_x;
  const bool gathers = scattered || (is_avx512 && gathers_fast());
  const auto sum = [&](const std::int64_t* offsets, std::size_t count, W* to) {
    sum_rows(terms_of<W, V, I>(a), a.a.nonzeros(), gathers, offsets, count, to);
  };
  if (a.a.row_offsets.element == type::int64) {
    return sum(static_cast<const std::int64_t*>(a.a.row_offsets.data) + first, n, sums);
  }
  const auto* const offsets = static_cast<const std::int32_t*>(a.a.row_offsets.data) + first;
  constexpr std::size_t at_once = 512;  // a multiple of 4
  std::int64_t wide[at_once + 1];
  for (std::size_t i = 0; i < n; i += at_once) {
    const std::size_t count = std::min(at_once, n - i);
    std::copy_n(offsets + i, count + 1, wide);
    sum(wide, count, sums + i);
  }
}

template <class W, class V, class I>
dot_sum<W> sum_part(const csr_product& a, std::size_t first, std::size_t n) {
  return {sum_as_dot(terms_of<W, V, I>(a).from(first), n) + W{0}};
}

template <class W>
constexpr auto kernels = table_over<wide_values>([]<class V>() -> std::array<row_kernels<W>, 2> {
  if constexpr (sizeof(V) <= sizeof(W)) {
    return {{{&sum_rows<W, V, std::int32_t>, &sum_part<W, V, std::int32_t>},
             {&sum_rows<W, V, std::int64_t>, &sum_part<W, V, std::int64_t>}}};
  } else {
    return {};
  }
});

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), &kernels<float>, &kernels<double>};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/implementations-inl.hpp"

namespace tally::backends::simd {

template <class A>
row_kernels<A> row_kernels_of(instruction_set set, const csr_product& a) {
  if constexpr (is_complex_v<A>) {
    return serial::row_kernels_of<A>(a);
  } else if (!is_in<wide_values>(a.a.values.element)) {
    return serial::row_kernels_of<A>(a);
  } else {
    const implementation& chosen = implementation_of(set);
    const auto pick = [&](const auto& kernels) {
      row_kernels<A> picked =
          kernels[a.a.values.element][a.a.column_indices.element == type::int64];
      picked.side_by_side = slices_kernel_of<A>(set, a);
      return picked;
    };
    if constexpr (std::is_same_v<A, float>) {
      return pick(*chosen.floats);
    } else {
      return pick(*chosen.doubles);
    }
  }
}

template <class A>
readable_x<A>::readable_x(const csr_product& a) : original_(a) {
  if constexpr (!is_complex_v<A>) {
    if (a.x.increment == 1 && a.x.element == type_of<A>) return;
    elements_.reset(new A[a.x.size]);
    blocks::fetchers<A>[a.x.element](a.x, elements_.get());
    copied_.emplace(a).x = {elements_.get(), a.x.size, 1, type_of<A>};
  }
}

void spmv(const executor& where, const csr_product& a) {
  with_row_accumulator(a, [&]<class A>() {
    if (a.options.grade.is_exact())
      return multiply_rows_exactly<A>(a, 0, a.a.rows, *exact_node_of(where.instructions()));
    const readable_x<A> x(a);
    multiply_rows(row_kernels_of<A>(where.instructions(), a), x.arguments(), 0, a.a.rows);
  });
}

std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand& matrix,
                                             const planned_products& products) {
  auto analysis = std::make_shared<host_analysis>(matrix, products, 1);
  analysis->description.insert(0, "row after row on one thread; ");
  return analysis;
}

// The openmp column calls these on its threads' shares.
template row_kernels<float> row_kernels_of(instruction_set, const csr_product&);
template row_kernels<double> row_kernels_of(instruction_set, const csr_product&);
template row_kernels<std::complex<float>> row_kernels_of(instruction_set, const csr_product&);
template row_kernels<std::complex<double>> row_kernels_of(instruction_set, const csr_product&);
template class readable_x<float>;
template class readable_x<double>;
template class readable_x<std::complex<float>>;
template class readable_x<std::complex<double>>;

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
