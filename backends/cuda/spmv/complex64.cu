// This source compiles the kernels of spmv that sum rows in complex64.
#include "backends/cuda/spmv/kernel.cuh"

namespace tally::backends::cuda {

template <>
const spmv_kernel_table& spmv_kernels<std::complex<float>>() {
  return table_of_spmv_kernels<std::complex<float>>();
}

}  // namespace tally::backends::cuda
