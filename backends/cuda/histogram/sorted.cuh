// Counting in two launches, for places too many for shared memory. The first sorts each tile's
// places by bucket and writes them in 16 bits each; in the second each block counts one bucket's. A
// sample is written and read again at half its size, instead of being added in memory.
//
// A block whose samples have few places in common counts them in a cache and writes nothing; the
// counts are the same (tuning/histogram.md: sorted).
#pragma once

#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/histogram/kernel.cuh"

namespace tally::backends::cuda {

// --- Buckets -------------------------------------------------------------------------------------
//
// Eight adjacent places are in one bucket, the next eight in the next: hot neighbours are in many.

__device__ inline slot bucket_of(slot place) { return place / adjacent % buckets; }
__device__ inline slot number_in_bucket(slot place) {
  return place / (adjacent * buckets) * adjacent + place % adjacent;
}
__device__ inline slot place_of_number(slot bucket, slot number) {
  return (number / adjacent * buckets + bucket) * adjacent + number % adjacent;
}

/// Two groups of threads sort tiles: one computes while the other waits for memory.
inline constexpr unsigned sorters = histogram_threads / 2;
inline constexpr int samples_per_sorter = static_cast<int>(samples_per_tile / sorters);

__device__ inline void sync_group(unsigned group) { ptx::synchronise(group + 1, sorters); }

/// A bucket's numbers begin at multiples of 16 bytes.
struct sorted_tile {
  uint4 octets[octets_per_tile];
  std::uint32_t counts[buckets];
  std::uint32_t begins[buckets + 1];  ///< where each bucket begins, in octets
  std::uint32_t totals[buckets];      ///< octets of all the group's tiles
};

/// Numbers a tile's octets by bucket, and writes where each bucket begins. Called by a group's
/// first warp.
__device__ inline void place_buckets(const histogram_job& job, sorted_tile& tile,
                                     std::int64_t number) {
  constexpr unsigned each = buckets / warp;
  const unsigned first = threadIdx.x % warp * each;
  std::uint32_t octets[each], upto = 0;
#pragma unroll
  for (unsigned i = 0; i < each; ++i) {
    octets[i] = (tile.counts[first + i] + 7) / 8;
    tile.totals[first + i] += octets[i];
    upto += octets[i];
  }
  const std::uint32_t own = upto;
  upto = sum_upto_thread(upto);
  std::uint32_t begin = upto - own;
  std::uint16_t* const begins = job.begins + number;
#pragma unroll
  for (unsigned i = 0; i < each; ++i) {
    tile.begins[first + i] = begin;
    begins[(first + i) * job.tiles] = static_cast<std::uint16_t>(begin);
    begin += octets[i];
  }
  if (first + each == buckets) {
    tile.begins[buckets] = begin;
    begins[buckets * job.tiles] = static_cast<std::uint16_t>(begin);
  }
}

/// Sorts every second tile of [tile, end).
template <class L, class Job, class Rule>
__device__ void sort_tiles(const Job& job, const Rule& place_of, sorted_tile& sorted,
                           std::int64_t tile, std::int64_t end) {
  constexpr int per_load = 16 / static_cast<int>(sizeof(L)), loads = samples_per_sorter / per_load;
  const unsigned group = threadIdx.x / sorters, thread = threadIdx.x % sorters;
  auto* const numbers = reinterpret_cast<std::uint16_t*>(sorted.octets);
  const auto absent = static_cast<std::uint16_t>(job.a_range);
  if (thread < buckets) sorted.counts[thread] = sorted.totals[thread] = 0;
  sync_group(group);
  for (; tile < end; tile += 2) {
    elements<L, per_load> held[loads];
    const std::int64_t first = tile * (loads * sorters) + thread;
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      const std::int64_t load = first + l * sorters;
      if (load >= job.loads) continue;
      const L* const from = static_cast<const L*>(job.x) + job.head + load * per_load;
      held[l].raw[0] = __ldcs(reinterpret_cast<const uint4*>(from));
    }
    slot places[samples_per_sorter], ranks[samples_per_sorter];
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      slot of_load[per_load];
      find_places_of_load(job, place_of, held[l], of_load);
#pragma unroll
      for (int i = 0; i < per_load; ++i) {
        const bool counts = first + l * sorters < job.loads && of_load[i] < job.places;
        places[l * per_load + i] = counts ? of_load[i] : nowhere;
      }
    }
#pragma unroll
    for (int i = 0; i < samples_per_sorter; ++i) {
      if (places[i] != nowhere) ranks[i] = atomicAdd(sorted.counts + bucket_of(places[i]), 1u);
    }
    sync_group(group);
    if (thread < warp) place_buckets(job, sorted, tile);
    sync_group(group);
#pragma unroll
    for (int i = 0; i < samples_per_sorter; ++i) {
      if (places[i] == nowhere) continue;
      numbers[8 * sorted.begins[bucket_of(places[i])] + ranks[i]] =
          static_cast<std::uint16_t>(number_in_bucket(places[i]));
    }
    if (thread < buckets) {
      std::uint16_t* const own = numbers + 8 * sorted.begins[thread];
      for (std::uint32_t i = sorted.counts[thread]; i % 8 != 0; ++i) own[i] = absent;
      sorted.counts[thread] = 0;
    }
    sync_group(group);
    uint4* const to = job.octets + tile * octets_per_tile;
    for (unsigned i = thread; i < sorted.begins[buckets]; i += sorters) to[i] = sorted.octets[i];
  }
  if (thread < buckets) atomicAdd(job.totals + thread, sorted.totals[thread]);
}

/// Whether a cache suits the loads [first, end): whether a sample of them repeats places as 1.5
/// times the cache's size of equally frequent places would.
template <class L, class Job, class Rule>
__device__ bool places_repeat(const Job& job, const Rule& place_of, std::int64_t first,
                              std::int64_t end, char* shared) {
  constexpr int per_load = 16 / static_cast<int>(sizeof(L)), each = per_load > 4 ? per_load : 4;
  constexpr int loads = each / per_load;
  constexpr std::uint32_t looked_at = each * histogram_threads;
  __shared__ std::uint32_t repeated;
  auto* const last = reinterpret_cast<std::uint32_t*>(shared);
  const slot size = slot{1} << job.cache_bits;
  elements<L, per_load> held[loads];
  const std::int64_t step = max((end - first) / (loads * histogram_threads), std::int64_t{1});
#pragma unroll
  for (int l = 0; l < loads; ++l) {
    const std::int64_t load = first + (l * histogram_threads + threadIdx.x) * step;
    if (load >= end) continue;
    const L* const from = static_cast<const L*>(job.x) + job.head + load * per_load;
    held[l].raw[0] = __ldg(reinterpret_cast<const uint4*>(from));
  }
  if (threadIdx.x == 0) repeated = 0;
  for (slot i = threadIdx.x; i < size / 4; i += blockDim.x) {
    reinterpret_cast<uint4*>(last)[i] = uint4{nowhere, nowhere, nowhere, nowhere};
  }
  __syncthreads();
  std::uint32_t own = 0;
#pragma unroll
  for (int l = 0; l < loads; ++l) {
    if (first + (l * histogram_threads + threadIdx.x) * step >= end) continue;
    slot places[per_load];
    find_places_of_load(job, place_of, held[l], places);
#pragma unroll
    for (int i = 0; i < per_load; ++i) {
      own += atomicExch(last + (places[i] & (size - 1)), places[i]) == places[i];
    }
  }
  own = sum_of_warp(own);
  if (threadIdx.x % warp == 0) atomicAdd(&repeated, own);
  __syncthreads();
  const bool repeat = repeated >= looked_at / 3 * looked_at / size;
  __syncthreads();
  return repeat;
}

template <class L, class Rule>
__global__ void __launch_bounds__(histogram_threads, 1)
    sort_kernel(const __grid_constant__ typename Rule::job_type job) {
  constexpr int per_load = 16 / static_cast<int>(sizeof(L));
  constexpr std::int64_t loads_per_tile = samples_per_tile / per_load;
  extern __shared__ __align__(16) char shared[];
  const std::int64_t tile = job.tiles * std::int64_t{blockIdx.x} / gridDim.x;
  const std::int64_t end_tile = job.tiles * (std::int64_t{blockIdx.x} + 1) / gridDim.x;
  const std::int64_t first = tile * loads_per_tile;
  const std::int64_t end = min(end_tile * loads_per_tile, job.loads);
  thread_loads<L> loads(job, first + threadIdx.x, end, blockDim.x);
  const Rule place_of(job, shared);
  // The samples were there before this launch became resident: a launch that writes zeros is
  // between.
  const bool repeat = places_repeat<L>(job, place_of, first, end, shared);
  wait_for_launch_before();
  if (repeat) {
    for (std::int64_t i = tile + threadIdx.x % warp; i < end_tile; i += warp) {
      for (unsigned b = threadIdx.x / warp; b <= buckets; b += blockDim.x / warp) {
        job.begins[b * job.tiles + i] = 0;
      }
    }
    cache_table<Rule> table(job, shared);
    __syncthreads();
    loads.count(job, place_of, table);
    __syncthreads();
    table.hand_in_all(job);
  } else {
    const unsigned group = threadIdx.x / sorters;
    sort_tiles<L>(job, place_of, reinterpret_cast<sorted_tile*>(shared)[group], tile + group,
                  end_tile);
  }
  // Samples before and after the 16-byte loads.
  const std::int64_t i = threadIdx.x;
  if (blockIdx.x == 0 && i < job.n - job.loads * per_load) {
    const L held[1] = {
        load_one(static_cast<const L*>(job.x) + (i < job.head ? i : i + job.loads * per_load))};
    number_t<L> number[1];
    find_numbers(job.element, held, number);
    const slot place = place_of(number[0]);
    if (place < job.places) hand_in<Rule>(job, place, 1);
  }
  let_launch_after_start();
}

}  // namespace tally::backends::cuda
