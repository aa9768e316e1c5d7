// Kernels of hub columns.
#include "backends/cuda/spmv/hub_columns/hot_columns.cuh"

namespace tally::backends::cuda {
namespace {

template <class T>
hot_columns_choice choice_of() {
  return {&gather_hot<T>, &spmv_hot_columns<T>, hot_threads<T>,
          hot_threads<T> / warp * sizeof(warp_run<T>) + 16};
}

}  // namespace

hot_columns_choice hot_columns_kernels(type values, type x) {
  if (values != x) return {};
  if (values == type::float64) return choice_of<double>();
  if (values == type::float32) return choice_of<float>();
  return {};
}

}  // namespace tally::backends::cuda
