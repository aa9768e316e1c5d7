#include "backends/cuda/cuda.hpp"

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "src/core/elementwise/moves.hpp"

#include <cstdlib>

namespace tally::backends::cuda {
namespace {

/// The rows of a copy in two dimensions are at most so many bytes apart.
constexpr std::size_t most_pitch = (std::size_t{1} << 31) - 1;

/// Queues copies of elements to adjacent places, in the order of their addresses.
void queue_copies(const operand& x, void* to, cudaStream_t stream) {
  const std::size_t size = size_of(x.element);
  const std::size_t pitch = static_cast<std::size_t>(std::abs(x.increment)) * size;
  const void* const lowest = x.increment < 0 ? x.slice(x.size - 1, 1).data : x.data;
  if (pitch == size || x.size == 1) {
    return check(cudaMemcpyAsync(to, lowest, x.size * size, cudaMemcpyDefault, stream),
                 "cudaMemcpyAsync");
  }
  if (pitch <= most_pitch) {
    return check(
        cudaMemcpy2DAsync(to, size, lowest, pitch, size, x.size, cudaMemcpyDefault, stream),
        "cudaMemcpy2DAsync");
  }
  for (std::size_t i = 0; i < x.size; ++i) {
    check(cudaMemcpyAsync(static_cast<char*>(to) + i * size,
                          static_cast<const char*>(lowest) + i * pitch, size, cudaMemcpyDefault,
                          stream),
          "cudaMemcpyAsync");
  }
}

}  // namespace

void fetch(const executor& where, const operand& x, void* to) {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  (void)is_captured(stream, true, "interval_terms");
  const beside_captures mode;
  queue_copies(x, to, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  if (x.increment < 0) {  // they came in the order of their addresses
    const output_operand all{to, x.size, 1, x.element};
    const output_operand last = all.slice(x.size - 1, x.size / 2);
    swap_bits(all.slice(0, x.size / 2), {last.data, last.size, -1, last.element});
  }
}

}  // namespace tally::backends::cuda
