// Memory for what the launches of one call hand on.
#pragma once

#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/runtime/stream_memory.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>

namespace tally::backends::cuda {

/// Stream-ordered memory; in a graph the graph's, since allocation nodes would separate the
/// launches.
class call_memory {
 public:
  call_memory(std::size_t bytes, const current_device& current, cudaStream_t stream,
              bool captured) {
    if (captured) {
      constexpr std::size_t word = sizeof *of_graph_.words;
      of_graph_ = scratch_for(current, stream, true, (bytes + word - 1) / word, words_left::any);
    } else {
      of_stream_.emplace(bytes, current, stream);
    }
  }
  void* data() const { return of_stream_ ? of_stream_->data() : of_graph_.words; }

 private:
  scratch of_graph_;
  std::optional<stream_memory> of_stream_;
};

}  // namespace tally::backends::cuda
