// Histograms on a CUDA device: CUB's, sorting and counting, and atomics in memory with narrow and
// wide loads.
#include "bench/ours.hpp"
#include "bench/peers/device_peers.hpp"

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>

#include <string>
#include <type_traits>

namespace bench::peers {
namespace {

constexpr unsigned threads = 256;

__device__ std::size_t thread_of_grid() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::size_t threads_of_grid() { return std::size_t{gridDim.x} * blockDim.x; }

template <class X>
__global__ void add_by_atomics(const X* keys, std::size_t n, std::int32_t* counts) {
  for (std::size_t i = thread_of_grid(); i < n; i += threads_of_grid()) {
    atomicAdd(counts + keys[i], 1);
  }
}

/// Pre: the vector is a multiple of 16 bytes.
template <class X>
__global__ void add_by_atomics_wide(const X* keys, std::size_t n, std::int32_t* counts) {
  constexpr std::size_t lanes = sizeof(uint4) / sizeof(X);
  for (std::size_t i = thread_of_grid(); i < n / lanes; i += threads_of_grid()) {
    const uint4 word = reinterpret_cast<const uint4*>(keys)[i];
    X key[lanes];
    memcpy(key, &word, sizeof word);
#pragma unroll
    for (std::size_t l = 0; l < lanes; ++l) atomicAdd(counts + key[l], 1);
  }
}

__global__ void add_samples_by_atomics(const double* x, const std::int32_t* indices, std::size_t n,
                                       double* z) {
  for (std::size_t i = thread_of_grid(); i < n; i += threads_of_grid()) {
    atomicAdd(z + indices[i], x[i]);
  }
}

template <class X>
__device__ std::size_t lower_bound(const X* sorted, std::size_t n, std::size_t key) {
  std::size_t begin = 0, end = n;
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (static_cast<std::size_t>(sorted[middle]) < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

template <class X>
__global__ void count_sorted(const X* sorted, std::size_t n, std::int32_t* counts,
                             std::size_t bins) {
  for (std::size_t k = thread_of_grid(); k < bins; k += threads_of_grid()) {
    counts[k] =
        static_cast<std::int32_t>(lower_bound(sorted, n, k + 1) - lower_bound(sorted, n, k));
  }
}

/// CUB's two-phase calls: f(nullptr, bytes, ...) asks for scratch memory.
template <class F>
std::function<void(cudaStream_t)> with_scratch(F f) {
  const on_demand<std::pair<device_memory, std::size_t>> scratch([=] {
    std::size_t bytes = 0;
    check(f(nullptr, bytes, stream()), "cub");
    return std::pair(device_memory(bytes), bytes);
  });
  return [=](cudaStream_t stream) {
    std::size_t bytes = scratch().second;
    check(f(scratch().first.data(), bytes, stream), "cub");
  };
}

}  // namespace

contenders histogram_on_device(const workload& w) {
  contenders list;
  visit<histogram_pairs>(w, [&]<class X>(std::span<const X> samples, std::span<const std::int32_t>,
                                         auto) {
    const X* const x = samples.data();
    const std::size_t n = samples.size(), bins = w.y.size;
    auto* const counts = static_cast<std::int32_t*>(const_cast<void*>(w.y.data));
    const std::string version = std::to_string(CUB_MAJOR_VERSION) + "." +
                                std::to_string(CUB_MINOR_VERSION) + "." +
                                std::to_string(CUB_SUBMINOR_VERSION);
    const unsigned blocks = static_cast<unsigned>(multiprocessors()) * 8;
    const auto add = [&](const char* name, const std::string& label, auto f) {
      list.push_back(counts_on_device(name, label, f, w));
    };

    if (w.bins == tally::binning::edges) {
      const on_demand<device_memory> edges([=] { return device_memory(histogram_of(w).edges); });
      add("CUB", version, with_scratch([=](void* scratch, std::size_t& bytes, cudaStream_t s) {
            return cub::DeviceHistogram::HistogramRange(
                scratch, bytes, x, counts, static_cast<int>(bins) + 1,
                static_cast<const float*>(edges().data()), static_cast<int>(n), s);
          }));
      return;
    }
    using level = std::conditional_t<std::is_same_v<X, float>, float, int>;
    const level lower = std::is_same_v<X, float> ? -1 : 0;
    const level upper = std::is_same_v<X, float> ? level{1} : static_cast<level>(bins);
    add("CUB", version, with_scratch([=](void* scratch, std::size_t& bytes, cudaStream_t s) {
          return cub::DeviceHistogram::HistogramEven(scratch, bytes, x, counts,
                                                     static_cast<int>(bins) + 1, lower, upper,
                                                     static_cast<int>(n), s);
        }));
    if constexpr (std::is_integral_v<X>) {
      const on_demand<device_memory> sorted([=] { return device_memory(n * sizeof(X)); });
      const auto sort = with_scratch([=](void* scratch, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, x, static_cast<X*>(sorted().data()),
                                              static_cast<int>(n), 0, int{sizeof(X)} * 8, s);
      });
      add("sort and count", "CUB's radix sort, " + version, [=](cudaStream_t s) {
        sort(s);
        count_sorted<<<blocks, threads, 0, s>>>(static_cast<const X*>(sorted().data()), n, counts,
                                                bins);
      });
      const auto zeros = [=](cudaStream_t s) {
        check(cudaMemsetAsync(counts, 0, bins * sizeof *counts, s), "cudaMemsetAsync");
      };
      add("atomics", "in memory, an element a load", [=](cudaStream_t s) {
        zeros(s);
        add_by_atomics<<<blocks, threads, 0, s>>>(x, n, counts);
      });
      add("atomics, wide", "in memory, 16 bytes a load", [=](cudaStream_t s) {
        zeros(s);
        add_by_atomics_wide<<<blocks, threads, 0, s>>>(x, n, counts);
      });
    }
  });
  return list;
}

contenders atomics_on_device(const workload& w) {
  contenders list;
  if (w.what != operation::scatter_add) return list;
  list.push_back(on_device(
      "atomics", "another result in every run",
      [=](cudaStream_t s, void* z) {
        const auto blocks = static_cast<unsigned>(8 * multiprocessors());
        add_samples_by_atomics<<<blocks, threads, 0, s>>>(
            static_cast<const double*>(w.x.data), static_cast<const std::int32_t*>(w.y.data),
            w.x.size, static_cast<double*>(z));
        check(cudaGetLastError(), "atomics");
      },
      w));
  return list;
}

}  // namespace bench::peers
