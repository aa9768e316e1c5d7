// This source compiles the kernels of spmv that sum rows in float64.
#include "backends/cuda/spmv/kernel.cuh"

namespace tally::backends::cuda {

template <>
const spmv_kernel_table& spmv_kernels<double>() {
  return table_of_spmv_kernels<double>();
}

}  // namespace tally::backends::cuda
