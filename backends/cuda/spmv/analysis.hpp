// This header says what a plan of spmv keeps. analysis.cpp finds it, description.cpp tells it and
// spmv.cpp reads it.
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

/// A grid has at most so many blocks.
inline constexpr std::size_t most_blocks = (std::size_t{1} << 31) - 1;

/// Kernels of rows and columns have at most so much shared memory beside what they are given.
inline constexpr std::size_t own_shared_bytes = 2048;

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

struct survey_words;

/// A plan keeps this.
struct cut_analysis : spmv_analysis {
  std::uint64_t context = 0;
  std::size_t longest = 0;     ///< terms of the longest row
  unsigned threads_a_row = 0;  ///< 0: the matrix is cut into pieces
  std::size_t tile_terms = 0;  ///< terms of the largest tile of rows; 0: there are no tiles
  column_source columns = column_source::matrix;  ///< what tells tiles of rows their columns
  /// This holds pieces; patterns, differences or an expansion; or codes, hot columns and the pieces
  /// of warps.
  kept_memory memory;
  std::size_t kept_bytes = 0;  ///< without pieces
  row_patterns patterns;
  std::uint64_t pattern_count = 0;
  std::int16_t* differences = nullptr;
  reach near_rows;                ///< where rows are near the diagonal, how near
  std::int32_t band = -1;         ///< how far columns are, where rows lie in a band
  hot_columns hot;                ///< there are none where its count is 0
  type hot_type = type::float64;  ///< of the elements for which there is room
  std::uint64_t hot_share = 0;    ///< how many per cent of the terms are in hot columns
  expansion cut;                  ///< there is none where it has no tiles
  type cut_type = type::float64;  ///< of the elements that its tiles are for
  unsigned share_shift = 0;
  const spmv_piece* pieces = nullptr;  ///< one for each block
  std::size_t piece_bytes = 0;         ///< what they take
  unsigned blocks = 0;
  std::uint64_t split_rows = 0;  ///< rows whose sums blocks hand over
  std::size_t handovers = 0;     ///< places where they do
};

/// Says how products are computed with a plan, and what that takes.
void describe(const csr_operand& a, const planned_products& products, const survey_words& found,
              cut_analysis& made);

/// Returns how many bytes an expansion's buffer has, while a product runs.
inline std::size_t buffer_bytes(const expansion& cut, type element) {
  return static_cast<std::size_t>(cut.tiles_at_a_time) * static_cast<std::size_t>(cut.stride) *
         size_of(element);
}

/// Throws what a product says whose plan belongs to a context that is no more.
[[noreturn]] inline void fail_of_context() {
  throw error(errc::invalid_argument,
              "tally::spmv: the plan ended with its context, by cudaDeviceReset; make a new one");
}

}  // namespace tally::backends::cuda
