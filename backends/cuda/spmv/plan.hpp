// Analysis kernels, which examine a matrix on the device before any product.
#pragma once

#include "backends/cuda/spmv/expansion.hpp"
#include "backends/cuda/spmv/hot_columns.hpp"
#include "backends/cuda/spmv/job.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Bitmap of the hub columns. Those of a group of 64 columns have consecutive indices.
struct hot_table {
  std::uint32_t* bits = nullptr;    ///< one bit per column
  std::uint16_t* places = nullptr;  ///< index of each group's first hub column; behind the bits
  std::int64_t groups = 0;          ///< a multiple of 16

  TALLY_HOST_DEVICE static constexpr std::size_t bytes(std::size_t groups) {
    return groups * (2 * sizeof(std::uint32_t) + sizeof(std::uint16_t));
  }
};

/// Launch that checks columns. Unless it is none, matrix_kernel checks offsets.
enum class defect_check : std::uint8_t {
  none,      ///< the matrix is known to be valid
  at_once,   ///< matrix_kernel
  by_tiles,  ///< tiles_kernel, even without row tiles
  by_others  ///< tiles_kernel with row tiles, else a later launch
};

/// Only parameter of an analysis kernel.
struct csr_survey {
  explicit csr_survey(const csr_operand& a)
      : offsets(a.row_offsets),
        ends(row_bounds(a).ends),
        has_ends(a.row_ends.has_value()),
        columns(a.column_indices),
        rows(static_cast<std::int64_t>(a.rows)),
        nonzeros(static_cast<std::int64_t>(a.nonzeros())),
        column_count(static_cast<std::int64_t>(a.columns)) {}

  index_vector offsets;
  index_vector ends;
  bool has_ends;  ///< whether rows may lie anywhere
  index_vector columns;
  std::int64_t rows;
  std::int64_t nonzeros;
  std::int64_t column_count;
  /// Result words, zeros at first: kernels write them, the last one publishes and clears them.
  std::uint64_t* found = nullptr;
  std::uint32_t tag = 0;  ///< tag of the published words
  void* result = nullptr;

  // For row tiles (row_columns.cu), and for bands `differences` (band_rows.cu).
  std::int32_t tile_terms = 0;          ///< capacity of a tile
  std::uint64_t* lists = nullptr;       ///< hash table of stencils, row_patterns::most words
  row_patterns patterns;                ///< output; the stride is unused
  std::int16_t* differences = nullptr;  ///< output: column - row of each term

  // For hub columns (hot_uses.cu, hot_pieces.cu).
  std::int64_t zeros = 0;         ///< words from `uses` on that are zero before the first launch
  std::uint32_t* uses = nullptr;  ///< sampled terms of each column, in `counters` arrays
  std::int64_t counters = 1;      ///< per column
  std::uint32_t* bins = nullptr;  ///< histogram of `uses`: most_uses + 1 bins
  /// Row segments of each length class, then those of them that have an index.
  std::uint32_t* classes = nullptr;
  hot_table table;                    ///< output
  unsigned sample_shift = 0;          ///< log2 of the groups of terms of which one is sampled
  std::int32_t* hot = nullptr;        ///< output: hub columns
  std::int32_t* codes = nullptr;      ///< output: codes of all terms
  int most_hot = 0;                   ///< at most this many hub columns
  warp_piece* warp_pieces = nullptr;  ///< output, row segments first
  handed_row* handed = nullptr;       ///< output: rows of the carry-outs

  // For propagation blocking (segments.cu).
  expansion cut;     ///< known members, and output
  int per_unit = 1;  ///< elements per unit

  defect_check check = defect_check::none;
  bool tells = false;            ///< whether this launch is the last
  bool counts = true;            ///< false: only defects are wanted
  unsigned row_blocks = 0;       ///< first blocks, which examine rows; unless all, only rows
  int span = 0;                  ///< rows per block and step, at most `run_span`
  unsigned share_shift = 0;      ///< log2 of the chunks per row segment
  spmv_piece* pieces = nullptr;  ///< output, or null
  std::int64_t shares = 0;       ///< room for row segments, which end at this index
  std::int64_t runs = 0;         ///< room for row blocks, behind it
};

/// Indices of the words of `found`.
namespace survey {
inline constexpr unsigned defect = 0;      ///< ~key of the first defect, or 0
inline constexpr unsigned longest = 1;     ///< length of the longest row
inline constexpr unsigned empty = 2;       ///< empty rows
inline constexpr unsigned long_rows = 3;   ///< rows longer than row_order::short_row
inline constexpr unsigned shares = 4;      ///< row segments of long rows
inline constexpr unsigned split_rows = 5;  ///< rows of several segments
inline constexpr unsigned handovers = 6;   ///< row segments of split rows
inline constexpr unsigned runs = 7;        ///< row blocks
inline constexpr unsigned tile_terms = 8;  ///< terms of the largest row tile
inline constexpr unsigned above = 9;       ///< reach_word of the largest difference
inline constexpr unsigned strays = 10;     ///< not 0: too many stencils
inline constexpr unsigned patterns = 11;   ///< stencils
inline constexpr unsigned least_use = 12;  ///< least sampled terms of a hub column
inline constexpr unsigned more_used = 13;  ///< columns with more
inline constexpr unsigned taken = 14;      ///< hub columns
inline constexpr unsigned ties = 15;  ///< columns with just as many, of which some are hub columns
inline constexpr unsigned covered = 16;     ///< terms of hub columns
inline constexpr unsigned ended = 17;       ///< blocks that have ended
inline constexpr unsigned met = 18;         ///< bins that are not empty
inline constexpr unsigned adjacent = 19;    ///< terms next to the one before, or in its unit
inline constexpr unsigned most_terms = 20;  ///< terms of the largest tile of an expansion
inline constexpr unsigned below = 21;       ///< reach_word of the smallest difference's complement
inline constexpr unsigned reach = 22;       ///< largest distance of a column from the diagonal
inline constexpr unsigned sampled = 23;     ///< sampled terms
inline constexpr unsigned covered_samples = 24;  ///< those in hub columns
inline constexpr unsigned counted = 25;          ///< blocks that have counted bins
inline constexpr unsigned warp_runs = 26;        ///< row blocks, for warps
inline constexpr unsigned warp_handovers = 27;   ///< row segments of split rows, for warps
inline constexpr unsigned words = 28;
/// Length classes of row segments, the longest first.
inline constexpr unsigned classes = 16;
/// Last bin of the histogram of uses: this many or more.
inline constexpr unsigned most_uses = 2047;
/// A defect's key has its kind above an index of this many bits.
inline constexpr int index_bits = 60;
inline constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;
}  // namespace survey

struct survey_words {
  std::uint64_t of[survey::words];
};

/// Returns a word that grows with the difference; 0 stands for none.
TALLY_HOST_DEVICE constexpr std::uint32_t reach_word(std::int32_t difference) {
  return static_cast<std::uint32_t>(difference) ^ 1u << 31;
}
constexpr std::int32_t difference_of(std::uint64_t word) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(word) ^ 1u << 31);
}

/// Kernels that examine the whole matrix: threads per block, blocks per SM.
inline constexpr unsigned survey_threads = 512;
inline constexpr unsigned survey_blocks = 3;

/// Kernel type, launched by cudaLaunchKernel only; in any grid of blocks of 256 threads unless
/// stated otherwise.
using survey_kernel = void(csr_survey);

/// Finds the first defective row of a matrix of four arrays; the key's kind is arbitrary.
survey_kernel* defective_row_kernel();
/// Finds the first defect if asked, counts rows and pieces, and writes the pieces, in blocks of
/// `survey_threads`. Clears `lists`.
survey_kernel* matrix_kernel(bool wide_offsets);
/// After matrix_kernel: checks columns, finds stencils and distances from the diagonal, in any grid
/// of blocks of `row_tile` threads with tiles_bytes of shared memory. Without row tiles, or if they
/// exceed the capacity, it only checks.
survey_kernel* tiles_kernel(bool wide_columns, bool wide_offsets);
std::size_t tiles_bytes(bool wide_columns, std::size_t terms);
/// Writes differences and counts adjacent terms, in one block of `row_tile` threads per tile, with
/// differences_bytes of shared memory.
survey_kernel* differences_kernel(bool wide_columns, bool wide_offsets);
std::size_t differences_bytes(bool wide_columns, std::size_t terms);
/// Kernels that cut an expansion's tiles into bins, in blocks of `expand_threads` with
/// segment_bytes of shared memory: one block per `tiles_a_sample` tiles to measure bins, one per
/// tile to write the permutations.
inline constexpr int tiles_a_sample = 8;
survey_kernel* segment_sizes_kernel();
survey_kernel* segments_kernel();
std::size_t segment_bytes(std::size_t sections, std::size_t stride);
/// Four consecutive launches: they sample the terms of columns; make the histogram of these counts,
/// and from it the least one of a hub column, and count row segments by length; pick hub columns
/// and cut the matrix for warps, if these columns have enough terms; check columns and write the
/// codes of all terms.
survey_kernel* uses_kernel();
survey_kernel* bins_kernel();
survey_kernel* hot_kernel();
survey_kernel* codes_kernel(bool in_shared);
/// codes_kernel has one block per SM, with the table in shared memory if it fits.
inline constexpr unsigned codes_threads = 1024;
/// hot_kernel: threads per block. Blocks for columns come first, then one per `hot_span` rows.
inline constexpr unsigned hot_survey_threads = 512;
inline constexpr int picked_columns = 1024;
TALLY_HOST_DEVICE constexpr unsigned picking_blocks(std::int64_t columns) {
  const std::int64_t blocks = (columns + picked_columns - 1) / picked_columns;
  return static_cast<unsigned>(blocks < 1024 ? blocks : 1024);
}
/// Publishes the results of the kernels before it, in one warp.
survey_kernel* tell_kernel();

}  // namespace tally::backends::cuda
