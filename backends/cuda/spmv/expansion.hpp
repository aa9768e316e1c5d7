// Propagation blocking in two launches. The expand phase copies the element of x that each term
// needs to a buffer; a block keeps one section (column block) of x in shared memory and serves all
// rows from it, so nothing is gathered from memory. The collect phase multiplies and sums the rows.
//
// A tile of rows has its elements contiguous in the buffer, section after section. Those of one
// section are a bin ("segment"), which takes whole memory sectors.
#pragma once

#include "backends/cuda/spmv/job.hpp"
#include "src/core/order/row_order.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Alignment of bins, in bytes.
inline constexpr int segment_unit = 32;

/// Partition of a matrix for propagation blocking.
struct expansion {
  std::int32_t tile_rows = 0;   ///< rows per tile
  std::int32_t tile_terms = 0;  ///< terms of the largest tile
  std::int32_t stride = 0;      ///< elements from one tile to the next, padding included
  std::int32_t tiles = 0;
  std::int32_t sections = 0;
  std::int32_t section = 0;          ///< elements per section, except the last
  std::int32_t tiles_at_a_time = 0;  ///< tiles whose elements the buffer holds
  /// For each element of a tile, its index in the section, and the index in the tile of its term.
  /// Padding has the section's first element and the index behind all terms.
  std::uint16_t* in_section = nullptr;
  std::uint16_t* in_tile = nullptr;
  /// Bins by section and tile: begin in the lower 16 bits, end in the upper, in units of the tile.
  std::uint32_t* segments = nullptr;
  void* elements = nullptr;  ///< buffer
};

/// Kernel parameter.
struct expansion_job {
  spmv_job product;
  expansion cut;
  std::int32_t first_tile = 0;  ///< first tile of this launch
};
using expansion_kernel = void(expansion_job);

/// Threads per block of the expand phase and the kernels that cut a matrix, and of the collect
/// phase.
inline constexpr unsigned expand_threads = 512;
inline constexpr unsigned collect_threads = 256;

struct expansion_choice {
  expansion_kernel* expand = nullptr;   ///< equally many blocks per section; null for other types
  expansion_kernel* collect = nullptr;  ///< one block per tile
};
expansion_choice expansion_kernels(type values, type x);

/// Dynamic shared memory of the two phases.
std::size_t expand_bytes(std::size_t section);
std::size_t collect_bytes(const expansion& cut);

/// Blocks per SM of the expand phase, at most.
inline constexpr unsigned most_parts = 3;

/// Size of the buffer, at most. Each part of a product takes two launches (tuning/spmv.md:
/// most_buffer).
inline constexpr std::size_t most_buffer = std::size_t{128} << 20;

/// Returns the rows per tile, a power of two that gives about 4096 terms (tuning/spmv.md:
/// expansion_tile_rows).
inline std::int32_t expansion_tile_rows(const csr_operand& a) {
  const std::size_t rows = 5120 * a.rows / a.nonzeros();
  return static_cast<std::int32_t>(std::bit_floor(std::clamp<std::size_t>(rows, 32, 1024)));
}

/// Whether to try propagation blocking. Doubles take twice the room, and lose (tuning/spmv.md:
/// may_expand).
inline bool may_expand(const csr_operand& a, std::size_t longest) {
  constexpr std::size_t most_indices = (std::size_t{1} << 31) - 1;
  return a.values.element == type::float32 && longest <= row_order::short_row &&
         a.nonzeros() >= 1 << 22 && a.nonzeros() >= 6 * a.rows && a.columns >= 1 << 18 &&
         a.rows <= most_indices && a.columns <= most_indices;
}

}  // namespace tally::backends::cuda
