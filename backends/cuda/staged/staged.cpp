#include "backends/cuda/staged/staged.hpp"

#include "backends/common/sparse/csr.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/runtime/device.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/staged/call.hpp"

#include <cstring>
#include <string>

namespace tally::backends::cuda {

std::shared_ptr<const backends::backend> backend::make_staged(
    const executor& where, const workspace_options& options) const {
  return std::make_shared<staged::backend>(where, options);
}

namespace staged {

backend::backend(const executor& on, const workspace_options& options)
    : backends::backend("workspace", backend_class::workspace, false),
      memory_(new workspace_memory{{on, options}, {}, {}, {}}) {}
backend::~backend() = default;

const executor& backend::below() const { return memory_->through.on(); }

std::string backend::describe(const executor&) const {
  const stages& through = memory_->through;
  return below().description() + ", " + std::to_string(stages::count) + " stages of " +
         std::to_string(through.bytes()) + " bytes, " + std::to_string(through.threads()) +
         (through.threads() == 1 ? " thread" : " threads");
}

bool backend::reaches(const executor& where, const place& memory) const {
  return memory.host || memory.device == where.device();
}

void* backend::allocate(const executor&, std::size_t bytes, reach who) const {
  return cuda::instance.allocate(below(), bytes, who);
}
void backend::deallocate(const executor&, void* memory, reach who) const noexcept {
  cuda::instance.deallocate(below(), memory, who);
}
void backend::copy_bytes(const executor&, const void* from, void* to, std::size_t bytes) const {
  cuda::instance.copy_bytes(below(), from, to, bytes);
}
void backend::pin(const executor&, void* memory, std::size_t bytes) const {
  cuda::instance.pin(below(), memory, bytes);
}
void backend::unpin(const executor&, void* memory) const { cuda::instance.unpin(below(), memory); }
std::shared_ptr<const backends::backend> backend::make_staged(
    const executor&, const workspace_options& options) const {
  return cuda::instance.make_staged(below(), options);
}

// One call: no other thread's comes between the update and the sum.
void backend::fused(const executor& where, const fused_update& a) const {
  const call c(*memory_);
  backends::backend::fused(where, a);
}

void backend::multi_axpy_dot(const executor& where, const multi_axpy_arguments& update,
                             type computation, bool alpha_on_host, const multi_sum& sums) const {
  const call c(*memory_);
  backends::backend::multi_axpy_dot(where, update, computation, alpha_on_host, sums);
}

void backend::multi_exact(const executor& where, std::span<const exact_arguments> all) const {
  const call c(*memory_);
  backends::backend::multi_exact(where, all);
}

void backend::spmv(const executor&, const csr_product& a) const {
  refuse(a.sums_values() ? "segmented_sum" : "spmv");
}

void backend::refuse(const char* function) {
  throw error(errc::invalid_argument,
              "tally::" + std::string(function) +
                  ": a workspace does not stage it; call it with the executor that the workspace "
                  "was made on, and operands where that reaches them");
}

void* grown_memory::of(std::size_t bytes) {
  if (bytes_ < bytes) {
    free();
    check(cudaGetDevice(&device_), "cudaGetDevice");
    check(cudaMalloc(&memory_, bytes), "cudaMalloc");
    bytes_ = bytes;
  }
  return memory_;
}

void grown_memory::free() noexcept {
  if (memory_ == nullptr) return;
  try {
    const current_device current(device_);
    const beside_captures mode;
    if (cudaFree(memory_) != cudaSuccess) (void)cudaGetLastError();
  } catch (const error&) {  // The device's context and memory are gone.
  }
  memory_ = nullptr;
  bytes_ = 0;
}

call::call(workspace_memory& memory)
    : memory_(memory), lock_(memory_.in_use), current_(on().device()) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream(), &status), "cudaStreamIsCapturing");
  if (status != cudaStreamCaptureStatusNone) {
    throw error(errc::invalid_argument,
                "tally::workspace: the stream is being captured, and a call through a workspace "
                "waits for it");
  }
}

result_place::result_place(const void* result) : on_host(locate(result).host) {}

void deliver(const call& c, const void* made, std::size_t bytes, void* to) {
  if (result_place(to).on_host) {
    std::memcpy(to, made, bytes);
  } else {
    cuda::instance.copy_bytes(c.on(), made, to, bytes);
  }
}

}  // namespace staged
}  // namespace tally::backends::cuda
