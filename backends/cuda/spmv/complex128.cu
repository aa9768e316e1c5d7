// This source compiles the kernels of spmv that sum rows in complex128.
#include "backends/cuda/spmv/kernel.cuh"

namespace tally::backends::cuda {

template <>
const spmv_kernel_table& spmv_kernels<std::complex<double>>() {
  return table_of_spmv_kernels<std::complex<double>>();
}

}  // namespace tally::backends::cuda
