// This source compiles the kernels of spmv that sum rows in float32.
#include "backends/cuda/spmv/kernel.cuh"

namespace tally::backends::cuda {

template <>
const spmv_kernel_table& spmv_kernels<float>() {
  return table_of_spmv_kernels<float>();
}

}  // namespace tally::backends::cuda
