#include "backends/cuda/fused/kernel.cuh"

#include "backends/cuda/dot/kernel.cuh"
#include "backends/cuda/reduce/kernel.cuh"

namespace tally::backends::cuda {
namespace {

template <class T>
struct is_fused : std::bool_constant<std::is_floating_point_v<real_t<T>>> {};

/// Types with kernels: those computed and summed as they are.
using fused_types = detail::those<accumulator_types, is_fused>;

template <class Terms, bool itself>
fused_kernel kernel_of() {
  return {&sum_kernel<updated_part<Terms, itself>>, words_per<typename Terms::sum>};
}

}  // namespace

fused_kernel fused_dot_kernel(type accumulator, bool itself) {
  if (!is_in<fused_types>(accumulator)) return {};
  return with_type<fused_types>(accumulator, [&]<class T>() {
    using terms = products<T, T, T>;
    return itself ? kernel_of<terms, true>() : kernel_of<terms, false>();
  });
}

fused_kernel fused_nrm2_kernel(type element) {
  if (!is_in<fused_types>(element)) return {};
  return with_type<fused_types>(element,
                                []<class T>() { return kernel_of<squares<T, T>, true>(); });
}

}  // namespace tally::backends::cuda
