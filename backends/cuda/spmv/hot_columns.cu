// The kernels of hot columns, for values and x of float; those of double would lose (shape.hpp).
#include "backends/cuda/spmv/hot_columns.cuh"

namespace tally::backends::cuda {
namespace {

template <class T>
hot_columns_choice choice_of() {
  return {&gather_hot<T>, &spmv_hot_columns<T>, hot_threads<T>,
          hot_threads<T> / warp * sizeof(warp_run<T>) + 16};
}

}  // namespace

hot_columns_choice hot_columns_kernels(type values, type x) {
  return values == type::float32 && x == type::float32 ? choice_of<float>() : hot_columns_choice{};
}

}  // namespace tally::backends::cuda
