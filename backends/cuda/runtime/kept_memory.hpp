// Memory of the device that outlives a call: plans keep it. What one gives back goes to a later
// one, since cudaMalloc and cudaFree take tens of microseconds, and cudaFree waits for the device.
//
// Whoever takes memory that was used on one stream only uses it on that stream, after what was
// queued there. What was used on several streams, or in a graph, goes back to CUDA instead.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

namespace tally::backends::cuda {

class kept_memory {
 public:
  kept_memory() = default;
  ~kept_memory();
  kept_memory(const kept_memory&) = delete;
  kept_memory& operator=(const kept_memory&) = delete;

  /// Takes memory of at least so many bytes, which the caller uses first on `stream`.
  void* take(std::size_t bytes, const current_device& current, cudaStream_t stream);
  /// Gives back what was taken, which nobody uses any more.
  void give_back(const void* taken);
  /// Every call that queues work with this memory calls it first.
  void used_on(cudaStream_t stream) const;

  struct block {
    std::unique_ptr<device_memory> memory;
    std::size_t bytes = 0;
    std::uint64_t user = 0;  ///< the one stream that has used it, or 0
  };
  using blocks = std::list<block>;

 private:
  /// What is no stream's number says that there were several, or graphs.
  static constexpr std::uint64_t many = ~std::uint64_t{};

  std::uint64_t context_ = 0;
  blocks blocks_;
  mutable std::atomic<std::uint64_t> user_ = 0;
};

}  // namespace tally::backends::cuda
