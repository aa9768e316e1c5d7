// Search for hub columns, in four launches: sample the terms of columns; find the least use of a
// hub column, and count row segments by length; pick hub columns, and cut pieces of warps; check
// columns, and write codes.
//
// Row segments come first, the longest in front: blocks take every n-th piece (tuning/spmv.md:
// pick_and_cut).
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/hub_columns/hub_columns.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <vector>

namespace tally::backends::cuda {
namespace {

/// Bitmap of the hub columns. Those of a group of 64 columns have consecutive indices.
struct hub_bitmap {
  std::uint32_t* bits = nullptr;    ///< one bit per column
  std::uint16_t* places = nullptr;  ///< index of each group's first; behind the bits
  std::int64_t groups = 0;          ///< a multiple of 16

  TALLY_HOST_DEVICE static constexpr std::size_t bytes(std::size_t groups) {
    return groups * (2 * sizeof(std::uint32_t) + sizeof(std::uint16_t));
  }
};

/// Kernel parameter.
struct hub_job : analysis_job {
  std::int64_t zeros = 0;         ///< words from `uses` on that begin as zeros
  std::uint32_t* uses = nullptr;  ///< sampled terms by column, in `counters` arrays
  std::int64_t counters = 1;
  std::uint32_t* bins = nullptr;  ///< histogram of `uses`
  /// Row segments by length class, then those of them that have an index.
  std::uint32_t* classes = nullptr;
  hub_bitmap table;               ///< output
  unsigned sample_shift = 0;      ///< log2 of the sampling interval, in groups of terms
  std::int32_t* hub = nullptr;    ///< output
  std::int32_t* codes = nullptr;  ///< output
  int max_hub = 0;
  warp_piece* warp_pieces = nullptr;  ///< output, row segments first
  carry_out_row* handed = nullptr;    ///< output
};

/// Rows that a block cuts together.
constexpr int hub_span = 2048;

/// Returns an upper bound: a row block that ends neither at a long row nor at a multiple of
/// `hub_span` has at least `min_path` rows and terms together.
std::size_t max_hub_runs(const csr_operand& a, std::size_t long_rows) {
  constexpr auto min_path =
      std::min<std::size_t>(hub_block_rows, hub_block_terms - row_order::short_row);
  return (a.rows + a.nonzeros()) / min_path + long_rows + a.rows / hub_span + 1;
}

/// Returns log2 of the sampling interval, in groups of terms (tuning/spmv.md).
constexpr unsigned hub_sample_shift(std::size_t nonzeros) {
  return static_cast<unsigned>(std::bit_width(nonzeros >> 19));
}

/// Returns the counters per column: with few columns, atomic additions contend.
constexpr std::size_t hub_counters_per_column(std::size_t columns) {
  return columns < std::size_t{1} << 20 ? 4 : 1;
}

/// Whether columns with `covered` of the terms are hub columns (tuning/spmv.md).
TALLY_HOST_DEVICE constexpr bool are_hub_columns(std::size_t nonzeros, std::size_t covered) {
  return 10 * covered >= 2 * nonzeros;
}

/// Length classes of row segments, longest first.
constexpr unsigned length_classes = 16;
/// Last bin of `uses`: this many or more.
constexpr unsigned max_uses = 2047;

/// Threads per block that writes codes; one block per SM, with the table in shared memory if it
/// fits.
constexpr unsigned codes_threads = 1024;
/// Threads per block that picks columns or cuts rows.
constexpr int cut_threads = 512;
constexpr int picked_columns = 1024;
/// Returns the blocks for columns; behind them is one per `hub_span` rows.
TALLY_HOST_DEVICE constexpr unsigned picking_blocks(std::int64_t columns) {
  const std::int64_t blocks = (columns + picked_columns - 1) / picked_columns;
  return static_cast<unsigned>(blocks < 1024 ? blocks : 1024);
}

/// Returns the sampled terms of a column, 0 behind the last.
__device__ inline unsigned sampled_terms_of(const hub_job& s, std::int64_t column) {
  unsigned uses = 0;
  if (column >= s.column_count) return uses;
  for (std::int64_t k = 0; k < s.counters; ++k) {
    uses += __ldcg(s.uses + k * s.column_count + column);
  }
  return uses;
}

/// Whether the picked columns may be hub columns, by a sample that overestimates their terms.
__device__ bool have_hub_columns(const hub_job& s) {
  return are_hub_columns(__ldcg(counter(s, result_words::sampled)),
                         __ldcg(counter(s, result_words::hub_samples)));
}

/// Returns the length of a full row segment.
__device__ inline int share_terms(const hub_job& s) {
  return static_cast<int>(order::chunk) << s.segment_shift;
}
/// Returns a segment's length class, 0 if full.
__device__ inline unsigned class_of(const hub_job& s, int terms) {
  return length_classes - 1 -
         static_cast<unsigned>((terms - 1) / (share_terms(s) / static_cast<int>(length_classes)));
}
/// Adds a row's segments to their classes; all but the last are full.
__device__ inline void add_to_classes(const hub_job& s, int length, unsigned* classes) {
  const int whole = (length - 1) / share_terms(s);
  if (whole > 0) atomicAdd(classes, static_cast<unsigned>(whole));
  atomicAdd(classes + class_of(s, length - whole * share_terms(s)), 1u);
}

/// Counts the terms of columns in a sample: one of some adjacent groups, picked by a hash, since
/// regular matrices have periods.
__global__ void __launch_bounds__(256) sample_columns(const hub_job s) {
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
  add_of_block(s, result_words::sampled, looked);
}

/// Finds the least use of a hub column, and the hub columns' part of the sample, in a block.
__device__ inline void find_min_hub_use(const hub_job& s) {
  constexpr unsigned bins = max_uses + 1, own = bins / 256;
  __shared__ std::uint32_t of_warp[256 / warp];
  __shared__ unsigned min_use, columns_above_min_use;
  const auto max_hub = static_cast<unsigned>(s.max_hub);
  const unsigned first = (255 - threadIdx.x) * own;  // lower threads have higher bins
  unsigned columns[own], sum = 0;
#pragma unroll
  for (unsigned i = 0; i < own; ++i) {
    columns[i] = __ldcg(s.bins + first + i);
    sum += columns[i];
  }
  unsigned more = sum_of_lower_threads(sum, of_warp);
  if (more <= max_hub && (more + sum > max_hub || threadIdx.x == 255)) {
    unsigned least = own;
#pragma unroll
    for (int i = own - 1; i >= 0; --i) {
      if (least == i + 1u && more + columns[i] <= max_hub) {
        more += columns[i];
        least = static_cast<unsigned>(i);
      }
    }
    // Not all columns with the least use fit, unless all columns do.
    min_use = first + least > 0 ? first + least - 1 : 0;
    columns_above_min_use = more;
    *counter(s, result_words::min_use) = min_use;
    *counter(s, result_words::columns_above_min_use) = columns_above_min_use;
  }
  __syncthreads();
  unsigned covered = 0;  // without the last bin, already counted
#pragma unroll
  for (unsigned i = 0; i < own; ++i) {
    const unsigned use = first + i;
    if (use < min_use || use == max_uses) continue;
    covered +=
        use * (use == min_use ? ::min(columns[i], max_hub - columns_above_min_use) : columns[i]);
  }
  add_of_block(s, result_words::hub_samples, covered);
}

__global__ void __launch_bounds__(256) count_use_histogram(const hub_job s) {
  __shared__ unsigned bins[max_uses + 1], classes[length_classes];
  for (unsigned i = threadIdx.x; i <= max_uses; i += blockDim.x) bins[i] = 0;
  if (threadIdx.x < length_classes) classes[threadIdx.x] = 0;
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
      uses[k] = sampled_terms_of(s, i + k * apart);
    }
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      // Many matrices have most columns in bins 1 and 2: too many additions there.
      once += uses[k] == 1;
      twice += uses[k] == 2;
      if (uses[k] > 2) atomicAdd(bins + ::min(uses[k], max_uses), 1u);
      if (uses[k] >= max_uses) atomicAdd(counter(s, result_words::hub_samples), 0ull + uses[k]);
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
  for (unsigned i = threadIdx.x; i <= max_uses; i += blockDim.x) {
    if (bins[i] > 0) atomicAdd(s.bins + i, bins[i]);
  }
  if (threadIdx.x < length_classes && classes[threadIdx.x] > 0) {
    atomicAdd(s.classes + threadIdx.x, classes[threadIdx.x]);
  }
  if (!is_last_block(s, result_words::counted)) return;
  find_min_hub_use(s);
  if (!s.tells) return;
  __threadfence();
  __syncthreads();
  tell(s);
}

/// Writes codes, with the table in shared memory if it fits: random reads from L2 cost more
/// (tuning/spmv.md).
template <bool in_shared>
__global__ void __launch_bounds__(codes_threads, 1) write_codes(const hub_job s) {
  extern __shared__ uint4 memory[];
  wait_for_launch_before();
  unsigned covered = 0;
  if (!have_hub_columns(s)) {
    if (s.check != defect_check::none) check_columns(s, first_index(), all_threads());
  } else {
    const auto* bits = s.table.bits;
    const auto* places = s.table.places;
    if constexpr (in_shared) {
      const auto* const from = reinterpret_cast<const uint4*>(s.table.bits);
      const auto units = static_cast<unsigned>(hub_bitmap::bytes(s.table.groups) / sizeof(uint4));
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
            if (s.check != defect_check::none) report(s, csr_defect::kind::column, at);
            continue;
          }
          s.codes[at] = static_cast<std::int32_t>(code_of(static_cast<unsigned>(column[k])));
        }
      }
    };
    s.columns.wide ? go_over(static_cast<const std::int64_t*>(s.columns.data))
                   : go_over(static_cast<const std::int32_t*>(s.columns.data));
  }
  add_of_block(s, result_words::covered, covered);
  end_analysis_block(s);
}

constexpr int own_rows = hub_span / cut_threads;
constexpr int span_words = hub_span / static_cast<int>(warp);
static_assert(span_words == 2 * warp);

/// Rows of one step of a block.
struct row_span {
  std::int32_t offsets[hub_span + 1];
  unsigned long_rows[span_words];            ///< bit per row
  std::uint16_t next[hub_span + 1];          ///< next piece, if one starts here
  std::uint8_t starts[hub_span + 1];         ///< whether one does
  unsigned runs[span_words];                 ///< bit per row: a row block starts
  std::int64_t first_row_block[span_words];  ///< index of the first row block of a word
  unsigned classes[length_classes];          ///< segments per length class
  unsigned next_segment[length_classes];     ///< index of the next segment
  unsigned carry_outs, next_carry_out;

  __device__ int length(int row) const { return offsets[row + 1] - offsets[row]; }
  __device__ bool is_long(int row) const {
    return (long_rows[row / static_cast<int>(warp)] >> row % static_cast<int>(warp) & 1) != 0;
  }
};

__device__ inline int span_index(int k) { return static_cast<int>(threadIdx.x) + k * cut_threads; }

/// Returns the end of a row block that starts at a short row.
__device__ int end_of_row_block(const row_span& span, int row, int rows) {
  const auto has_room = [&](int end) {
    return span.offsets[end] - span.offsets[row] <= hub_block_terms &&
           span.offsets[end - 1] + end - 1 - span.offsets[row] - row < hub_block_path;
  };
  int end = row + 1, beyond = ::min(row + hub_block_rows, rows) + 1;
  while (end + 1 < beyond) {
    const int middle = (end + beyond) / 2;
    (has_room(middle) ? end : beyond) = middle;
  }
  // A long row ends it, too.
  const int first = row / static_cast<int>(warp);
  for (int word = first; word * static_cast<int>(warp) < end; ++word) {
    unsigned is_long = span.long_rows[word];
    if (word == first) is_long &= ~0u << row % static_cast<int>(warp);
    if (is_long != 0) {
      return ::min(end, word * static_cast<int>(warp) + __ffs(static_cast<int>(is_long)) - 1);
    }
  }
  return end;
}

/// Finds the starts of pieces by pointer doubling: after d rounds the first 2^d pieces are known,
/// and `next` is 2^d pieces on.
__device__ void find_starts(row_span& span, int rows) {
  do {
    bool starts[own_rows];
    int next[own_rows], beyond[own_rows];
#pragma unroll
    for (int k = 0; k < own_rows; ++k) {
      const int i = span_index(k);
      starts[k] = i < rows && span.starts[i] != 0;
      next[k] = i < rows ? span.next[i] : rows;
      beyond[k] = span.next[next[k]];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < own_rows; ++k) {
      if (starts[k] && next[k] < rows) span.starts[next[k]] = 1;
      if (span_index(k) < rows) span.next[span_index(k)] = static_cast<std::uint16_t>(beyond[k]);
    }
    __syncthreads();
  } while (span.next[0] < rows);
}

/// Writes the segments of a long row; all but the last are full.
__device__ void write_row_segments(const hub_job& s, row_span& span, int row, std::int64_t first) {
  const int length = span.length(row), max_length = share_terms(s);
  const int shares = (length - 1) / max_length + 1;
  const int last = length - (shares - 1) * max_length;
  int carry_out = 0;
  unsigned place = 0;
  if (shares > 1) {
    carry_out = static_cast<int>(atomicAdd(&span.next_carry_out, static_cast<unsigned>(shares)));
    place = atomicAdd(span.next_segment, static_cast<unsigned>(shares - 1));
  }
  for (int k = 0; k < shares; ++k) {
    const bool is_last = k + 1 == shares;
    warp_piece share;
    share.row = static_cast<std::int32_t>(first + row);
    share.nonzero = span.offsets[row] + k * max_length;
    share.terms = is_last ? last : max_length;
    if (shares > 1) {
      share.rows = ~(carry_out + k);
      s.handed[carry_out + k] = {carry_out, shares};
    }
    if (is_last) place = atomicAdd(span.next_segment + class_of(s, last), 1u);
    s.warp_pieces[place++] = share;
  }
}

/// Picks the hub columns; of those with the least use, as many as have room.
__device__ void pick_hub_columns(const hub_job& s, unsigned blocks) {
  constexpr int in_block = picked_columns, own = in_block / cut_threads;
  constexpr int words = in_block / static_cast<int>(warp), own_words = words / own;
  static_assert(words == warp);
  __shared__ unsigned above[words], ties[words];  // one bit per column
  __shared__ unsigned first_place[words];
  const auto min_use = static_cast<unsigned>(__ldcg(counter(s, result_words::min_use)));
  const auto room = static_cast<unsigned>(s.max_hub) -
                    static_cast<unsigned>(__ldcg(counter(s, result_words::columns_above_min_use)));
  const unsigned w = threadIdx.x / warp, thread = threadIdx.x % warp;
  const auto bits_of = [](unsigned word) {
    return static_cast<unsigned>(__popc(static_cast<int>(word)));
  };
  for (std::int64_t first = std::int64_t{blockIdx.x} * in_block; first < s.column_count;
       first += std::int64_t{blocks} * in_block) {
    unsigned uses[own];
#pragma unroll
    for (int k = 0; k < own; ++k) {
      uses[k] = sampled_terms_of(s, first + k * cut_threads + threadIdx.x);
    }
#pragma unroll
    for (int k = 0; k < own; ++k) {
      const unsigned bin = ::min(uses[k], max_uses);
      const unsigned is_above = __ballot_sync(whole_warp, bin > min_use);
      const unsigned is_tie = __ballot_sync(whole_warp, bin == min_use && bin > 0);
      if (thread == 0) {
        above[k * own_words + w] = is_above;
        ties[k * own_words + w] = is_tie;
      }
    }
    __syncthreads();
    if (w == 0) {
      const unsigned own_ties = bits_of(ties[thread]), ties_upto = sum_upto_thread(own_ties);
      unsigned before = 0;
      if (thread == warp - 1 && ties_upto > 0) {
        before = static_cast<unsigned>(atomicAdd(counter(s, result_words::ties), 0ull + ties_upto));
      }
      before = __shfl_sync(whole_warp, before, warp - 1) + ties_upto - own_ties;
      unsigned bits = ties[thread];
      for (unsigned left = before < room ? room - before : 0; bits_of(bits) > left;) {
        bits &= ~(1u << 31 >> __clz(static_cast<int>(bits)));
      }
      bits |= above[thread];
      const unsigned own_hub = bits_of(bits), hub_upto = sum_upto_thread(own_hub);
      unsigned place = 0;
      if (thread == warp - 1 && hub_upto > 0) {
        place = static_cast<unsigned>(atomicAdd(counter(s, result_words::taken), 0ull + hub_upto));
      }
      place = __shfl_sync(whole_warp, place, warp - 1) + hub_upto - own_hub;
      above[thread] = bits;
      first_place[thread] = place;
      const std::int64_t word = first / warp + thread;
      s.table.bits[word] = bits;
      if (thread % 2 == 0) s.table.places[word / 2] = static_cast<std::uint16_t>(place);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < own; ++k) {
      const unsigned word = k * own_words + w;
      const unsigned bits = above[word], bit = 1u << thread;
      if ((bits & bit) == 0) continue;
      const unsigned place = first_place[word] + bits_of(bits & (bit - 1));
      s.hub[place] = static_cast<std::int32_t>(first + k * cut_threads + threadIdx.x);
    }
    __syncthreads();
  }
}

__device__ void cut_for_warps(const hub_job& s, std::int64_t block, std::int64_t blocks) {
  __shared__ row_span span;
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t first = block * hub_span; first < s.rows; first += blocks * hub_span) {
    const int rows = static_cast<int>(::min(std::int64_t{hub_span}, s.rows - first));
    if (thread < static_cast<int>(length_classes)) span.classes[thread] = 0;
    if (thread == 0) span.carry_outs = 0;
    const auto copy_offsets = [&]<class Offset>(const Offset* offsets) {
#pragma unroll
      for (int k = 0; k < own_rows; ++k) {
        const int i = span_index(k);
        if (i < rows) span.offsets[i] = static_cast<std::int32_t>(offsets[first + i]);
      }
      if (thread == 0) span.offsets[rows] = static_cast<std::int32_t>(offsets[first + rows]);
    };
    s.offsets.wide ? copy_offsets(static_cast<const std::int64_t*>(s.offsets.data))
                   : copy_offsets(static_cast<const std::int32_t*>(s.offsets.data));
    __syncthreads();
#pragma unroll
    for (int k = 0; k < own_rows; ++k) {
      const int i = span_index(k), length = i < rows ? span.length(i) : 0;
      const bool is_long = length > static_cast<int>(row_order::short_row);
      const unsigned bits = __ballot_sync(whole_warp, is_long);
      if (i % static_cast<int>(warp) == 0) span.long_rows[i / static_cast<int>(warp)] = bits;
      if (!is_long) continue;
      add_to_classes(s, length, span.classes);
      const int shares = (length - 1) / share_terms(s) + 1;
      if (shares > 1) atomicAdd(&span.carry_outs, static_cast<unsigned>(shares));
    }
    __syncthreads();
    if (thread < static_cast<int>(length_classes)) {
      const unsigned own = span.classes[thread];
      unsigned before = 0;
      if (own > 0) before = atomicAdd(s.classes + length_classes + thread, own);
#pragma unroll
      for (int c = 0; c < static_cast<int>(length_classes); ++c) {
        const unsigned shares = __ldcg(s.classes + c);
        before += c < thread ? shares : 0;
      }
      span.next_segment[thread] = before;
    }
    if (thread == static_cast<int>(warp) && span.carry_outs > 0) {
      span.next_carry_out = static_cast<unsigned>(
          atomicAdd(counter(s, result_words::warp_carry_outs), 0ull + span.carry_outs));
    }
    int end[own_rows];  // of a row block that would start here
#pragma unroll
    for (int k = 0; k < own_rows; ++k) {
      const int i = span_index(k);
      if (i >= rows) continue;
      end[k] = span.is_long(i) ? i + 1 : end_of_row_block(span, i, rows);
      span.next[i] = static_cast<std::uint16_t>(end[k]);
      span.starts[i] = i == 0;
    }
    if (thread == 0) span.next[rows] = static_cast<std::uint16_t>(rows);
    __syncthreads();
    find_starts(span, rows);
    bool starts_row_block[own_rows];
#pragma unroll
    for (int k = 0; k < own_rows; ++k) {
      const int i = span_index(k);
      starts_row_block[k] = i < rows && span.starts[i] != 0 && !span.is_long(i);
      const unsigned bits = __ballot_sync(whole_warp, starts_row_block[k]);
      if (i % static_cast<int>(warp) == 0) span.runs[i / static_cast<int>(warp)] = bits;
    }
    __syncthreads();
    if (thread < static_cast<int>(warp)) {
      const auto runs = [&](int word) {
        return static_cast<unsigned>(__popc(static_cast<int>(span.runs[word])));
      };
      const unsigned low = runs(2 * thread), own = low + runs(2 * thread + 1);
      const unsigned upto = sum_upto_thread(own);
      unsigned long long before = 0;
      if (thread == static_cast<int>(warp) - 1) {
        before = atomicAdd(counter(s, result_words::warp_row_blocks), 0ull + upto);
      }
      before = __shfl_sync(whole_warp, before, warp - 1) + upto - own;
      span.first_row_block[2 * thread] = s.shares + static_cast<std::int64_t>(before);
      span.first_row_block[2 * thread + 1] = s.shares + static_cast<std::int64_t>(before + low);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < own_rows; ++k) {
      const int i = span_index(k), word = i / static_cast<int>(warp);
      if (i < rows && span.is_long(i)) write_row_segments(s, span, i, first);
      if (!starts_row_block[k]) continue;
      const unsigned below = (1u << i % static_cast<int>(warp)) - 1;
      warp_piece run;
      run.row = static_cast<std::int32_t>(first + i);
      run.nonzero = span.offsets[i];
      run.terms = span.offsets[end[k]] - span.offsets[i];
      run.rows = end[k] - i;
      s.warp_pieces[span.first_row_block[word] +
                    __popc(static_cast<int>(span.runs[word] & below))] = run;
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(cut_threads) pick_and_cut(const hub_job s) {
  wait_for_launch_before();
  let_launch_after_start();
  if (!have_hub_columns(s)) return;
  const unsigned pick = picking_blocks(s.column_count);
  if (blockIdx.x < pick) {
    pick_hub_columns(s, pick);
  } else {
    cut_for_warps(s, blockIdx.x - pick, gridDim.x - pick);
  }
}

/// Room for pieces of warps, carry-outs and codes.
struct room_for_codes {
  room_for_codes(const search& s, const hub_job& job)
      : pieces(s.found[result_words::shares] +
               max_hub_runs(s.matrix, s.found[result_words::long_rows])),
        carry_outs(s.found[result_words::carry_outs]),
        bytes(pieces * sizeof *job.warp_pieces + carry_outs * sizeof *job.handed +
              (s.matrix.nonzeros() + static_cast<std::size_t>(job.max_hub)) * sizeof *job.codes) {}
  std::size_t pieces, carry_outs, bytes;
};

/// Returns the parameter, with memory for counters.
hub_job job_with_counters(search& s) {
  const csr_operand& a = s.matrix;
  hub_job job{s.job};
  const std::size_t groups = 16 * ceil_div(a.columns, std::size_t{1024});
  const std::size_t uses = hub_counters_per_column(a.columns) * a.columns;
  const std::size_t zeros = uses + max_uses + 1 + 2 * length_classes;
  job.table.groups = static_cast<std::int64_t>(groups);
  job.table.bits = static_cast<std::uint32_t*>(s.memory().take(
      hub_bitmap::bytes(groups) + zeros * sizeof *job.uses, s.current(), s.stream()));
  job.table.places = reinterpret_cast<std::uint16_t*>(job.table.bits + 2 * groups);
  job.uses = reinterpret_cast<std::uint32_t*>(job.table.places + groups);
  job.bins = job.uses + uses;
  job.classes = job.bins + max_uses + 1;
  job.zeros = static_cast<std::int64_t>(zeros);
  job.counters = static_cast<std::int64_t>(hub_counters_per_column(a.columns));
  job.sample_shift = hub_sample_shift(a.nonzeros());
  job.max_hub = static_cast<int>(max_hub_columns(s.current(), a.values.element));
  return job;
}

/// Allocates pieces of warps and codes; returns whether memory sufficed.
bool allocate_codes(search& s, hub_job& job) {
  const room_for_codes room(s, job);
  job.warp_pieces = static_cast<warp_piece*>(s.take(room.bytes));
  if (job.warp_pieces == nullptr) return false;  // products do without
  job.shares = static_cast<std::int64_t>(s.found[result_words::shares]);
  job.handed = reinterpret_cast<carry_out_row*>(job.warp_pieces + room.pieces);
  job.codes = reinterpret_cast<std::int32_t*>(job.handed + room.carry_outs);
  job.hub = job.codes + s.matrix.nonzeros();
  return true;
}

/// Returns the launches; the first two examine a sample only.
std::vector<analysis_launch> launches_of(const search& s, hub_job& job) {
  const int device = s.current().device();
  const unsigned processors = multiprocessors(device);
  const std::size_t table = hub_bitmap::bytes(static_cast<std::size_t>(job.table.groups));
  const bool in_shared = s.has_room(table);
  return {{&sample_columns, items_shape(s.matrix.nonzeros() >> job.sample_shift), job},
          {&count_use_histogram, {.blocks = 2 * processors, .threads = 256}, job},
          {&pick_and_cut,
           {.blocks = picking_blocks(job.column_count) + blocks_of(s.matrix.rows, hub_span),
            .threads = cut_threads},
           job},
          {in_shared ? &write_codes<true> : &write_codes<false>,
           {.blocks = processors, .threads = codes_threads, .shared_bytes = in_shared ? table : 0},
           job}};
}

std::unique_ptr<const method> found_hub_columns(search& s, hub_job& job) {
  const csr_operand& a = s.matrix;
  const std::vector<analysis_launch> launches = launches_of(s, job);
  const auto run = [&](std::size_t count, bool check_columns) {
    check(cudaMemsetAsync(job.uses, 0, static_cast<std::size_t>(job.zeros) * sizeof *job.uses,
                          s.stream()),
          "cudaMemsetAsync");
    return s.run({launches.begin(), launches.begin() + static_cast<std::ptrdiff_t>(count)},
                 check_columns);
  };
  // Few matrices of short rows have hub columns.
  if (s.longest() <= row_order::short_row) {
    const analysis_results sample = run(2, false);
    if (!are_hub_columns(sample[result_words::sampled], sample[result_words::hub_samples])) {
      return nullptr;
    }
  }
  if (!allocate_codes(s, job)) return nullptr;
  job.check = s.unchecked ? defect_check::at_once : defect_check::none;
  const analysis_results found = run(launches.size(), true);
  const std::uint64_t covered = found[result_words::covered];
  if (!are_hub_columns(a.nonzeros(), covered)) {
    s.memory().give_back(job.warp_pieces);
    return nullptr;
  }
  return make_hub_columns(
      {.hub = {.codes = job.codes,
               .columns = job.hub,
               .pieces = job.warp_pieces,
               .handed = job.handed,
               .count = static_cast<int>(found[result_words::taken]),
               .piece_count = static_cast<int>(
                   job.shares + static_cast<std::int64_t>(found[result_words::warp_row_blocks]))},
       .element = a.values.element,
       .percent = 100 * covered / a.nonzeros(),
       .bytes = room_for_codes(s, job).bytes,
       .split_rows = s.found[result_words::split_rows],
       .carry_outs = s.found[result_words::carry_outs]});
}

}  // namespace

bool may_have_hub_columns(const search& s) {
  return s.knows_columns && is_special(s.matrix.values.element) && may_have_hub_columns(s.matrix) &&
         max_hub_columns(s.current(), s.matrix.values.element) > 0;
}

std::unique_ptr<const method> find_hub_columns(search& s) {
  if (!may_have_hub_columns(s) || s.threads_per_row() > 0) return nullptr;
  s.fit_pieces();
  hub_job job = job_with_counters(s);
  std::unique_ptr<const method> made = found_hub_columns(s, job);
  s.memory().give_back(job.table.bits);
  return made;
}

}  // namespace tally::backends::cuda
