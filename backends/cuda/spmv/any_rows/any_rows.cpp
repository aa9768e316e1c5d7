// Rows that lie anywhere, and values read by a permutation.
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/method.hpp"

namespace tally::backends::cuda {

bool multiply_any_rows(const spmv_call& call) {
  if (!call.product.a.row_ends && !call.product.is_permuted()) return false;
  call.launch(spmv_kernels_of(call.product).any_rows,
              {.blocks = blocks_of(call.product.a.rows, any_row_threads / threads_per_any_row),
               .threads = any_row_threads},
              call.job);
  return true;
}

}  // namespace tally::backends::cuda
