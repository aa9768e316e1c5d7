#include "backends/kokkos/runtime/device.hpp"

#include "backends/kokkos/kokkos.hpp"

#include <Kokkos_Core.hpp>
#include <tally/error.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda.h>
#include <dlfcn.h>
#endif
#include <string>

namespace tally::backends::kokkos {
namespace {

template <class Space>
int device_number(const Space& on) {
  if constexpr (requires { on.cuda_device(); }) {
    return on.cuda_device();
  } else if constexpr (requires { on.hip_device(); }) {
    return on.hip_device();
  } else if constexpr (requires { on.sycl_queue(); }) {
    return 0;  // the only one in its context
  } else {
    return place::none;
  }
}

template <class Space>
std::uintptr_t queue_address(const Space& on) {
  if constexpr (requires { on.cuda_stream(); }) {
    return reinterpret_cast<std::uintptr_t>(on.cuda_stream());
  } else if constexpr (requires { on.hip_stream(); }) {
    return reinterpret_cast<std::uintptr_t>(on.hip_stream());
  } else {
    return on.impl_instance_id();
  }
}

}  // namespace

int device_of(const space& on) { return device_number(on); }
std::uintptr_t queue_of(const space& on) { return queue_address(on); }

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)

namespace {

[[noreturn]] void fail(const char* call, const char* text) {
  throw error(errc::device_failure, std::string("tally::kokkos: ") + call + ": " + text);
}
[[noreturn]] void fail_pin() {
  throw error(errc::invalid_argument, "tally::pin: some of the memory is pinned already");
}
[[noreturn]] void fail_unpin() {
  throw error(errc::invalid_argument, "tally::unpin: no memory was pinned at this address");
}

}  // namespace

#endif

#if defined(KOKKOS_ENABLE_CUDA)

namespace {

/// The driver's library, or null. It is opened, as the runtime does: linked to it, no program would
/// start on a machine that has none.
void* driver() { return dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL); }

template <class... T>
CUresult call_driver(const char* name, T... arguments) {
  void* const library = driver();
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr) return CUDA_ERROR_NOT_FOUND;
  return reinterpret_cast<CUresult (*)(T...)>(function)(arguments...);
}

#if defined(__CUDA_ARCH_LIST__)
constexpr int compiled_for[] = {__CUDA_ARCH_LIST__};  // 900: compute capability 9.0; ascending
#else
constexpr int compiled_for[] = {0};
#endif

/// Whether kernels compiled here run on a device: each has PTX, for devices from that on.
bool runs_kernels(int device) {
  int major = 0, minor = 0;
  return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess &&
         major * 100 + minor * 10 >= compiled_for[0];
}

}  // namespace

// Those of the driver's functions that Kokkos calls, in a static Kokkos.
extern "C" {
CUresult cuCtxGetDevice(CUdevice* device) { return call_driver("cuCtxGetDevice", device); }
CUresult cuCtxPushCurrent(CUcontext context) { return call_driver("cuCtxPushCurrent_v2", context); }
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return call_driver("cuStreamGetCtx", stream, context);
}
}

void require_device() {
  int devices = 0;
  cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess) {
    for (int device = 0; device < devices; ++device) {
      if (runs_kernels(device)) return;
    }
    status = devices == 0 ? cudaErrorNoDevice : cudaErrorNoKernelImageForDevice;
  }
  (void)cudaGetLastError();
  throw error(errc::no_device, std::string("tally::kokkos: Kokkos runs on CUDA here: ") +
                                   cudaGetErrorString(status) +
                                   (driver() == nullptr ? "; there is no libcuda.so.1" : ""));
}

place locate(const void* pointer) noexcept {
  cudaPointerAttributes found{};
  if (cudaPointerGetAttributes(&found, pointer) != cudaSuccess) {
    (void)cudaGetLastError();
    return {};
  }
  switch (found.type) {
    case cudaMemoryTypeDevice:
      return {.host = false, .device = found.device};
    case cudaMemoryTypeHost:  // pinned
    case cudaMemoryTypeManaged:
      return {.host = true, .device = place::every};
    default:
      return {};
  }
}

void lock_pages(void* memory, std::size_t bytes) {
  const cudaError_t status =
      cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  if (status == cudaErrorHostMemoryAlreadyRegistered) fail_pin();
  fail("cudaHostRegister", cudaGetErrorString(status));
}

void unlock_pages(void* memory) {
  const cudaError_t status = cudaHostUnregister(memory);
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  if (status == cudaErrorHostMemoryNotRegistered || status == cudaErrorInvalidValue) fail_unpin();
  fail("cudaHostUnregister", cudaGetErrorString(status));
}

#elif defined(KOKKOS_ENABLE_HIP)

void require_device() {
  int devices = 0;
  const hipError_t status = hipGetDeviceCount(&devices);
  if (status == hipSuccess && devices > 0) return;
  (void)hipGetLastError();
  throw error(errc::no_device,
              std::string("tally::kokkos: Kokkos runs on HIP here: ") +
                  hipGetErrorString(status == hipSuccess ? hipErrorNoDevice : status));
}

place locate(const void* pointer) noexcept {
  hipPointerAttribute_t found{};
  if (hipPointerGetAttributes(&found, pointer) != hipSuccess) {
    (void)hipGetLastError();
    return {};
  }
  if (found.isManaged != 0) return {.host = true, .device = place::every};
#if HIP_VERSION_MAJOR >= 6
  const hipMemoryType kind = found.type;
#else
  const hipMemoryType kind = found.memoryType;
#endif
  if (kind == hipMemoryTypeHost) return {.host = true, .device = place::every};  // pinned
  if (kind == hipMemoryTypeDevice) return {.host = false, .device = found.device};
  return {};
}

void lock_pages(void* memory, std::size_t bytes) {
  const hipError_t status =
      hipHostRegister(memory, bytes, hipHostRegisterPortable | hipHostRegisterMapped);
  if (status == hipSuccess) return;
  (void)hipGetLastError();
  if (status == hipErrorHostMemoryAlreadyRegistered) fail_pin();
  fail("hipHostRegister", hipGetErrorString(status));
}

void unlock_pages(void* memory) {
  const hipError_t status = hipHostUnregister(memory);
  if (status == hipSuccess) return;
  (void)hipGetLastError();
  if (status == hipErrorHostMemoryNotRegistered || status == hipErrorInvalidValue) fail_unpin();
  fail("hipHostUnregister", hipGetErrorString(status));
}

#else

namespace {

[[noreturn]] void fail_locked(const char* function) {
  throw error(errc::invalid_argument, std::string(function) + ": Kokkos runs on " +
                                          Kokkos::DefaultExecutionSpace::name() +
                                          " here, which pins no memory of others");
}

}  // namespace

void require_device() {}

#if defined(KOKKOS_ENABLE_SYCL)

place locate(const void* pointer) noexcept {
  using sycl::usm::alloc;
  try {
    const auto context = Kokkos::DefaultExecutionSpace().sycl_queue().get_context();
    const alloc kind = sycl::get_pointer_type(pointer, context);
    if (kind == alloc::device) return {.host = false, .device = 0};
    if (kind == alloc::unknown) return {};
    return {.host = true, .device = place::every};
  } catch (const sycl::exception&) {
    return {};
  }
}

#else

place locate(const void*) noexcept { return {}; }

#endif

void lock_pages(void*, std::size_t) { fail_locked("tally::pin"); }
void unlock_pages(void*) { fail_locked("tally::unpin"); }

#endif

}  // namespace tally::backends::kokkos
