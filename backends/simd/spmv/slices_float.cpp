// Slices of rows of floats.
#include "backends/common/sparse/csr.hpp"
#include "backends/common/sparse/host_analysis.hpp"
#include "backends/simd/spmv/spmv.hpp"
#include "backends/simd/vectors/targets.hpp"

#ifndef TALLY_BACKENDS_SIMD_SPMV_SLICES_FLOAT_CPP  // once per target
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_FLOAT_CPP
namespace tally::backends::simd {
namespace {

/// Kernels for values in the matrix, and packed ones.
struct implementation {
  instruction_set set;
  slices_kernel<float>* kernels[2];
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/spmv/slices_float.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/spmv/slices-inl.hpp"

namespace tally::backends::simd {
namespace HWY_NAMESPACE {

constexpr implementation this_target = {set_of(HWY_TARGET),
                                        {&sum_slices<false, float>, &sum_slices<true, float>}};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

template <>
slices_kernel<float>* slices_kernel_of(instruction_set set, const csr_product& a) {
  const row_slices* const slices = slices_of<float>(a);
  return slices == nullptr ? nullptr : implementation_of(set).kernels[slices->keeps];
}

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
