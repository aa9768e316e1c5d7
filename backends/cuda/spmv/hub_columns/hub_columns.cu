// Kernels of hub columns.
#include "backends/cuda/spmv/hub_columns/hub_columns.cuh"

namespace tally::backends::cuda {
namespace {

template <class T>
hub_columns_choice choice_of() {
  return {&gather_hub_elements<T>, &spmv_hub_columns<T>, hub_threads<T>,
          hub_threads<T> / warp * sizeof(warp_row_block<T>) + 16};
}

}  // namespace

hub_columns_choice hub_columns_kernels(type values, type x) {
  if (values != x) return {};
  if (values == type::float64) return choice_of<double>();
  if (values == type::float32) return choice_of<float>();
  return {};
}

}  // namespace tally::backends::cuda
