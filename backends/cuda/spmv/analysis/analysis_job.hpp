// Analysis kernels.
#pragma once

#include "backends/cuda/spmv/job.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Launch that checks columns; if any, analyse_matrix checks offsets.
enum class defect_check : std::uint8_t {
  none,  ///< known to be valid
  at_once,
  by_tiles,  ///< analyse_tiles, even without row tiles
  by_others  ///< analyse_tiles with row tiles, else a later launch
};

/// Parameter of the analysis kernels.
struct analysis_job {
  explicit analysis_job(const csr_operand& a)
      : offsets(a.row_offsets),
        ends(row_bounds(a).ends),
        columns(a.column_indices),
        rows(static_cast<std::int64_t>(a.rows)),
        nonzeros(static_cast<std::int64_t>(a.nonzeros())),
        column_count(static_cast<std::int64_t>(a.columns)) {}

  index_vector offsets;
  index_vector ends;
  index_vector columns;
  std::int64_t rows;
  std::int64_t nonzeros;
  std::int64_t column_count;
  /// Result words: zeros, which kernels write and the last one publishes and clears.
  std::uint64_t* found = nullptr;
  std::uint32_t tag = 0;  ///< of the published words
  void* result = nullptr;

  // For row tiles (tile_columns.cu) and, `differences`, bands (band.cu).
  std::int32_t tile_terms = 0;          ///< capacity of a tile
  std::uint64_t* lists = nullptr;       ///< hash table of row_patterns::max words
  row_patterns patterns;                ///< output, the stride unused
  std::int16_t* differences = nullptr;  ///< output

  defect_check check = defect_check::none;
  bool tells = false;            ///< whether the launch is the last
  bool counts = true;            ///< false: only defects are wanted
  unsigned row_blocks = 0;       ///< first blocks, for rows; unless all, for rows only
  int span = 0;                  ///< rows per step of a block
  unsigned segment_shift = 0;    ///< log2 of the chunks per row segment
  spmv_piece* pieces = nullptr;  ///< output, or null
  std::int64_t shares = 0;       ///< capacity for row segments, which end at this index
  std::int64_t runs = 0;         ///< capacity for row blocks behind
};

/// Returns f.operator()<Index>() for indices of 64 or 32 bits.
template <class F>
auto with_index_type(bool wide, const F& f) {
  return wide ? f.template operator()<std::int64_t>() : f.template operator()<std::int32_t>();
}
/// Returns f.operator()<Column, Offset>() for a matrix's types.
template <class F>
auto with_index_types(const analysis_job& job, const F& f) {
  return with_index_type(job.offsets.wide, [&]<class Offset>() {
    return with_index_type(job.columns.wide,
                           [&]<class Column>() { return f.template operator()<Column, Offset>(); });
  });
}

/// Words of `found`.
namespace result_words {
inline constexpr unsigned defect = 0;   ///< ~key of the first, or 0
inline constexpr unsigned longest = 1;  ///< length of the longest row
inline constexpr unsigned empty = 2;    ///< empty rows
inline constexpr unsigned long_rows = 3;
inline constexpr unsigned shares = 4;      ///< row segments
inline constexpr unsigned split_rows = 5;  ///< rows of several segments
inline constexpr unsigned carry_outs = 6;  ///< split rows' segments
inline constexpr unsigned runs = 7;        ///< row blocks
inline constexpr unsigned tile_terms = 8;  ///< of the largest row tile
inline constexpr unsigned above = 9;       ///< ordered_word of the largest difference
inline constexpr unsigned strays = 10;     ///< not 0: too many stencils
inline constexpr unsigned patterns = 11;
inline constexpr unsigned min_use = 12;                ///< of a hub column, in the sample
inline constexpr unsigned columns_above_min_use = 13;  ///< columns with more
inline constexpr unsigned taken = 14;                  ///< hub columns
inline constexpr unsigned ties = 15;                   ///< columns with as many
inline constexpr unsigned covered = 16;                ///< terms of hub columns
inline constexpr unsigned ended = 17;                  ///< blocks that ended
inline constexpr unsigned adjacent = 18;         ///< terms in the column next to the one before
inline constexpr unsigned below = 19;            ///< ordered_word of ~(the smallest difference)
inline constexpr unsigned furthest = 20;         ///< largest distance from the diagonal
inline constexpr unsigned sampled = 21;          ///< sampled terms
inline constexpr unsigned hub_samples = 22;      ///< sampled, of hub columns
inline constexpr unsigned counted = 23;          ///< blocks that counted bins
inline constexpr unsigned warp_row_blocks = 24;  ///< row blocks for warps
inline constexpr unsigned warp_carry_outs = 25;  ///< segments of split rows, for warps
inline constexpr unsigned words = 26;
/// Rows whose first and last columns are far apart, counted by other kernels.
inline constexpr unsigned wide_rows = strays;
/// Bits of the index, below the kind, in a defect's key.
inline constexpr int index_bits = 60;
inline constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;
}  // namespace result_words

struct analysis_results {
  std::uint64_t of[result_words::words] = {};

  std::uint64_t operator[](unsigned word) const { return of[word]; }
};

/// Returns a word that grows with the difference; 0 stands for none.
TALLY_HOST_DEVICE constexpr std::uint32_t ordered_word(std::int32_t difference) {
  return static_cast<std::uint32_t>(difference) ^ 1u << 31;
}
constexpr std::int32_t delta_of(std::uint64_t word) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(word) ^ 1u << 31);
}

/// Kernels for the whole matrix: threads per block, blocks per SM.
inline constexpr unsigned analysis_threads = 512;
inline constexpr unsigned analysis_blocks_per_sm = 3;

/// Kernel type, for cudaLaunchKernel only.
using analysis_kernel = void(analysis_job);
/// Finds the first defective row of four arrays, in any grid of blocks of 256 threads; the key's
/// kind is arbitrary.
analysis_kernel* defective_row_kernel();
/// Finds the first defect if asked, and counts rows and writes pieces, in blocks of
/// `analysis_threads`. Clears `lists`.
analysis_kernel* matrix_kernel(bool wide_offsets);
/// Publishes the results, in one warp.
analysis_kernel* publish_kernel();

}  // namespace tally::backends::cuda
