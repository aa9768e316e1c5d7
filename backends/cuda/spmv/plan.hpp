// A survey finds out about a matrix on the device, before any product.
#pragma once

#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

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

  unsigned share_shift = 0;      ///< log2 of the chunks of a share
  spmv_piece* pieces = nullptr;  ///< where pieces are written: shares, then runs
  std::int64_t shares = 0;
};

/// These are the words of `found`.
namespace survey {
inline constexpr unsigned defect = 0;      ///< ~key of the first defect, or 0
inline constexpr unsigned longest = 1;     ///< terms of the longest row
inline constexpr unsigned empty = 2;       ///< rows without terms
inline constexpr unsigned long_rows = 3;   ///< rows of more than row_order::short_row terms
inline constexpr unsigned shares = 4;      ///< shares of long rows
inline constexpr unsigned split_rows = 5;  ///< rows of several shares
inline constexpr unsigned handovers = 6;   ///< shares of split rows
inline constexpr unsigned runs = 7;        ///< runs of short rows
inline constexpr unsigned words = 8;
/// A defect's key has its kind above its index, which takes so many bits.
inline constexpr int index_bits = 60;
inline constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;
}  // namespace survey

struct survey_words {
  std::uint64_t of[survey::words];
};

/// The type of a kernel. The host calls it through cudaLaunchKernel, never directly. Any grid of
/// blocks of 256 threads will do.
using survey_kernel = void(csr_survey);

/// Finds the first defect; where rows may lie anywhere, the first row that has one, in a key of any
/// kind.
survey_kernel* defect_kernel();
/// Counts rows and pieces.
survey_kernel* analysis_kernel();
/// Writes the pieces, and counts them once more.
survey_kernel* piece_kernel();
/// Delivers what the kernel before has found, in one thread.
survey_kernel* tell_kernel();

}  // namespace tally::backends::cuda
