// The ladder on a CUDA device, with figures of 2021: 2^20 elements of float and bool (BLAS: float
// alone), a GPU of that year.
#include "bench/device.hpp"
#include "bench/ladder.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/peers/device_peers.hpp"

#include <tally/tally.hpp>

namespace bench {
namespace {

constexpr int threads = 256;  // a block
constexpr int warp = 32;

template <class A, class X, class Y>
__device__ A share(const X* x, const Y* y, int n, int first, int count) {
  A sum{};
  for (int i = first; i < n; i += count) sum += static_cast<A>(x[i]) * static_cast<A>(y[i]);
  return sum;
}

template <class A, class X, class Y>
__device__ A share(const X* x, const Y* y, int n) {
  return share<A>(x, y, n, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
                  static_cast<int>(gridDim.x * blockDim.x));
}

template <class A, class X, class Y>
__global__ void one_thread(const X* x, const Y* y, int n, A* result) {
  *result = share<A>(x, y, n, 0, 1);
}

/// Unsynchronised updates of the result. (Volatile, so that they really happen.)
template <class A, class X, class Y>
__global__ void racing(const X* x, const Y* y, int n, A* result) {
  volatile A* const sum = result;
  *sum = *sum + share<A>(x, y, n);
}

template <class A, class X, class Y>
__global__ void atomic_per_thread(const X* x, const Y* y, int n, A* result) {
  atomicAdd(result, share<A>(x, y, n));
}

template <class A, class X, class Y>
__global__ void summed_by_thread_0(const X* x, const Y* y, int n, A* result) {
  __shared__ A sums[threads];
  sums[threadIdx.x] = share<A>(x, y, n);
  __syncthreads();
  if (threadIdx.x > 0) return;
  A sum{};
  for (int t = 0; t < threads; ++t) sum += sums[t];
  atomicAdd(result, sum);
}

template <class A, class X, class Y>
__global__ void shared_tree(const X* x, const Y* y, int n, A* result) {
  __shared__ A sums[threads];
  sums[threadIdx.x] = share<A>(x, y, n);
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(result, sums[0]);
}

template <class A>
__device__ A sum_of_warp(A sum) {
  for (int half = warp / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
  return sum;
}

template <class A, class X, class Y>
__global__ void shuffles(const X* x, const Y* y, int n, A* result) {
  __shared__ A sums[threads / warp];
  A sum = sum_of_warp(share<A>(x, y, n));
  if (threadIdx.x % warp == 0) sums[threadIdx.x / warp] = sum;
  __syncthreads();
  if (threadIdx.x >= warp) return;
  sum = sum_of_warp(threadIdx.x < threads / warp ? sums[threadIdx.x] : A{});
  if (threadIdx.x == 0) atomicAdd(result, sum);
}

template <class A, class T>
__global__ void convert(const T* from, A* to, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = static_cast<A>(from[i]);
}

contenders ways(const workload& w, bool) {
  contenders list = device_limit(w);
  visit<quick_pairs>(w, [&]<class X, class Y, class A>(std::span<const X> x_span,
                                                       std::span<const Y> y_span,
                                                       std::type_identity<A>) {
    constexpr bool of_2021 = std::is_same_v<X, float> && std::is_same_v<Y, bool>;
    const X* const x = x_span.data();
    const Y* const y = y_span.data();
    const auto n = static_cast<int>(x_span.size());
    using kernel = void(const X*, const Y*, int, A*);
    const auto add = [&](std::string name, double us_in_2021, kernel* f, int blocks, int block) {
      const launch with_result_zeroed = [=](cudaStream_t stream, void* result) {
        check(cudaMemsetAsync(result, 0, sizeof(A), stream), "cudaMemsetAsync");
        f<<<blocks, block, 0, stream>>>(x, y, n, static_cast<A*>(result));
        check(cudaGetLastError(), "launch");
      };
      list.push_back(rung(std::move(name), of_2021 ? us_in_2021 : 0,
                          on_device("", "", with_result_zeroed, w)));
    };
    const int many = 4 * multiprocessors();
    add("one thread", 48'510, one_thread<A, X, Y>, 1, 1);
    add("one block, racing", 0, racing<A, X, Y>, 1, threads);
    add("one block, an atomic a thread", 178, atomic_per_thread<A, X, Y>, 1, threads);
    add("many blocks, an atomic a thread", 135, atomic_per_thread<A, X, Y>, many, threads);
    add("shared memory, summed by thread 0", 55, summed_by_thread_0<A, X, Y>, many, threads);
    add("shared memory, a tree", 23.5, shared_tree<A, X, Y>, many, threads);
    add("warp shuffles", 25.1, shuffles<A, X, Y>, many, threads);
    const contenders cub = peers::cub_on_device(w);
    if (!cub.empty()) list.push_back(rung("generic map-reduce (CUB)", 0, cub[0]));

    if constexpr (std::is_same_v<X, Y>) {
      if (const launch dot = peers::cublas_dot(w)) {
        list.push_back(
            rung("cuBLAS", std::is_same_v<X, float> ? 27.8 : 0, on_device("", "", dot, w)));
      }
    } else {  // BLAS has no mixed types
      workload converted = w;
      converted.y.element = w.x.element;
      if (peers::cublas_dot(converted)) {
        const on_demand<device_memory> memory(
            [=] { return device_memory(sizeof(X) * x_span.size()); });
        const launch both = [=](cudaStream_t stream, void* result) mutable {
          auto* const to = static_cast<X*>(memory().data());
          convert<<<(n + threads - 1) / threads, threads, 0, stream>>>(y, to, n);
          check(cudaGetLastError(), "launch");
          converted.y.data = to;
          peers::cublas_dot(converted)(stream, result);
        };
        list.push_back(rung("convert, then cuBLAS", 1140, on_device("", "", both, w)));
      }
    }
    list.push_back(on_device(
        "tally::cuda", tally::cuda().description(),
        [=](cudaStream_t s, void* result) {
          tally::dot(tally::cuda({.stream = s}),
                     {w.x, w.y, tally::conjugate::none, {result, w.accumulator}, {.wait = false}});
        },
        w));
  });
  return list;
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "ladder-cuda", .on_device = true, .sizes = ladder_sizes, .ways = ways},
};
const std::span<const lane> device_ladder_lanes = lanes;

}  // namespace bench
