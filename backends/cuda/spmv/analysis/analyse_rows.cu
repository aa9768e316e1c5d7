// Analysis kernels for rows: validity, lengths, partition into pieces.
#include "backends/backend.hpp"
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/shape.hpp"

#include <tally/numerics/order.hpp>

namespace tally::backends::cuda {
namespace {

__device__ inline bool is_defective(const analysis_job& s, std::int64_t row) {
  const std::int64_t begin = offset(s, row), end = s.ends[static_cast<std::size_t>(row)];
  if (begin < 0 || end < begin || end > s.nonzeros) return true;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t column = s.columns[static_cast<std::size_t>(i)];
    if (static_cast<std::uint64_t>(column) >= static_cast<std::uint64_t>(s.column_count)) {
      return true;
    }
  }
  return false;
}

__global__ void __launch_bounds__(256) find_defective_row(const analysis_job s) {
  wait_for_launch_before();
  for (std::int64_t i = first_index(); i < s.rows; i += all_threads()) {
    if (is_defective(s, i)) return report(s, csr_defect::kind::late_row, i);
  }
}

__device__ inline void check_ends_of_offsets(const analysis_job& s) {
  using kind = csr_defect::kind;
  if (offset(s, 0) != 0) report(s, kind::first_offset, 0);
  if (offset(s, s.rows) != s.nonzeros) report(s, kind::last_offset, s.rows);
}

constexpr int span_words = analysis_span / static_cast<int>(warp);

/// Rows of one step of a block.
template <class Offset>
struct row_span {
  Offset offsets[analysis_span + 1];
  unsigned starts[span_words];        ///< bit per row: a row block starts
  unsigned ends[span_words];          ///< bit per row: an earlier row block ends
  int row_blocks_before[span_words];  ///< row blocks in earlier words
  unsigned shares, carry_outs;        ///< of long rows: counted, later those with an index
  unsigned long long first_segment, first_carry_out, first_row_block;
};

/// Returns a row's length, 0 if offsets are wrong.
template <class Offset>
__device__ Offset length_between(const analysis_job& s, Offset start, Offset end) {
  return 0 <= start && start <= end && end <= s.nonzeros ? end - start : 0;
}
template <class Offset>
__device__ std::int64_t length_of(const analysis_job& s, const row_span<Offset>& span, int i) {
  return length_between(s, span.offsets[i], span.offsets[i + 1]);
}

struct row_counts {
  std::int64_t longest = 0, tile_terms = 0;
  unsigned empty = 0, long_rows = 0, split_rows = 0;
};

/// Examines the rows of a span, and finds its row blocks.
template <class Offset>
__device__ void examine_rows(const analysis_job& s, std::int64_t first, int rows,
                             row_span<Offset>& span, row_counts& counts) {
  constexpr auto short_row = static_cast<Offset>(row_order::short_row);
  // Lower 32 bits suffice to compare adjacent rows.
  const auto row_block_of = [&](Offset start, int i) {
    return (static_cast<std::uint32_t>(start) + static_cast<std::uint32_t>(first) +
            static_cast<std::uint32_t>(i)) /
           row_block_path;
  };
  Offset longest = 0;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < analysis_span; i += analysis_threads) {
    bool starts_row_block = false, is_long = false;
    const Offset start = span.offsets[::min(i, rows)], end = span.offsets[::min(i + 1, rows)];
    Offset before = __shfl_up_sync(whole_warp, start, 1);
    if (threadIdx.x % warp == 0 && i > 0) before = span.offsets[::min(i - 1, rows)];
    if (i < rows) {
      const Offset length = length_between(s, start, end);
      is_long = length > short_row;
      longest = ::max(longest, length);
      counts.empty += length == 0;
      if (is_long) {
        const unsigned shares = shares_of(s, length);
        ++counts.long_rows;
        counts.split_rows += shares > 1;
        atomicAdd(&span.shares, shares);
        if (shares > 1) atomicAdd(&span.carry_outs, shares);
      } else {
        starts_row_block = i == 0 || row_block_of(start, i) != row_block_of(before, i - 1) ||
                           length_between(s, before, start) > short_row;
      }
      if (s.check != defect_check::none && end < start)
        report(s, csr_defect::kind::decreasing_offset, first + i);
      if (i % static_cast<int>(rows_per_row_tile) == 0) {
        const std::int64_t tile_end =
            span.offsets[::min(i + static_cast<int>(rows_per_row_tile), rows)];
        counts.tile_terms = ::max(counts.tile_terms, tile_end - start);
      }
    }
    const unsigned start_bits = __ballot_sync(whole_warp, starts_row_block);
    const unsigned end_bits = __ballot_sync(whole_warp, starts_row_block || is_long || i >= rows);
    if (threadIdx.x % warp == 0) {
      span.starts[i / static_cast<int>(warp)] = start_bits;
      span.ends[i / static_cast<int>(warp)] = end_bits;
    }
  }
  counts.longest = ::max(counts.longest, std::int64_t{longest});
}

/// Numbers the pieces of a span, in a warp.
template <class Offset>
__device__ void number_pieces(const analysis_job& s, row_span<Offset>& span) {
  constexpr int own = span_words / static_cast<int>(warp);
  const int thread = static_cast<int>(threadIdx.x);
  int runs[own], sum = 0;
#pragma unroll
  for (int k = 0; k < own; ++k) {
    runs[k] = __popc(static_cast<int>(span.starts[thread * own + k]));
    sum += runs[k];
  }
  const auto upto = static_cast<int>(sum_upto_thread(static_cast<unsigned>(sum)));
  int before = upto - sum;
#pragma unroll
  for (int k = 0; k < own; ++k) {
    span.row_blocks_before[thread * own + k] = before;
    before += runs[k];
  }
  const auto take = [&](unsigned word, unsigned count) {
    return count == 0 ? 0ull : atomicAdd(counter(s, word), static_cast<unsigned long long>(count));
  };
  if (thread == static_cast<int>(warp) - 1) {
    span.first_row_block = take(result_words::runs, static_cast<unsigned>(upto));
  }
  if (thread == 0) {
    span.first_segment = take(result_words::shares, span.shares);
    span.shares = 0;
  }
  if (thread == 1) {
    span.first_carry_out = take(result_words::carry_outs, span.carry_outs);
    span.carry_outs = 0;
  }
}

/// Writes the segments of a long row, if they have room, contiguous and in front of all numbered
/// ones: so no gap is left before the row blocks.
template <class Offset>
__device__ void write_row_segments(const analysis_job& s, std::int64_t first, int i,
                                   row_span<Offset>& span) {
  const std::int64_t length = length_of(s, span, i);
  const unsigned shares = shares_of(s, length);
  const auto before =
      static_cast<std::int64_t>(span.first_segment + atomicAdd(&span.shares, shares));
  unsigned long long carry_out = 0;
  if (shares > 1) carry_out = span.first_carry_out + atomicAdd(&span.carry_outs, shares);
  const std::int64_t place = s.shares - before - static_cast<std::int64_t>(shares);
  if (place < 0) return;
  const std::int64_t terms = static_cast<std::int64_t>(order::chunk) << s.segment_shift;
  for (unsigned k = 0; k < shares; ++k) {
    const std::int64_t left = length - k * terms;
    spmv_piece share;
    share.row = first + i;
    share.nonzero = span.offsets[i] + k * terms;
    share.rows = -static_cast<std::int32_t>(shares);
    share.terms = static_cast<std::int32_t>(left < terms ? left : terms);
    share.carry_out = static_cast<std::int32_t>(carry_out);
    share.before = static_cast<std::int32_t>(k);
    s.pieces[place + k] = share;
  }
}

/// Writes the row block that starts at row `i`, if it has room, from `pieces + shares` on.
template <class Offset>
__device__ void write_row_block(const analysis_job& s, std::int64_t first, int rows, int i,
                                const row_span<Offset>& span) {
  const int word = i / static_cast<int>(warp), bit = i % static_cast<int>(warp);
  const unsigned below = span.starts[word] & ((1u << bit) - 1);
  const auto place = static_cast<std::int64_t>(span.first_row_block) +
                     span.row_blocks_before[word] + __popc(static_cast<int>(below));
  if (place >= s.runs) return;
  int last = word;
  unsigned after = span.ends[word] & ~((2u << bit) - 1);
  while (after == 0 && ++last < span_words) after = span.ends[last];
  const int end =
      after == 0 ? rows : last * static_cast<int>(warp) + __ffs(static_cast<int>(after)) - 1;
  spmv_piece piece;
  piece.row = first + i;
  piece.nonzero = span.offsets[i];
  piece.rows = end - i;
  piece.terms = static_cast<std::int32_t>(span.offsets[end] - span.offsets[i]);
  s.pieces[s.shares + place] = piece;
}

template <class Offset>
__device__ void write_pieces(const analysis_job& s, std::int64_t first, int rows,
                             row_span<Offset>& span) {
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += analysis_threads) {
    const int word = i / static_cast<int>(warp), bit = i % static_cast<int>(warp);
    if ((span.ends[word] >> bit & 1) == 0) continue;  // inside a row block
    if ((span.starts[word] >> bit & 1) != 0) {
      write_row_block(s, first, rows, i, span);
    } else {
      write_row_segments(s, first, i, span);
    }
  }
}

/// Adds a block's counts to the results, once per word: all blocks add to the same words.
__device__ inline void add_counts(const analysis_job& s, const row_counts& counts) {
  __shared__ unsigned long long of_block[result_words::words];
  const unsigned word = threadIdx.x;
  if (word < result_words::words) of_block[word] = 0;
  __syncthreads();
  const bool tells = threadIdx.x % warp == 0;
  const auto maximum = [&](unsigned to, std::int64_t value) {
    const unsigned long long all = largest_of_warp(static_cast<std::uint64_t>(value));
    if (tells) atomicMax(of_block + to, all);
  };
  const auto sum = [&](unsigned to, unsigned value) {
    const unsigned long long all = sum_of_warp(value);
    if (tells && all > 0) atomicAdd(of_block + to, all);
  };
  maximum(result_words::longest, counts.longest);
  maximum(result_words::tile_terms, counts.tile_terms);
  sum(result_words::empty, counts.empty);
  sum(result_words::long_rows, counts.long_rows);
  sum(result_words::split_rows, counts.split_rows);
  __syncthreads();
  if (word >= result_words::words || of_block[word] == 0) return;
  if (word == result_words::longest || word == result_words::tile_terms) {
    atomicMax(counter(s, word), of_block[word]);
  } else {
    atomicAdd(counter(s, word), of_block[word]);
  }
}

/// Checks, counts and writes pieces in one launch. Those of a span are contiguous, row blocks in
/// order.
template <class Offset>
__global__ void __launch_bounds__(analysis_threads, analysis_blocks_per_sm)
    analyse_matrix(const analysis_job s) {
  __shared__ row_span<Offset> span;
  wait_for_launch_before();
  let_launch_after_start();
  if (s.lists != nullptr && blockIdx.x == 0 && threadIdx.x < row_patterns::max) {
    s.lists[threadIdx.x] = 0;
  }
  // If all blocks are for rows, they check columns, too.
  const unsigned first_block = s.row_blocks < gridDim.x ? s.row_blocks : 0;
  if (s.check != defect_check::none && blockIdx.x >= first_block) {
    const std::int64_t own =
        std::int64_t{blockIdx.x - first_block} * analysis_threads + threadIdx.x;
    const std::int64_t threads = std::int64_t{gridDim.x - first_block} * analysis_threads;
    if (own == 0) check_ends_of_offsets(s);
    if (s.check == defect_check::at_once) check_columns(s, own, threads);
  }
  row_counts counts;
  const auto* const offsets = static_cast<const Offset*>(s.offsets.data);
  for (std::int64_t i = first_index(); !s.counts && i < s.rows; i += all_threads()) {
    if (offsets[i + 1] >= offsets[i]) continue;
    report(s, csr_defect::kind::decreasing_offset, i);
    break;
  }
  for (std::int64_t first = std::int64_t{blockIdx.x} * s.span;
       s.counts && blockIdx.x < s.row_blocks && first < s.rows;
       first += std::int64_t{s.row_blocks} * s.span) {
    const int rows = static_cast<int>(::min(std::int64_t{s.span}, s.rows - first));
    if (threadIdx.x == 0) span.shares = span.carry_outs = 0;
#pragma unroll(analysis_span / analysis_threads)
    for (int i = static_cast<int>(threadIdx.x); i <= rows; i += analysis_threads) {
      span.offsets[i] = offsets[first + i];
    }
    __syncthreads();
    examine_rows(s, first, rows, span, counts);
    __syncthreads();
    if (threadIdx.x < warp) number_pieces(s, span);
    __syncthreads();
    if (s.pieces != nullptr) write_pieces(s, first, rows, span);
    __syncthreads();
  }
  if (s.counts && blockIdx.x < s.row_blocks) add_counts(s, counts);
  end_analysis_block(s);
}

__global__ void publish_results(const analysis_job s) {
  wait_for_launch_before();
  tell(s);
}

}  // namespace

analysis_kernel* defective_row_kernel() { return &find_defective_row; }
analysis_kernel* matrix_kernel(bool wide_offsets) {
  return with_index_type(wide_offsets, []<class O>() { return &analyse_matrix<O>; });
}
analysis_kernel* publish_kernel() { return &publish_results; }

}  // namespace tally::backends::cuda
