// Kernels of slices, in every instruction set.
#include "backends/common/sparse/csr.hpp"
#include "backends/simd/spmv/plan.hpp"
#include "backends/simd/spmv/spmv.hpp"
#include "backends/simd/vectors/targets.hpp"

#ifndef TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS_CPP  // once per target
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS_CPP
namespace tally::backends::simd {
namespace {

/// Kernels for values in the matrix, and packed ones.
struct implementation {
  instruction_set set;
  slices_kernel<float>* floats[2];
  slices_kernel<double>* doubles[2];
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/spmv/slices/kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/spmv/slices/kernels-inl.hpp"

namespace tally::backends::simd {
namespace HWY_NAMESPACE {

constexpr implementation this_target = {set_of(HWY_TARGET),
                                        {&sum_slices<false, float>, &sum_slices<true, float>},
                                        {&sum_slices<false, double>, &sum_slices<true, double>}};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

template <class W>
slices_kernel<W>* slices_kernel_of(instruction_set set, const csr_product& a) {
  const row_slices* const slices = slices_of<W>(a);
  if (slices == nullptr) return nullptr;
  if constexpr (std::is_same_v<W, float>) {
    return implementation_of(set).floats[slices->keeps];
  } else {
    return implementation_of(set).doubles[slices->keeps];
  }
}

template slices_kernel<float>* slices_kernel_of(instruction_set, const csr_product&);
template slices_kernel<double>* slices_kernel_of(instruction_set, const csr_product&);

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
