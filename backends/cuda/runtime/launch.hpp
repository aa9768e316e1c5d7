// On the host all operations of this column look at a stream and launch kernels with these
// functions.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"

#include <tally/operand.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace tally::backends::cuda {

/// Says whether `stream` is being captured.
/// @throws error invalid_argument if it is and the caller would wait for it.
bool is_captured(cudaStream_t stream, bool wait, const char* operation);

/// Says whether a thread can load `count` elements at once: they take up to 16 bytes and start at a
/// multiple of that.
bool is_contiguous(const operand& v, int count);

/// Returns how many multiprocessors a device has.
unsigned multiprocessors(int device);

/// Returns how many threads a multiprocessor of a device has places for.
unsigned threads_of_multiprocessor(int device);

/// Returns how much shared memory a block may have on a device, with allow_shared_bytes.
std::size_t most_shared_bytes(int device);

struct launch_shape {
  unsigned blocks = 1;
  unsigned threads = 32;
  std::size_t shared_bytes = 0;  ///< those beyond what the kernel declares
  unsigned height = 1;           ///< the grid's second dimension
  bool overlaps = true;          ///< whether it may be placed while the launch before ends
};

/// Lets a kernel have so much dynamic shared memory. The kernel keeps the most that it was ever
/// given.
void allow_shared_bytes(const void* kernel, const current_device& current, std::size_t bytes);

/// Queues a kernel with one parameter, `*job`. Unless the shape forbids it, the kernel may be
/// placed while the launch before it on the stream ends: see wait_for_launch_before in
/// device/kernel.cuh.
void launch(const void* kernel, const launch_shape& shape, void* job, int device,
            cudaStream_t stream);

}  // namespace tally::backends::cuda
