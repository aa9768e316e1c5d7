// A product may take two steps. The first expands x: it copies to a buffer, for each term, the
// element of x that the term needs. A block has a section of x in its shared memory and serves all
// rows from it, so no element is gathered from memory. The second step collects what the rows need,
// multiplies and sums.
//
// A tile of rows has its elements side by side in the buffer, section after section. What it needs
// of one section is a segment, which takes whole sectors of memory.
#pragma once

#include "backends/cuda/spmv/job.hpp"
#include "src/core/order/row_order.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Segments begin and end at multiples of so many bytes.
inline constexpr int segment_unit = 32;

/// Says how a plan has cut a matrix for that, and what it keeps.
struct expansion {
  std::int32_t tile_rows = 0;   ///< rows of a tile
  std::int32_t tile_terms = 0;  ///< no tile has more terms
  std::int32_t stride = 0;      ///< elements from one tile to the next, pads included
  std::int32_t tiles = 0;
  std::int32_t sections = 0;
  std::int32_t section = 0;          ///< elements of a section, but the last
  std::int32_t tiles_at_a_time = 0;  ///< of so many tiles the buffer has the elements
  /// For each element of all tiles there is its place in its section, and that of its term in the
  /// tile; pads have the first element and the place behind all terms.
  std::uint16_t* in_section = nullptr;
  std::uint16_t* in_tile = nullptr;
  /// Each section has a segment in each tile: 16 bits say where it begins, the upper 16 where it
  /// ends, in units in the tile.
  std::uint32_t* segments = nullptr;
  void* elements = nullptr;  ///< the buffer
};

/// Tells one launch what to do.
struct expansion_job {
  spmv_job product;
  expansion cut;
  std::int32_t first_tile = 0;  ///< the launch is for the tiles from this one on
};
using expansion_kernel = void(expansion_job);

/// Blocks of both steps, and of the kernels that cut a matrix, have so many threads.
inline constexpr unsigned expand_threads = 512;
inline constexpr unsigned collect_threads = 256;

struct expansion_choice {
  expansion_kernel* expand = nullptr;   ///< as many blocks for each section; null for other types
  expansion_kernel* collect = nullptr;  ///< a block for each tile
};
expansion_choice expansion_kernels(type values, type x);

/// They take so much dynamic shared memory.
std::size_t expand_bytes(std::size_t section);
std::size_t collect_bytes(const expansion& cut);

/// A multiprocessor has so many blocks of the first step, if their sections have room.
inline constexpr unsigned most_parts = 3;

/// The buffer has at most so many bytes. Each part of a product takes two launches: of 2^20 rows of
/// 16 the product took 97 us in one part, whose buffer is larger than L2, 116 in three and 122 in
/// five (one H200, 2026-11-23).
inline constexpr std::size_t most_buffer = std::size_t{128} << 20;

/// Returns how many rows a tile has: a power of two, so that it has about 4096 terms. With about
/// 2048 the second step took 66 us, with about 4096 60, with about 8192 67.
inline std::int32_t expansion_tile_rows(const csr_operand& a) {
  const std::size_t rows = 5120 * a.rows / a.nonzeros();
  return static_cast<std::int32_t>(std::bit_floor(std::clamp<std::size_t>(rows, 32, 1024)));
}

/// Says whether to look if an expansion is worth while. Doubles take twice the room, and lose.
///
///                            f64                                f32
///                    else  expansion  cuSPARSE    else  expansion  cuSPARSE
///     2^20 random
///     rows of 16     139      159       137       132      102       127
///     2^20 rows
///     of 16          150      164       136       128      110       126
///     2^21 random
///     rows of 8      144      190       144       130      107       132
///     2^21 random
///     rows of 4.5                                  75       81        80
/// (All but the 102 are of kernels that wrote pads, too, all to one place, and took 99.)
inline bool may_expand(const csr_operand& a, std::size_t longest) {
  constexpr std::size_t most_indices = (std::size_t{1} << 31) - 1;
  return a.values.element == type::float32 && longest <= row_order::short_row &&
         a.nonzeros() >= 1 << 22 && a.nonzeros() >= 6 * a.rows && a.columns >= 1 << 18 &&
         a.rows <= most_indices && a.columns <= most_indices;
}

}  // namespace tally::backends::cuda
