// Products with a plan whose columns stay sum slices of rows, for values of 32 and 64 bits.
#include "backends/simd/spmv.hpp"
#include "backends/simd/targets.hpp"
#include "src/core/sparse/csr.hpp"
#include "src/core/sparse/host_analysis.hpp"

#ifndef TALLY_BACKENDS_SIMD_SPMV_SLICES_CPP  // this file is compiled once for every target
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_CPP
namespace tally::backends::simd {
namespace {

/// Is what one instruction set has: for values that are read where they are, and for kept ones.
struct implementation {
  instruction_set set;
  slices_kernel<float>* floats[2];
  slices_kernel<double>* doubles[2];
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/spmv_slices.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/spmv_slices-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Sums rows of whole windows as slices, and what is left of windows before and behind them as they
/// are.
template <bool keeps, class W>
void sum_slices(const csr_product& a, std::size_t first, std::size_t n,
                const row_kernels<W>& others, W* sums) {
#if HWY_TARGET == HWY_SCALAR  // no rows are summed side by side
  others.rows(a, first, n, sums);
#else
  constexpr std::size_t window = row_slices::window;
  const row_slices& slices = *analysis_of(a)->slices;
  const std::size_t end = first + n;
  std::size_t row = std::min((first + window - 1) / window * window, end);
  if (first < row) others.rows(a, first, row - first, sums);
  for (; row < end && (row + window <= end || end == a.a.rows); row += window) {
    sum_window<keeps>(a, slices, row / window, others, sums + (row - first));
  }
  if (row < end) others.rows(a, row, end - row, sums + (row - first));
#endif
}

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET),
                                        {&sum_slices<false, float>, &sum_slices<true, float>},
                                        {&sum_slices<false, double>, &sum_slices<true, double>}};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/implementations-inl.hpp"

namespace tally::backends::simd {

template <class A>
slices_kernel<A>* slices_kernel_of(instruction_set set, const csr_product& a) {
  const host_analysis* const analysis = analysis_of(a);
  if (analysis == nullptr || !analysis->slices || a.a.values.element != type_of<A>) return nullptr;
  // Without a promise of values a product may have others than the plan was made of.
  if (analysis->slices->slice != rows_of_slice<A>) return nullptr;
  const implementation& chosen = implementation_of(set);
  if constexpr (std::is_same_v<A, float>) {
    return chosen.floats[analysis->slices->keeps];
  } else {
    return chosen.doubles[analysis->slices->keeps];
  }
}

template slices_kernel<float>* slices_kernel_of(instruction_set, const csr_product&);
template slices_kernel<double>* slices_kernel_of(instruction_set, const csr_product&);

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
