// Launches of kernels compiled by the caller, with lent scratch memory.
#include "backends/cuda/cuda.hpp"

#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/results.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"

namespace tally::backends::cuda {

static_assert(device_sum::word_count <= scratch_words);
static_assert(device_sum::max_bytes <= result_buffer::words * 4);

void backend::for_each_part(const executor&, const char* function, std::size_t,
                            const part_calls&) const {
  throw error(
      errc::invalid_argument,
      std::string(function) +
          ": functions of the host can't run on cuda; compile the call with nvcc, with function "
          "objects and a result that can be copied as bytes");
}

void launch_sum(const executor& where, void* result, std::size_t bytes, bool wait,
                std::size_t words, void* context, int (*launch)(void*, const device_sum&)) {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  const bool captured = is_captured(stream, wait, "transform_reduce");
  device_sum lent;
  lent.stream = stream;
  const results arriving(current, result, bytes, wait, results::few_as_words);
  lent.result = arriving.at(0);
  lent.tag = arriving.tag();
  {
    scratch shared;
    if (words > 0) shared = scratch_for(current, stream, captured, words);
    lent.words = shared.words;
    lent.ended = shared.ended;
    check(static_cast<cudaError_t>(launch(context, lent)), "launch of the caller's kernel");
    shared.queued();
  }
  arriving.arrive(stream);
}

void launch_map(const executor& where, void* context, int (*launch)(void*, CUstream_st*)) {
  const current_device current(where.device());
  check(static_cast<cudaError_t>(launch(context, where.stream())), "launch of the caller's kernel");
}

}  // namespace tally::backends::cuda
