// Every operation of this column uses these small tools around the CUDA runtime.
#pragma once

#include <tally/error.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tally::backends::cuda {

/// Throws if a call of the runtime failed. It leaves no error behind for the caller's next look at
/// cudaGetLastError.
inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw error(status == cudaErrorMemoryAllocation ? errc::out_of_memory : errc::device_failure,
              std::string("tally::cuda: ") + call + ": " + cudaGetErrorString(status));
}

/// Makes a device the calling thread's current one while this lives; afterwards the one before is
/// current again. No other device gets a context by that, not even the one that the thread goes
/// back to.
class current_device {
 public:
  explicit current_device(int device);
  ~current_device();
  current_device(const current_device&) = delete;
  current_device& operator=(const current_device&) = delete;

  int device() const { return device_; }
  /// Returns the number of the context that is current. cudaDeviceReset ends a context with all
  /// that was allocated in it, and the next one has another number.
  std::uint64_t context() const { return context_; }

 private:
  void leave();

  int device_;
  bool entered_ = false;
  unsigned long long context_ = 0;
};

/// Owns memory of a device and frees it at its end, unless the context has ended before.
class device_memory {
 public:
  device_memory() = default;
  ~device_memory();
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  /// Allocates on the current device. It may be called once.
  void allocate(std::size_t bytes);
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
  unsigned long long id_ = 0;  ///< memory that lies there later has another
};

/// Lets the calling thread, while this lives, allocate and wait on its own streams although it or
/// another thread captures a graph; the capture stays valid. (cudaDeviceSynchronize is not allowed
/// even then: it fails, and ends every capture.)
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
