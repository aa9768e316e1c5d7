// The second launch: counts what sort_kernel wrote.
#pragma once

#include "backends/cuda/histogram/sorted.cuh"

namespace tally::backends::cuda {

/// A block's part of a bucket.
struct bucket_piece {
  slot bucket;
  std::uint32_t piece, pieces;
};

/// Divides the blocks among buckets by their octets, and returns this block's piece, or none.
/// Called by its first warp alone (tuning/histogram.md: find_piece).
__device__ inline bucket_piece find_piece(const histogram_job& job) {
  constexpr unsigned each = buckets / warp;
  static_assert(each == 4);
  const unsigned thread = threadIdx.x;
  const uint4 loaded = __ldcg(reinterpret_cast<const uint4*>(job.totals) + thread);
  const std::uint32_t octets[each] = {loaded.x, loaded.y, loaded.z, loaded.w};
  const std::uint32_t all = sum_of_warp(loaded.x + loaded.y + loaded.z + loaded.w);
  const std::uint32_t a_piece = (all + job.pieces - 1) / job.pieces;
  std::uint32_t pieces[each], upto = 0;
#pragma unroll
  for (unsigned i = 0; i < each; ++i) {
    pieces[i] = octets[i] == 0 ? 0 : max((octets[i] + a_piece / 2) / a_piece, 1u);
    upto += pieces[i];
  }
  const std::uint32_t own = upto;
  upto = sum_upto_thread(upto);
  bucket_piece found{0, blockIdx.x - (upto - own), 0};
#pragma unroll
  for (unsigned i = 0; i < each; ++i) {
    if (found.pieces > 0) continue;
    if (found.piece < pieces[i]) {
      found.bucket = thread * each + i;
      found.pieces = pieces[i];
    } else {
      found.piece -= pieces[i];
    }
  }
  const unsigned who = __ballot_sync(whole_warp, blockIdx.x >= upto - own && blockIdx.x < upto);
  if (who == 0) return {};
  const int from = __ffs(static_cast<int>(who)) - 1;
  return {__shfl_sync(whole_warp, found.bucket, from), __shfl_sync(whole_warp, found.piece, from),
          __shfl_sync(whole_warp, found.pieces, from)};
}

/// Writes for each tile the number of a bucket's octets before it, and last their total.
__device__ inline void number_octets(const histogram_job& job, slot bucket, std::uint32_t* upto) {
  __shared__ std::uint32_t of_warp[histogram_threads / warp];
  const auto tiles = static_cast<std::uint32_t>(job.tiles);
  const std::uint16_t* const begins = job.begins + bucket * job.tiles;
  const std::uint32_t each = (tiles + blockDim.x - 1) / blockDim.x;
  const std::uint32_t begin = min(tiles, threadIdx.x * each), end = min(tiles, begin + each);
  std::uint32_t own = 0;
  for (std::uint32_t t = begin; t < end; ++t) {
    upto[t] = own;
    own += static_cast<std::uint32_t>(__ldcg(begins + tiles + t)) - __ldcg(begins + t);
  }
  const std::uint32_t before = sum_of_lower_threads(own, of_warp);
  for (std::uint32_t t = begin; t < end; ++t) upto[t] += before;
  if (threadIdx.x == blockDim.x - 1) upto[tiles] = before + own;
}

/// Returns the tile of [low, high] with this octet.
__device__ inline std::uint32_t tile_of_octet(const std::uint32_t* upto, std::uint32_t octet,
                                              std::uint32_t low, std::uint32_t high) {
  while (low < high) {
    const std::uint32_t middle = (low + high + 1) / 2;
    if (upto[middle] <= octet) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

__global__ void __launch_bounds__(histogram_threads)
    count_sorted_kernel(const __grid_constant__ histogram_job job) {
  constexpr int in_flight = loads_in_flight;
  extern __shared__ __align__(16) char shared[];
  auto* const counters = reinterpret_cast<std::uint32_t*>(shared);
  std::uint32_t* const upto = counters + job.a_range + 1;
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  wait_for_launch_before();
  let_launch_after_start();
  __shared__ bucket_piece found;
  if (threadIdx.x < warp) {
    const bucket_piece of_warp = find_piece(job);
    if (threadIdx.x == 0) found = of_warp;
  }
  __syncthreads();
  const bucket_piece mine = found;
  if (mine.pieces == 0) return;
  for (slot i = threadIdx.x; i <= job.a_range; i += blockDim.x) counters[i] = 0;
  number_octets(job, mine.bucket, upto);
  __syncthreads();

  const auto tiles = static_cast<std::uint32_t>(job.tiles);
  const std::uint64_t shares = std::uint64_t{mine.pieces} * (blockDim.x / warp);
  const std::uint64_t share = std::uint64_t{mine.piece} * (blockDim.x / warp) + threadIdx.x / warp;
  const auto first = static_cast<std::uint32_t>(upto[tiles] * share / shares);
  const auto end = static_cast<std::uint32_t>(upto[tiles] * (share + 1) / shares);
  const std::uint16_t* const begins = job.begins + mine.bucket * job.tiles;
  const std::uint32_t last = end > first ? tile_of_octet(upto, end - 1, 0, tiles - 1) : 0;
  std::uint32_t tile = end > first ? tile_of_octet(upto, first, 0, last) : 0;
  for (std::uint32_t octet = first + threadIdx.x % warp; octet < end; octet += warp * in_flight) {
    elements<std::uint16_t, 8> held[in_flight];
#pragma unroll
    for (int l = 0; l < in_flight; ++l) {
      const std::uint32_t own = octet + l * warp;
      if (own >= end) continue;
      tile = tile_of_octet(upto, own, tile, last);
      const std::uint32_t at = tile * octets_per_tile + __ldcg(begins + tile) + (own - upto[tile]);
      held[l].raw[0] = __ldcg(job.octets + at);
    }
#pragma unroll
    for (int l = 0; l < in_flight; ++l) {
      if (octet + l * warp >= end) continue;
#pragma unroll
      for (int i = 0; i < 8; ++i) count_at(address + 4 * held[l].at(i));
    }
  }
  __syncthreads();
  for (slot i = threadIdx.x; i < job.a_range; i += blockDim.x) {
    if (counters[i] > 0) {
      hand_in<places_are_slots>(job, place_of_number(mine.bucket, i), counters[i]);
    }
  }
}

}  // namespace tally::backends::cuda
