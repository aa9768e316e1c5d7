// Memory of the device for the launches that a call queues: taken and given back in the order of
// the stream, from a pool that keeps what it has, so that nothing is allocated in the steady state.
//
// Where the stream is captured the memory belongs to the graph, which must then not be launched
// again while it runs.
#pragma once

#include "backends/cuda/runtime.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tally::backends::cuda {

class stream_memory {
 public:
  stream_memory() = default;
  /// `device` is current.
  stream_memory(std::size_t bytes, int device, cudaStream_t stream) : stream_(stream) {
    const beside_captures mode;
    check(cudaMallocFromPoolAsync(&data_, bytes, pool_of(device), stream),
          "cudaMallocFromPoolAsync");
  }
  ~stream_memory() {
    if (data_ != nullptr) (void)cudaFreeAsync(data_, stream_);
  }
  stream_memory(const stream_memory&) = delete;
  stream_memory& operator=(const stream_memory&) = delete;

  void* data() const { return data_; }

 private:
  static cudaMemPool_t pool_of(int device) {
    static std::mutex mutex;
    static std::array<cudaMemPool_t, 256> pools{};
    const std::lock_guard lock(mutex);
    cudaMemPool_t& pool = pools.at(static_cast<std::size_t>(device));
    if (pool == nullptr) {
      cudaMemPoolProps properties{};
      properties.allocType = cudaMemAllocationTypePinned;
      properties.location = {cudaMemLocationTypeDevice, device};
      check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
      std::uint64_t keep = ~std::uint64_t{};
      check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
            "cudaMemPoolSetAttribute");
    }
    return pool;
  }

  void* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

}  // namespace tally::backends::cuda
