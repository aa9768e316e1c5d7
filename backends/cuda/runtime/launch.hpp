// Captures, device limits and kernel launches.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"

#include <tally/operands/operand.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace tally::backends::cuda {

/// @throws error invalid_argument if `stream` is being captured and `wait`.
bool is_captured(cudaStream_t stream, bool wait, const char* operation);

/// Whether a thread can load `count` elements at once, as contiguous kernels do: up to 16 bytes, at
/// a multiple of that.
bool is_contiguous(const operand& v, int count);

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

unsigned multiprocessors(int device);

/// Returns the maximum of resident threads.
unsigned threads_of_multiprocessor(int device);

/// Returns the maximum per block, with allow_shared_bytes.
std::size_t max_shared_bytes(int device);

struct launch_shape {
  unsigned blocks = 1;
  unsigned threads = 32;
  std::size_t shared_bytes = 0;  ///< dynamic
  unsigned height = 1;           ///< the grid's second dimension
  bool overlaps = true;          ///< whether blocks may become resident while the launch before
                                 ///< ends
  bool cooperative = false;      ///< whether all blocks are resident at once
};

/// Raises the kernel's limit of dynamic shared memory.
void allow_shared_bytes(const void* kernel, const current_device& current, std::size_t bytes);

/// Queues a kernel with one parameter, `*job`.
void launch(const void* kernel, const launch_shape& shape, void* job, int device,
            cudaStream_t stream);

}  // namespace tally::backends::cuda
