// Small tools around the CUDA runtime that every operation of this column uses.
#pragma once

#include <tally/error.hpp>

#include <cuda_runtime_api.h>

#include <string>

namespace tally::backends::cuda {

/// Throws for a call of the runtime that failed, and leaves no error behind for the caller's next
/// look at cudaGetLastError.
inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw error(status == cudaErrorMemoryAllocation ? errc::out_of_memory : errc::device_failure,
              std::string("tally::cuda: ") + call + ": " + cudaGetErrorString(status));
}

/// The calling thread's current device while this lives; the one before, after it.
class current_device {
 public:
  explicit current_device(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (device == before_) return;
    check(cudaSetDevice(device), "cudaSetDevice");
    changed_ = true;
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

/// While this lives, the calling thread may allocate and wait on its own streams although it or
/// another thread captures a graph, and the capture stays valid. (cudaDeviceSynchronize is not
/// among what is allowed: it fails, and ends every capture.)
class beside_captures {
 public:
  beside_captures() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~beside_captures() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  beside_captures(const beside_captures&) = delete;
  beside_captures& operator=(const beside_captures&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace tally::backends::cuda
