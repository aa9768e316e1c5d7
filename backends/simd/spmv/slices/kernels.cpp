// Kernels of slices, in every instruction set.
#include "backends/common/sparse/csr.hpp"
#include "backends/simd/spmv/plan.hpp"
#include "backends/simd/spmv/spmv.hpp"
#include "backends/simd/vectors/targets.hpp"

#ifndef TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS_CPP  // once per target
#define TALLY_BACKENDS_SIMD_SPMV_SLICES_KERNELS_CPP
namespace tally::backends::simd {
namespace {

/// Kernels by `slice_values`.
struct implementation {
  instruction_set set;
  slices_kernel<float>* floats[3];
  slices_kernel<double>* doubles[3];
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

template <slice_values... reads>
constexpr implementation with_kernels() {
  return {set_of(HWY_TARGET), {&sum_slices<reads, float>...}, {&sum_slices<reads, double>...}};
}
#if HWY_TARGET == HWY_AVX3
constexpr implementation this_target =
    with_kernels<slice_values::in_place, slice_values::copied, slice_values::gathered>();
#else
constexpr implementation this_target = with_kernels<slice_values::in_place, slice_values::copied>();
#endif

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
    return implementation_of(set).floats[static_cast<int>(slices->reads)];
  } else {
    return implementation_of(set).doubles[static_cast<int>(slices->reads)];
  }
}

template slices_kernel<float>* slices_kernel_of(instruction_set, const csr_product&);
template slices_kernel<double>* slices_kernel_of(instruction_set, const csr_product&);

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
