// These kernels look at a matrix before any product: they find out whether it is whole, how long
// its rows are, and what pieces it is cut into.
#include "backends/cuda/spmv/shape.hpp"
#include "backends/cuda/spmv/survey.cuh"
#include "src/core/order/row_order.hpp"
#include "src/core/table.hpp"

#include <tally/order.hpp>

namespace tally::backends::cuda {
namespace {

__device__ inline void report(const csr_survey& s, csr_defect::kind kind, std::int64_t index) {
  const std::uint64_t key =
      static_cast<std::uint64_t>(kind) << survey::index_bits | static_cast<std::uint64_t>(index);
  atomicMax(counter(s, survey::defect), ~key);
}

/// Says whether something is wrong with a row that may lie anywhere.
__device__ inline bool is_defective(const csr_survey& s, std::int64_t row) {
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

__global__ void __launch_bounds__(256) find_first_defect(const csr_survey s) {
  using kind = csr_defect::kind;
  wait_for_launch_before();
  if (s.has_ends) {
    for (std::int64_t i = first_index(); i < s.rows; i += all_threads()) {
      if (is_defective(s, i)) return report(s, kind::late_row, i);
    }
    return;
  }
  if (first_index() == 0) {
    if (offset(s, 0) != 0) report(s, kind::first_offset, 0);
    if (offset(s, s.rows) != s.nonzeros) report(s, kind::last_offset, s.rows);
  }
  for (std::int64_t i = first_index(); i < s.rows; i += all_threads()) {
    if (offset(s, i + 1) < offset(s, i)) {
      report(s, kind::decreasing_offset, i);
      break;
    }
  }
  std::int64_t first = s.nonzeros;  // the first wrong column that this thread meets
  for_each_term(s, [&](std::int64_t i, std::int64_t column) {
    // A negative column is a large one too.
    const bool is_wrong =
        static_cast<std::uint64_t>(column) >= static_cast<std::uint64_t>(s.column_count);
    if (is_wrong && i < first) first = i;
  });
  if (first < s.nonzeros) report(s, kind::column, first);
}

__device__ inline unsigned long long sum_of_warp(unsigned long long value) {
#pragma unroll
  for (unsigned d = 1; d < warp; d *= 2) value += __shfl_xor_sync(whole_warp, value, d);
  return value;
}

__device__ inline unsigned long long most_of_warp(unsigned long long value) {
#pragma unroll
  for (unsigned d = 1; d < warp; d *= 2) {
    const unsigned long long other = __shfl_xor_sync(whole_warp, value, d);
    value = other > value ? other : value;
  }
  return value;
}

/// Says what a row is to the pieces, whose runs are so long.
template <int run>
struct row_role {
  __device__ row_role(const csr_survey& s, std::int64_t row)
      : start(offset(s, row)), length(offset(s, row + 1) - start) {
    constexpr auto short_row = static_cast<std::int64_t>(row_order::short_row);
    is_long = length > short_row;
    if (is_long) {
      const std::int64_t terms = static_cast<std::int64_t>(order::chunk) << s.share_shift;
      shares = (length + terms - 1) / terms;
    } else if (row % run_span == 0) {
      starts_run = true;
    } else {
      const std::int64_t before = offset(s, row - 1);
      starts_run = start - before > short_row || (start + row) / run != (before + row - 1) / run;
    }
  }

  std::int64_t start;
  std::int64_t length;
  std::int64_t shares = 0;
  bool is_long;
  bool starts_run = false;
};

template <int run>
__global__ void __launch_bounds__(256) analyse_rows(const csr_survey s) {
  wait_for_launch_before();
  unsigned long long longest = 0, tile_terms = 0, count[survey::runs + 1] = {};
  for (std::int64_t row = first_index(); row < s.rows; row += all_threads()) {
    const row_role<run> role(s, row);
    const auto length = static_cast<std::uint64_t>(role.length);
    longest = length > longest ? length : longest;
    if (row % row_tile == 0) {
      const std::int64_t end = row + row_tile < s.rows ? row + row_tile : s.rows;
      const auto terms = static_cast<std::uint64_t>(offset(s, end) - role.start);
      tile_terms = terms > tile_terms ? terms : tile_terms;
    }
    count[survey::empty] += role.length == 0;
    count[survey::long_rows] += role.is_long;
    count[survey::shares] += role.shares;
    count[survey::split_rows] += role.shares > 1;
    count[survey::handovers] += role.shares > 1 ? role.shares : 0;
    count[survey::runs] += role.starts_run;
  }
  // Blocks add to the same words, so each does it once for each word.
  __shared__ unsigned long long of_block[survey::words];
  if (threadIdx.x < survey::words) of_block[threadIdx.x] = 0;
  __syncthreads();
  const bool tells = threadIdx.x % warp == 0;
  longest = most_of_warp(longest);
  if (tells) atomicMax(of_block + survey::longest, longest);
  tile_terms = most_of_warp(tile_terms);
  if (tells) atomicMax(of_block + survey::tile_terms, tile_terms);
#pragma unroll
  for (unsigned word = survey::empty; word <= survey::runs; ++word) {
    const unsigned long long sum = sum_of_warp(count[word]);
    if (tells && sum > 0) atomicAdd(of_block + word, sum);
  }
  __syncthreads();
  const unsigned word = threadIdx.x;
  if (word >= survey::words || of_block[word] == 0) return;
  if (word == survey::longest || word == survey::tile_terms) {
    atomicMax(counter(s, word), of_block[word]);
  } else {
    atomicAdd(counter(s, word), of_block[word]);
  }
}

/// Writes the pieces. Those of a span of rows are adjacent, and in the rows' order.
template <int run_length>
__global__ void __launch_bounds__(256) write_pieces(const csr_survey s) {
  constexpr int words = run_span / static_cast<int>(warp);
  __shared__ unsigned starts[words];  // a bit for each row says whether a run starts there
  __shared__ unsigned ends[words];    // a bit says whether a run that starts before ends there
  __shared__ unsigned long long first_run;
  wait_for_launch_before();
  const auto bits_below = [](unsigned bits, int bit) {
    return __popc(static_cast<int>(bits & ((1u << bit) - 1)));
  };
  for (std::int64_t span = std::int64_t{blockIdx.x} * run_span; span < s.rows;
       span += std::int64_t{gridDim.x} * run_span) {
    for (int i = static_cast<int>(threadIdx.x); i < run_span; i += static_cast<int>(blockDim.x)) {
      const std::int64_t row = span + i;
      bool starts_run = false, is_long = row >= s.rows;
      if (row < s.rows) {
        const row_role<run_length> role(s, row);
        starts_run = role.starts_run;
        is_long = role.is_long;
        if (is_long) {
          const auto shares = static_cast<unsigned long long>(role.shares);
          const auto first =
              static_cast<std::int64_t>(atomicAdd(counter(s, survey::shares), shares));
          const std::int64_t handover =
              shares > 1
                  ? static_cast<std::int64_t>(atomicAdd(counter(s, survey::handovers), shares))
                  : 0;
          const std::int64_t terms = static_cast<std::int64_t>(order::chunk) << s.share_shift;
          for (std::int64_t k = 0; k < role.shares; ++k) {
            const std::int64_t left = role.length - k * terms;
            const bool is_last = k == role.shares - 1;
            s.pieces[first + k] = {row,
                                   role.start + k * terms,
                                   0,
                                   static_cast<std::int32_t>(left < terms ? left : terms),
                                   static_cast<std::int32_t>(handover + k),
                                   is_last ? static_cast<std::int32_t>(k) : -1};
          }
        }
      }
      const unsigned start_bits = __ballot_sync(whole_warp, starts_run);
      const unsigned end_bits = __ballot_sync(whole_warp, starts_run || is_long);
      if (threadIdx.x % warp == 0) {
        starts[i / static_cast<int>(warp)] = start_bits;
        ends[i / static_cast<int>(warp)] = end_bits;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned long long runs = 0;
      for (const unsigned bits : starts) {
        runs += static_cast<unsigned>(__popc(static_cast<int>(bits)));
      }
      first_run = atomicAdd(counter(s, survey::runs), runs);
    }
    __syncthreads();
    std::int64_t run = s.shares + static_cast<std::int64_t>(first_run);
    int counted = 0;  // the starts' words whose runs `run` counts already
    for (int i = static_cast<int>(threadIdx.x); i < run_span; i += static_cast<int>(blockDim.x)) {
      const int w = i / static_cast<int>(warp), bit = i % static_cast<int>(warp);
      for (; counted < w; ++counted) run += __popc(static_cast<int>(starts[counted]));
      if ((starts[w] >> bit & 1) == 0) continue;
      int last = w;
      unsigned after = ends[w] & ~((2u << bit) - 1);
      while (after == 0 && ++last < words) after = ends[last];
      const int end = after == 0
                          ? run_span
                          : last * static_cast<int>(warp) + __ffs(static_cast<int>(after)) - 1;
      const std::int64_t row = span + i, start = offset(s, row);
      s.pieces[run + bits_below(starts[w], bit)] = {
          row, start, end - i, static_cast<std::int32_t>(offset(s, span + end) - start), 0, 0};
    }
    __syncthreads();
  }
}

__global__ void tell_survey(const csr_survey s) {
  wait_for_launch_before();
  survey_words found;
  for (unsigned word = 0; word < survey::words; ++word) {
    found.of[word] = s.found[word];
    s.found[word] = 0;
  }
  deliver(found, s.tag, s.result);
}

}  // namespace

survey_kernel* defect_kernel() { return &find_first_defect; }
survey_kernel* analysis_kernel(bool of_warps) {
  return of_warps ? &analyse_rows<hot_run_size> : &analyse_rows<run_size>;
}
survey_kernel* piece_kernel(bool of_warps) {
  return of_warps ? &write_pieces<hot_run_size> : &write_pieces<run_size>;
}
survey_kernel* tell_kernel() { return &tell_survey; }

}  // namespace tally::backends::cuda
