// Limits of device memory: reading the operands' bytes, and copying as many; for written vectors,
// reading and writing as many.
#include "bench/device.hpp"
#include "bench/limit.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace bench {
namespace {

/// Index of a thread's k-th 16-byte load; `loads` are in flight, adjacent among threads.
template <int loads>
__device__ std::size_t index_of(int k) {
  return std::size_t{blockIdx.x} * blockDim.x * loads + static_cast<std::size_t>(k) * blockDim.x +
         threadIdx.x;
}

/// Waits for the launch before, as any kernel that may read its output must; by then this one's
/// blocks are resident.
__device__ void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ void let_launch_after_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Up to this many lines the next launch starts before the loads, else after them
/// (tuning/limit.md).
constexpr std::size_t starts_early_up_to = std::size_t{1} << 14;

__device__ uint4 operator|(const uint4& a, const uint4& b) {
  return {a.x | b.x, a.y | b.y, a.z | b.z, a.w | b.w};
}

/// Adjacent lines of 16 bytes.
struct lines {
  const uint4* first = nullptr;
  std::size_t size = 0;
};

/// Reads a line of each of two vectors at a time. To keep the loads, it writes if a thread's
/// bitwise or is 0, which random data never give.
template <int loads>
__global__ void read(lines x, lines y, unsigned* sink) {
  const bool early = x.size <= starts_early_up_to;
  if (early) let_launch_after_start();
  wait_for_launch_before();
  uint4 of_x[loads], of_y[loads];
#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const std::size_t i = index_of<loads>(k);
    of_x[k] = i < x.size ? x.first[i] : uint4{};
    of_y[k] = i < y.size ? y.first[i] : uint4{};
  }
  uint4 all{};
#pragma unroll
  for (int k = 0; k < loads; ++k) all = all | of_x[k] | of_y[k];
  if (!early) let_launch_after_start();
  if ((all.x | all.y | all.z | all.w) == 0) *sink = 0;
}

template <int loads>
__global__ void write(lines x, lines y, lines z, uint4* to) {
  const bool early = x.size <= starts_early_up_to;
  if (early) let_launch_after_start();
  wait_for_launch_before();
  uint4 line[loads];
#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const std::size_t i = index_of<loads>(k);
    line[k] = i < x.size ? x.first[i] : uint4{};
    if (i < y.size) line[k] = line[k] | y.first[i];
    if (i < z.size) line[k] = line[k] | z.first[i];
  }
  if (!early) let_launch_after_start();
#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const std::size_t i = index_of<loads>(k);
    if (i < x.size) to[i] = line[k];
  }
}

/// Whether kernels can wait for the launch before, so that launches overlap.
bool waits() {
  static const bool does = [] {
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0),
          "cudaDeviceGetAttribute");
    cudaFuncAttributes kernel{};
    check(cudaFuncGetAttributes(&kernel, read<1>), "cudaFuncGetAttributes");
    return major >= 9 && kernel.binaryVersion >= 90;
  }();
  return does;
}

/// Threads per block, and loads in flight per thread and vector.
struct shape {
  unsigned threads;
  unsigned loads;
};

/// Shapes that are fastest at some size (tuning/limit.md).
constexpr shape shapes[] = {{256, 1}, {256, 2}, {256, 8}, {512, 1}, {512, 2}, {1024, 1}, {1024, 2}};

template <class F>
void with_loads(unsigned loads, const F& f) {
  switch (loads) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    default:
      return f(std::integral_constant<int, 8>());
  }
}

/// The kernel may start while the launch before ends.
template <class... Parameter>
void queue_kernel(void (*kernel)(Parameter...), const shape& s, std::size_t n, cudaStream_t stream,
                  Parameter... arguments) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  const std::size_t tile = std::size_t{s.threads} * s.loads;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = static_cast<unsigned>(std::max<std::size_t>((n + tile - 1) / tile, 1));
  configuration.blockDim = s.threads;
  configuration.stream = stream;
  configuration.attrs = &overlap;
  configuration.numAttrs = waits() ? 1 : 0;
  check(cudaLaunchKernelEx(&configuration, kernel, arguments...), "cudaLaunchKernelEx");
}

/// Chosen at the first launch.
template <class Launch>
launch of_fastest_shape(const Launch& with) {
  const on_demand<launch> chosen([with] {
    std::vector<launch> ways;
    for (const shape& s : shapes)
      ways.push_back([=](cudaStream_t stream, void* result) { with(s, stream, result); });
    return fastest(ways, seconds_of);
  });
  return [chosen](cudaStream_t stream, void* result) { chosen()(stream, result); };
}

lines lines_of(const void* data, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return {reinterpret_cast<const uint4*>(address / sizeof(uint4) * sizeof(uint4)),
          bytes / sizeof(uint4)};
}
lines lines_of(const tally::operand& v) { return lines_of(v.data, v.size * size_of(v.element)); }

launch reading(const lines& x, const lines& y) {
  return of_fastest_shape([=](const shape& s, cudaStream_t stream, void* result) {
    with_loads(s.loads, [&](auto loads) {
      queue_kernel(read<loads>, s, std::max(x.size, y.size), stream, x, y,
                   static_cast<unsigned*>(result));
    });
  });
}

/// Writes to private memory, as much as x.
launch writing(const lines& x, const lines& y, const lines& z) {
  const on_demand<device_memory> to([=] { return device_memory(x.size * sizeof(uint4)); });
  return of_fastest_shape([=](const shape& s, cudaStream_t stream, void*) {
    with_loads(s.loads, [&](auto loads) {
      queue_kernel(write<loads>, s, x.size, stream, x, y, z, static_cast<uint4*>(to().data()));
    });
  });
}

}  // namespace

contenders device_limit(const workload& w) {
  const lines x = lines_of(w.x), y = lines_of(w.y_read());
  contenders list;
  if (writes(w.what)) {
    const lines z = updates(w.what) ? lines_of(w.z, w.size() * size_of(w.x.element)) : lines();
    list.push_back(on_device("limit: read and write", "16-byte loads", writing(x, y, z), w));
  } else {
    list.push_back(on_device("limit: read", "16-byte loads", reading(x, y), w));
    // Half read, half written: x is the longest operand in bytes.
    const std::size_t half = w.bytes() / 2 / sizeof(uint4);
    list.push_back(on_device("limit: copy", "as many bytes, half of them written",
                             writing({x.first, half}, {}, {}), w));
    list.back().bytes = 2 * half * sizeof(uint4);
  }
  for (contender& c : list) c.compute = nullptr;  // no product
  return list;
}

}  // namespace bench
