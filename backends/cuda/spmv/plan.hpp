// What is found out about a matrix on the device, before any product.
#pragma once

#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// One launch's work: the kernels' only parameter.
struct csr_survey {
  explicit csr_survey(const csr_operand& a)
      : offsets(a.row_offsets),
        columns(a.column_indices),
        rows(static_cast<std::int64_t>(a.rows)),
        nonzeros(static_cast<std::int64_t>(a.nonzeros())),
        column_count(static_cast<std::int64_t>(a.columns)) {}

  index_vector offsets;
  index_vector columns;
  std::int64_t rows;
  std::int64_t nonzeros;
  std::int64_t column_count;
  std::uint64_t* found = nullptr;  ///< empty words that the kernels write, and the last one empties
  std::uint32_t tag = 0;           ///< with which it delivers what was found
  void* result = nullptr;

  unsigned share_shift = 0;      ///< log2 of the chunks of a share
  spmv_piece* pieces = nullptr;  ///< to be written: shares, then runs
  std::int64_t shares = 0;
};

/// Words of `found`.
namespace survey {
inline constexpr unsigned defect = 0;      ///< ~key of the first defect, or 0
inline constexpr unsigned longest = 1;     ///< terms of the longest row
inline constexpr unsigned empty = 2;       ///< rows without terms
inline constexpr unsigned long_rows = 3;   ///< rows of more than row_order::short_row
inline constexpr unsigned shares = 4;      ///< of those
inline constexpr unsigned split_rows = 5;  ///< rows of several shares
inline constexpr unsigned slots = 6;       ///< shares of those
inline constexpr unsigned runs = 7;        ///< of short rows
inline constexpr unsigned words = 8;
/// A defect's key: its kind above its index.
inline constexpr int index_bits = 60;
}  // namespace survey

struct survey_words {
  std::uint64_t of[survey::words];
};

/// A kernel. Called through cudaLaunchKernel, never directly. Any grid of blocks of 256 threads.
using survey_kernel = void(csr_survey);

/// Finds the first defect.
survey_kernel* defect_kernel();
/// Counts rows and pieces.
survey_kernel* analysis_kernel();
/// Writes the pieces, and counts them once more.
survey_kernel* piece_kernel();
/// Delivers what the one before has found. One thread.
survey_kernel* tell_kernel();

}  // namespace tally::backends::cuda
