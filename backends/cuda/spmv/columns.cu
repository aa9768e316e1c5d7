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
  std::int64_t start;     ///< its first term
  int count;              ///< 0 where there is no row
  const Column* columns;  ///< its own

  __device__ std::int32_t difference(int k) const {
    return static_cast<std::int32_t>(columns[k] - row);
  }
};

/// Has the offsets that a thread needs of a tile. They have the matrix's type: where loads are
/// behind a question of the type, each waits for the one before.
template <class Offset>
struct tile_offsets {
  __device__ tile_offsets(const csr_survey& s, std::int64_t tile) {
    const auto* const all = static_cast<const Offset*>(s.offsets.data);
    const auto of = [&](std::int64_t row) { return all[::min(row, s.rows)]; };
    const std::int64_t first = tile * row_tile;
    begin = of(first);
    end = of(first + row_tile);
    own_begin = of(first + threadIdx.x);
    own_end = of(first + threadIdx.x + 1);
  }
  Offset begin, end;          ///< the tile's terms
  Offset own_begin, own_end;  ///< those of the thread's row
};

/// Brings a tile's columns into shared memory, with all threads of a block, and returns the first
/// one there to the first thread. Offsets have been checked, or are promised to be right.
template <class Column, class Offset>
__device__ std::int64_t bring_tile(const csr_survey& s, const tile_offsets<Offset>& of,
                                   void* memory, bulk_barrier& barrier) {
  std::int64_t begin = of.begin, end = of.end;
  if (begin < 0 || end < begin || end > s.nonzeros || end - begin > s.tile_terms) begin = end = 0;
  barrier.reuse();
  return bring(barrier, memory, static_cast<const Column*>(s.columns.data), s.nonzeros, begin, end);
}

/// Returns the thread's row of a tile whose columns have been brought.
template <class Column, class Offset>
__device__ tile_row<Column> row_of_tile(std::int64_t tile, const tile_offsets<Offset>& of,
                                        void* memory, std::int64_t first_column) {
  tile_row<Column> own;
  own.row = tile * row_tile + threadIdx.x;
  own.start = of.own_begin;
  own.count = static_cast<int>(of.own_end - of.own_begin);
  own.columns = static_cast<Column*>(memory) + (own.start - first_column);
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
  const auto longest = static_cast<int>(s.found[survey::longest]);  // no launch writes it any more
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
  // One thread looks before the others: where there are too many patterns, all would look at the
  // same few words until that is known.
  const int before_others = __ffs(static_cast<int>(asking)) - 1;
  if (has_looked && first == before_others) number = number_among_all(s, own, hash);
  if (__shfl_sync(asking, number, before_others) == row_patterns::most) return row_patterns::most;
  if (has_looked && first != before_others) number = number_among_all(s, own, hash);
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
  const unsigned long long above = largest_of_warp(reach_word(most)),
                           below = largest_of_warp(reach_word(~least));
  if (threadIdx.x % warp > 0) return;
  const unsigned long long known_above = __ldcg(counter(s, survey::above)),
                           known_below = __ldcg(counter(s, survey::below));
  if (above > known_above) atomicMax(counter(s, survey::above), above);
  if (below > known_below) atomicMax(counter(s, survey::below), below);
}

/// Brings a tile's columns into shared memory, with all threads of a block.
template <class Column>
__device__ tile_row<Column> tile_of_block(const csr_survey& s, std::int64_t tile, void* memory,
                                          bulk_barrier& barrier, unsigned turn) {
  __shared__ std::int64_t first_column;  // the first one in `memory`
  const std::int64_t first = tile * row_tile;
  const auto offset_of = [&](std::int64_t i) { return offset(s, i < s.rows ? i : s.rows); };
  tile_row<Column> own;
  own.row = first + threadIdx.x;
  const std::int64_t begin = offset_of(first), end = offset_of(first + row_tile);
  own.start = offset_of(own.row);
  own.count = static_cast<int>(offset_of(own.row + 1) - own.start);
  if (brings()) {
    barrier.reuse();
    const std::int64_t brought =
        bring(barrier, memory, static_cast<const Column*>(s.columns.data), s.nonzeros, begin, end);
    if (threadIdx.x == 0) first_column = brought;
  }
  __syncthreads();
  own.columns = static_cast<Column*>(memory) + (own.start - first_column);
  barrier.wait(turn);
  return own;
}

/// Goes over the columns once, tile by tile.
template <class Column, class Offset>
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
    if (s.checks && s.columns_later && !s.goes_on) {
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

template <class Column, class Offset>
__global__ void __launch_bounds__(row_tile) write_differences(const csr_survey s) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ std::int64_t first_column;  // the first one in `memory`
  wait_for_launch_before();
  if (threadIdx.x == 0) barrier.expect(1);
  const tile_offsets<Offset> offsets(s, blockIdx.x);
  if (brings()) {
    const std::int64_t brought = bring_tile<Column>(s, offsets, memory, barrier);
    if (threadIdx.x == 0) first_column = brought;
  }
  __syncthreads();
  const tile_row<Column> own = row_of_tile<Column>(blockIdx.x, offsets, memory, first_column);
  barrier.wait();
  auto* const differences = reinterpret_cast<std::int16_t*>(reinterpret_cast<char*>(memory) +
                                                            bytes_to_bring<Column>(s.tile_terms));
  unsigned adjacent = 0;
  std::int32_t next = INT16_MAX + 1;  // the difference that is next to that before
  for (int k = 0; k < own.count; ++k) {
    const std::int32_t difference = own.difference(k);
    differences[own.start - offsets.begin + k] = static_cast<std::int16_t>(difference);
    adjacent += difference == next;
    next = difference + 1;
  }
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < offsets.end - offsets.begin; i += row_tile) {
    s.differences[offsets.begin + i] = differences[i];
  }
  add_of_block(s, survey::adjacent, adjacent);
  end_survey(s);
}

// --- Expansion ------------------------------------------------------------------------------------

/// Calls f(term in the tile, section, place in it, column of the term before or -1) for each of a
/// thread's terms of a tile.
template <class F>
__device__ void for_each_term_of_tile(const csr_survey& s, std::int64_t tile, const F& f) {
  const std::int64_t first = tile * s.cut.tile_rows;
  const std::int64_t begin = offset(s, first);
  const auto count = static_cast<int>(offset(s, ::min(first + s.cut.tile_rows, s.rows)) - begin);
  const auto size = static_cast<unsigned>(s.cut.section);
  const unsigned reciprocal = 0xffffffffu / size;  // it makes sections one too low at most
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

/// Finds how many terms the tile has that has most, and looks at the segments of some tiles: one
/// that a hash picks of each block's.
__global__ void __launch_bounds__(expand_threads) find_segment_sizes(const csr_survey s) {
  extern __shared__ uint4 memory[];
  __shared__ unsigned met;
  auto* const terms = reinterpret_cast<unsigned*>(memory);  // of each section
  const auto sections = static_cast<unsigned>(s.cut.sections);
  for (unsigned i = threadIdx.x; i < sections; i += expand_threads) terms[i] = 0;
  if (threadIdx.x == 0) met = 0;
  __syncthreads();
  wait_for_launch_before();
  const std::int64_t first_tile = std::int64_t{blockIdx.x} * tiles_a_sample;
  const std::int64_t last_tile = ::min(first_tile + tiles_a_sample, std::int64_t{s.cut.tiles}) - 1;
  const unsigned hash = blockIdx.x * 0x9e3779b1u >> 16;
  unsigned adjacent = 0, looked = 0;
  for_each_term_of_tile(s, ::min(first_tile + hash % tiles_a_sample, last_tile),
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
    if (threadIdx.x == 0) atomicMax(counter(s, survey::most_terms), 0ull + most);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < sections; i += expand_threads) {
    if (terms[i] > 0) atomicAdd(&met, 1u);
  }
  add_of_block(s, survey::adjacent, adjacent);
  add_of_block(s, survey::sampled, looked);
  if (threadIdx.x == 0) atomicAdd(counter(s, survey::met), 0ull + met);
  end_survey(s);
}

__global__ void __launch_bounds__(expand_threads, 4) write_segments(const csr_survey s) {
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
  for_each_term_of_tile(s, blockIdx.x, [&](int, unsigned section, unsigned, std::int64_t) {
    atomicAdd(terms + section, 1u);
  });
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
  for_each_term_of_tile(s, blockIdx.x,
                        [&](int term, unsigned section, unsigned place, std::int64_t) {
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
  end_survey(s);
}

// --- Hot columns ----------------------------------------------------------------------------------

/// Counts the terms of columns, of a sample: of some adjacent groups of terms one, which a hash
/// picks, so that no matrix has columns that are met in every group or in none.
__global__ void __launch_bounds__(256) count_uses(const csr_survey s) {
  wait_for_launch_before();
  let_launch_after_start();
  const std::int64_t warps = all_threads() / warp;
  std::uint32_t* const uses = s.uses + blockIdx.x % s.counters * s.column_count;
  unsigned looked = 0;
  const auto go_over = [&]<class Column>(const Column* columns) {
    constexpr int in_flight = 4;
    for (std::int64_t some = first_index() / warp; some << s.sample_shift << 5 < s.nonzeros;
         some += in_flight * warps) {
      Column column[in_flight];
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        const std::int64_t of = some + k * warps;
        const unsigned hash = static_cast<unsigned>(of) * 0x9e3779b1u >> 16;
        const std::int64_t group = (of << s.sample_shift) + (hash & ((1u << s.sample_shift) - 1));
        const std::int64_t i = group * warp + threadIdx.x % warp;
        column[k] = i < s.nonzeros ? columns[i] : -1;
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (column[k] < 0 || column[k] >= s.column_count) continue;
        atomicAdd(uses + column[k], 1u);
        ++looked;
      }
    }
  };
  s.columns.wide ? go_over(static_cast<const std::int64_t*>(s.columns.data))
                 : go_over(static_cast<const std::int32_t*>(s.columns.data));
  add_of_block(s, survey::sampled, looked);
}

/// Finds the least use that is not that of too many columns, and how much of the sample these
/// columns have, in a block.
__device__ inline void find_least_use(const csr_survey& s) {
  constexpr unsigned bins = survey::most_uses + 1, own = bins / 256;
  __shared__ std::uint32_t of_warp[256 / warp];
  __shared__ unsigned least_use, more_used;
  const auto most = static_cast<unsigned>(s.most_hot);
  const unsigned first = (255 - threadIdx.x) * own;  // so that lower threads have higher bins
  unsigned columns[own], sum = 0;
#pragma unroll
  for (unsigned i = 0; i < own; ++i) {
    columns[i] = __ldcg(s.bins + first + i);
    sum += columns[i];
  }
  unsigned more = sum_of_lower_threads(sum, of_warp);
  if (more <= most && (more + sum > most || threadIdx.x == 255)) {
    unsigned least = own;
#pragma unroll
    for (int i = own - 1; i >= 0; --i) {
      if (least == i + 1u && more + columns[i] <= most) {
        more += columns[i];
        least = static_cast<unsigned>(i);
      }
    }
    // The column with the least use may have no place, but where all have one.
    least_use = first + least > 0 ? first + least - 1 : 0;
    more_used = more;
    *counter(s, survey::least_use) = least_use;
    *counter(s, survey::more_used) = more_used;
  }
  __syncthreads();
  unsigned covered = 0;  // without the last bin's, which are counted already
#pragma unroll
  for (unsigned i = 0; i < own; ++i) {
    const unsigned use = first + i;
    if (use < least_use || use == survey::most_uses) continue;
    covered += use * (use == least_use ? ::min(columns[i], most - more_used) : columns[i]);
  }
  add_of_block(s, survey::covered_samples, covered);
}

__global__ void __launch_bounds__(256) count_bins(const csr_survey s) {
  __shared__ unsigned bins[survey::most_uses + 1], classes[survey::classes];
  for (unsigned i = threadIdx.x; i <= survey::most_uses; i += blockDim.x) bins[i] = 0;
  if (threadIdx.x < survey::classes) classes[threadIdx.x] = 0;
  __syncthreads();
  wait_for_launch_before();
  let_launch_after_start();
  constexpr int in_flight = 8;
  const auto apart = static_cast<int>(all_threads());
  const auto first = static_cast<int>(first_index());
  unsigned once = 0, twice = 0;
  for (std::int64_t i = first; i < s.column_count; i += in_flight * apart) {
    unsigned uses[in_flight];
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      uses[k] = uses_of(s, i + k * apart);
    }
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      // Most columns of many matrices have been met once or twice: too many additions to one place.
      once += uses[k] == 1;
      twice += uses[k] == 2;
      if (uses[k] > 2) atomicAdd(bins + ::min(uses[k], survey::most_uses), 1u);
      if (uses[k] >= survey::most_uses)
        atomicAdd(counter(s, survey::covered_samples), 0ull + uses[k]);
    }
  }
  const auto go_over_rows = [&]<class Offset>(const Offset* offsets) {
    for (std::int64_t i = first; i < s.rows; i += in_flight * apart) {
      int length[in_flight];
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        const std::int64_t row = ::min(i + k * apart, s.rows - 1);
        length[k] = static_cast<int>(offsets[row + 1] - offsets[row]);
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (length[k] > static_cast<int>(row_order::short_row) && i + k * apart < s.rows) {
          add_to_classes(s, length[k], classes);
        }
      }
    }
  };
  s.offsets.wide ? go_over_rows(static_cast<const std::int64_t*>(s.offsets.data))
                 : go_over_rows(static_cast<const std::int32_t*>(s.offsets.data));
  once = sum_of_warp(once);
  twice = sum_of_warp(twice);
  if (threadIdx.x % warp == 0) {
    atomicAdd(bins + 1, once);
    atomicAdd(bins + 2, twice);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i <= survey::most_uses; i += blockDim.x) {
    if (bins[i] > 0) atomicAdd(s.bins + i, bins[i]);
  }
  if (threadIdx.x < survey::classes && classes[threadIdx.x] > 0) {
    atomicAdd(s.classes + threadIdx.x, classes[threadIdx.x]);
  }
  if (!is_last_block(s, survey::counted)) return;
  find_least_use(s);
  if (!s.tells) return;
  __threadfence();
  __syncthreads();
  tell(s);
}

/// Writes codes, with a table of hot columns that a block has in its shared memory. From L2, whose
/// sectors of 32 bytes hold 64 columns, 17 million columns at random took 109 us.
template <bool in_shared>
__global__ void __launch_bounds__(codes_threads, 1) write_codes(const csr_survey s) {
  extern __shared__ uint4 memory[];
  wait_for_launch_before();
  unsigned covered = 0;
  if (!are_hot(s)) {
    if (s.checks) check_columns(s, first_index(), all_threads());
  } else {
    const auto* bits = s.table.bits;
    const auto* places = s.table.places;
    if constexpr (in_shared) {
      const auto* const from = reinterpret_cast<const uint4*>(s.table.bits);
      const auto units = static_cast<unsigned>(hot_table::bytes(s.table.groups) / sizeof(uint4));
      for (unsigned i = threadIdx.x; i < units; i += codes_threads) memory[i] = __ldcg(from + i);
      bits = reinterpret_cast<const std::uint32_t*>(memory);
      places = reinterpret_cast<const std::uint16_t*>(bits + 2 * s.table.groups);
      __syncthreads();
    }
    const auto bits_of = [](std::uint32_t word) {
      return static_cast<unsigned>(__popc(static_cast<int>(word)));
    };
    const auto code_of = [&](unsigned column) {
      const std::uint32_t own = bits[column / warp], bit = 1u << column % warp;
      if ((own & bit) == 0) return column;
      ++covered;
      const unsigned before = column / warp % 2 == 0 ? 0 : bits_of(bits[column / warp - 1]);
      return 1u << 31 | (places[column / (2 * warp)] + before + bits_of(own & (bit - 1)));
    };
    const auto end = static_cast<std::uint64_t>(s.column_count);
    const auto go_over = [&]<class Column>(const Column* columns) {
      constexpr int in_flight = 8;
      const auto apart = static_cast<unsigned>(all_threads());
      const auto nonzeros = static_cast<unsigned>(s.nonzeros);
      for (auto i = static_cast<unsigned>(first_index()); i < nonzeros; i += in_flight * apart) {
        Column column[in_flight];
#pragma unroll
        for (int k = 0; k < in_flight; ++k) {
          column[k] = i + k * apart < nonzeros ? columns[i + k * apart] : 0;
        }
#pragma unroll
        for (int k = 0; k < in_flight; ++k) {
          const unsigned at = i + k * apart;
          if (at >= nonzeros) continue;
          if (static_cast<std::uint64_t>(std::int64_t{column[k]}) >= end) {
            if (s.checks) report(s, csr_defect::kind::column, at);
            continue;
          }
          s.codes[at] = static_cast<std::int32_t>(code_of(static_cast<unsigned>(column[k])));
        }
      }
    };
    s.columns.wide ? go_over(static_cast<const std::int64_t*>(s.columns.data))
                   : go_over(static_cast<const std::int32_t*>(s.columns.data));
  }
  add_of_block(s, survey::covered, covered);
  end_survey(s);
}

}  // namespace

survey_kernel* segment_sizes_kernel() { return &find_segment_sizes; }
survey_kernel* segments_kernel() { return &write_segments; }
std::size_t segment_bytes(std::size_t sections, std::size_t stride) {
  return 2 * stride * sizeof(std::uint16_t) + sections * sizeof(unsigned);
}

survey_kernel* uses_kernel() { return &count_uses; }
survey_kernel* bins_kernel() { return &count_bins; }
survey_kernel* codes_kernel(bool in_shared) {
  return in_shared ? &write_codes<true> : &write_codes<false>;
}

std::size_t tiles_bytes(bool wide_columns, std::size_t terms) {
  return wide_columns ? bytes_to_bring<std::int64_t>(terms) : bytes_to_bring<std::int32_t>(terms);
}
survey_kernel* tiles_kernel(bool wide_columns, bool wide_offsets) {
  using wide = std::int64_t;
  using narrow = std::int32_t;
  if (wide_offsets) return wide_columns ? &survey_tiles<wide, wide> : &survey_tiles<narrow, wide>;
  return wide_columns ? &survey_tiles<wide, narrow> : &survey_tiles<narrow, narrow>;
}
std::size_t differences_bytes(bool wide_columns, std::size_t terms) {
  return tiles_bytes(wide_columns, terms) + bytes_to_bring<std::int16_t>(terms);
}
survey_kernel* differences_kernel(bool wide_columns, bool wide_offsets) {
  using wide = std::int64_t;
  using narrow = std::int32_t;
  if (wide_offsets) {
    return wide_columns ? &write_differences<wide, wide> : &write_differences<narrow, wide>;
  }
  return wide_columns ? &write_differences<wide, narrow> : &write_differences<narrow, narrow>;
}

}  // namespace tally::backends::cuda
