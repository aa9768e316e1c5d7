// Kernels of spmv.
#pragma once

#include "backends/common/types/tables.hpp"
#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Kernel type, launched by cudaLaunchKernel only.
using spmv_kernel = void(spmv_job);

struct spmv_choice {
  spmv_kernel* tiles = nullptr;
  std::size_t tile_bytes = 0;          ///< dynamic shared memory
  spmv_kernel* value_tiles = nullptr;  ///< `tiles` for values alone
  spmv_kernel* pieces = nullptr;
  std::size_t piece_bytes = 0;
  /// rows[i] has 2^i threads per row; null for i = 0 and rare types.
  spmv_kernel* rows[4] = {};
  // For types known at run time.
  spmv_kernel* any_pieces = nullptr;  ///< for permuted values, with a plan
  spmv_kernel* any_rows = nullptr;    ///< without, and for matrices of four arrays
};
/// Indexed by the types of the values and x.
using spmv_kernel_table = type_table<type_table<spmv_choice>>;

/// Threads per block of `any_rows`, and per short row.
inline constexpr unsigned any_row_threads = 256;
inline constexpr unsigned threads_per_any_row = 8;

/// Returns the kernels that sum rows in `A`, in a source of their own (kernels.cu.in).
template <class A>
[[gnu::visibility("hidden")]] const spmv_kernel_table& spmv_kernels();

/// Returns the kernels for a product's types.
const spmv_choice& spmv_kernels_of(const csr_product& a);

}  // namespace tally::backends::cuda
