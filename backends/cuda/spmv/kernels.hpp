// The kernels of spmv, one table for each accumulator, each in a source file of its own so that
// they compile side by side.
#pragma once

#include "backends/cuda/spmv/job.hpp"
#include "src/core/types/tables.hpp"

#include <complex>
#include <cstddef>

namespace tally::backends::cuda {

/// A kernel. Called through cudaLaunchKernel, never directly.
using spmv_kernel = void(spmv_job);

struct spmv_choice {
  spmv_kernel* tiles = nullptr;
  std::size_t tile_bytes = 0;  ///< dynamic shared memory of that one
  spmv_kernel* pieces = nullptr;
  std::size_t piece_bytes = 0;
  spmv_kernel* rows[4] = {};  ///< a row in 2^i threads, i not 0; null for rare types
};
/// By the types of the values and of x.
using spmv_kernel_table = type_table<type_table<spmv_choice>>;

/// The kernels whose rows are summed in `A`.
template <class A>
const spmv_kernel_table& spmv_kernels();

template <>
const spmv_kernel_table& spmv_kernels<float>();
template <>
const spmv_kernel_table& spmv_kernels<double>();
template <>
const spmv_kernel_table& spmv_kernels<std::complex<float>>();
template <>
const spmv_kernel_table& spmv_kernels<std::complex<double>>();

/// The exact grade: a warp a row, so many in a block.
inline constexpr unsigned exact_spmv_warps = 4;
spmv_kernel* exact_spmv_kernel_of(type accumulator);

}  // namespace tally::backends::cuda
