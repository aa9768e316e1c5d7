#include "backends/cuda/runtime/sum.hpp"

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/results.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"

namespace tally::backends::cuda {

void run_sum(const executor& where, const char* operation, const void* kernel,
             const sum_shape& shape, unsigned words_per_sum, sum_job& job, void* result,
             std::size_t bytes, bool wait) {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  const bool captured = is_captured(stream, wait, operation);
  const results arriving(current, result, bytes, wait, results::few_as_words);
  job.result = arriving.at(0);
  job.tag = arriving.tag();
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
  arriving.arrive(stream);
}

}  // namespace tally::backends::cuda
