#include "backends/cuda/dot.hpp"

#include "backends/cuda/dot_kernels.hpp"
#include "backends/cuda/dot_shape.hpp"
#include "backends/cuda/mailbox.hpp"
#include "backends/cuda/runtime.hpp"
#include "backends/cuda/words.hpp"
#include "backends/cuda/workspace.hpp"
#include "backends/dot_sum.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace tally::backends::cuda {
namespace {

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

/// Whether a thread can load its `lanes` elements at once: up to 16 bytes, at multiples of that.
bool is_contiguous(const operand& v, int lanes) {
  const std::size_t load =
      std::min<std::size_t>(16, size_of(v.element) * static_cast<unsigned>(lanes));
  return v.increment == 1 && reinterpret_cast<std::uintptr_t>(v.data) % load == 0;
}

/// Whether the kernels that run on `device` were compiled for compute capability 9 or more, and so
/// wait for the launch before (wait_for_launch_before in dot_kernel.cuh). Those compiled for less
/// don't, also where the driver translates them for such a device.
bool kernels_wait(const void* kernel, int device) {
  static std::array<std::atomic<int>, 256> version_on{};  // the same for all kernels of a build
  std::atomic<int>& version = version_on.at(static_cast<std::size_t>(device));
  if (version.load(std::memory_order_relaxed) == 0) {
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    version.store(attributes.ptxVersion, std::memory_order_relaxed);
  }
  return version.load(std::memory_order_relaxed) >= 90;
}

void launch(void (*kernel)(dot_job), const dot_shape& shape, dot_job& job, int device,
            cudaStream_t stream) {
  const auto* const function = reinterpret_cast<const void*>(kernel);
  cudaLaunchAttribute overlap{};  // see wait_for_launch_before in dot_kernel.cuh
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = shape.blocks;
  configuration.blockDim = shape.warps * 32;
  configuration.stream = stream;
  configuration.attrs = &overlap;
  configuration.numAttrs = kernels_wait(function, device) ? 1 : 0;
  void* arguments[] = {&job};
  check(cudaLaunchKernelExC(&configuration, function, arguments), "cudaLaunchKernelExC");
}

}  // namespace

void dot(const executor& where, const dot_arguments& a) {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  const bool captured = is_captured(stream);
  if (captured && a.wait) {
    throw error(
        errc::invalid_argument,
        "tally::dot: the stream is being captured, and the form that returns a value would wait "
        "for it; capture the form that writes its result");
  }

  dot_job job;
  job.x = a.x.data;
  job.y = a.y.data;
  job.x_increment = a.x.increment;
  job.y_increment = a.y.increment;
  job.n = static_cast<std::int64_t>(a.x.size);
  job.conjugated = a.conjugated;
  job.result = a.result.data;
  if (a.wait) {
    job.result = mailbox::mine().address();
    job.tag = mailbox::mine().next_tag();
  }

  const int lanes = lanes_a_thread(size_of(a.x.element), size_of(a.y.element));
  const bool contiguous = is_contiguous(a.x, lanes) && is_contiguous(a.y, lanes);
  with_accumulator(a.result.element, [&]<class A>() {
    const dot_shape shape = shape_of_dot(a.x.size, lanes, words_of<dot_sum<A>>);
    job.tiles = shape.tiles;
    workspace shared;
    if (shape.blocks > 1) shared = workspace_for(where.device(), stream, captured);
    job.words = shared.words;
    job.ended = shared.ended;
    launch(at(dot_kernels<A>(contiguous), a.x.element, a.y.element), shape, job, where.device(),
           stream);
    if (shared.launched != nullptr) ++*shared.launched;
  });

  if (a.wait) {
    std::uint32_t payload[mailbox::words];
    mailbox::mine().wait(stream, static_cast<int>(size_of(a.result.element) / 4), payload);
    std::memcpy(a.result.data, payload, size_of(a.result.element));
  }
}

}  // namespace tally::backends::cuda
