// Analysis kernel that picks the hub columns and, beside, cuts the matrix into pieces of warps
// (tuning/spmv.md: pick_and_cut). Row segments come first, the longest in front: blocks, which take
// every n-th piece, have about as much to do, and no warp begins a long one at the end.
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/shape.hpp"

namespace tally::backends::cuda {
namespace {

constexpr int cut_threads = hub_analysis_threads;
constexpr int own_rows = hub_span / cut_threads;
constexpr int words = hub_span / static_cast<int>(warp);
static_assert(words == 2 * warp);

/// Rows of one step of a block.
struct row_span {
  std::int32_t offsets[hub_span + 1];
  unsigned long_rows[words];                     ///< bit per row
  std::uint16_t next[hub_span + 1];              ///< next piece, if one starts here
  std::uint8_t starts[hub_span + 1];             ///< whether one does
  unsigned runs[words];                          ///< bit per row: a row block starts
  std::int64_t first_row_block[words];           ///< index of the first row block of a word
  unsigned classes[result_words::classes];       ///< segments per length class
  unsigned next_segment[result_words::classes];  ///< index of the next segment
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
__device__ void write_row_segments(const analysis_job& s, row_span& span, int row,
                                   std::int64_t first) {
  const int length = span.length(row), most = share_terms(s);
  const int shares = (length - 1) / most + 1;
  const int last = length - (shares - 1) * most;
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
    share.nonzero = span.offsets[row] + k * most;
    share.terms = is_last ? last : most;
    if (shares > 1) {
      share.rows = ~(carry_out + k);
      s.handed[carry_out + k] = {carry_out, shares};
    }
    if (is_last) place = atomicAdd(span.next_segment + class_of(s, last), 1u);
    s.warp_pieces[place++] = share;
  }
}

/// Picks the hub columns; of those with the least use, as many as have room.
__device__ void pick_hub_columns(const analysis_job& s, unsigned blocks) {
  constexpr int in_block = picked_columns, own = in_block / cut_threads;
  constexpr int words = in_block / static_cast<int>(warp), own_words = words / own;
  static_assert(words == warp);
  __shared__ unsigned above[words], ties[words];  // one bit per column
  __shared__ unsigned first_place[words];
  const auto least = static_cast<unsigned>(__ldcg(counter(s, result_words::min_use)));
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
      const unsigned bin = ::min(uses[k], result_words::max_uses);
      const unsigned is_above = __ballot_sync(whole_warp, bin > least);
      const unsigned is_tie = __ballot_sync(whole_warp, bin == least && bin > 0);
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

__device__ void cut_for_warps(const analysis_job& s, std::int64_t block, std::int64_t blocks) {
  __shared__ row_span span;
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t first = block * hub_span; first < s.rows; first += blocks * hub_span) {
    const int rows = static_cast<int>(::min(std::int64_t{hub_span}, s.rows - first));
    if (thread < static_cast<int>(result_words::classes)) span.classes[thread] = 0;
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
    if (thread < static_cast<int>(result_words::classes)) {
      const unsigned own = span.classes[thread];
      unsigned before = 0;
      if (own > 0) before = atomicAdd(s.classes + result_words::classes + thread, own);
#pragma unroll
      for (int c = 0; c < static_cast<int>(result_words::classes); ++c) {
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

__global__ void __launch_bounds__(cut_threads) pick_and_cut(const analysis_job s) {
  wait_for_launch_before();
  let_launch_after_start();
  if (!are_hub_columns(s)) return;
  const unsigned pick = picking_blocks(s.column_count);
  if (blockIdx.x < pick) {
    pick_hub_columns(s, pick);
  } else {
    cut_for_warps(s, blockIdx.x - pick, gridDim.x - pick);
  }
}

}  // namespace

analysis_kernel* hub_kernel() { return &pick_and_cut; }

}  // namespace tally::backends::cuda
