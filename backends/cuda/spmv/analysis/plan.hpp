// A plan's contents, found by analysis.cpp, described by description.cpp, used by spmv.cpp.
#pragma once

#include <tally/error.hpp>

#include "backends/backend.hpp"
#include "backends/cuda/runtime/kept_memory.hpp"
#include "backends/cuda/spmv/hub_columns/hub_columns.hpp"
#include "backends/cuda/spmv/job.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/propagation_blocking/propagation_blocking.hpp"
#include "backends/cuda/spmv/row_tiles/near_rows.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Blocks per grid, at most.
inline constexpr std::size_t max_blocks = (std::size_t{1} << 31) - 1;

/// Static shared memory of a kernel, at most.
inline constexpr std::size_t static_shared_bytes = 2048;

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

struct analysis_results;

struct cuda_plan : spmv_analysis {
  std::uint64_t context = 0;
  std::size_t longest = 0;                    ///< length of the longest row
  unsigned threads_per_row = 0;               ///< 0: pieces
  std::size_t tile_terms = 0;                 ///< of the largest row tile; 0: no row tiles
  column_form columns = column_form::matrix;  ///< for row tiles
  /// Pieces; stencils, differences or propagation blocking; or codes, hub columns and pieces of
  /// warps.
  kept_memory memory;
  std::size_t kept_bytes = 0;  ///< without pieces
  row_patterns patterns;
  std::uint64_t stencil_count = 0;
  std::int16_t* differences = nullptr;
  reach near_rows;                     ///< distances from the diagonal, if small
  std::int32_t band = -1;              ///< distance from the diagonal, in a band
  hub_columns hub;                     ///< count 0: none
  type hub_type = type::float64;       ///< type for which there is room
  std::uint64_t hub_percent = 0;       ///< percentage of terms in hub columns
  propagation_blocking cut;            ///< no tiles: none
  type blocking_type = type::float64;  ///< type for which tiles are cut
  unsigned segment_shift = 0;
  const spmv_piece* pieces = nullptr;  ///< one per block
  std::size_t piece_bytes = 0;
  unsigned blocks = 0;
  std::uint64_t split_rows = 0;  ///< rows with carry-outs
  std::size_t carry_outs = 0;
};

/// Describes how products are computed, and the memory it takes.
void describe(const csr_operand& a, const planned_products& products, const analysis_results& found,
              cuda_plan& made);

/// Returns the size of the buffer of propagation blocking, which lives as long as a product.
inline std::size_t buffer_bytes(const propagation_blocking& cut, type element) {
  return static_cast<std::size_t>(cut.tiles_per_part) * static_cast<std::size_t>(cut.stride) *
         size_of(element);
}

/// Fails a product whose plan outlived its context.
[[noreturn]] inline void fail_of_context() {
  throw error(errc::invalid_argument,
              "tally::spmv: the plan ended with its context, by cudaDeviceReset; make a new one");
}

}  // namespace tally::backends::cuda
