// Device memory that plans keep. What one gives back is reused: cudaMalloc and cudaFree are slow
// (tuning/short_calls.md: kept_memory), and cudaFree waits for the device.
//
// Memory used on one stream is reused there; what was used on several, or in a graph, goes back to
// CUDA.
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

  /// At least `bytes` bytes, for use on `stream` first.
  void* take(std::size_t bytes, const current_device& current, cudaStream_t stream);
  /// Pre: nobody uses it any more.
  void give_back(const void* taken);
  /// Called before work with this memory is queued.
  void used_on(cudaStream_t stream) const;

  struct block {
    std::unique_ptr<device_memory> memory;
    std::size_t bytes = 0;
    std::uint64_t user = 0;  ///< only stream that used it, or 0
  };
  using blocks = std::list<block>;

 private:
  /// No stream's number: several, or graphs.
  static constexpr std::uint64_t many = ~std::uint64_t{};

  std::uint64_t context_ = 0;
  blocks blocks_;
  mutable std::atomic<std::uint64_t> user_ = 0;
};

}  // namespace tally::backends::cuda
