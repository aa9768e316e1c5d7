// Hub columns, which have most of the terms, as in power-law graphs.
#pragma once

#include "backends/cuda/spmv/method.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// A row block with hub columns has all loads in flight in one warp. It ends with the row that
/// reaches `hub_block_path` on the merge path, or earlier at another limit (tuning/spmv.md).
inline constexpr int hub_block_path = 224;
inline constexpr int hub_block_terms = 256;
inline constexpr int hub_block_rows = 128;

/// Work of one warp of a plan, in one load.
struct alignas(16) warp_piece {
  std::int32_t row = 0;      ///< first row
  std::int32_t nonzero = 0;  ///< first term
  std::int32_t terms = 0;
  /// Rows of a row block; 0 for a row's only segment; for one of several the complement of the
  /// carry-out's index.
  std::int32_t rows = 0;

  TALLY_HOST_DEVICE bool is_row_block() const { return rows > 0; }
  TALLY_HOST_DEVICE bool is_split() const { return rows < 0; }
  TALLY_HOST_DEVICE std::int32_t carry_out() const { return ~rows; }
};

/// Carry-outs of one row.
struct carry_out_row {
  std::int32_t first = 0;
  std::int32_t shares = 0;
};

/// Hub columns and codes of all terms of a matrix.
struct hub_columns {
  const std::int32_t* codes = nullptr;    ///< columns, or sign bit and index of a hub column
  const std::int32_t* columns = nullptr;  ///< hub columns
  const warp_piece* pieces = nullptr;
  const carry_out_row* handed = nullptr;  ///< by carry-out
  int count = 0;                          ///< of hub columns
  int piece_count = 0;
  void* elements = nullptr;    ///< of x, in whole units of 16 bytes
  unsigned* counts = nullptr;  ///< carry-outs present, by row
};

/// Hub columns of a plan.
struct planned_hub_columns {
  hub_columns hub;
  type element;           ///< type for which there is room
  std::uint64_t percent;  ///< of the terms
  std::size_t bytes;
  std::uint64_t split_rows;
  std::size_t carry_outs;
};
std::unique_ptr<const method> make_hub_columns(const planned_hub_columns& planned);

/// Whether to look for hub columns, with kernels that check columns, too.
bool may_have_hub_columns(const search& s);

/// Returns the hub columns that fit in a product's shared memory.
std::size_t max_hub_columns(const current_device& current, type element);

}  // namespace tally::backends::cuda
