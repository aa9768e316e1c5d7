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
  std::size_t tile_bytes = 0;  ///< dynamic shared memory
  spmv_kernel* pieces = nullptr;
  std::size_t piece_bytes = 0;
  /// rows[i] has 2^i threads per row; null for i = 0 and rare types.
  spmv_kernel* rows[4] = {};
};
/// Indexed by the types of the values and x.
using spmv_kernel_table = type_table<type_table<spmv_choice>>;

/// Kernels for types known at run time.
struct any_spmv_choice {
  spmv_kernel* pieces = nullptr;  ///< with a plan, for permuted values
  std::size_t piece_bytes = 0;
  spmv_kernel* rows = nullptr;  ///< for matrices of four arrays
};
/// Threads per block, and per short row.
inline constexpr unsigned any_row_threads = 256;
inline constexpr unsigned threads_per_any_row = 8;

/// Returns the kernels that sum rows in `A`, in a source of their own (kernels.cu.in).
template <class A>
[[gnu::visibility("hidden")]] const spmv_kernel_table& spmv_kernels();
template <class A>
[[gnu::visibility("hidden")]] any_spmv_choice any_spmv_kernels();

/// Form of the columns that a row tile reads.
enum class column_form : std::uint8_t {
  matrix,       ///< indices of 32 bits
  differences,  ///< delta-encoded: column - row in 16 bits
  patterns,     ///< stencils
};
/// Kernel in blocks of `rows_per_row_tile` threads, null for other types, and its dynamic shared
/// memory.
struct row_tile_choice {
  spmv_kernel* kernel = nullptr;
  std::size_t bytes = 0;
};
/// Returns the kernel for tiles of at most `terms` terms, with 16 or 8 elements of x in flight per
/// thread.
row_tile_choice row_tile_kernel(type values, type x, column_form from, std::size_t terms,
                                bool has_16_in_flight);

/// Kernels of both launches for large matrices without a plan, in blocks of row_threads; null for
/// other types.
struct unplanned_choice {
  spmv_kernel* rows = nullptr;
  spmv_kernel* queued = nullptr;  ///< in any grid
};
unplanned_choice unplanned_kernels(type values, type x, unsigned threads_per_row);

/// First launch for rows of about one length, one block of `rows_per_row_tile` threads per tile.
struct even_rows_choice {
  spmv_kernel* kernel = nullptr;
  std::size_t bytes = 0;
};
/// Returns the kernel for rows of at most `terms` terms; tiles with longer ones have a few threads
/// per row.
even_rows_choice even_rows_kernel(type values, type x, std::size_t terms);

/// Warps, and rows, per block of the exact grade.
inline constexpr unsigned exact_warps_per_block = 4;
spmv_kernel* exact_spmv_kernel_of(type accumulator);

}  // namespace tally::backends::cuda
