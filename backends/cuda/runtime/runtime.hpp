// Tools around the CUDA runtime.
#pragma once

#include <tally/error.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tally::backends::cuda {

/// Throws if a call failed; clears the error for the caller's cudaGetLastError.
inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw error(status == cudaErrorMemoryAllocation ? errc::out_of_memory : errc::device_failure,
              std::string("tally::cuda: ") + call + ": " + cudaGetErrorString(status));
}

/// Makes a device the calling thread's current one for its lifetime. No other device gets a context
/// by that.
class current_device {
 public:
  explicit current_device(int device);
  ~current_device();
  current_device(const current_device&) = delete;
  current_device& operator=(const current_device&) = delete;

  int device() const { return device_; }
  /// Returns the context's number; after cudaDeviceReset, which ends a context and its memory, the
  /// next has another.
  std::uint64_t context() const { return context_; }

 private:
  void leave();

  int device_;
  bool entered_ = false;
  unsigned long long context_ = 0;
};

/// Device memory, freed at the end unless the context has ended.
class device_memory {
 public:
  device_memory() = default;
  ~device_memory();
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  /// Allocates on the current device; called at most once.
  void allocate(std::size_t bytes);
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
  unsigned long long id_ = 0;  ///< distinguishes later memory there
};

/// Lets the calling thread allocate, and wait on its own streams, while any thread captures; the
/// capture stays valid. (cudaDeviceSynchronize still fails and ends every capture.)
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
