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

  __device__ std::int32_t difference(int k) const {
    return static_cast<std::int32_t>(columns[k] - row);
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
      if (i + k < own.count) {
        equal &= static_cast<std::int32_t>(columns[i + k] - other) == own.difference(i + k);
      }
    }
    if (!equal) return false;
  }
  return true;
}

/// So many patterns a block has in its shared memory.
constexpr unsigned known_patterns = 16;

/// Is a pattern that a block has met.
struct known_pattern {
  std::uint32_t hash;
  std::int32_t length;
  std::int32_t number;
  std::int32_t differences[most_row_tile_terms];
};

/// Is what a thread has found out about its row's list.
struct row_list {
  std::uint32_t hash = 0;  ///< with its highest bit set, so that no hash of a list is 0
  std::int32_t least = INT32_MAX, most = INT32_MIN;  ///< differences
};

/// Goes over a row's columns, which it checks if asked.
template <class Column>
__device__ row_list look_at_columns(const csr_survey& s, const tile_row<Column>& own) {
  const auto end = static_cast<std::uint64_t>(s.column_count);
  const auto row = static_cast<std::int32_t>(own.row);
  row_list list;
  for (int k = 0; k < own.count; ++k) {
    const Column column = own.columns[k];
    if (s.checks && static_cast<std::uint64_t>(std::int64_t{column}) >= end) {
      report(s, csr_defect::kind::column, own.start + k);
      break;
    }
    const std::int32_t difference = static_cast<std::int32_t>(column) - row;
    list.hash = list.hash * 0x9e3779b1u + static_cast<std::uint32_t>(difference);
    list.least = ::min(list.least, difference);
    list.most = ::max(list.most, difference);
  }
  list.hash = (list.hash ^ static_cast<std::uint32_t>(own.count)) * 0x85ebca6bu;
  list.hash = (list.hash ^ list.hash >> 15) | 1u << 31;
  return list;
}

/// Returns the number of the pattern that a row's list is if the block has met it, or -1.
template <class Column>
__device__ int number_of_known(const known_pattern* known, const tile_row<Column>& own,
                               std::uint32_t hash) {
  int at = -1;
#pragma unroll
  for (int i = 0; i < static_cast<int>(known_patterns); ++i) {
    if (known[i].hash == hash) at = i;
  }
  if (at < 0 || known[at].length != own.count) return -1;
  const std::int32_t* const differences = known[at].differences;
  bool equal = true;
  for (int k = 0; k < own.count; ++k) equal &= differences[k] == own.difference(k);
  return equal ? known[at].number : -1;
}

/// Writes the list of a pattern, padded, which a row is the first to have.
template <class Column>
__device__ void write_list(const csr_survey& s, const tile_row<Column>& own, int number) {
  constexpr int alignment = row_patterns::alignment;
  const auto longest = static_cast<int>(__ldcg(counter(s, survey::longest)));
  const int stride = (longest + alignment - 1) / alignment * alignment;
  std::int32_t* const list = s.patterns.differences + number * stride;
  for (int k = 0; k < stride; ++k) list[k] = k < own.count ? own.difference(k) : 0;
  s.patterns.lengths[number] = own.count;
  atomicAdd(counter(s, survey::patterns), 1ull);
}

/// Returns the number of the pattern that a row's list is, or row_patterns::most where there are
/// too many. A word of `lists` has a hash above the number of a row that has the list; the word's
/// place is the pattern's number.
template <class Column>
__device__ int number_among_all(const csr_survey& s, const tile_row<Column>& own,
                                std::uint32_t hash) {
  constexpr unsigned most_looks = 16;
  for (unsigned look = 0; look < most_looks; ++look) {
    const unsigned place = (hash + look) % row_patterns::most;
    auto* const word = reinterpret_cast<unsigned long long*>(s.lists + place);
    unsigned long long known = __ldcg(word);
    if (__ldcg(counter(s, survey::strays)) != 0) return row_patterns::most;
    if (known == 0) {
      const unsigned long long mine =
          static_cast<unsigned long long>(hash) << 32 | static_cast<std::uint32_t>(own.row);
      known = atomicCAS(word, 0ull, mine);
      if (known == 0) {
        write_list(s, own, static_cast<int>(place));
        return static_cast<int>(place);
      }
    }
    if (static_cast<std::uint32_t>(known >> 32) != hash) continue;
    if (has_list_of(s, own, static_cast<std::int64_t>(known & 0xffffffffu))) {
      return static_cast<int>(place);
    }
  }
  *counter(s, survey::strays) = 1;
  return row_patterns::most;
}

/// Returns the number of a row's pattern where the block has not met it, in the `asking` threads of
/// a warp. Of their rows with one hash the first looks among all patterns, and the others compare
/// their lists with its list. It says whether the calling thread has looked.
template <class Column>
__device__ int number_of_new(const csr_survey& s, const tile_row<Column>& own, std::uint32_t hash,
                             const Column* memory, unsigned asking, bool& has_looked) {
  const unsigned equals = __match_any_sync(asking, hash);
  const int first = __ffs(static_cast<int>(equals)) - 1;
  has_looked = static_cast<int>(threadIdx.x % warp) == first;
  int number = 0;
  if (has_looked) number = number_among_all(s, own, hash);
  number = __shfl_sync(equals, number, first);
  const int count = __shfl_sync(equals, own.count, first);
  const auto* const columns =
      memory + __shfl_sync(equals, static_cast<int>(own.columns - memory), first);
  const std::int64_t apart = first - static_cast<int>(threadIdx.x % warp);
  bool equal = count == own.count;
  for (int k = 0; k < own.count && equal; ++k) equal = columns[k] - own.columns[k] == apart;
  if (equal || number == row_patterns::most) return number;
  has_looked = true;
  return number_among_all(s, own, hash);
}

/// Adds how far a block's columns are from the diagonal to the survey.
__device__ inline void add_reach(const csr_survey& s, std::int32_t least, std::int32_t most) {
  const auto tell = [&](unsigned word, std::int32_t difference) {
    const std::uint32_t all = largest_of_warp(reach_word(difference));
    if (threadIdx.x % warp == 0 && all > __ldcg(counter(s, word))) {
      atomicMax(counter(s, word), static_cast<unsigned long long>(all));
    }
  };
  tell(survey::above, most);
  tell(survey::below, ~least);
}

/// Says whether the launch before has found that tiles of rows are possible and have room.
__device__ inline bool are_tiles(const csr_survey& s) {
  const std::uint64_t defect = __ldcg(counter(s, survey::defect));
  const auto kind = static_cast<csr_defect::kind>(~defect >> survey::index_bits);
  return (defect == 0 || kind == csr_defect::kind::column) &&
         __ldcg(counter(s, survey::longest)) <= most_row_tile_terms &&
         __ldcg(counter(s, survey::tile_terms)) <= static_cast<std::uint64_t>(s.tile_terms);
}

/// Goes over the columns once, tile by tile.
template <class Column>
__global__ void __launch_bounds__(row_tile) survey_tiles(const csr_survey s) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ known_pattern known[known_patterns];
  __shared__ unsigned met;  // patterns that threads have looked for in this tile
  if (threadIdx.x == 0) {
    barrier.expect(1);
    met = 0;
  }
  if (threadIdx.x < known_patterns) known[threadIdx.x].hash = 0;
  wait_for_launch_before();
  if (!are_tiles(s)) {
    if (s.checks) {
      check_columns(s, static_cast<const Column*>(s.columns.data), first_index(), all_threads());
    }
    return end_survey(s);
  }
  std::int32_t least = INT32_MAX, most = INT32_MIN;
  const std::int64_t tiles = (s.rows + row_tile - 1) / row_tile;
  unsigned turn = 0, next = 0;  // the place of the next pattern in `known`
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    // The last thread has no part in bringing columns.
    const bool has_strays = threadIdx.x == row_tile - 1 && __ldcg(counter(s, survey::strays)) != 0;
    const tile_row<Column> own = tile_of_block<Column>(s, tile, memory, barrier, turn++);
    const bool is_over = __syncthreads_or(has_strays);
    const row_list list = look_at_columns(s, own);
    least = ::min(least, list.least);
    most = ::max(most, list.most);
    unsigned place = known_patterns;  // in `known`, counted from `next`
    const bool has_row = !is_over && own.row < s.rows;
    int number = has_row ? number_of_known(known, own, list.hash) : 0;
    const unsigned asking = __ballot_sync(whole_warp, number < 0);
    bool has_looked = false;
    if (number < 0) {
      number = number_of_new(s, own, list.hash, reinterpret_cast<const Column*>(memory), asking,
                             has_looked);
    }
    if (has_row && number < row_patterns::most) {
      s.patterns.of_row[own.row] = static_cast<std::uint8_t>(number);
      if (has_looked) place = atomicAdd(&met, 1u);
    }
    __syncthreads();
    const unsigned more = met;
    if (place < known_patterns) {
      known_pattern& to = known[(next + place) % known_patterns];
      to.hash = list.hash;
      to.length = own.count;
      to.number = number;
      for (int k = 0; k < own.count; ++k) to.differences[k] = own.difference(k);
    }
    next += ::min(more, known_patterns);
    __syncthreads();  // the memory is used again
    if (threadIdx.x == 0) met = 0;
  }
  add_reach(s, least, most);
  end_survey(s);
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
  for (int k = 0; k < own.count; ++k) {
    differences[own.start - own.begin + k] = static_cast<std::int16_t>(own.difference(k));
  }
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < own.end - own.begin; i += row_tile) {
    s.differences[own.begin + i] = differences[i];
  }
}

// --- Expansion ------------------------------------------------------------------------------------

/// Calls f(term in the tile, section, place in it, column of the term before or -1) for each of a
/// thread's terms of the block's tile, and returns how many terms that has.
template <class F>
__device__ int for_each_term_of_tile(const csr_survey& s, const F& f) {
  const std::int64_t first = std::int64_t{blockIdx.x} * s.cut.tile_rows;
  const std::int64_t begin = offset(s, first);
  const std::int64_t end = offset(s, ::min(first + s.cut.tile_rows, s.rows));
  const auto count = static_cast<int>(end - begin);
  const auto section = static_cast<unsigned>(s.cut.section);
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
        f(i + k * apart, own / section, own % section, static_cast<std::int64_t>(before[k]));
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
  auto* const terms = reinterpret_cast<unsigned*>(memory);  // of each section
  const auto sections = static_cast<unsigned>(s.cut.sections);
  for (unsigned i = threadIdx.x; i < sections; i += expand_threads) terms[i] = 0;
  if (threadIdx.x == 0) adjacent = units = met = 0;
  __syncthreads();
  wait_for_launch_before();
  const int count =
      for_each_term_of_tile(s, [&](int, unsigned section, unsigned place, std::int64_t before) {
        atomicAdd(terms + section, 1u);
        const std::int64_t column = static_cast<std::int64_t>(section) * s.cut.section + place;
        if (before >= 0 && column / s.per_unit == before / s.per_unit) atomicAdd(&adjacent, 1u);
      });
  __syncthreads();
  for (unsigned i = threadIdx.x; i < sections; i += expand_threads) {
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
  const auto sections = static_cast<unsigned>(cut.sections);
  auto* const in_section = reinterpret_cast<std::uint16_t*>(memory);
  std::uint16_t* const in_tile = in_section + cut.stride;
  auto* const terms = reinterpret_cast<unsigned*>(in_tile + cut.stride);  // of each section
  for (unsigned i = threadIdx.x; i < sections; i += expand_threads) terms[i] = 0;
  for (int i = static_cast<int>(threadIdx.x); i < cut.stride; i += expand_threads) {
    in_section[i] = 0;
    in_tile[i] = static_cast<std::uint16_t>(cut.tile_terms);
  }
  __syncthreads();
  wait_for_launch_before();
  for_each_term_of_tile(
      s, [&](int, unsigned section, unsigned, std::int64_t) { atomicAdd(terms + section, 1u); });
  __syncthreads();
  if (threadIdx.x < warp) {  // from numbers of terms to where segments begin
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
  for_each_term_of_tile(s, [&](int term, unsigned section, unsigned place, std::int64_t) {
    const unsigned at = atomicAdd(terms + section, 1u);
    in_section[at] = static_cast<std::uint16_t>(place);
    in_tile[at] = static_cast<std::uint16_t>(term);
  });
  __syncthreads();
  constexpr int per_load = sizeof(uint4) / sizeof(std::uint16_t);
  const std::int64_t to = std::int64_t{blockIdx.x} * cut.stride / per_load;
  for (int i = static_cast<int>(threadIdx.x); i < cut.stride / per_load; i += expand_threads) {
    reinterpret_cast<uint4*>(cut.in_section)[to + i] =
        reinterpret_cast<const uint4*>(in_section)[i];
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
    atomicAdd(bins + ::min(s.uses[i], survey::most_uses), 1u);
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
    const unsigned uses = s.uses[i], bin = ::min(uses, survey::most_uses);
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
std::size_t segment_bytes(std::size_t sections, std::size_t stride) {
  return 2 * stride * sizeof(std::uint16_t) + sections * sizeof(unsigned);
}

survey_kernel* uses_kernel() { return &count_uses; }
survey_kernel* bins_kernel() { return &count_bins; }
survey_kernel* least_use_kernel() { return &find_least_use; }
survey_kernel* hot_kernel() { return &pick_hot; }
survey_kernel* codes_kernel() { return &write_codes; }

std::size_t tiles_bytes(bool wide_columns, std::size_t terms) {
  return wide_columns ? bytes_to_bring<std::int64_t>(terms) : bytes_to_bring<std::int32_t>(terms);
}
survey_kernel* tiles_kernel(bool wide_columns) {
  return wide_columns ? &survey_tiles<std::int64_t> : &survey_tiles<std::int32_t>;
}
std::size_t differences_bytes(bool wide_columns, std::size_t terms) {
  return tiles_bytes(wide_columns, terms) + bytes_to_bring<std::int16_t>(terms);
}
survey_kernel* differences_kernel(bool wide_columns) {
  return wide_columns ? &write_differences<std::int64_t> : &write_differences<std::int32_t>;
}

}  // namespace tally::backends::cuda
