// Kernels of spmv, in one table per accumulator.
#pragma once

#include "backends/cuda/spmv/job.hpp"
#include "src/core/types/tables.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Kernel type, launched by cudaLaunchKernel only.
using spmv_kernel = void(spmv_job);

struct spmv_choice {
  spmv_kernel* tiles = nullptr;
  std::size_t tile_bytes = 0;  ///< dynamic shared memory of `tiles`
  spmv_kernel* pieces = nullptr;
  std::size_t piece_bytes = 0;
  /// rows[i] has 2^i threads per row; rows[0] is null, and all are null for rare types.
  spmv_kernel* rows[4] = {};
};
/// Indexed by the type of the values and the type of x.
using spmv_kernel_table = type_table<type_table<spmv_choice>>;

/// Kernels for values and vectors of any types, known at run time.
struct any_spmv_choice {
  spmv_kernel* pieces = nullptr;  ///< with a plan, for values out of order
  std::size_t piece_bytes = 0;
  spmv_kernel* rows = nullptr;  ///< for matrices of four arrays
};
/// Threads per block, and per row at first, of the kernel for rows of four arrays.
inline constexpr unsigned any_row_threads = 256;
inline constexpr unsigned threads_of_any_row = 8;

/// Returns the kernels whose rows are summed in `A`, compiled in one source per `A`
/// (kernels.cu.in).
template <class A>
[[gnu::visibility("hidden")]] const spmv_kernel_table& spmv_kernels();
template <class A>
[[gnu::visibility("hidden")]] any_spmv_choice any_spmv_kernels();

/// Form of the columns that a row tile reads.
enum class column_source : std::uint8_t {
  matrix,       ///< column indices of 32 bits
  differences,  ///< delta-encoded: column - row in 16 bits
  patterns,     ///< stencils of the rows
};
/// Kernel of row tiles, in blocks of `row_tile` threads.
struct row_tile_choice {
  spmv_kernel* kernel = nullptr;  ///< null for other types
  std::size_t bytes = 0;          ///< dynamic shared memory
};
/// Returns the kernel for tiles of at most `terms` terms, with 16 elements of x in flight per
/// thread, or 8.
row_tile_choice row_tile_kernel(type values, type x, column_source from, std::size_t terms,
                                bool has_16_in_flight);

/// Kernels of large matrices without a plan.
struct unplanned_choice {
  spmv_kernel* rows = nullptr;    ///< in blocks of row_threads; null for other types
  spmv_kernel* queued = nullptr;  ///< second launch, in any grid of such blocks
};
unplanned_choice unplanned_kernels(type values, type x, unsigned threads_a_row);

/// First launch for rows of about one length, one block of `row_tile` threads per tile.
struct even_rows_choice {
  spmv_kernel* kernel = nullptr;  ///< null for other types
  std::size_t bytes = 0;          ///< dynamic shared memory
};
/// Returns the kernel for rows of at most `terms` terms; tiles with longer ones get a few threads
/// per row.
even_rows_choice even_rows_kernel(type values, type x, std::size_t terms);

/// Warps per block of the exact grade, which has one warp per row.
inline constexpr unsigned exact_spmv_warps = 4;
spmv_kernel* exact_spmv_kernel_of(type accumulator);

}  // namespace tally::backends::cuda
