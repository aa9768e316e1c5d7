// Device memory for a call's launches, taken and given back in stream order from a pool that keeps
// it: no allocation in the steady state. Captured, it belongs to the graph, which must not be
// launched again while it runs.
#pragma once

#include "backends/cuda/runtime/context.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tally::backends::cuda {

class stream_memory {
 public:
  stream_memory() = default;
  stream_memory(std::size_t bytes, const current_device& current, cudaStream_t stream)
      : stream_(stream) {
    const beside_captures mode;
    check(cudaMallocFromPoolAsync(&data_, bytes,
                                  of_context<pool>(current.context()).on(current.device()), stream),
          "cudaMallocFromPoolAsync");
  }
  ~stream_memory() {
    if (data_ == nullptr) return;
    const beside_captures mode;
    (void)cudaFreeAsync(data_, stream_);
  }
  stream_memory(const stream_memory&) = delete;
  stream_memory& operator=(const stream_memory&) = delete;

  void* data() const { return data_; }

 private:
  class pool {
   public:
    cudaMemPool_t on(int device) {
      const std::lock_guard lock(mutex_);
      if (made_ == nullptr) {
        cudaMemPoolProps properties{};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location = {cudaMemLocationTypeDevice, device};
        check(cudaMemPoolCreate(&made_, &properties), "cudaMemPoolCreate");
        std::uint64_t keep = ~std::uint64_t{};
        check(cudaMemPoolSetAttribute(made_, cudaMemPoolAttrReleaseThreshold, &keep),
              "cudaMemPoolSetAttribute");
      }
      return made_;
    }

   private:
    std::mutex mutex_;
    cudaMemPool_t made_ = nullptr;
  };

  void* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

}  // namespace tally::backends::cuda
