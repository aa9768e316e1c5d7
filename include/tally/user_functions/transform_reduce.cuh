// Kernels of transform_reduce, for nvcc.
//
// A thread owns two adjacent lanes of the order, to load pairs; a block's warps take adjacent
// chunks, tile after tile, folded some tiles at a time. The last block folds the blocks' sums,
// handed over in tagged words. No deadlock: only that one waits, and blocks start in order.
#pragma once

#include <tally/detail/words.hpp>
#include <tally/executor.hpp>
#include <tally/numerics/order.hpp>
#include <tally/numerics/order_tree.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/user_functions/functions.hpp>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>

namespace tally {
namespace detail {

template <class R, class Reduce, class Map>
inline constexpr bool runs_on_device =
    std::is_trivially_copyable_v<R> && sizeof(R) <= device_sum::max_bytes && travels<Reduce> &&
    travels<Map>;

template <class F>
inline constexpr bool is_plus = false;
template <class T>
inline constexpr bool is_plus<std::plus<T>> = true;

// --- The kernel ----------------------------------------------------------------------------------

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned max_warps = 8;
inline constexpr unsigned max_in_round = 8;  ///< tiles per round, with a node per warp and tile
inline constexpr unsigned own_lanes = order::lanes / warp_size;
inline constexpr unsigned chunk_rows = order::chunk / order::lanes;

/// Tagged words per sum, an even number.
template <class R>
inline constexpr int words_of_sum = (sizeof(R) + 7) / 8 * 2;
template <class R>
inline constexpr unsigned max_blocks = device_sum::word_count / words_of_sum<R>;

template <class T>
struct own_elements {
  T of_lane[own_lanes];
};

/// Elements i and i + 1; `adjacent`: in one load of up to 16 bytes.
template <bool adjacent, class T>
__device__ void load_two(const T* from, std::ptrdiff_t increment, std::int64_t i, T (&two)[2]) {
  if constexpr (adjacent) {
    struct alignas(2 * sizeof(T) < 16 ? 2 * sizeof(T) : 16) pair {
      T elements[2];
    };
    const pair both = *reinterpret_cast<const pair*>(from + i);
    two[0] = both.elements[0];
    two[1] = both.elements[1];
  } else {
    two[0] = from[i * increment];
    two[1] = from[(i + 1) * increment];
  }
}

/// The kernel's parameter.
template <class R, class Reduce, class Map, class... V>
struct reduce_job {
  using value = R;
  // Rows loaded at once: a whole chunk's, up to 512 bytes per thread, as for `dot`.
  static constexpr unsigned rows_in_flight = (... + sizeof(V)) > 16 ? 4 : 16;

  R identity;
  on_device_function<Reduce> reduce;
  on_device_function<Map> map;
  device_tuple<typed_vector<V>...> inputs;
  std::int64_t n;
  std::int64_t tiles;  ///< per block, a power of two
  std::uint32_t zero;  ///< 0, unknown to the compiler
  device_sum lent;

  __device__ R combine(const R& a, const R& b) const { return static_cast<R>(reduce(a, b)); }
  __device__ R term(const V&... elements) const {
    return uncontracted(static_cast<R>(map(elements...)));
  }

  /// Elements of the lanes of one thread, by input.
  using elements = device_tuple<own_elements<detail::stored_t<V>>...>;
  template <bool adjacent>
  __device__ void load(elements& to, std::int64_t i) const {
    for_each_pair(
        [&](auto& two, const auto& v) { load_two<adjacent>(v.data, v.increment, i, two.of_lane); },
        to, inputs);
  }
  __device__ R term(const elements& loaded, unsigned lane) const {
    return call_with([&](const auto&... two) { return term(two.of_lane[lane]...); }, loaded);
  }
  __device__ R term_at(std::int64_t i) const {
    return call_with([&](const auto&... v) { return term(v.data[i * v.increment]...); }, inputs);
  }

 private:
  /// Hides a product from ptxas, which contracts across an empty asm. Not needed for std::plus.
  __device__ R uncontracted(R value) const {
    if constexpr (!is_plus<Reduce> && sizeof(R) % sizeof zero == 0) {
      std::uint32_t words[sizeof(R) / sizeof zero];
      memcpy(words, &value, sizeof(R));
#pragma unroll
      for (unsigned i = 0; i < sizeof(R) / sizeof zero; ++i) words[i] ^= zero;
      memcpy(&value, words, sizeof(R));
    }
    return value;
  }
};

template <class R>
__device__ R from_thread_above(const R& value, unsigned distance) {
  constexpr unsigned count = (sizeof(R) + 3) / 4;
  std::uint32_t words[count] = {};
  memcpy(words, &value, sizeof(R));
#pragma unroll
  for (unsigned i = 0; i < count; ++i) {
    words[i] = __shfl_down_sync(0xffffffffu, words[i], distance);
  }
  R other;
  memcpy(&other, words, sizeof(R));
  return other;
}

/// The sum of the chunk at element `first`, in the warp's first thread.
template <bool adjacent, class Job, class R>
__device__ R sum_chunk(const Job& job, std::int64_t first, const R& identity) {
  constexpr unsigned in_flight = Job::rows_in_flight;
  const std::int64_t start = first + threadIdx.x % warp_size * own_lanes;
  R lane[own_lanes] = {identity, identity};
  if (first + static_cast<std::int64_t>(order::chunk) <= job.n) {
#pragma unroll 1
    for (unsigned row = 0; row < chunk_rows; row += in_flight) {
      typename Job::elements in[in_flight];
#pragma unroll
      for (unsigned r = 0; r < in_flight; ++r) {
        job.template load<adjacent>(in[r], start + (row + r) * order::lanes);
      }
#pragma unroll
      for (unsigned r = 0; r < in_flight; ++r) {
#pragma unroll
        for (unsigned l = 0; l < own_lanes; ++l) {
          lane[l] = job.combine(lane[l], job.term(in[r], l));
        }
      }
    }
  } else {
    for (unsigned row = 0; row < chunk_rows; ++row) {
      for (unsigned l = 0; l < own_lanes; ++l) {
        const std::int64_t i = start + row * order::lanes + l;
        if (i >= job.n) break;
        lane[l] = job.combine(lane[l], job.term_at(i));
      }
    }
  }
  // Lanes 32, 16, ... 2 apart are 16, 8, ... 1 threads apart; the last two belong to one thread.
#pragma unroll
  for (unsigned distance = warp_size / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (unsigned l = 0; l < own_lanes; ++l) {
      lane[l] = job.combine(lane[l], from_thread_above(lane[l], distance));
    }
  }
  return job.combine(lane[0], lane[1]);
}

/// The tree over nodes [0, count) in shared memory, by the whole block; to nodes[0].
template <class Job, class R>
__device__ void fold_block(const Job& job, R* nodes, unsigned count) {
  for (unsigned distance = 1; distance < count; distance *= 2) {
    __syncthreads();
    const unsigned i = threadIdx.x * 2 * distance;
    if (i + distance < count) nodes[i] = job.combine(nodes[i], nodes[i + distance]);
  }
  __syncthreads();
}

template <class Job>
struct combine_by {
  const Job* job;
  template <class R>
  __device__ R operator()(const R& a, const R& b) const {
    return job->combine(a, b);
  }
};

template <bool adjacent, class Job>
__global__ void __launch_bounds__(max_warps* warp_size, 2)
    reduce_kernel(const TALLY_GRID_CONSTANT Job job) {
  using R = typename Job::value;
  using tree = order::tree<R, combine_by<Job>, 48>;
  constexpr unsigned max_threads = max_warps * warp_size;
  alignas(alignof(R) > 16 ? alignof(R) : 16)
      __shared__ unsigned char memory[max_threads * sizeof(R)];
  R* const nodes = reinterpret_cast<R*>(memory);
  const combine_by<Job> combine{&job};
  const std::int64_t chunks = (job.n + static_cast<std::int64_t>(order::chunk) - 1) /
                              static_cast<std::int64_t>(order::chunk);
  const unsigned warps = blockDim.x / warp_size, warp = threadIdx.x / warp_size;

  // A block's chunks are a node of the tree, as is a round of tiles.
  const std::int64_t block_first = std::int64_t{blockIdx.x} * warps * job.tiles;
  const auto in_round = static_cast<unsigned>(job.tiles < max_in_round ? job.tiles : max_in_round);
  tree rounds(combine);
  for (std::int64_t tile = 0; tile < job.tiles; tile += in_round) {
    const std::int64_t first = block_first + tile * warps;
    if (first >= chunks) break;
    if (tile > 0) __syncthreads();  // nodes[0] has been read
    for (unsigned i = warp; i < in_round * warps && first + i < chunks; i += warps) {
      const R sum = sum_chunk<adjacent>(job, (first + i) * static_cast<std::int64_t>(order::chunk),
                                        job.identity);
      if (threadIdx.x % warp_size == 0) nodes[i] = sum;
    }
    const unsigned max_nodes = in_round * warps;
    fold_block(job, nodes,
               chunks - first < max_nodes ? static_cast<unsigned>(chunks - first) : max_nodes);
    if (threadIdx.x == 0 && job.tiles > max_in_round) rounds.add(nodes[0]);
  }
  R total = chunks == 0 ? job.identity : nodes[0];
  if (threadIdx.x == 0 && chunks > 0 && job.tiles > max_in_round) total = rounds.total();

  if (gridDim.x > 1) {
    constexpr int count = words_of_sum<R>;
    std::uint32_t payload[count] = {};
    if (threadIdx.x == 0) {
      memcpy(payload, &total, sizeof(R));
      words::put(job.lent.words + blockIdx.x * count, payload);
    }
    if (blockIdx.x + 1 < gridDim.x) return;
    __syncthreads();  // nodes[0] has been read
    // Nodes of adjacent blocks per thread, then the tree over threads.
    unsigned run = 1;
    while (run * blockDim.x < gridDim.x) run *= 2;
    const unsigned first = threadIdx.x * run;
    tree adjacent_blocks(combine);
    for (unsigned b = first; b < first + run; ++b) {
      const bool takes = b < gridDim.x;
      words::take(job.lent.words + (takes ? b : 0) * count, takes, payload);
      if (!takes) continue;
      R sum;
      memcpy(&sum, payload, sizeof(R));
      adjacent_blocks.add(sum);
    }
    if (first < gridDim.x) nodes[threadIdx.x] = adjacent_blocks.total();
    fold_block(job, nodes, (gridDim.x + run - 1) / run);
    total = nodes[0];
  }
  if (threadIdx.x != 0) return;
  total = canonical(total);
  if (job.lent.tag == 0) {
    *static_cast<R*>(job.lent.result) = total;
  } else {
    constexpr unsigned count = (sizeof(R) + 3) / 4;
    std::uint32_t payload[count] = {};
    memcpy(payload, &total, sizeof(R));
    auto* const to = static_cast<volatile std::uint64_t*>(job.lent.result);
    for (unsigned i = 0; i < count; ++i) to[i] = words::make_word(payload[i], job.lent.tag);
  }
  if (job.lent.ended != nullptr)
    atomicAdd(reinterpret_cast<unsigned long long*>(job.lent.ended), 1);
}

// --- Host side -----------------------------------------------------------------------------------

template <class R, class Reduce, class Map, class... V>
class reduce_on_device {
  static_assert(runs_on_device<R, Reduce, Map>);
  using job = reduce_job<R, Reduce, Map, V...>;

 public:
  reduce_on_device(const R& identity, const Reduce& reduce, const Map& map,
                   std::span<const operand> inputs)
      : inputs_(inputs), job_{identity,
                              {reduce},
                              {map},
                              typed_vectors<V...>(inputs),
                              static_cast<std::int64_t>(inputs[0].size),
                              1,
                              0,
                              {}} {}

  /// `result` null: waits for the value.
  R run(const executor& where, const char* function, R* result) {
    const operand* next = inputs_.data();
    adjacent_ = (... && are_adjacent<V>(*next++));
    // Few warps per block while the grid is smaller than a large device; then 8 warps and several
    // tiles each: the last block folds at most 4096 sums.
    const std::int64_t chunks = (job_.n + order::chunk - 1) / order::chunk;
    warps_ = chunks <= 256 ? 2 : chunks <= 512 ? 4 : max_warps;
    constexpr std::int64_t limit = max_blocks<R> < 4096 ? max_blocks<R> : 4096;
    const auto blocks = [&] {
      const std::int64_t a_block = warps_ * job_.tiles;
      return (chunks + a_block - 1) / a_block;
    };
    while (blocks() > limit) job_.tiles *= 2;
    blocks_ = blocks() > 0 ? static_cast<unsigned>(blocks()) : 1;

    R returned = job_.identity;
    launch_sum(where, function, inputs_, result != nullptr ? result : &returned, sizeof(R),
               result == nullptr, blocks_ > 1 ? blocks_ * words_of_sum<R> : 0, this, launch);
    return returned;
  }

 private:
  template <class T>
  static bool are_adjacent(const operand& v) {
    constexpr std::size_t load = 2 * sizeof(T) < 16 ? 2 * sizeof(T) : 16;
    return v.increment == 1 && reinterpret_cast<std::uintptr_t>(v.data) % load == 0;
  }

  static int launch(void* self, const device_sum& lent) {
    auto& call = *static_cast<reduce_on_device*>(self);
    call.job_.lent = lent;
    const auto kernel = call.adjacent_ ? reduce_kernel<true, job> : reduce_kernel<false, job>;
    return detail::launch(kernel, call.blocks_, call.warps_ * warp_size, lent.stream, call.job_);
  }

  std::span<const operand> inputs_;
  job job_;
  bool adjacent_ = false;
  unsigned warps_ = 1, blocks_ = 1;
};

}  // namespace detail
}  // namespace tally
