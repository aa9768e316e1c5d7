#include "backends/cuda/runtime/sum.hpp"

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/mailbox.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"

#include <cstring>

namespace tally::backends::cuda {

void run_sum(const executor& where, const char* operation, const void* kernel,
             const sum_shape& shape, unsigned words_per_sum, sum_job& job, void* result,
             std::size_t bytes, bool wait) {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  const bool captured = is_captured(stream, wait, operation);
  result_buffer* const box = wait ? &result_buffer::of_this_thread(current) : nullptr;
  job.result = result;
  if (wait) {
    job.result = box->address();
    job.tag = box->next_tag();
  }
  job.tiles = shape.tiles;
  {
    scratch shared;
    if (shape.blocks > 1) {
      shared = scratch_for(current, stream, captured, words_of_blocks(shape.blocks, words_per_sum));
    }
    job.words = shared.words;
    job.ended = shared.ended;
    launch(kernel, {shape.blocks, shape.warps * 32}, &job, where.device(), stream);
    shared.queued();
  }
  if (wait) {
    std::uint32_t payload[result_buffer::words];
    box->wait(stream, static_cast<int>(bytes / 4), payload);
    std::memcpy(result, payload, bytes);
  }
}

}  // namespace tally::backends::cuda
