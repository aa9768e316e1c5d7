// Checked calls of NCCL and of the CUDA runtime.
#pragma once

#include <tally/distributed/transport.hpp>

#include <nccl.h>

#include <string>

/// Operations over the devices of an NCCL communicator, queued on a stream.
namespace tally::nccl {

namespace detail {

using namespace tally::detail;

/// @throws error device_failure with NCCL's text; invalid_argument for a non-blocking communicator,
///               whose pending calls later work would overtake.
inline void check(ncclResult_t status, const char* function) {
  if (status == ncclSuccess) return;
  if (status == ncclInProgress) {
    throw error(errc::invalid_argument,
                std::string("tally::nccl: ") + function +
                    " is still in progress; communicators are made with config.blocking = 1");
  }
  throw error(errc::device_failure, std::string(function) + ": " + ncclGetErrorString(status));
}

/// @throws error device_failure, out_of_memory.
inline void check(cudaError_t status, const char* function) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw error(status == cudaErrorMemoryAllocation ? errc::out_of_memory : errc::device_failure,
              std::string(function) + ": " + cudaGetErrorString(status));
}

/// @throws error null_pointer, wrong_memory unless a device can write there.
inline void check_result(const void* result) {
  if (result == nullptr) throw error(errc::null_pointer, "tally::nccl: result is null");
  cudaPointerAttributes place{};
  const cudaError_t found = cudaPointerGetAttributes(&place, result);
  if (found == cudaSuccess && place.type != cudaMemoryTypeUnregistered) return;
  (void)cudaGetLastError();
  throw error(errc::wrong_memory, "tally::nccl: result is in host memory, where no device writes");
}

/// The thread's current device, for the object's lifetime.
class current_device {
 public:
  explicit current_device(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ != device) check(cudaSetDevice(device), "cudaSetDevice");
    changed_ = before_ != device;
  }
  ~current_device() {
    if (changed_) (void)cudaSetDevice(before_);
  }
  current_device(const current_device&) = delete;
  current_device& operator=(const current_device&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// Makes calls in one group: messages between ranks travel at once.
template <class Calls>
void together(const Calls& all) {
  check(ncclGroupStart(), "ncclGroupStart");
  try {
    all();
  } catch (...) {
    (void)ncclGroupEnd();
    throw;
  }
  check(ncclGroupEnd(), "ncclGroupEnd");
}

}  // namespace detail

}  // namespace tally::nccl
