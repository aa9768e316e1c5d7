// Propagation blocking in two launches. The expand phase copies to a buffer the element of x that
// each term needs; a block has one section (column block) of x in shared memory and serves all
// rows, so nothing is gathered from memory. The collect phase multiplies and sums.
//
// A tile of rows has its elements contiguous in the buffer, by section. Those of one section are a
// bin ("segment") of whole memory sectors.
#pragma once

#include "backends/cuda/spmv/method.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

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

/// Threads per block of the expand phase and of cutting.
inline constexpr unsigned expand_threads = 512;

/// Returns a phase's dynamic shared memory.
std::size_t expand_bytes(std::size_t section);
std::size_t collect_bytes(const propagation_blocking& cut);

/// `bytes`: of its permutations and bins.
std::unique_ptr<const method> make_propagation_blocking(const propagation_blocking& cut,
                                                        std::size_t bytes);

}  // namespace tally::backends::cuda
