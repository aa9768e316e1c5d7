// Kernels of propagation blocking (propagation_blocking.hpp).
//
// Promise: y has the bits of the row order; a row's threads own equally spaced lanes. If offsets
// have changed since the plan, nothing is read or written out of bounds.
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/device/fold.cuh"
#include "backends/cuda/runtime/stream_memory.hpp"
#include "backends/cuda/spmv/common/result.cuh"
#include "backends/cuda/spmv/common/shared_load.cuh"
#include "backends/cuda/spmv/common/short_rows.cuh"
#include "backends/cuda/spmv/common/terms.cuh"
#include "backends/cuda/spmv/propagation_blocking/propagation_blocking.hpp"

#include <algorithm>
#include <string>

namespace tally::backends::cuda {
namespace {

/// Kernel parameter.
struct blocking_job {
  spmv_job product;
  propagation_blocking cut;
  std::int32_t first_tile = 0;  ///< of this launch
};

/// Threads per block of the collect phase, with one block per tile.
constexpr unsigned collect_threads = 256;
/// Blocks per SM of the expand phase, at most; there are equally many per section.
constexpr unsigned max_parts = 3;

/// Elements of one load, and their indices.
template <class T>
struct alignas(16) element_pack {
  static constexpr int count = 16 / sizeof(T);
  T of[count];
};
template <class T>
struct alignas(32 / sizeof(T)) index_pack {
  std::uint16_t of[element_pack<T>::count];
};

/// Expand phase. A team of threads has one bin at a time; indices of the next are loaded meanwhile.
template <class T>
__global__ void __launch_bounds__(expand_threads, max_parts)
    expand_sections(const __grid_constant__ blocking_job job) {
  // Two rounds suffice for most bins.
  constexpr int team = 8, rounds = 2, per_load = element_pack<T>::count;
  constexpr int loads_per_unit = bin_alignment / 16;
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ std::int64_t first_copied;
  const propagation_blocking& cut = job.cut;
  const int section = static_cast<int>(blockIdx.x) % cut.sections;
  const int part = static_cast<int>(blockIdx.x) / cut.sections;
  const int parts = static_cast<int>(gridDim.x) / cut.sections;
  const int teams = parts * static_cast<int>(expand_threads) / team;
  const int own =
      part * static_cast<int>(expand_threads) / team + static_cast<int>(threadIdx.x) / team;
  const int thread = static_cast<int>(threadIdx.x) % team;
  const int tiles = ::min(cut.tiles_per_part, cut.tiles - job.first_tile);
  const std::uint32_t* const segments =
      cut.segments + static_cast<std::int64_t>(section) * cut.tiles + job.first_tile;
  const auto* const places = reinterpret_cast<const index_pack<T>*>(cut.section_index) +
                             static_cast<std::int64_t>(job.first_tile) * cut.stride / per_load;
  const unsigned loads_per_tile = static_cast<unsigned>(cut.stride) / per_load;
  const auto load_of = [&](int tile, int i) {
    return static_cast<unsigned>(tile) * loads_per_tile + static_cast<unsigned>(i);
  };
  const auto begin_of = [&](std::uint32_t s) {
    return static_cast<int>(s & 0xffffu) * loads_per_unit + thread;
  };
  const auto end_of = [&](std::uint32_t s) { return static_cast<int>(s >> 16) * loads_per_unit; };
  std::uint32_t segment = 0, next = 0;
  index_pack<T> from[rounds];
  const auto find = [&](int tile) { next = tile < tiles ? __ldg(segments + tile) : 0; };
  const auto load = [&](int tile) {
    segment = next;
#pragma unroll
    for (int k = 0; k < rounds; ++k) {
      const int i = begin_of(segment) + k * team;
      if (i < end_of(segment)) from[k] = places[load_of(tile, i)];
    }
  };
  // Plan data: no need to wait.
  find(own);
  load(own);
  find(own + teams);
  const std::int64_t begin = static_cast<std::int64_t>(section) * cut.section;
  const std::int64_t end = ::min(begin + cut.section, job.product.column_count);
  wait_for_launch_before();
  let_launch_after_start();
  if (threadIdx.x == 0) barrier.expect(1);
#if __CUDA_ARCH__ < 900
  __syncthreads();
#endif
  if (brings()) {
    const std::int64_t brought = bring(barrier, memory, static_cast<const T*>(job.product.x.data),
                                       job.product.column_count, begin, end);
    if (threadIdx.x == 0) first_copied = brought;
  }
  __syncthreads();
  const T* const x = reinterpret_cast<const T*>(memory) + (begin - first_copied);
  barrier.wait();
  auto* const to = static_cast<element_pack<T>*>(cut.elements);
  const auto elements_at = [&](const index_pack<T>& all) {
    element_pack<T> some;
#pragma unroll
    for (int j = 0; j < per_load; ++j) some.of[j] = x[all.of[j]];
    return some;
  };
  for (int tile = own; tile < tiles; tile += teams) {
    element_pack<T> elements[rounds];
    const int first = begin_of(segment), last = end_of(segment);
#pragma unroll
    for (int k = 0; k < rounds; ++k) {
      if (first + k * team < last) elements[k] = elements_at(from[k]);
    }
    load(tile + teams);
    find(tile + 2 * teams);
#pragma unroll
    for (int k = 0; k < rounds; ++k) {
      const int i = first + k * team;
      if (i < last) to[load_of(tile, i)] = elements[k];
    }
#pragma unroll 1
    for (int i = first + rounds * team; i < last; i += team) {
      to[load_of(tile, i)] = elements_at(places[load_of(tile, i)]);
    }
  }
}

/// Collect phase: permutes a tile's elements into the order of terms, and sums rows in 2 threads
/// each.
template <class T>
__global__ void __launch_bounds__(collect_threads, 5)
    collect_rows(const __grid_constant__ blocking_job job) {
  constexpr int threads = 2, in_flight = 4, per_load = element_pack<T>::count;
  constexpr int all = static_cast<int>(collect_threads), lanes = row_lanes / threads;
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ int value_shift;
  const propagation_blocking& cut = job.cut;
  const spmv_job& product = job.product;
  T* const elements = reinterpret_cast<T*>(memory);
  T* const values =
      reinterpret_cast<T*>(reinterpret_cast<char*>(memory) + bytes_to_bring<T>(cut.tile_terms));
  auto* const starts = reinterpret_cast<std::uint16_t*>(reinterpret_cast<char*>(values) +
                                                        bytes_to_bring<T>(cut.tile_terms));
  const int tile = job.first_tile + static_cast<int>(blockIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(tile) * cut.tile_rows;
  const int rows =
      static_cast<int>(::min(product.rows - first, static_cast<std::int64_t>(cut.tile_rows)));
  const std::int64_t begin = product.offset(first);
  const int terms = static_cast<int>(
      ::max(::min(product.offset(first + rows) - begin, static_cast<std::int64_t>(cut.tile_terms)),
            std::int64_t{0}));
  // The launch before, the expand phase, has waited for the values, too.
  if (threadIdx.x == 0) barrier.expect(1);
#if __CUDA_ARCH__ < 900
  __syncthreads();
#endif
  if (brings()) {
    const std::int64_t brought = bring(barrier, values, static_cast<const T*>(product.values.data),
                                       product.nonzeros, begin, begin + terms);
    if (threadIdx.x == 0) value_shift = static_cast<int>(begin - brought);
  }
  const std::uint32_t last =
      __ldg(cut.segments + static_cast<std::int64_t>(cut.sections - 1) * cut.tiles + tile);
  const int loads = static_cast<int>(last >> 16) * (bin_alignment / 16);
  const auto* const places = reinterpret_cast<const index_pack<T>*>(cut.in_tile) +
                             static_cast<std::int64_t>(tile) * cut.stride / per_load;
  const auto* const from = static_cast<const uint4*>(cut.elements) +
                           static_cast<std::int64_t>(blockIdx.x) * (cut.stride / per_load);
  index_pack<T> to[in_flight];
  const auto find = [&](int i) {
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k * all < loads) to[k] = places[i + k * all];
    }
  };
  int i = static_cast<int>(threadIdx.x);
  find(i);
  for (int k = static_cast<int>(threadIdx.x); k <= rows; k += all) {
    const auto at = static_cast<std::uint64_t>(product.offset(first + k) - begin);
    starts[k] = static_cast<std::uint16_t>(::min(at, static_cast<std::uint64_t>(terms)));
  }
  wait_for_launch_before();
  let_launch_after_start();
#pragma unroll 1
  for (; i < loads; i += in_flight * all) {
    uint4 loaded[in_flight];
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k * all < loads) loaded[k] = __ldcg(from + i + k * all);
    }
    index_pack<T> now[in_flight];
#pragma unroll
    for (int k = 0; k < in_flight; ++k) now[k] = to[k];
    find(i + in_flight * all);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k * all >= loads) continue;
      const auto some = __builtin_bit_cast(element_pack<T>, loaded[k]);
#pragma unroll
      for (int j = 0; j < per_load; ++j) {
        if (now[k].of[j] < cut.tile_terms) elements[now[k].of[j]] = some.of[j];
      }
    }
  }
  __syncthreads();
  barrier.wait();
  const unsigned shared_values = shared_address(values + value_shift);
  const unsigned shared_elements = shared_address(elements);
  const int thread = static_cast<int>(threadIdx.x) % threads;
  // Whole warps go round together.
#pragma unroll 2
  for (int own = 0; own < rows; own += all / threads) {
    const int row = own + static_cast<int>(threadIdx.x) / threads;
    dot_sum<T> sums[lanes];
    int term = row < rows ? starts[row] + thread : 0;
    const int end = row < rows ? starts[row + 1] : 0;
    constexpr int at_once = 2 * lanes;
#pragma unroll 1
    for (; term < end; term += at_once * threads) {
      T value[at_once] = {}, element[at_once] = {};
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int at = term + k * threads;
        load_shared_if(at < end, shared_values + at * sizeof value[k], value[k]);
        load_shared_if(at < end, shared_elements + at * sizeof element[k], element[k]);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (term + k * threads < end) {
          sums[k % lanes] = sums[k % lanes] + term_of<T, T, T>(value[k], element[k]);
        }
      }
    }
    const dot_sum<T> sum = fold_across_threads<threads>(fold_within_thread(sums));
    if (row < rows && thread == 0) {
      write_row<T>(product, first + row, finish_parts(sum, conjugate::none));
    }
  }
}

/// Rows of floats: the kernels for doubles lose.
class blocked_rows : public method {
 public:
  blocked_rows(const propagation_blocking& cut, std::size_t bytes) : cut_(cut), bytes_(bytes) {}

  std::string describe(const std::string& other) const override {
    std::string s =
        other + "; of float32 in two steps, since columns are far apart: x comes in sections of " +
        std::to_string(cut_.section) +
        " elements to shared memory, and from there to a buffer, where tiles of " +
        std::to_string(cut_.tile_rows) +
        " rows find what they need; with places in sections and tiles, in " +
        std::to_string(bytes_) + " bytes, and a buffer of " + std::to_string(buffer_bytes()) +
        " bytes while a product runs";
    const std::int32_t parts = (cut_.tiles - 1) / cut_.tiles_per_part + 1;
    if (parts > 1) s += ", in " + std::to_string(parts) + " parts";
    return s;
  }

  bool multiply(const spmv_call& call) const override {
    if (!call.is_plain() || call.element() != type::float32) return false;
    blocking_job job{call.job, cut_};
    const stream_memory buffer(buffer_bytes(), call.current, call.stream);
    job.cut.elements = buffer.data();
    launch_shape sections{.threads = expand_threads,
                          .shared_bytes = expand_bytes(static_cast<std::size_t>(cut_.section))};
    unsigned parts = max_parts;
    while (parts > 1 && !call.has_room(parts * (sections.shared_bytes + static_shared_bytes) -
                                       static_shared_bytes)) {
      --parts;
    }
    sections.blocks = parts * static_cast<unsigned>(cut_.sections);
    launch_shape tiles{.threads = collect_threads, .shared_bytes = collect_bytes(cut_)};
    for (; job.first_tile < cut_.tiles; job.first_tile += cut_.tiles_per_part) {
      call.launch(&expand_sections<float>, sections, job);
      tiles.blocks =
          static_cast<unsigned>(std::min(cut_.tiles_per_part, cut_.tiles - job.first_tile));
      call.launch(&collect_rows<float>, tiles, job);
    }
    return true;
  }

 private:
  std::size_t buffer_bytes() const {
    return static_cast<std::size_t>(cut_.tiles_per_part) * static_cast<std::size_t>(cut_.stride) *
           sizeof(float);
  }

  propagation_blocking cut_;
  std::size_t bytes_;
};

}  // namespace

std::unique_ptr<const method> make_propagation_blocking(const propagation_blocking& cut,
                                                        std::size_t bytes) {
  return std::make_unique<blocked_rows>(cut, bytes);
}

std::size_t expand_bytes(std::size_t section) { return bytes_to_bring<float>(section); }
std::size_t collect_bytes(const propagation_blocking& cut) {
  const auto terms = static_cast<std::size_t>(cut.tile_terms);
  const auto starts = static_cast<std::size_t>(cut.tile_rows) + 1;
  return 2 * bytes_to_bring<float>(terms) + starts * sizeof(std::uint16_t);
}

}  // namespace tally::backends::cuda
