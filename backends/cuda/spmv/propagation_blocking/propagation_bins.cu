// Analysis kernels that cut the tiles of propagation blocking into bins (propagation_blocking.hpp).
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/shape.hpp"

namespace tally::backends::cuda {
namespace {

/// Calls f(term in the tile, section, index in it, column of the term before or -1) for each of a
/// thread's terms.
template <class F>
__device__ void for_each_term_of_tile(const analysis_job& s, std::int64_t tile, const F& f) {
  const std::int64_t first = tile * s.cut.tile_rows;
  const std::int64_t begin = offset(s, first);
  const auto count = static_cast<int>(offset(s, ::min(first + s.cut.tile_rows, s.rows)) - begin);
  const auto size = static_cast<unsigned>(s.cut.section);
  const unsigned reciprocal = 0xffffffffu / size;  // sections at most one too low
  const auto go_over = [&]<class Column>(const Column* columns) {
    constexpr int in_flight = 4, apart = expand_threads;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += in_flight * apart) {
      Column column[in_flight] = {}, before[in_flight];
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (i + k * apart < count) column[k] = columns[i + k * apart];
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        before[k] = -1;
        if (i + k * apart < count && begin + i + k * apart > 0)
          before[k] = columns[i + k * apart - 1];
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (i + k * apart >= count) continue;
        const auto own = static_cast<unsigned>(column[k]);
        unsigned section = __umulhi(own, reciprocal);
        if (own - section * size >= size) ++section;
        f(i + k * apart, section, own - section * size, static_cast<std::int64_t>(before[k]));
      }
    }
  };
  s.columns.wide ? go_over(static_cast<const std::int64_t*>(s.columns.data) + begin)
                 : go_over(static_cast<const std::int32_t*>(s.columns.data) + begin);
}

/// Finds the largest tile's terms, and measures bins of a sample: one tile per block, picked by a
/// hash.
__global__ void __launch_bounds__(expand_threads) measure_bins(const analysis_job s) {
  extern __shared__ uint4 memory[];
  __shared__ unsigned met;
  auto* const terms = reinterpret_cast<unsigned*>(memory);  // per section
  const auto sections = static_cast<unsigned>(s.cut.sections);
  for (unsigned i = threadIdx.x; i < sections; i += expand_threads) terms[i] = 0;
  if (threadIdx.x == 0) met = 0;
  __syncthreads();
  wait_for_launch_before();
  const std::int64_t first_tile = std::int64_t{blockIdx.x} * tiles_per_sample;
  const std::int64_t last_tile =
      ::min(first_tile + tiles_per_sample, std::int64_t{s.cut.tiles}) - 1;
  const unsigned hash = blockIdx.x * 0x9e3779b1u >> 16;
  unsigned adjacent = 0, looked = 0;
  for_each_term_of_tile(s, ::min(first_tile + hash % tiles_per_sample, last_tile),
                        [&](int, unsigned section, unsigned place, std::int64_t before) {
                          atomicAdd(terms + section, 1u);
                          ++looked;
                          const std::int64_t column =
                              static_cast<std::int64_t>(section) * s.cut.section + place;
                          adjacent += before >= 0 && column / s.per_unit == before / s.per_unit;
                        });
  if (threadIdx.x < warp) {
    std::uint32_t most = 0;
    if (const std::int64_t tile = first_tile + threadIdx.x; tile <= last_tile) {
      const std::int64_t first = tile * s.cut.tile_rows;
      most = static_cast<std::uint32_t>(offset(s, ::min(first + s.cut.tile_rows, s.rows)) -
                                        offset(s, first));
    }
    most = largest_of_warp(most);
    if (threadIdx.x == 0) atomicMax(counter(s, result_words::max_terms), 0ull + most);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < sections; i += expand_threads) {
    if (terms[i] > 0) atomicAdd(&met, 1u);
  }
  add_of_block(s, result_words::adjacent, adjacent);
  add_of_block(s, result_words::sampled, looked);
  if (threadIdx.x == 0) atomicAdd(counter(s, result_words::met), 0ull + met);
  end_analysis_block(s);
}

__global__ void __launch_bounds__(expand_threads, 4) write_bins(const analysis_job s) {
  extern __shared__ uint4 memory[];
  const propagation_blocking& cut = s.cut;
  const auto sections = static_cast<unsigned>(cut.sections);
  auto* const section_index = reinterpret_cast<std::uint16_t*>(memory);
  std::uint16_t* const in_tile = section_index + cut.stride;
  auto* const terms = reinterpret_cast<unsigned*>(in_tile + cut.stride);  // per section
  for (unsigned i = threadIdx.x; i < sections; i += expand_threads) terms[i] = 0;
  for (int i = static_cast<int>(threadIdx.x); i < cut.stride; i += expand_threads) {
    section_index[i] = 0;
    in_tile[i] = static_cast<std::uint16_t>(cut.tile_terms);
  }
  __syncthreads();
  wait_for_launch_before();
  for_each_term_of_tile(s, blockIdx.x, [&](int, unsigned section, unsigned, std::int64_t) {
    atomicAdd(terms + section, 1u);
  });
  __syncthreads();
  if (threadIdx.x < warp) {  // prefix sum of sizes
    unsigned before = 0;
    for (unsigned first = 0; first < sections; first += warp) {
      const unsigned i = first + threadIdx.x;
      const unsigned units = i < sections ? (terms[i] + s.per_unit - 1) / s.per_unit : 0;
      unsigned upto = units;
#pragma unroll
      for (unsigned d = 1; d < warp; d *= 2) {
        const unsigned other = __shfl_up_sync(whole_warp, upto, d);
        if (threadIdx.x >= d) upto += other;
      }
      const unsigned begin = before + upto - units, end = before + upto;
      if (i < sections) {
        cut.segments[static_cast<std::int64_t>(i) * cut.tiles + blockIdx.x] = begin | end << 16;
        terms[i] = begin * s.per_unit;
      }
      before += __shfl_sync(whole_warp, upto, warp - 1);
    }
  }
  __syncthreads();
  for_each_term_of_tile(s, blockIdx.x,
                        [&](int term, unsigned section, unsigned place, std::int64_t) {
                          const unsigned at = atomicAdd(terms + section, 1u);
                          section_index[at] = static_cast<std::uint16_t>(place);
                          in_tile[at] = static_cast<std::uint16_t>(term);
                        });
  __syncthreads();
  constexpr int per_load = sizeof(uint4) / sizeof(std::uint16_t);
  const std::int64_t to = std::int64_t{blockIdx.x} * cut.stride / per_load;
  for (int i = static_cast<int>(threadIdx.x); i < cut.stride / per_load; i += expand_threads) {
    reinterpret_cast<uint4*>(cut.section_index)[to + i] =
        reinterpret_cast<const uint4*>(section_index)[i];
    reinterpret_cast<uint4*>(cut.in_tile)[to + i] = reinterpret_cast<const uint4*>(in_tile)[i];
  }
  end_analysis_block(s);
}

}  // namespace

analysis_kernel* bin_sizes_kernel() { return &measure_bins; }
analysis_kernel* bins_kernel() { return &write_bins; }
std::size_t bins_shared_bytes(std::size_t sections, std::size_t stride) {
  return 2 * stride * sizeof(std::uint16_t) + sections * sizeof(unsigned);
}

}  // namespace tally::backends::cuda
