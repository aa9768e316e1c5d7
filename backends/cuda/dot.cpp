#include "backends/cuda/dot.hpp"

#include "backends/cuda/dot_kernels.hpp"
#include "backends/cuda/dot_shape.hpp"
#include "backends/cuda/launch.hpp"
#include "backends/cuda/mailbox.hpp"
#include "backends/cuda/runtime.hpp"
#include "backends/cuda/words.hpp"
#include "backends/cuda/workspace.hpp"
#include "backends/dot_sum.hpp"

#include <cstring>

namespace tally::backends::cuda {

void dot(const executor& where, const dot_arguments& a) {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  const bool captured = is_captured(stream, a.wait, "dot");

  dot_job job;
  job.x = a.x.data;
  job.y = a.y.data;
  job.x_increment = a.x.increment;
  job.y_increment = a.y.increment;
  job.n = static_cast<std::int64_t>(a.x.size);
  job.conjugated = a.conjugated;
  job.result = a.result.data;
  if (a.wait) {
    job.result = mailbox::mine().address();
    job.tag = mailbox::mine().next_tag();
  }

  const int lanes = lanes_a_thread(size_of(a.x.element), size_of(a.y.element));
  const bool contiguous = is_contiguous(a.x, lanes) && is_contiguous(a.y, lanes);
  with_accumulator(a.result.element, [&]<class A>() {
    const dot_shape shape = shape_of_dot(a.x.size, lanes, words_of<dot_sum<A>>);
    job.tiles = shape.tiles;
    workspace shared;
    if (shape.blocks > 1) shared = workspace_for(where.device(), stream, captured);
    job.words = shared.words;
    job.ended = shared.ended;
    auto* const kernel = at(dot_kernels<A>(contiguous), a.x.element, a.y.element);
    launch(reinterpret_cast<const void*>(kernel), {shape.blocks, shape.warps * 32}, &job,
           where.device(), stream);
  });

  if (a.wait) {
    std::uint32_t payload[mailbox::words];
    mailbox::mine().wait(stream, static_cast<int>(size_of(a.result.element) / 4), payload);
    std::memcpy(a.result.data, payload, size_of(a.result.element));
  }
}

}  // namespace tally::backends::cuda
