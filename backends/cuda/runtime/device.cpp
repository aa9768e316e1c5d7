#include "backends/cuda/runtime/device.hpp"

#include "backends/common/floating_point_environment.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <atomic>

namespace tally::backends::cuda {
namespace {

/// Functions of the driver that, unlike some of the runtime's, make no context. Null without a
/// driver.
struct driver {
  decltype(&cuDeviceGetCount) device_count = nullptr;
  decltype(&cuCtxGetCurrent) current_context = nullptr;
  decltype(&cuDevicePrimaryCtxGetState) primary_context_state = nullptr;
  decltype(&cuPointerGetAttributes) pointer_attributes = nullptr;
  decltype(&cuCtxGetId) context_id = nullptr;
  decltype(&cuCtxPushCurrent) push_context = nullptr;
  decltype(&cuCtxPopCurrent) pop_context = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain_primary_context = nullptr;

  driver() {
    // Initialises nothing; stays loaded (tuning/short_calls.md: driver).
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto find = [library](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    usable = find(device_count, "cuDeviceGetCount") && find(current_context, "cuCtxGetCurrent") &&
             find(primary_context_state, "cuDevicePrimaryCtxGetState") &&
             find(pointer_attributes, "cuPointerGetAttributes") && find(context_id, "cuCtxGetId") &&
             find(push_context, "cuCtxPushCurrent_v2") && find(pop_context, "cuCtxPopCurrent_v2") &&
             find(retain_primary_context, "cuDevicePrimaryCtxRetain");
  }
  bool usable = false;

  static const driver& get() {
    static const driver loaded;
    return loaded;
  }
};

/// Returns and retains the runtime's context on a device. After a reset a new one is made.
CUcontext primary_context(int device) {
  static std::array<std::atomic<CUcontext>, 256> retained{};
  const driver& d = driver::get();
  std::atomic<CUcontext>& kept = retained.at(static_cast<std::size_t>(device));
  unsigned flags = 0;
  int active = 0;
  CUcontext context = kept.load(std::memory_order_relaxed);
  if (context != nullptr && d.primary_context_state(device, &flags, &active) == CUDA_SUCCESS &&
      active != 0) {
    return context;
  }
  check(d.retain_primary_context(&context, device) == CUDA_SUCCESS ? cudaSuccess
                                                                   : cudaErrorDeviceUninitialized,
        "cuDevicePrimaryCtxRetain");
  kept.store(context, std::memory_order_relaxed);
  return context;
}

}  // namespace

int resolve_device(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    throw error(errc::no_device,
                std::string("tally::cuda: no CUDA device: ") +
                    cudaGetErrorString(status == cudaSuccess ? cudaErrorNoDevice : status));
  }
  if (!driver::get().usable) {
    throw error(errc::no_device, "tally::cuda: no CUDA device: the driver is older than CUDA 12");
  }
  if (device == -1) {
    check(cudaGetDevice(&device), "cudaGetDevice");
  } else if (device < 0 || device >= count) {
    throw error(errc::no_device, "tally::cuda: device " + std::to_string(device) + " of " +
                                     std::to_string(count) + (count == 1 ? " device" : " devices"));
  }
  return device;
}

// cudaSetDevice would make a context on the device that the thread returns to, so a context is
// pushed and popped (tuning/short_calls.md: current_device).
current_device::current_device(int device) : device_(device) {
  const driver& d = driver::get();
  int before = 0;
  check(cudaGetDevice(&before), "cudaGetDevice");
  if (device != before) {
    check(d.push_context(primary_context(device)) == CUDA_SUCCESS ? cudaSuccess
                                                                  : cudaErrorDeviceUninitialized,
          "cuCtxPushCurrent");
    entered_ = true;
  }
  const auto has_context = [&] {
    CUcontext now = nullptr;
    return d.current_context(&now) == CUDA_SUCCESS && now != nullptr &&
           d.context_id(now, &context_) == CUDA_SUCCESS;
  };
  if (has_context()) return;
  // The thread has no context yet, or it was reset.
  cudaError_t status = cudaSetDevice(device);
  if (status == cudaSuccess && !has_context()) status = cudaErrorDeviceUninitialized;
  if (status != cudaSuccess) leave();
  check(status, "cudaSetDevice");
}

current_device::~current_device() { leave(); }

void current_device::leave() {
  CUcontext left = nullptr;
  if (entered_) (void)driver::get().pop_context(&left);
  entered_ = false;
}

void device_memory::allocate(std::size_t bytes) {
  const beside_captures mode;
  check(cudaMalloc(&memory_, bytes), "cudaMalloc");
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_BUFFER_ID};
  void* answers[] = {&id_};
  (void)driver::get().pointer_attributes(1, asked, answers, reinterpret_cast<CUdeviceptr>(memory_));
}

device_memory::~device_memory() {
  if (memory_ == nullptr) return;
  const default_environment environment;  // the driver raises exceptions when it frees
  const driver& d = driver::get();
  unsigned long long id = 0;
  CUcontext context = nullptr;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_BUFFER_ID, CU_POINTER_ATTRIBUTE_CONTEXT};
  void* answers[] = {&id, &context};
  if (d.pointer_attributes(2, asked, answers, reinterpret_cast<CUdeviceptr>(memory_)) !=
          CUDA_SUCCESS ||
      id != id_ || d.push_context(context) != CUDA_SUCCESS) {
    return;
  }
  {
    const beside_captures mode;
    if (cudaFree(memory_) != cudaSuccess) (void)cudaGetLastError();
  }
  (void)d.pop_context(&context);
}

// Called until CUDA is used or has no driver (tuning/short_calls.md: finds_use).
bool finds_use() noexcept {
  const driver& d = driver::get();
  if (!d.usable) {
    known_use.store(use::none, std::memory_order_relaxed);
    return false;
  }
  int devices = 0;
  if (d.device_count(&devices) != CUDA_SUCCESS) return false;  // driver not initialised
  CUcontext context = nullptr;
  bool used = d.current_context(&context) == CUDA_SUCCESS && context != nullptr;
  // This thread may get others' pointers, so each device's context counts.
  for (int i = 0; i < devices && !used; ++i) {
    unsigned flags = 0;
    int active = 0;
    used = d.primary_context_state(i, &flags, &active) == CUDA_SUCCESS && active != 0;
  }
  if (used) known_use.store(use::some, std::memory_order_relaxed);
  return used;
}

place locate(const void* pointer) noexcept {
  const driver& d = driver::get();
  if (!d.usable) return {};
  unsigned kind = 0, managed = 0;
  int device = 0;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* answers[] = {&kind, &managed, &device};
  if (d.pointer_attributes(3, asked, answers, reinterpret_cast<CUdeviceptr>(pointer)) !=
      CUDA_SUCCESS) {
    return {};
  }
  const bool pinned = kind == CU_MEMORYTYPE_HOST;
  if (managed != 0 || pinned) return {.host = true, .device = place::every};
  if (kind == CU_MEMORYTYPE_DEVICE) return {.host = false, .device = device};
  return {};
}

}  // namespace tally::backends::cuda
