// This header declares the kernels of spmv. There is one table for each accumulator.
#pragma once

#include "backends/cuda/spmv/job.hpp"
#include "src/core/types/tables.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// The type of a kernel. The host calls it through cudaLaunchKernel, never directly.
using spmv_kernel = void(spmv_job);

struct spmv_choice {
  spmv_kernel* tiles = nullptr;
  std::size_t tile_bytes = 0;  ///< the dynamic shared memory of `tiles`
  spmv_kernel* pieces = nullptr;
  std::size_t piece_bytes = 0;
  /// Rows[i] has a row in 2^i threads; rows[0] is null, and all are null for rare types.
  spmv_kernel* rows[4] = {};
};
/// The table's indices are the type of the values and the type of x.
using spmv_kernel_table = type_table<type_table<spmv_choice>>;

/// Has kernels for values and vectors of any types, which are told at run time.
struct any_spmv_choice {
  spmv_kernel* pieces = nullptr;  ///< with a plan, for values at places
  std::size_t piece_bytes = 0;
  spmv_kernel* rows = nullptr;  ///< of matrices of four arrays
};
/// A block of these kernels of rows has so many threads, and a row so many at first.
inline constexpr unsigned any_row_threads = 256;
inline constexpr unsigned threads_of_any_row = 8;

/// Returns the kernels whose rows are summed in `A`. They are compiled in a source of their own for
/// each `A` (kernels.cu.in).
template <class A>
[[gnu::visibility("hidden")]] const spmv_kernel_table& spmv_kernels();
template <class A>
[[gnu::visibility("hidden")]] any_spmv_choice any_spmv_kernels();

/// Says what tells a tile of rows where its terms' columns are.
enum class column_source : std::uint8_t {
  matrix,       ///< the column indices, of 32 bits
  differences,  ///< their differences to the rows, of 16 bits
  patterns,     ///< the rows' patterns
};
/// The kernels of tiles of rows have blocks of `row_tile` threads.
struct row_tile_choice {
  spmv_kernel* kernel = nullptr;  ///< null where there is none for these types
  std::size_t bytes = 0;          ///< its dynamic shared memory
};
/// Returns the kernel for tiles of at most `terms` terms. A thread has 16 elements of x in flight,
/// or 8.
row_tile_choice row_tile_kernel(type values, type x, column_source from, std::size_t terms,
                                bool has_16_in_flight);

/// The kernels of large matrices without a plan.
struct unplanned_choice {
  spmv_kernel* rows = nullptr;    ///< in blocks of row_threads; null for other types
  spmv_kernel* queued = nullptr;  ///< the second launch, in any grid of such blocks
};
unplanned_choice unplanned_kernels(type values, type x, unsigned threads_a_row);

/// The first launch for rows of about one length, in a block of `row_tile` threads for each tile.
struct even_rows_choice {
  spmv_kernel* kernel = nullptr;  ///< null for other types
  std::size_t bytes = 0;          ///< its dynamic shared memory
};
/// Returns the kernel for rows that have so many terms at most, or else a few threads each.
even_rows_choice even_rows_kernel(type values, type x, std::size_t terms);

/// The exact grade has a warp for each row, and so many warps in a block.
inline constexpr unsigned exact_spmv_warps = 4;
spmv_kernel* exact_spmv_kernel_of(type accumulator);

}  // namespace tally::backends::cuda
