// Device memory, and pinned host memory, for programs without a CUDA binding.
#include "backends/cuda/cuda.hpp"

#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"

namespace tally::backends::cuda {

constinit const backend instance;

std::string backend::describe(const executor& where) const {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, where.device()), "cudaGetDeviceProperties");
  return properties.name + (", device " + std::to_string(where.device()));
}

// Memory of another device is refused even where peer access could reach it: whether the program
// enabled that can't be queried cheaply, and if not, a kernel's access ends the context.
bool backend::reaches(const executor& where, const place& memory) const {
  return memory.device == where.device() || memory.device == place::every;
}

void* backend::allocate(const executor& where, std::size_t bytes, reach who) const {
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
void backend::deallocate(const executor& where, void* memory, reach who) const noexcept {
  try {
    const current_device current(where.device());
    const beside_captures mode;
    const cudaError_t status = who == reach::kernels ? cudaFree(memory) : cudaFreeHost(memory);
    if (status != cudaSuccess) (void)cudaGetLastError();
  } catch (const error&) {
    (void)cudaGetLastError();
  }
}

void backend::copy_bytes(const executor& where, const void* from, void* to,
                         std::size_t bytes) const {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  (void)is_captured(stream, true, "copy_bytes");
  const beside_captures mode;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void backend::pin(const executor& where, void* memory, std::size_t bytes) const {
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

void backend::unpin(const executor& where, void* memory) const {
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
