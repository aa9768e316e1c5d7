// These kernels look at the columns of a matrix whose plan may rely on them: they find what tiles
// of rows read in their place (src/core/sparse/row_patterns.hpp), and which of them are hot.
//
// Promise: two rows have one pattern only if their lists are equal, difference by difference. A
// hash only says which pattern to compare with.
#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/spmv/shape.hpp"
#include "backends/cuda/spmv/survey.cuh"
#include "src/core/order/row_order.hpp"

namespace tally::backends::cuda {
namespace {

/// Is a thread's row of a tile whose columns are in shared memory.
template <class Column>
struct tile_row {
  std::int64_t row;
  std::int64_t start;       ///< its first term
  int count;                ///< 0 where there is no row
  const Column* columns;    ///< its own
  std::int64_t begin, end;  ///< the tile's terms

  __device__ std::int64_t difference(int k) const {
    return static_cast<std::int64_t>(columns[k]) - row;
  }
};

/// Brings a tile's columns into shared memory, with all threads of a block.
template <class Column>
__device__ tile_row<Column> tile_of_block(const csr_survey& s, std::int64_t tile, void* memory,
                                          bulk_barrier& barrier, unsigned turn) {
  __shared__ std::int64_t first_column;  // the first one in `memory`
  const std::int64_t first = tile * row_tile;
  const auto offset_of = [&](std::int64_t i) { return offset(s, i < s.rows ? i : s.rows); };
  tile_row<Column> own;
  own.row = first + threadIdx.x;
  own.begin = offset_of(first);
  own.end = offset_of(first + row_tile);
  own.start = offset_of(own.row);
  own.count = static_cast<int>(offset_of(own.row + 1) - own.start);
  if (brings()) {
    barrier.reuse();
    const std::int64_t brought = bring(barrier, memory, static_cast<const Column*>(s.columns.data),
                                       s.nonzeros, own.begin, own.end);
    if (threadIdx.x == 0) first_column = brought;
  }
  __syncthreads();
  own.columns = static_cast<Column*>(memory) + (own.start - first_column);
  barrier.wait(turn);
  return own;
}

/// Says whether a row has the list of another one, whose columns are in memory.
template <class Column>
__device__ bool has_list_of(const csr_survey& s, const tile_row<Column>& own, std::int64_t other) {
  const std::int64_t start = offset(s, other);
  if (offset(s, other + 1) - start != own.count) return false;
  const auto* const columns = static_cast<const Column*>(s.columns.data) + start;
  constexpr int in_flight = 8;
  for (int i = 0; i < own.count; i += in_flight) {
    bool equal = true;
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k < own.count) equal &= columns[i + k] - other == own.difference(i + k);
    }
    if (!equal) return false;
  }
  return true;
}

/// Returns the number of the pattern that a row's list is, or row_patterns::most where there are
/// too many. A word of `lists` has a hash above the number of a row that has the list; the word's
/// place is the pattern's number.
template <class Column>
__device__ int pattern_of(const csr_survey& s, const tile_row<Column>& own) {
  std::uint32_t hash = 1u + static_cast<unsigned>(own.count);
  for (int k = 0; k < own.count; ++k) {
    hash = (hash ^ static_cast<std::uint32_t>(own.difference(k))) * 0x9e3779b1u;
    hash ^= hash >> 15;
  }
  hash |= 1u << 31;  // no word is 0
  constexpr unsigned most_looks = 16;
  for (unsigned look = 0; look < most_looks; ++look) {
    const unsigned place = (hash + look) % row_patterns::most;
    auto* const word = reinterpret_cast<unsigned long long*>(s.lists + place);
    unsigned long long known = __ldcg(word);
    if (known == 0) {
      const unsigned long long mine =
          static_cast<unsigned long long>(hash) << 32 | static_cast<std::uint32_t>(own.row);
      known = atomicCAS(word, 0ull, mine);
      if (known == 0) return static_cast<int>(place);
    }
    if (static_cast<std::uint32_t>(known >> 32) != hash) continue;
    if (has_list_of(s, own, static_cast<std::int64_t>(known & 0xffffffffu))) {
      return static_cast<int>(place);
    }
  }
  return row_patterns::most;
}

/// Finds patterns, tile by tile. Most rows have the list of the row in the middle of the tile
/// before, which the block remembers; the table of lists is asked for the others.
template <class Column>
__global__ void __launch_bounds__(row_tile) find_patterns(const csr_survey s) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ std::int64_t remembered[row_order::short_row];
  __shared__ int length, number;
  wait_for_launch_before();
  if (threadIdx.x == 0) {
    barrier.expect(1);
    length = -1;
    number = 0;
  }
  __syncthreads();
  const std::int64_t tiles = (s.rows + row_tile - 1) / row_tile;
  unsigned turn = 0;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    // The last threads have no part in bringing columns.
    const bool has_strays = threadIdx.x == row_tile - 1 && __ldcg(counter(s, survey::strays)) != 0;
    const bool has_far = threadIdx.x == row_tile - 2 && __ldcg(counter(s, survey::far)) != 0;
    const tile_row<Column> own = tile_of_block<Column>(s, tile, memory, barrier, turn++);
    const bool is_over = __syncthreads_or(has_strays);
    if (__syncthreads_or(has_far) && is_over) return;  // nothing is left to be found
    bool is_remembered = own.count == length;
    for (int k = 0; k < own.count && is_remembered; ++k) {
      is_remembered = own.difference(k) == remembered[k];
    }
    const bool asks = !is_remembered && own.row < s.rows;
    if (asks) {
      bool near = true;
      for (int k = 0; k < own.count; ++k) near &= is_near(own.difference(k));
      if (!near) *counter(s, survey::far) = 1;
    }
    // The row in the middle asks alone. In most matrices with too many patterns it is refused.
    int pattern = number;
    if (asks && !is_over && threadIdx.x == row_tile / 2) pattern = pattern_of(s, own);
    const bool is_refused = __syncthreads_or(pattern == row_patterns::most);
    if (asks && !is_over && !is_refused && threadIdx.x != row_tile / 2)
      pattern = pattern_of(s, own);
    if (is_refused || pattern == row_patterns::most) {
      *counter(s, survey::strays) = 1;
    } else if (!is_over && own.row < s.rows) {
      s.patterns.of_row[own.row] = static_cast<std::uint8_t>(pattern);
    }
    __syncthreads();  // the memory is used again
    if (threadIdx.x == row_tile / 2 && asks && !is_over) {
      for (int k = 0; k < own.count; ++k) remembered[k] = own.difference(k);
      length = own.count;
      number = pattern;
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(256) write_lists(const csr_survey s) {
  wait_for_launch_before();
  const std::uint64_t word = s.lists[blockIdx.x];
  if (word == 0 || *counter(s, survey::strays) != 0) return;
  const auto row = static_cast<std::int64_t>(word & 0xffffffffu);
  const std::int64_t start = offset(s, row);
  const auto count = static_cast<std::int32_t>(offset(s, row + 1) - start);
  std::int32_t* const list = s.patterns.differences + blockIdx.x * s.patterns.stride;
  for (auto k = static_cast<std::int32_t>(threadIdx.x); k < s.patterns.stride;
       k += static_cast<std::int32_t>(blockDim.x)) {
    const std::int64_t column = k < count ? s.columns[static_cast<std::size_t>(start + k)] : row;
    list[k] = static_cast<std::int32_t>(column - row);
  }
  if (threadIdx.x > 0) return;
  s.patterns.lengths[blockIdx.x] = count;
  atomicAdd(counter(s, survey::patterns), 1ull);
}

template <class Column>
__global__ void __launch_bounds__(row_tile) write_differences(const csr_survey s) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  wait_for_launch_before();
  if (threadIdx.x == 0) barrier.expect(1);
  const tile_row<Column> own = tile_of_block<Column>(s, blockIdx.x, memory, barrier, 0);
  auto* const differences = reinterpret_cast<std::int16_t*>(reinterpret_cast<char*>(memory) +
                                                            bytes_to_bring<Column>(s.tile_terms));
  int most = INT16_MIN, least = INT16_MAX;
  for (int k = 0; k < own.count; ++k) {
    const auto difference = static_cast<std::int16_t>(own.difference(k));
    differences[own.start - own.begin + k] = difference;
    most = max(most, static_cast<int>(difference));
    least = min(least, static_cast<int>(difference));
  }
  // Few blocks find a larger one than is known.
  const auto tell = [&](unsigned word, int value) {
    const unsigned long long all = largest_of_warp(static_cast<std::uint32_t>(value));
    if (threadIdx.x % warp == 0 && all > __ldcg(counter(s, word))) atomicMax(counter(s, word), all);
  };
  tell(survey::above, most - INT16_MIN);
  tell(survey::below, -INT16_MIN - least);
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < own.end - own.begin; i += row_tile) {
    s.differences[own.begin + i] = differences[i];
  }
}

// --- Expansion ------------------------------------------------------------------------------------

/// Calls f(term in the tile, slice, place in it, column of the term before or -1) for each of a
/// thread's terms of the block's tile, and returns how many terms that has.
template <class F>
__device__ int for_each_term_of_tile(const csr_survey& s, const F& f) {
  const std::int64_t first = std::int64_t{blockIdx.x} * s.cut.tile_rows;
  const std::int64_t begin = offset(s, first);
  const std::int64_t end = offset(s, min(first + s.cut.tile_rows, s.rows));
  const auto count = static_cast<int>(end - begin);
  const auto slice = static_cast<unsigned>(s.cut.slice);
  const auto go_over = [&]<class Column>(const Column* columns) {
    constexpr int in_flight = 4, apart = expand_threads;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += in_flight * apart) {
      Column column[in_flight] = {}, before[in_flight];
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (i + k * apart < count) column[k] = columns[begin + i + k * apart];
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        before[k] = -1;
        if (i + k * apart < count && begin + i + k * apart > 0) {
          before[k] = columns[begin + i + k * apart - 1];
        }
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (i + k * apart >= count) continue;
        const auto own = static_cast<unsigned>(column[k]);
        f(i + k * apart, own / slice, own % slice, static_cast<std::int64_t>(before[k]));
      }
    }
  };
  s.columns.wide ? go_over(static_cast<const std::int64_t*>(s.columns.data))
                 : go_over(static_cast<const std::int32_t*>(s.columns.data));
  return count;
}

__device__ inline void add_most(unsigned long long* to, unsigned value) {
  if (value > 0) atomicMax(to, static_cast<unsigned long long>(value));
}

__global__ void __launch_bounds__(expand_threads) find_segment_sizes(const csr_survey s) {
  extern __shared__ uint4 memory[];
  __shared__ unsigned adjacent, units, met;
  auto* const terms = reinterpret_cast<unsigned*>(memory);  // of each slice
  const auto slices = static_cast<unsigned>(s.cut.slices);
  for (unsigned i = threadIdx.x; i < slices; i += expand_threads) terms[i] = 0;
  if (threadIdx.x == 0) adjacent = units = met = 0;
  __syncthreads();
  wait_for_launch_before();
  const int count =
      for_each_term_of_tile(s, [&](int, unsigned slice, unsigned place, std::int64_t before) {
        atomicAdd(terms + slice, 1u);
        const std::int64_t column = static_cast<std::int64_t>(slice) * s.cut.slice + place;
        if (before >= 0 && column / s.per_unit == before / s.per_unit) atomicAdd(&adjacent, 1u);
      });
  __syncthreads();
  for (unsigned i = threadIdx.x; i < slices; i += expand_threads) {
    atomicAdd(&units, (terms[i] + s.per_unit - 1) / s.per_unit);
    if (terms[i] > 0) atomicAdd(&met, 1u);
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  atomicAdd(counter(s, survey::adjacent), static_cast<unsigned long long>(adjacent));
  atomicAdd(counter(s, survey::met), static_cast<unsigned long long>(met));
  add_most(counter(s, survey::units), units);
  add_most(counter(s, survey::most_terms), static_cast<unsigned>(count));
}

__global__ void __launch_bounds__(expand_threads) write_segments(const csr_survey s) {
  extern __shared__ uint4 memory[];
  const expansion& cut = s.cut;
  const auto slices = static_cast<unsigned>(cut.slices);
  auto* const in_slice = reinterpret_cast<std::uint16_t*>(memory);
  std::uint16_t* const in_tile = in_slice + cut.stride;
  auto* const terms = reinterpret_cast<unsigned*>(in_tile + cut.stride);  // of each slice
  for (unsigned i = threadIdx.x; i < slices; i += expand_threads) terms[i] = 0;
  for (int i = static_cast<int>(threadIdx.x); i < cut.stride; i += expand_threads) {
    in_slice[i] = 0;
    in_tile[i] = static_cast<std::uint16_t>(cut.tile_terms);
  }
  __syncthreads();
  wait_for_launch_before();
  for_each_term_of_tile(
      s, [&](int, unsigned slice, unsigned, std::int64_t) { atomicAdd(terms + slice, 1u); });
  __syncthreads();
  if (threadIdx.x < warp) {  // from numbers of terms to where segments begin
    unsigned before = 0;
    for (unsigned first = 0; first < slices; first += warp) {
      const unsigned i = first + threadIdx.x;
      const unsigned units = i < slices ? (terms[i] + s.per_unit - 1) / s.per_unit : 0;
      unsigned upto = units;
#pragma unroll
      for (unsigned d = 1; d < warp; d *= 2) {
        const unsigned other = __shfl_up_sync(whole_warp, upto, d);
        if (threadIdx.x >= d) upto += other;
      }
      const unsigned begin = before + upto - units, end = before + upto;
      if (i < slices) {
        cut.segments[static_cast<std::int64_t>(i) * cut.tiles + blockIdx.x] = begin | end << 16;
        terms[i] = begin * s.per_unit;
      }
      before += __shfl_sync(whole_warp, upto, warp - 1);
    }
  }
  __syncthreads();
  for_each_term_of_tile(s, [&](int term, unsigned slice, unsigned place, std::int64_t) {
    const unsigned at = atomicAdd(terms + slice, 1u);
    in_slice[at] = static_cast<std::uint16_t>(place);
    in_tile[at] = static_cast<std::uint16_t>(term);
  });
  __syncthreads();
  constexpr int per_load = sizeof(uint4) / sizeof(std::uint16_t);
  const std::int64_t to = std::int64_t{blockIdx.x} * cut.stride / per_load;
  for (int i = static_cast<int>(threadIdx.x); i < cut.stride / per_load; i += expand_threads) {
    reinterpret_cast<uint4*>(cut.in_slice)[to + i] = reinterpret_cast<const uint4*>(in_slice)[i];
    reinterpret_cast<uint4*>(cut.in_tile)[to + i] = reinterpret_cast<const uint4*>(in_tile)[i];
  }
}

// --- Hot columns ----------------------------------------------------------------------------------

__global__ void __launch_bounds__(256) count_uses(const csr_survey s) {
  wait_for_launch_before();
  for_each_term(s, [&](std::int64_t, std::int64_t column) { atomicAdd(s.uses + column, 1u); });
}

__global__ void __launch_bounds__(256) count_bins(const csr_survey s) {
  __shared__ unsigned bins[survey::most_uses + 1];
  for (unsigned i = threadIdx.x; i <= survey::most_uses; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  wait_for_launch_before();
  for (std::int64_t i = first_index(); i < s.column_count; i += all_threads()) {
    atomicAdd(bins + min(s.uses[i], survey::most_uses), 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i <= survey::most_uses; i += blockDim.x) {
    if (bins[i] > 0) atomicAdd(s.bins + i, bins[i]);
  }
}

/// Finds the least use that is not that of too many columns.
__global__ void __launch_bounds__(256) find_least_use(const csr_survey s) {
  constexpr unsigned bins = survey::most_uses + 1, own = bins / 256;
  __shared__ unsigned sums[256];
  wait_for_launch_before();
  unsigned sum = 0;
  for (unsigned i = 0; i < own; ++i) sum += s.bins[threadIdx.x * own + i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  const auto most = static_cast<unsigned>(s.most_hot);
  unsigned columns = 0, at = bins;  // so many columns have at least `at` uses
  while (at > 0 && columns + sums[at / own - 1] <= most) {
    columns += sums[at / own - 1];
    at -= own;
  }
  while (at > 0 && columns + s.bins[at - 1] <= most) columns += s.bins[--at];
  *counter(s, survey::least_use) = at > 0 ? at - 1 : 0;
  *counter(s, survey::more_used) = columns;
}

/// Picks the hot columns, as many as there may be, and writes each column's code in the place of
/// its uses.
__global__ void __launch_bounds__(256) pick_hot(const csr_survey s) {
  wait_for_launch_before();
  const auto least = static_cast<unsigned>(*counter(s, survey::least_use));
  const auto more = static_cast<unsigned>(*counter(s, survey::more_used));
  unsigned long long covered = 0;
  for (std::int64_t i = first_index(); i < s.column_count; i += all_threads()) {
    const unsigned uses = s.uses[i], bin = min(uses, survey::most_uses);
    unsigned place = ~0u;
    if (bin > least) {
      place = static_cast<unsigned>(atomicAdd(counter(s, survey::taken), 1ull));
    } else if (bin == least && bin > 0) {
      place = more + static_cast<unsigned>(atomicAdd(counter(s, survey::ties), 1ull));
    }
    const bool is_hot = place < static_cast<unsigned>(s.most_hot);
    s.uses[i] = is_hot ? 1u << 31 | place : static_cast<unsigned>(i);
    if (is_hot) {
      s.hot[place] = static_cast<std::int32_t>(i);
      covered += uses;
    }
  }
#pragma unroll
  for (unsigned d = 1; d < warp; d *= 2) covered += __shfl_xor_sync(whole_warp, covered, d);
  if (threadIdx.x % warp == 0 && covered > 0) atomicAdd(counter(s, survey::covered), covered);
}

__global__ void __launch_bounds__(256) write_codes(const csr_survey s) {
  wait_for_launch_before();
  for_each_term(s, [&](std::int64_t i, std::int64_t column) {
    s.codes[i] = static_cast<std::int32_t>(s.uses[column]);
  });
}

}  // namespace

survey_kernel* segment_sizes_kernel() { return &find_segment_sizes; }
survey_kernel* segments_kernel() { return &write_segments; }
std::size_t segment_bytes(std::size_t slices, std::size_t stride) {
  return 2 * stride * sizeof(std::uint16_t) + slices * sizeof(unsigned);
}

survey_kernel* uses_kernel() { return &count_uses; }
survey_kernel* bins_kernel() { return &count_bins; }
survey_kernel* least_use_kernel() { return &find_least_use; }
survey_kernel* hot_kernel() { return &pick_hot; }
survey_kernel* codes_kernel() { return &write_codes; }

std::size_t survey_tile_bytes(bool wide_columns, std::size_t terms) {
  return (wide_columns ? bytes_to_bring<std::int64_t>(terms)
                       : bytes_to_bring<std::int32_t>(terms)) +
         bytes_to_bring<std::int16_t>(terms);
}

survey_kernel* patterns_kernel(bool wide_columns) {
  return wide_columns ? &find_patterns<std::int64_t> : &find_patterns<std::int32_t>;
}
survey_kernel* lists_kernel() { return &write_lists; }
survey_kernel* differences_kernel(bool wide_columns) {
  return wide_columns ? &write_differences<std::int64_t> : &write_differences<std::int32_t>;
}

}  // namespace tally::backends::cuda
