// Memory and clock of a CUDA device, for candidates.
#pragma once

#include "bench/contender.hpp"

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <string>

namespace bench {

void check(cudaError_t status, const char* call);

/// Number of devices; 0 without a driver.
int device_count();
/// "NVIDIA H200, compute capability 9.0, CUDA 13.0"
std::string device_description();
int multiprocessors();

/// Uninitialised device memory.
class device_memory {
 public:
  device_memory() = default;
  explicit device_memory(std::size_t bytes);
  explicit device_memory(const tally::operand& host);

  void* data() const { return memory_.get(); }

 private:
  struct release {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, release> memory_;
};

/// Pinned host memory.
class pinned_memory {
 public:
  explicit pinned_memory(std::size_t bytes);

  void* data() const { return memory_.get(); }

 private:
  struct release {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, release> memory_;
};

class queue {
 public:
  queue();

  cudaStream_t get() const { return stream_.get(); }

 private:
  struct release {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  };
  std::unique_ptr<CUstream_st, release> stream_;
};

/// The candidates' stream.
cudaStream_t stream();

/// Queues one computation on `stream`, with the result in device memory; can be captured.
using launch = std::function<void(cudaStream_t stream, void* result)>;

double seconds_of(const launch& f);

/// Timed by the device: a graph of several launches between two events, behind another graph that
/// keeps the device busy meanwhile.
contender on_device(std::string name, std::string label, launch f, const workload& w);

/// A histogram with counts in the workload's y.
contender counts_on_device(std::string name, std::string label, std::function<void(cudaStream_t)> f,
                           const workload& w);

contenders ours_of_spmv_on_device(const workload& w);

}  // namespace bench
