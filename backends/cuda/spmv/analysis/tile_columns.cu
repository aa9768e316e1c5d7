// Analysis kernels that find stencils (backends/common/sparse/row_patterns.hpp) or differences.
//
// Promise: rows have one stencil only if their lists are equal. A hash only selects the one to
// compare with.
#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/analysis/tile_columns.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace tally::backends::cuda {
namespace {

/// Whether row tiles are possible and fit, by analyse_matrix.
__device__ inline bool are_tiles(const analysis_job& s) {
  const std::uint64_t defect = __ldcg(counter(s, result_words::defect));
  const auto kind = static_cast<csr_defect::kind>(~defect >> result_words::index_bits);
  return (defect == 0 || kind == csr_defect::kind::column) &&
         __ldcg(counter(s, result_words::longest)) <= max_row_tile_terms &&
         __ldcg(counter(s, result_words::tile_terms)) <= static_cast<std::uint64_t>(s.tile_terms);
}

/// A thread's row, with columns in shared memory.
template <class Column>
struct tile_row {
  std::int64_t row;
  std::int64_t start;  ///< first term
  int count;           ///< 0: no row
  const Column* columns;

  __device__ std::int32_t difference(int k) const {
    return static_cast<std::int32_t>(columns[k] - row);
  }
};

/// Offsets for a thread, in the matrix's type: behind a test of the type, loads would wait for each
/// other.
template <class Offset>
struct tile_offsets {
  __device__ tile_offsets(const analysis_job& s, std::int64_t tile) {
    const auto* const all = static_cast<const Offset*>(s.offsets.data);
    const auto of = [&](std::int64_t row) { return all[::min(row, s.rows)]; };
    const std::int64_t first = tile * rows_per_row_tile;
    begin = of(first);
    end = of(first + rows_per_row_tile);
    own_begin = of(first + threadIdx.x);
    own_end = of(first + threadIdx.x + 1);
  }
  Offset begin, end;          ///< of the tile
  Offset own_begin, own_end;  ///< of the row
};

/// Copies a tile's columns to shared memory, with a whole block; returns the thread's row. Pre:
/// offsets are valid, the barrier expects one copy.
template <class Column, class Offset>
__device__ tile_row<Column> tile_of_block(const analysis_job& s, std::int64_t tile,
                                          const tile_offsets<Offset>& of, void* memory,
                                          bulk_barrier& barrier, unsigned turn) {
  __shared__ std::int64_t first_column;  // index of the first in `memory`
  if (brings()) {
    std::int64_t begin = of.begin, end = of.end;
    if (begin < 0 || end < begin || end > s.nonzeros || end - begin > s.tile_terms) begin = end = 0;
    barrier.reuse();
    const std::int64_t brought =
        bring(barrier, memory, static_cast<const Column*>(s.columns.data), s.nonzeros, begin, end);
    if (threadIdx.x == 0) first_column = brought;
  }
  __syncthreads();
  tile_row<Column> own;
  own.row = tile * rows_per_row_tile + threadIdx.x;
  own.start = of.own_begin;
  own.count = static_cast<int>(of.own_end - of.own_begin);
  own.columns = static_cast<Column*>(memory) + (own.start - first_column);
  barrier.wait(turn);
  return own;
}

/// Whether row `other`, with columns in memory, has the same list.
template <class Column>
__device__ bool has_same_deltas(const analysis_job& s, const tile_row<Column>& own,
                                std::int64_t other) {
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

/// Stencils that a block keeps in shared memory.
constexpr unsigned max_known_stencils = 16;

struct known_stencil {
  std::uint32_t hash;
  std::int32_t length;
  std::int32_t number;
  std::int32_t differences[max_row_tile_terms];
};

/// Hash and range of a row's differences.
struct row_deltas {
  std::uint32_t hash = 0;  ///< highest bit set, never 0
  std::int32_t lowest = INT32_MAX, highest = INT32_MIN;
};

/// Examines a row's columns, and checks them if asked.
template <class Column>
__device__ row_deltas examine_columns(const analysis_job& s, const tile_row<Column>& own) {
  const auto end = static_cast<std::uint64_t>(s.column_count);
  const auto row = static_cast<std::int32_t>(own.row);
  row_deltas list;
  for (int k = 0; k < own.count; ++k) {
    const Column column = own.columns[k];
    if (s.check != defect_check::none && static_cast<std::uint64_t>(std::int64_t{column}) >= end) {
      report(s, csr_defect::kind::column, own.start + k);
      break;
    }
    const std::int32_t difference = static_cast<std::int32_t>(column) - row;
    list.hash = list.hash * 0x9e3779b1u + static_cast<std::uint32_t>(difference);
    list.lowest = ::min(list.lowest, difference);
    list.highest = ::max(list.highest, difference);
  }
  list.hash = (list.hash ^ static_cast<std::uint32_t>(own.count)) * 0x85ebca6bu;
  list.hash = (list.hash ^ list.hash >> 15) | 1u << 31;
  return list;
}

/// Returns the number of a row's stencil, or -1 if new to the block.
template <class Column>
__device__ int known_stencil_number(const known_stencil* known, const tile_row<Column>& own,
                                    std::uint32_t hash) {
  int at = -1;
#pragma unroll
  for (int i = 0; i < static_cast<int>(max_known_stencils); ++i) {
    if (known[i].hash == hash) at = i;
  }
  if (at < 0 || known[at].length != own.count) return -1;
  const std::int32_t* const differences = known[at].differences;
  bool equal = true;
  for (int k = 0; k < own.count; ++k) equal &= differences[k] == own.difference(k);
  return equal ? known[at].number : -1;
}

/// Writes a stencil's padded list.
template <class Column>
__device__ void write_list(const analysis_job& s, const tile_row<Column>& own, int number) {
  constexpr int alignment = row_patterns::alignment;
  const auto longest = static_cast<int>(s.found[result_words::longest]);  // final
  const int stride = (longest + alignment - 1) / alignment * alignment;
  std::int32_t* const list = s.patterns.differences + number * stride;
  for (int k = 0; k < stride; ++k) list[k] = k < own.count ? own.difference(k) : 0;
  s.patterns.lengths[number] = own.count;
  atomicAdd(counter(s, result_words::patterns), 1ull);
}

/// Returns the number of a row's stencil, or row_patterns::max if there are too many.
/// `lists` is a hash table with linear probing; a word has a hash above the number of a row with
/// the list, and its index is the stencil's number.
template <class Column>
__device__ int probe_stencils(const analysis_job& s, const tile_row<Column>& own,
                              std::uint32_t hash) {
  constexpr unsigned max_looks = 16;
  for (unsigned look = 0; look < max_looks; ++look) {
    const unsigned place = (hash + look) % row_patterns::max;
    auto* const word = reinterpret_cast<unsigned long long*>(s.lists + place);
    unsigned long long known = __ldcg(word);
    if (__ldcg(counter(s, result_words::strays)) != 0) return row_patterns::max;
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
    if (has_same_deltas(s, own, static_cast<std::int64_t>(known & 0xffffffffu))) {
      return static_cast<int>(place);
    }
  }
  *counter(s, result_words::strays) = 1;
  return row_patterns::max;
}

/// Returns the number of a stencil new to the block, in the `asking` threads of a warp. Of rows
/// with equal hashes the first looks it up, the others compare their lists with that row's.
template <class Column>
__device__ int new_stencil_number(const analysis_job& s, const tile_row<Column>& own,
                                  std::uint32_t hash, const Column* memory, unsigned asking,
                                  bool& has_looked) {
  const unsigned equals = __match_any_sync(asking, hash);
  const int first = __ffs(static_cast<int>(equals)) - 1;
  has_looked = static_cast<int>(threadIdx.x % warp) == first;
  int number = 0;
  // One thread goes first: with too many stencils, all would probe the same words.
  const int before_others = __ffs(static_cast<int>(asking)) - 1;
  if (has_looked && first == before_others) number = probe_stencils(s, own, hash);
  if (__shfl_sync(asking, number, before_others) == row_patterns::max) return row_patterns::max;
  if (has_looked && first != before_others) number = probe_stencils(s, own, hash);
  number = __shfl_sync(equals, number, first);
  const int count = __shfl_sync(equals, own.count, first);
  const auto* const columns =
      memory + __shfl_sync(equals, static_cast<int>(own.columns - memory), first);
  const std::int64_t apart = first - static_cast<int>(threadIdx.x % warp);
  bool equal = count == own.count;
  for (int k = 0; k < own.count && equal; ++k) equal = columns[k] - own.columns[k] == apart;
  if (equal || number == row_patterns::max) return number;
  has_looked = true;
  return probe_stencils(s, own, hash);
}

/// Adds a warp's range of differences to the results.
__device__ inline void add_reach(const analysis_job& s, std::int32_t lowest, std::int32_t highest) {
  const unsigned long long above = largest_of_warp(ordered_word(highest)),
                           below = largest_of_warp(ordered_word(~lowest));
  if (threadIdx.x % warp > 0) return;
  const unsigned long long known_above = __ldcg(counter(s, result_words::above)),
                           known_below = __ldcg(counter(s, result_words::below));
  if (above > known_above) atomicMax(counter(s, result_words::above), above);
  if (below > known_below) atomicMax(counter(s, result_words::below), below);
}

template <class Column, class Offset>
__global__ void __launch_bounds__(rows_per_row_tile) analyse_tiles(const analysis_job s) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ known_stencil known[max_known_stencils];
  __shared__ unsigned met;  // stencils looked up in this tile
  if (threadIdx.x == 0) {
    barrier.expect(1);
    met = 0;
  }
  if (threadIdx.x < max_known_stencils) known[threadIdx.x].hash = 0;
  wait_for_launch_before();
  if (!are_tiles(s)) {
    if (s.check == defect_check::by_tiles) {
      check_columns(s, static_cast<const Column*>(s.columns.data), first_index(), all_threads());
    }
    return end_analysis_block(s);
  }
  std::int32_t lowest = INT32_MAX, highest = INT32_MIN;
  const std::int64_t tiles = (s.rows + rows_per_row_tile - 1) / rows_per_row_tile;
  unsigned turn = 0, next = 0;  // `next`: of the next stencil in `known`
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    // The last thread copies no columns.
    const bool has_too_many =
        threadIdx.x == rows_per_row_tile - 1 && __ldcg(counter(s, result_words::strays)) != 0;
    const tile_row<Column> own =
        tile_of_block<Column>(s, tile, tile_offsets<Offset>(s, tile), memory, barrier, turn++);
    const bool is_over = __syncthreads_or(has_too_many);
    const row_deltas list = examine_columns(s, own);
    lowest = ::min(lowest, list.lowest);
    highest = ::max(highest, list.highest);
    unsigned place = max_known_stencils;  // in `known`, from `next` on
    const bool has_row = !is_over && own.row < s.rows;
    int number = has_row ? known_stencil_number(known, own, list.hash) : 0;
    const unsigned asking = __ballot_sync(whole_warp, number < 0);
    bool has_looked = false;
    if (number < 0) {
      number = new_stencil_number(s, own, list.hash, reinterpret_cast<const Column*>(memory),
                                  asking, has_looked);
    }
    if (has_row && number < row_patterns::max) {
      s.patterns.of_row[own.row] = static_cast<std::uint8_t>(number);
      if (has_looked) place = atomicAdd(&met, 1u);
    }
    __syncthreads();
    const unsigned more = met;
    if (place < max_known_stencils) {
      known_stencil& to = known[(next + place) % max_known_stencils];
      to.hash = list.hash;
      to.length = own.count;
      to.number = number;
      for (int k = 0; k < own.count; ++k) to.differences[k] = own.difference(k);
    }
    next += ::min(more, max_known_stencils);
    __syncthreads();  // the memory is reused
    if (threadIdx.x == 0) met = 0;
  }
  add_reach(s, lowest, highest);
  end_analysis_block(s);
}

template <class Column, class Offset>
__global__ void __launch_bounds__(rows_per_row_tile) write_deltas(const analysis_job s) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  wait_for_launch_before();
  if (threadIdx.x == 0) barrier.expect(1);
  const tile_offsets<Offset> offsets(s, blockIdx.x);
  const tile_row<Column> own = tile_of_block<Column>(s, blockIdx.x, offsets, memory, barrier, 0);
  auto* const differences = reinterpret_cast<std::int16_t*>(reinterpret_cast<char*>(memory) +
                                                            bytes_to_bring<Column>(s.tile_terms));
  unsigned adjacent = 0;
  std::int32_t next = INT16_MAX + 1;  // difference adjacent to the one before
  for (int k = 0; k < own.count; ++k) {
    const std::int32_t difference = own.difference(k);
    differences[own.start - offsets.begin + k] = static_cast<std::int16_t>(difference);
    adjacent += difference == next;
    next = difference + 1;
  }
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < offsets.end - offsets.begin; i += rows_per_row_tile) {
    s.differences[offsets.begin + i] = differences[i];
  }
  add_of_block(s, result_words::adjacent, adjacent);
  end_analysis_block(s);
}

constexpr std::size_t max_patterns = row_patterns::max;

std::size_t tiles_bytes(const search& s, std::size_t terms) {
  return with_index_type(s.job.columns.wide, [=]<class C>() { return bytes_to_bring<C>(terms); });
}
std::size_t deltas_bytes(const search& s, std::size_t terms) {
  return tiles_bytes(s, terms) + bytes_to_bring<std::int16_t>(terms);
}

}  // namespace

std::size_t bytes_of_stencils(const csr_operand& a) {
  constexpr std::size_t words = max_row_tile_terms + 1;
  return max_patterns * (sizeof(std::uint64_t) + words * sizeof(std::int32_t)) + a.rows;
}

void allocate_stencils(search& s) {
  static_assert(max_row_tile_terms % row_patterns::alignment == 0);
  analysis_job& job = s.job;
  job.lists = static_cast<std::uint64_t*>(
      s.memory().take(bytes_of_stencils(s.matrix), s.current(), s.stream()));
  job.patterns.lengths = reinterpret_cast<std::int32_t*>(job.lists + max_patterns);
  job.patterns.differences = job.patterns.lengths + max_patterns;
  job.patterns.of_row =
      reinterpret_cast<std::uint8_t*>(job.patterns.differences + max_patterns * max_row_tile_terms);
}

analysis_launch tiles_launch(const search& s, analysis_job& job) {
  // Blocks per SM, at most.
  constexpr std::size_t max_tile_blocks = 12;
  const std::size_t bytes = tiles_bytes(s, static_cast<std::size_t>(job.tile_terms));
  const std::size_t at_a_time = std::clamp<std::size_t>(
      max_shared_bytes(s.current().device()) / (bytes + tiles_static_shared_bytes), 1,
      max_tile_blocks);
  return {
      with_index_types(job, []<class C, class O>() { return &analyse_tiles<C, O>; }),
      {.blocks = static_cast<unsigned>(std::min(ceil_div(s.matrix.rows, rows_per_row_tile),
                                                at_a_time * multiprocessors(s.current().device()))),
       .threads = rows_per_row_tile,
       .shared_bytes = bytes},
      job};
}

difference_range range_in(const analysis_results& found) {
  return {.lowest = ~delta_of(found[result_words::below]),
          .highest = delta_of(found[result_words::above])};
}

void decide_tiles(search& s) {
  if (!s.examines_tiles) return;
  const auto terms = static_cast<std::int32_t>(s.found[result_words::tile_terms]);
  s.examines_tiles = s.has_tiles() && s.has_room(deltas_bytes(s, static_cast<std::size_t>(terms)),
                                                 tiles_static_shared_bytes);
  if (s.examines_tiles && terms > s.job.tile_terms) {  // beyond the capacity
    s.job.tile_terms = terms;
    analysis_job again = s.job;
    again.pieces = nullptr;
    const analysis_results of =
        s.run({matrix_launch(s.current(), s.matrix, again), tiles_launch(s, again)});
    using namespace result_words;
    for (const unsigned word : {strays, above, below, patterns}) s.found.of[word] = of[word];
  }
  if (s.examines_tiles && s.found[result_words::strays] == 0) return;
  s.memory().give_back(s.job.lists);
  s.job.lists = nullptr;
}

column_differences allocate_differences(search& s) {
  const std::size_t bytes = s.matrix.nonzeros() * sizeof(std::int16_t);
  return {.data = static_cast<std::int16_t*>(s.take(bytes)), .bytes = bytes};
}

const column_differences& tile_differences(search& s) {
  if (s.differences) return *s.differences;
  s.differences.emplace();
  column_differences& made = *s.differences;
  if (!s.examines_tiles || s.exceeds_16_bits()) return made;
  made = allocate_differences(s);
  if (made.data == nullptr) return made;
  const std::size_t terms = s.found[result_words::tile_terms];
  analysis_job job = s.job;
  job.tile_terms = static_cast<std::int32_t>(terms);
  job.differences = made.data;
  std::vector<analysis_launch> launches{
      {with_index_types(job, []<class C, class O>() { return &write_deltas<C, O>; }),
       {.blocks = blocks_of(s.matrix.rows, rows_per_row_tile),
        .threads = rows_per_row_tile,
        .shared_bytes = deltas_bytes(s, terms)},
       job}};
  // Counting many blocks costs more than a launch (tuning/spmv.md: publish_launch).
  if (launches[0].shape.blocks > 1 << 12) launches.push_back(publish_launch(job));
  made.adjacent = s.run(launches)[result_words::adjacent];
  made.range = range_in(s.found);
  made.furthest = std::max(-made.range.lowest, made.range.highest);
  return made;
}

std::string column_differences::describe() const {
  return "; in the place of columns differences of 16 bits, in " + std::to_string(bytes) + " bytes";
}

}  // namespace tally::backends::cuda
