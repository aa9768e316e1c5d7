// Tiles of the merge path, which every product without a plan can take.
#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/method.hpp"
#include "backends/cuda/spmv/shape.hpp"

namespace tally::backends::cuda {

bool multiply_merge_path(const spmv_call& call) {
  const csr_operand& a = call.product.a;
  const spmv_choice& kernels = spmv_kernels_of(call.product);
  const std::size_t tiles = ceil_div(a.rows + a.nonzeros(), merge_tile_path);
  spmv_job job = call.job;
  while ((tiles >> job.segment_shift) >= scratch_words / call.carry_out_words()) {
    ++job.segment_shift;
  }
  // With wrong offsets some carry-outs are never taken.
  const scratch words = call.words_for((tiles >> job.segment_shift) + 1, words_left::any, job);
  call.launch(kernels.tiles,
              {.blocks = static_cast<unsigned>(tiles),
               .threads = merge_tile_threads,
               .shared_bytes = kernels.tile_bytes},
              job);
  words.queued(tiles);
  return true;
}

}  // namespace tally::backends::cuda
