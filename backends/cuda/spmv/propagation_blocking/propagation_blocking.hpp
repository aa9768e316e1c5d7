// Propagation blocking in two launches. The expand phase copies to a buffer the element of x that
// each term needs; a block has one section (column block) of x in shared memory and serves all
// rows, so nothing is gathered from memory. The collect phase multiplies and sums.
//
// A tile of rows has its elements contiguous in the buffer, by section. Those of one section are a
// bin ("segment") of whole memory sectors.
#pragma once

#include "backends/common/order/row_order.hpp"
#include "backends/cuda/spmv/job.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Alignment of bins, in bytes.
inline constexpr int bin_alignment = 32;

/// A matrix cut into tiles and sections.
struct propagation_blocking {
  std::int32_t tile_rows = 0;   ///< per tile
  std::int32_t tile_terms = 0;  ///< of the largest tile
  std::int32_t stride = 0;      ///< elements from tile to tile, padding included
  std::int32_t tiles = 0;
  std::int32_t sections = 0;
  std::int32_t section = 0;         ///< elements of one but the last
  std::int32_t tiles_per_part = 0;  ///< whose elements the buffer holds
  /// Indices of each element of a tile: its own in the section, and its term's in the tile.
  /// Padding: the section's first element, and the index behind all terms.
  std::uint16_t* section_index = nullptr;
  std::uint16_t* in_tile = nullptr;
  /// Bins by section and tile: begin and, in the upper 16 bits, end, in units of the tile.
  std::uint32_t* segments = nullptr;
  void* elements = nullptr;  ///< buffer
};

/// Kernel parameter.
struct blocking_job {
  spmv_job product;
  propagation_blocking cut;
  std::int32_t first_tile = 0;  ///< of this launch
};
using blocking_kernel = void(blocking_job);

/// Threads per block of the expand phase and of cutting; of the collect phase.
inline constexpr unsigned expand_threads = 512;
inline constexpr unsigned collect_threads = 256;

struct blocking_choice {
  blocking_kernel* expand = nullptr;   ///< equally many blocks per section; null for other types
  blocking_kernel* collect = nullptr;  ///< one block per tile
};
blocking_choice blocking_kernels(type values, type x);

/// Returns a phase's dynamic shared memory.
std::size_t expand_bytes(std::size_t section);
std::size_t collect_bytes(const propagation_blocking& cut);

/// Blocks per SM of the expand phase, at most.
inline constexpr unsigned max_parts = 3;

/// Bytes of the buffer, at most. Each part of a product takes two launches (tuning/spmv.md).
inline constexpr std::size_t max_buffer = std::size_t{128} << 20;

/// Returns a power of two that gives about 4096 terms per tile (tuning/spmv.md).
inline std::int32_t blocking_tile_rows(const csr_operand& a) {
  const std::size_t rows = 5120 * a.rows / a.nonzeros();
  return static_cast<std::int32_t>(std::bit_floor(std::clamp<std::size_t>(rows, 32, 1024)));
}

/// Whether to try propagation blocking. Doubles take twice the room, and lose (tuning/spmv.md).
inline bool may_block_propagation(const csr_operand& a, std::size_t longest) {
  constexpr std::size_t max_indices = (std::size_t{1} << 31) - 1;
  return a.values.element == type::float32 && longest <= row_order::short_row &&
         a.nonzeros() >= 1 << 22 && a.nonzeros() >= 6 * a.rows && a.columns >= 1 << 18 &&
         a.rows <= max_indices && a.columns <= max_indices;
}

}  // namespace tally::backends::cuda
