// Contents of a plan for spmv, found by analysis.cpp, described by description.cpp, used by
// spmv.cpp.
#pragma once

#include <tally/error.hpp>

#include "backends/cuda/runtime/kept_memory.hpp"
#include "backends/cuda/spmv/expansion.hpp"
#include "backends/cuda/spmv/hot_columns.hpp"
#include "backends/cuda/spmv/job.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/near_rows.hpp"
#include "backends/cuda/spmv/shape.hpp"
#include "src/core/table.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// At most this many blocks per grid.
inline constexpr std::size_t most_blocks = (std::size_t{1} << 31) - 1;

/// Static shared memory of the kernels here, at most.
inline constexpr std::size_t own_shared_bytes = 2048;

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

struct survey_words;

/// Plan for one matrix.
struct cut_analysis : spmv_analysis {
  std::uint64_t context = 0;
  std::size_t longest = 0;     ///< length of the longest row
  unsigned threads_a_row = 0;  ///< 0: pieces
  std::size_t tile_terms = 0;  ///< terms of the largest row tile; 0: no row tiles
  column_source columns = column_source::matrix;  ///< form of the columns, for row tiles
  /// Pieces; then stencils, differences or an expansion; or codes, hub columns and pieces of warps.
  kept_memory memory;
  std::size_t kept_bytes = 0;  ///< of `memory`, without pieces
  row_patterns patterns;
  std::uint64_t pattern_count = 0;
  std::int16_t* differences = nullptr;
  reach near_rows;                ///< distances from the diagonal, if they are small
  std::int32_t band = -1;         ///< largest distance from the diagonal, if rows lie in a band
  hot_columns hot;                ///< count 0: none
  type hot_type = type::float64;  ///< type whose elements fit in shared memory
  std::uint64_t hot_share = 0;    ///< percentage of the terms in hub columns
  expansion cut;                  ///< no tiles: none
  type cut_type = type::float64;  ///< type of the elements it was cut for
  unsigned share_shift = 0;
  const spmv_piece* pieces = nullptr;  ///< one per block
  std::size_t piece_bytes = 0;         ///< of `pieces`
  unsigned blocks = 0;
  std::uint64_t split_rows = 0;  ///< rows with carry-outs
  std::size_t handovers = 0;     ///< carry-outs
};

/// Describes how products are computed with a plan, and the memory it takes.
void describe(const csr_operand& a, const planned_products& products, const survey_words& found,
              cut_analysis& made);

/// Returns the size of an expansion's buffer, which lives as long as a product.
inline std::size_t buffer_bytes(const expansion& cut, type element) {
  return static_cast<std::size_t>(cut.tiles_at_a_time) * static_cast<std::size_t>(cut.stride) *
         size_of(element);
}

/// Fails a product whose plan outlived its context.
[[noreturn]] inline void fail_of_context() {
  throw error(errc::invalid_argument,
              "tally::spmv: the plan ended with its context, by cudaDeviceReset; make a new one");
}

}  // namespace tally::backends::cuda
