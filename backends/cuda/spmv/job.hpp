// What one launch of spmv is told: the kernels' only parameter.
#pragma once

#include "src/core/sparse/csr.hpp"
#include "src/core/types/typed_vector.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// What a plan gives a block to do: a run of short rows, or a share of a longer one. See
/// spmv_shape.hpp.
struct alignas(16) spmv_piece {
  std::int64_t row = 0;      ///< the first
  std::int64_t nonzero = 0;  ///< where it starts
  std::int32_t rows = 0;     ///< 0: a share of one
  std::int32_t terms = 0;
  std::int32_t slot = 0;    ///< where the share's sum is handed over
  std::int32_t before = 0;  ///< of the row's last share: the number of the others; else -1
};

struct spmv_job {
  explicit spmv_job(const csr_operand& a)
      : offsets(a.row_offsets),
        columns(a.column_indices),
        values(a.values),
        rows(static_cast<std::int64_t>(a.rows)),
        nonzeros(static_cast<std::int64_t>(a.nonzeros())) {}

  /// Returns a row offset, brought within the values. Nobody has looked at offsets in the caller's
  /// memory: where they are wrong, what comes into y does not matter; but nothing is read outside
  /// the matrix or written outside y, every block ends, and later launches are right.
  TALLY_HOST_DEVICE std::int64_t offset(std::int64_t row) const {
    const std::int64_t at =
        offsets[static_cast<std::size_t>(row)];  // A negative one is large, too.
    return static_cast<std::uint64_t>(at) < static_cast<std::uint64_t>(nonzeros) ? at : nonzeros;
  }

  // In the order in which a kernel needs them: parameters come through a cache, cold at its start.
  const spmv_piece* pieces = nullptr;  ///< of a plan
  index_vector offsets;
  index_vector columns;
  typed_vector values;
  typed_vector x;
  std::int64_t rows;
  std::int64_t nonzeros;
  typed_vector y;
  unsigned share_shift = 0;  ///< log2 of the tiles that lie between a split row's shares
  bool reads_y = false;
  type computation = type::float64;  ///< C of <tally/spmv.hpp>
  std::uint32_t tag = 1;             ///< of sums that blocks hand each other; not 0
  std::uint64_t* words = nullptr;    ///< the workspace (workspace.hpp)
  std::uint64_t* ended = nullptr;    ///< where the launch counts itself when it ends, or null
  /// alpha and beta, in the type C.
  alignas(16) unsigned char factors[sizeof(backends::factors<complex_number<double>>)] = {};
};

}  // namespace tally::backends::cuda
