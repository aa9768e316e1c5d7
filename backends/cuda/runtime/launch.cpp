#include "backends/cuda/runtime/launch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace tally::backends::cuda {
namespace {

/// Whether the kernels that run on `device` were compiled for compute capability 9 or more. Others
/// don't wait for the launch before, even if the driver translates them for such a device.
bool kernels_wait(const void* kernel, int device) {
  // The same for all kernels of a build.
  static std::array<std::atomic<int>, 256> version_on{};
  std::atomic<int>& version = version_on.at(static_cast<std::size_t>(device));
  if (version.load(std::memory_order_relaxed) == 0) {
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    version.store(attributes.ptxVersion, std::memory_order_relaxed);
  }
  return version.load(std::memory_order_relaxed) >= 90;
}

int attribute(cudaDeviceAttr what, int device, std::array<std::atomic<int>, 256>& known) {
  std::atomic<int>& value = known.at(static_cast<std::size_t>(device));
  if (value.load(std::memory_order_relaxed) == 0) {
    int found = 0;
    check(cudaDeviceGetAttribute(&found, what, device), "cudaDeviceGetAttribute");
    value.store(found, std::memory_order_relaxed);
  }
  return value.load(std::memory_order_relaxed);
}

}  // namespace

unsigned multiprocessors(int device) {
  static std::array<std::atomic<int>, 256> known{};
  return static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount, device, known));
}

unsigned threads_of_multiprocessor(int device) {
  static std::array<std::atomic<int>, 256> known{};
  return static_cast<unsigned>(attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device, known));
}

std::size_t max_shared_bytes(int device) {
  static std::array<std::atomic<int>, 256> known{};
  return static_cast<std::size_t>(
      attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device, known));
}

bool is_captured(cudaStream_t stream, bool wait, const char* operation) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  const bool captured = status != cudaStreamCaptureStatusNone;
  if (captured && wait) {
    throw error(errc::invalid_argument,
                std::string("tally::") + operation +
                    ": the stream is being captured, and the form that returns a value would wait "
                    "for it; capture the form that writes its result");
  }
  return captured;
}

bool is_contiguous(const operand& v, int count) {
  const std::size_t load =
      std::min<std::size_t>(16, size_of(v.element) * static_cast<unsigned>(count));
  return v.increment == 1 && reinterpret_cast<std::uintptr_t>(v.data) % load == 0;
}

void allow_shared_bytes(const void* kernel, const current_device& current, std::size_t bytes) {
  using allowances = std::map<std::pair<const void*, std::uint64_t>, std::size_t>;
  thread_local allowances seen;
  std::size_t& known = seen[{kernel, current.context()}];
  if (known >= bytes) return;
  static std::mutex mutex;
  static allowances all;
  const std::lock_guard lock(mutex);
  std::size_t& allowed = all[{kernel, current.context()}];
  if (allowed < bytes) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "cudaFuncSetAttribute");
    allowed = bytes;
  }
  known = allowed;
}

void launch(const void* kernel, const launch_shape& shape, void* job, int device,
            cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  if (shape.cooperative) {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  } else {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(shape.blocks, shape.height);
  configuration.blockDim = shape.threads;
  configuration.dynamicSmemBytes = shape.shared_bytes;
  configuration.stream = stream;
  configuration.attrs = &attribute;
  configuration.numAttrs =
      shape.cooperative || (shape.overlaps && kernels_wait(kernel, device)) ? 1 : 0;
  void* arguments[] = {job};
  check(cudaLaunchKernelExC(&configuration, kernel, arguments), "cudaLaunchKernelExC");
}

}  // namespace tally::backends::cuda
