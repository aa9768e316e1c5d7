// Search for propagation blocking (propagation_blocking.hpp): cuts tiles into bins.
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/propagation_blocking/propagation_blocking.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <algorithm>

namespace tally::backends::cuda {
namespace {

/// Kernel parameter.
struct bins_job : analysis_job {
  propagation_blocking cut;  ///< known members, and output
  int per_unit = 1;          ///< elements per unit of a bin
};

/// Tiles per block that measures bins, of which it samples one.
constexpr int tiles_per_sample = 8;

/// Bytes of the buffer, at most. Each part of a product takes two launches (tuning/spmv.md).
constexpr std::size_t max_buffer = std::size_t{128} << 20;

/// Calls f(term in the tile, section, index in it, column of the term before or -1) for each of a
/// thread's terms.
template <class F>
__device__ void for_each_term_of_tile(const bins_job& s, std::int64_t tile, const F& f) {
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
__global__ void __launch_bounds__(expand_threads) measure_bins(const bins_job s) {
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

__global__ void __launch_bounds__(expand_threads, 4) write_bins(const bins_job s) {
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

/// Returns the rows per tile of propagation blocking, a power of two that gives about 4096 terms
/// (tuning/spmv.md).
std::size_t blocking_tile_rows(const csr_operand& a) {
  return std::bit_floor(std::clamp<std::size_t>(5120 * a.rows / a.nonzeros(), 32, 1024));
}

std::size_t bins_shared_bytes(std::size_t sections, std::size_t stride) {
  return 2 * stride * sizeof(std::uint16_t) + sections * sizeof(unsigned);
}

/// Whether most terms need distant elements of x, and tiles fill their bins.
bool pays(const analysis_results& found, std::size_t samples, std::size_t sections) {
  using namespace result_words;
  return 10 * found[met] >= 9 * samples * sections && 4 * found[adjacent] <= found[sampled];
}

}  // namespace

std::unique_ptr<const method> find_propagation_blocking(search& s) {
  const csr_operand& a = s.matrix;
  if (!s.knows_columns || !may_block_propagation(a, s.longest())) return nullptr;
  bins_job job{s.job};
  propagation_blocking& cut = job.cut;
  const std::size_t sections = multiprocessors(s.current().device());
  constexpr std::size_t per_unit = bin_alignment / sizeof(float);
  const std::size_t section = ceil_div(a.columns, sections * per_unit) * per_unit;
  if (section > 1 << 16 || !s.has_room(expand_bytes(section))) return nullptr;
  s.check_columns();
  if (s.has_defect()) return nullptr;
  const std::size_t tile_rows = blocking_tile_rows(a), tiles = ceil_div(a.rows, tile_rows);
  job.per_unit = static_cast<int>(per_unit);
  cut.sections = static_cast<std::int32_t>(sections);
  cut.section = static_cast<std::int32_t>(section);
  cut.tile_rows = static_cast<std::int32_t>(tile_rows);
  cut.tiles = static_cast<std::int32_t>(tiles);
  const auto run = [&](void (*kernel)(bins_job), std::size_t blocks, std::size_t stride) {
    return s.run({{kernel,
                   {.blocks = static_cast<unsigned>(blocks),
                    .threads = expand_threads,
                    .shared_bytes = bins_shared_bytes(sections, stride)},
                   job}});
  };
  const std::size_t samples = ceil_div(tiles, std::size_t{tiles_per_sample});
  const analysis_results found = run(&measure_bins, samples, 0);
  // Indices are loaded 16 bytes at a time.
  constexpr std::size_t per_load = 16 / sizeof *cut.section_index;
  const std::size_t segments = tiles * sections, terms = found[result_words::max_terms];
  const std::size_t stride = ceil_div(terms + sections * (per_unit - 1), per_load) * per_load;
  cut.stride = static_cast<std::int32_t>(stride);
  cut.tile_terms = static_cast<std::int32_t>(terms);
  if (!pays(found, samples, sections) || stride >= 1 << 16 ||
      4 * tiles * stride > 5 * a.nonzeros() + 4 * segments * per_unit ||
      !s.has_room(collect_bytes(cut)) || !s.has_room(bins_shared_bytes(sections, stride))) {
    return nullptr;
  }
  cut.tiles_per_part = static_cast<std::int32_t>(
      std::min(tiles, std::max<std::size_t>(1, max_buffer / (stride * sizeof(float)))));
  const std::size_t bytes =
      segments * sizeof *cut.segments + 2 * tiles * stride * sizeof *cut.section_index;
  cut.section_index = static_cast<std::uint16_t*>(s.memory().take(bytes, s.current(), s.stream()));
  cut.in_tile = cut.section_index + tiles * stride;
  cut.segments = reinterpret_cast<std::uint32_t*>(cut.in_tile + tiles * stride);
  (void)run(&write_bins, tiles, stride);
  return make_propagation_blocking(cut, bytes);
}

}  // namespace tally::backends::cuda
