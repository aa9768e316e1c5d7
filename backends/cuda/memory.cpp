// Device memory, and pinned host memory, for programs without a CUDA binding.
#include "backends/cuda/cuda.hpp"

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"

namespace tally::backends::cuda {

void* allocate(const executor& where, std::size_t bytes, reach who) {
  const current_device current(where.device());
  const beside_captures mode;
  void* memory = nullptr;
  if (who == reach::kernels) {
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
  } else {
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
          "cudaHostAlloc");
  }
  return memory;
}

// If the runtime, or the device's context, is gone, there is nothing to free.
void deallocate(const executor& where, void* memory, reach who) noexcept {
  try {
    const current_device current(where.device());
    const beside_captures mode;
    const cudaError_t status = who == reach::kernels ? cudaFree(memory) : cudaFreeHost(memory);
    if (status != cudaSuccess) (void)cudaGetLastError();
  } catch (const error&) {
    (void)cudaGetLastError();
  }
}

void copy_bytes(const executor& where, const void* from, void* to, std::size_t bytes) {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  (void)is_captured(stream, true, "copy_bytes");
  const beside_captures mode;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void pin(const executor& where, void* memory, std::size_t bytes) {
  const current_device current(where.device());
  const beside_captures mode;
  const cudaError_t status =
      cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (status == cudaErrorHostMemoryAlreadyRegistered) {
    (void)cudaGetLastError();
    throw error(errc::invalid_argument, "tally::pin: some of the memory is pinned already");
  }
  check(status, "cudaHostRegister");
}

void unpin(const executor& where, void* memory) {
  const current_device current(where.device());
  const beside_captures mode;
  const cudaError_t status = cudaHostUnregister(memory);
  if (status == cudaErrorHostMemoryNotRegistered || status == cudaErrorInvalidValue) {
    (void)cudaGetLastError();
    throw error(errc::invalid_argument, "tally::unpin: no memory was pinned at this address");
  }
  check(status, "cudaHostUnregister");
}

}  // namespace tally::backends::cuda
