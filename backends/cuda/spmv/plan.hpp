// A survey finds out about a matrix on the device, before any product.
#pragma once

#include "backends/cuda/spmv/expansion.hpp"
#include "backends/cuda/spmv/hot_columns.hpp"
#include "backends/cuda/spmv/job.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Says which columns are hot. The places of those of a group of 64 follow one another.
struct hot_table {
  std::uint32_t* bits = nullptr;    ///< a bit for each column
  std::uint16_t* places = nullptr;  ///< the place of each group's first one; behind the bits
  std::int64_t groups = 0;          ///< a multiple of 16

  TALLY_HOST_DEVICE static constexpr std::size_t bytes(std::size_t groups) {
    return groups * (2 * sizeof(std::uint32_t) + sizeof(std::uint16_t));
  }
};

/// Says which launch checks columns. Where there is one, matrix_kernel checks offsets.
enum class defect_check : std::uint8_t {
  none,      ///< the matrix is known to have no defect
  at_once,   ///< matrix_kernel
  by_tiles,  ///< tiles_kernel, though there may be no tiles of rows
  by_others  ///< tiles_kernel where there are tiles of rows, else one that follows
};

/// Tells one launch what to look at. It is the kernels' only parameter.
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
  /// Empty words that the kernels write and the last kernel empties.
  std::uint64_t* found = nullptr;
  std::uint32_t tag = 0;  ///< the tag with which it delivers what was found
  void* result = nullptr;

  // Tiles of rows need these (row_columns.cu), and rows in a band the differences (band_rows.cu).
  std::int32_t tile_terms = 0;          ///< there is room for so many terms of a tile
  std::uint64_t* lists = nullptr;       ///< row_patterns::most words, for lists that are met
  row_patterns patterns;                ///< where they are written; the stride does not count
  std::int16_t* differences = nullptr;  ///< where column - row of each term is written

  // Hot columns need these (hot_uses.cu, hot_pieces.cu).
  std::int64_t zeros = 0;  ///< so many words from `uses` on are zeros before the first launch
  std::uint32_t* uses = nullptr;  ///< for some of the terms of all columns, in turn
  std::int64_t counters = 1;      ///< of each column
  std::uint32_t* bins = nullptr;  ///< most_uses + 1, for how many columns have so many
  /// How many shares of long rows each class has, and how many of these have a place.
  std::uint32_t* classes = nullptr;
  hot_table table;                    ///< where it is written which columns are hot
  unsigned sample_shift = 0;          ///< log2 of the groups of terms of which one is looked at
  std::int32_t* hot = nullptr;        ///< where hot columns are written
  std::int32_t* codes = nullptr;      ///< where the codes of all terms are written
  int most_hot = 0;                   ///< how many hot columns there may be
  warp_piece* warp_pieces = nullptr;  ///< where these are written, shares first
  handed_row* handed = nullptr;       ///< where the rows of shares are written

  // An expansion needs these (segments.cu).
  expansion cut;     ///< what is known of it, and where the rest is written
  int per_unit = 1;  ///< elements of a unit

  defect_check check = defect_check::none;
  bool tells = false;            ///< whether the launch is the last one
  bool counts = true;            ///< whether more than defects is wanted
  unsigned row_blocks = 0;       ///< the first ones look at rows; if that is not all, only these
  int span = 0;                  ///< rows that they look at together, at most `run_span`
  unsigned share_shift = 0;      ///< log2 of the chunks of a share
  spmv_piece* pieces = nullptr;  ///< where pieces are written, or null
  std::int64_t shares = 0;       ///< there is room for so many shares, which end there,
  std::int64_t runs = 0;         ///< and behind them for so many runs
};

/// These are the words of `found`.
namespace survey {
inline constexpr unsigned defect = 0;       ///< ~key of the first defect, or 0
inline constexpr unsigned longest = 1;      ///< terms of the longest row
inline constexpr unsigned empty = 2;        ///< rows without terms
inline constexpr unsigned long_rows = 3;    ///< rows of more than row_order::short_row terms
inline constexpr unsigned shares = 4;       ///< shares of long rows
inline constexpr unsigned split_rows = 5;   ///< rows of several shares
inline constexpr unsigned handovers = 6;    ///< shares of split rows
inline constexpr unsigned runs = 7;         ///< runs of short rows
inline constexpr unsigned tile_terms = 8;   ///< terms of the tile of rows that has most
inline constexpr unsigned above = 9;        ///< the largest difference, of reach_word
inline constexpr unsigned strays = 10;      ///< not 0 where rows have too many patterns
inline constexpr unsigned patterns = 11;    ///< patterns of rows
inline constexpr unsigned least_use = 12;   ///< no hot column has fewer terms
inline constexpr unsigned more_used = 13;   ///< columns that have more
inline constexpr unsigned taken = 14;       ///< those of them that have a place
inline constexpr unsigned ties = 15;        ///< columns that have as many, and may be hot
inline constexpr unsigned covered = 16;     ///< terms of hot columns
inline constexpr unsigned ended = 17;       ///< blocks that have ended
inline constexpr unsigned met = 18;         ///< segments that are not empty
inline constexpr unsigned adjacent = 19;    ///< terms next to that before, or in its unit
inline constexpr unsigned most_terms = 20;  ///< terms of the tile of an expansion that has most
inline constexpr unsigned below = 21;       ///< the complement of the smallest one, of reach_word
inline constexpr unsigned reach = 22;       ///< how far a column is from the diagonal, at most
inline constexpr unsigned sampled = 23;     ///< terms that were looked at for hot columns
inline constexpr unsigned covered_samples = 24;  ///< those of them that are of hot columns
inline constexpr unsigned counted = 25;          ///< blocks that have counted bins
inline constexpr unsigned warp_runs = 26;        ///< runs of short rows, for warps
inline constexpr unsigned warp_handovers = 27;   ///< shares of split rows, for warps
inline constexpr unsigned words = 28;
/// Shares of long rows are in so many classes, the longest in the first.
inline constexpr unsigned classes = 16;
/// Columns with so many terms or more are counted together.
inline constexpr unsigned most_uses = 2047;
/// A defect's key has its kind above its index, which takes so many bits.
inline constexpr int index_bits = 60;
inline constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;
}  // namespace survey

struct survey_words {
  std::uint64_t of[survey::words];
};

/// Returns a word that is the larger the larger the difference, and never less than 0; the word 0
/// says that there is no difference.
TALLY_HOST_DEVICE constexpr std::uint32_t reach_word(std::int32_t difference) {
  return static_cast<std::uint32_t>(difference) ^ 1u << 31;
}
constexpr std::int32_t difference_of(std::uint64_t word) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(word) ^ 1u << 31);
}

/// Blocks that look at the whole matrix have so many threads, a multiprocessor so many of them.
inline constexpr unsigned survey_threads = 512;
inline constexpr unsigned survey_blocks = 3;

/// The type of a kernel. The host calls it through cudaLaunchKernel, never directly. Where nothing
/// else is said, any grid of blocks of 256 threads will do.
using survey_kernel = void(csr_survey);

/// Finds the first row of four arrays that has a defect, in a key of any kind.
survey_kernel* defective_row_kernel();
/// Finds the first defect if the matrix may have one, counts rows and pieces, and writes the
/// pieces, in blocks of `survey_threads`. It empties `lists`.
survey_kernel* matrix_kernel(bool wide_offsets);
/// Follows matrix_kernel: checks columns, finds the patterns of rows and how far columns are from
/// the diagonal, in any grid of blocks of `row_tile` threads, with tiles_bytes of shared memory.
/// Where the matrix has no tiles of rows, or larger ones than have room, it checks at most.
survey_kernel* tiles_kernel(bool wide_columns, bool wide_offsets);
std::size_t tiles_bytes(bool wide_columns, std::size_t terms);
/// Writes differences and counts adjacent terms, in a block of `row_tile` threads for each tile,
/// with differences_bytes.
survey_kernel* differences_kernel(bool wide_columns, bool wide_offsets);
std::size_t differences_bytes(bool wide_columns, std::size_t terms);
/// Cuts an expansion's tiles into segments, in blocks of `expand_threads` with segment_bytes of
/// shared memory: finds how large they are, in a block for each `tiles_a_sample` tiles, or writes
/// where all terms have their places, in a block for each tile.
inline constexpr int tiles_a_sample = 8;
survey_kernel* segment_sizes_kernel();
survey_kernel* segments_kernel();
std::size_t segment_bytes(std::size_t sections, std::size_t stride);
/// The next four follow one another. They count some of the terms of columns; how many columns have
/// so many, and from that how many hot columns have at least, and how long shares of long rows are;
/// pick the hot columns and cut the matrix for warps, if these columns are hot; and check columns,
/// and write the codes of all terms.
survey_kernel* uses_kernel();
survey_kernel* bins_kernel();
survey_kernel* hot_kernel();
survey_kernel* codes_kernel(bool in_shared);
/// It has a block a multiprocessor, of so many threads, with the table in its shared memory if that
/// has room.
inline constexpr unsigned codes_threads = 1024;
/// hot_kernel has blocks of so many threads, these for columns and one for each `hot_span` rows.
inline constexpr unsigned hot_survey_threads = 512;
inline constexpr int picked_columns = 1024;
TALLY_HOST_DEVICE constexpr unsigned picking_blocks(std::int64_t columns) {
  const std::int64_t blocks = (columns + picked_columns - 1) / picked_columns;
  return static_cast<unsigned>(blocks < 1024 ? blocks : 1024);
}
/// Delivers what the kernels before have found, in a warp.
survey_kernel* tell_kernel();

}  // namespace tally::backends::cuda
