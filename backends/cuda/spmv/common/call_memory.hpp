// Memory of one product's launches.
#pragma once

#include "backends/cuda/runtime/stream_memory.hpp"
#include "backends/cuda/spmv/method.hpp"

#include <optional>

namespace tally::backends::cuda {

/// Stream-ordered memory; in a graph the graph's, since allocation nodes would separate the
/// launches.
class call_memory {
 public:
  call_memory(std::size_t bytes, const spmv_call& call) {
    if (call.is_captured()) {
      of_graph_ = scratch_for(call.current, call.stream, true,
                              ceil_div(bytes, sizeof *of_graph_.words), words_left::any);
    } else {
      of_stream_.emplace(bytes, call.current, call.stream);
    }
  }
  void* data() const { return of_stream_ ? of_stream_->data() : of_graph_.words; }

 private:
  scratch of_graph_;
  std::optional<stream_memory> of_stream_;
};

}  // namespace tally::backends::cuda
