// spmv on one thread, for values of 32 and 64 bits; the serial backend has 16 bits and complex.
//
// Four rows are summed at a time and folded together. If all are short, no branch depends on their
// lengths: vectors read on into the next row, masked. Longer rows use the kernel of `dot`, a plan's
// slices a lane per row.
#include "backends/simd/spmv/spmv.hpp"
#include "backends/simd/simd.hpp"

#include "backends/common/elementwise/blocks.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/serial/spmv.hpp"
#include "backends/simd/spmv/plan.hpp"
#include "backends/simd/spmv/scattered/scattered.hpp"
#include "backends/simd/vectors/instruction_set.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#ifndef TALLY_BACKENDS_SIMD_SPMV_CPP  // once per target
#define TALLY_BACKENDS_SIMD_SPMV_CPP
namespace tally::backends::simd {
namespace {

/// Types of values with kernels, each with int32 and int64 columns: more would multiply compile
/// time; and without columns.
using wide_values = type_list<float, double>;
template <class A>
using kernel_table = type_table<std::array<row_kernels<A>, 3>>;

struct implementation {
  instruction_set set;
  std::tuple<const kernel_table<float>*, const kernel_table<double>*> kernels;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/spmv/spmv.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/spmv/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

template <class W, class V, class I>
row_terms<W, V, I> terms_of(const csr_product& a) {
  const auto* const values = static_cast<const V*>(a.a.values.data);
  if constexpr (std::is_void_v<I>) {
    return {values};
  } else {
    return {values, static_cast<const I*>(a.a.column_indices.data),
            static_cast<const W*>(a.x.data)};
  }
}

template <class W, class V, class I>
void sum_rows(const csr_product& a, std::size_t first, std::size_t n, W* sums) {
  const bool far_x = std::is_same_v<W, double> && a.a.columns * sizeof(W) > near_x;
  const auto sum = [&](const std::int64_t* offsets, std::size_t count, W* to) {
    const bool fast = a.sums_values() || gathers_fast();
    sum_rows(terms_of<W, V, I>(a), a.a.nonzeros(), far_x, fast, offsets, count, to);
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
constexpr auto kernels = table_over<wide_values>([]<class V>() -> std::array<row_kernels<W>, 3> {
  if constexpr (sizeof(V) <= sizeof(W)) {
    return {{{&sum_rows<W, V, std::int32_t>, &sum_part<W, V, std::int32_t>},
             {&sum_rows<W, V, std::int64_t>, &sum_part<W, V, std::int64_t>},
             {&sum_rows<W, V, void>, &sum_part<W, V, void>}}};
  } else {
    return {};
  }
});

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), {&kernels<float>, &kernels<double>}};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

template <class A>
row_kernels<A> row_kernels_of(instruction_set set, const readable_x<A>& x) {
  const csr_product& a = x.arguments();
  if constexpr (is_complex_v<A>) {
    return serial::row_kernels_of<A>(a);
  } else if (!is_in<wide_values>(a.a.values.element)) {
    return serial::row_kernels_of<A>(a);
  } else {
    const auto& kernels = *std::get<const kernel_table<A>*>(implementation_of(set).kernels);
    const std::size_t of_columns = a.sums_values() ? 2 : a.a.column_indices.element == type::int64;
    row_kernels<A> picked = kernels[a.a.values.element][of_columns];
    picked.slices = slices_kernel_of<A>(set, a);
    return picked;
  }
}

template <class A>
readable_x<A>::readable_x(const csr_product& a) : original_(a) {
  if constexpr (!is_complex_v<A>) {
    if (a.x.increment != 1 || a.x.element != type_of<A>) {
      elements_.reset(new A[a.x.size]);
      blocks::fetchers<A>[a.x.element](a.x, elements_.get());
      copied_.emplace(a).x = {elements_.get(), a.x.size, 1, type_of<A>};
    }
  }
}

void backend::spmv(const executor& where, const csr_product& a) const {
  if (const scattered_transpose* const transpose = scattered_transpose_of(a)) {
    if (transpose->lanes) return multiply_in_lanes(*transpose, a, where.instructions());
    const scattered_terms terms(*transpose, a);
    terms.write(0, transpose->of.rows);
    return spmv(where, terms.sums());
  }
  with_rows(where, a, [&](const auto& rows) { rows.multiply(0, a.a.rows); });
}

std::shared_ptr<const spmv_analysis> backend::analyse(const executor&, const csr_operand& matrix,
                                                      const planned_products& products) const {
  auto analysis = std::make_shared<host_analysis>(matrix, products, 1);
  analysis->description.insert(
      0, analysis->slices ? "slices on one thread; " : "row after row on one thread; ");
  return analysis;
}

// For the openmp backend.
template row_kernels<float> row_kernels_of(instruction_set, const readable_x<float>&);
template row_kernels<double> row_kernels_of(instruction_set, const readable_x<double>&);
template row_kernels<std::complex<float>> row_kernels_of(instruction_set,
                                                         const readable_x<std::complex<float>>&);
template row_kernels<std::complex<double>> row_kernels_of(instruction_set,
                                                          const readable_x<std::complex<double>>&);
template class readable_x<float>;
template class readable_x<double>;
template class readable_x<std::complex<float>>;
template class readable_x<std::complex<double>>;

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
