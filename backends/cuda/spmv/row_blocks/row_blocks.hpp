// Row blocks: adjacent short rows, whose terms a group of threads has in flight at once.
#pragma once

#include "backends/cuda/spmv/method.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Rows [row, end_row) and terms [nonzero, end_nonzero) of a row block, in one load.
struct alignas(16) row_block {
  std::int32_t row = 0, nonzero = 0;
  std::int32_t end_row = 0, end_nonzero = 0;
};

/// Returns the number of a matrix's row blocks. Pre: values of a special type.
std::size_t row_blocks_of(const csr_operand& a);

/// Whether row blocks can be used: values, x, y and C of one special type, contiguous x, indices of
/// 32 bits.
bool serves_row_blocks(const spmv_call& call);

/// Launches the kernel that writes the row blocks, and queues rows that are too long for them.
void cut_row_blocks(const spmv_call& call, const spmv_job& job, row_block* blocks);

/// Launches the product of the rows in row blocks, after cut_row_blocks; if queued rows are many,
/// it leaves all rows to the launch after. Pre: serves_row_blocks.
void multiply_row_blocks(const spmv_call& call, const spmv_job& job, const row_block* blocks);

}  // namespace tally::backends::cuda
