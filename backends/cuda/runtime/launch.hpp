// What the operations of this column share on the host: looking at a stream, launching a kernel.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"

#include <tally/operand.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace tally::backends::cuda {

/// Whether `stream` is being captured.
/// @throws error invalid_argument if it is and the caller would wait for it.
bool is_captured(cudaStream_t stream, bool wait, const char* operation);

/// Whether a thread can load its `lanes` elements at once: up to 16 bytes, at multiples of that.
bool is_contiguous(const operand& v, int lanes);

/// How many multiprocessors a device has.
unsigned multiprocessors(int device);

/// Shared memory that a block may have there, with allow_shared_bytes.
std::size_t most_shared_bytes(int device);

struct launch_shape {
  unsigned blocks = 1;
  unsigned threads = 32;
  std::size_t shared_bytes = 0;  ///< beyond what the kernel declares
  unsigned rows = 1;             ///< of so many blocks
  bool overlaps = true;          ///< may be placed while the launch before ends
};

/// Lets a kernel have so much dynamic shared memory; it keeps the most that was asked for.
void allow_shared_bytes(const void* kernel, const current_device& current, std::size_t bytes);

/// Queues a kernel with one parameter, `*job`. Unless the shape forbids that it may be placed while
/// the launch before on the stream ends: see wait_for_launch_before in kernel.cuh.
void launch(const void* kernel, const launch_shape& shape, void* job, int device,
            cudaStream_t stream);

}  // namespace tally::backends::cuda
