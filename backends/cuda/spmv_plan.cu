// A look at a matrix, before any product: is it whole, how long are its rows, where do tiles start.
#include "backends/backend.hpp"
#include "backends/cuda/kernel.cuh"
#include "backends/cuda/spmv_plan.hpp"
#include "backends/cuda/spmv_shape.hpp"
#include "backends/row_order.hpp"

#include <limits>

namespace tally::backends::cuda {
namespace {

__device__ inline std::int64_t first_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t all_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

/// The type is atomicMax's and atomicAdd's name for std::uint64_t.
__device__ inline unsigned long long* counter(const csr_survey& s, unsigned word) {
  return reinterpret_cast<unsigned long long*>(s.found + word);
}

__device__ inline void report(const csr_survey& s, csr_defect::kind kind, std::int64_t index) {
  const std::uint64_t key =
      static_cast<std::uint64_t>(kind) << survey::index_bits | static_cast<std::uint64_t>(index);
  atomicMax(counter(s, survey::defect), ~key);
}

__global__ void __launch_bounds__(256) find_first_defect(const csr_survey s) {
  using kind = csr_defect::kind;
  wait_for_launch_before();
  const auto offset = [&](std::int64_t i) { return s.offsets[static_cast<std::size_t>(i)]; };
  if (first_index() == 0) {
    if (offset(0) != 0) report(s, kind::first_offset, 0);
    if (offset(s.rows) != s.nonzeros) report(s, kind::last_offset, s.rows);
  }
  for (std::int64_t i = first_index(); i < s.rows; i += all_threads()) {
    if (offset(i + 1) < offset(i)) {
      report(s, kind::decreasing_offset, i);
      break;
    }
  }
  for (std::int64_t i = first_index(); i < s.nonzeros; i += all_threads()) {
    // A negative one is a large one too.
    const std::int64_t column = s.columns[static_cast<std::size_t>(i)];
    if (static_cast<std::uint64_t>(column) >= static_cast<std::uint64_t>(s.column_count)) {
      report(s, kind::column, i);
      break;
    }
  }
}

__device__ inline unsigned long long sum_of_warp(unsigned long long value) {
#pragma unroll
  for (unsigned d = 1; d < warp; d *= 2) value += __shfl_xor_sync(whole_warp, value, d);
  return value;
}

/// A row writes the starts of the tiles between where it and the row before start.
__global__ void __launch_bounds__(256) analyse_rows(const csr_survey s) {
  wait_for_launch_before();
  unsigned long long longest = 0, empty = 0, long_rows = 0;
  for (std::int64_t row = first_index(); row <= s.rows; row += all_threads()) {
    const std::int64_t start = s.offsets[static_cast<std::size_t>(row)];
    const std::int64_t before = row > 0 ? s.offsets[static_cast<std::size_t>(row) - 1] : 0;
    const std::int64_t length = start - before;
    const std::int64_t first = row > 0 ? (before + row - 1) / tile_size + 1 : 0;
    const std::int64_t last = row < s.rows ? (start + row) / tile_size : s.tiles;
    const tile_start mine = {row, start, length > split_row ? before : start};
    for (std::int64_t tile = first; tile <= last; ++tile) s.starts[tile] = mine;
    if (row == 0) continue;
    longest =
        static_cast<std::uint64_t>(length) > longest ? static_cast<std::uint64_t>(length) : longest;
    empty += length == 0;
    long_rows += length > static_cast<std::int64_t>(row_order::short_row);
  }
#pragma unroll
  for (unsigned d = 1; d < warp; d *= 2) {
    const unsigned long long other = __shfl_xor_sync(whole_warp, longest, d);
    longest = other > longest ? other : longest;
  }
  empty = sum_of_warp(empty);
  long_rows = sum_of_warp(long_rows);
  if (threadIdx.x % warp == 0) {
    if (longest > 0) atomicMax(counter(s, survey::longest), longest);
    if (empty > 0) atomicAdd(counter(s, survey::empty), empty);
    if (long_rows > 0) atomicAdd(counter(s, survey::long_rows), long_rows);
  }
}

}  // namespace

survey_kernel* defect_kernel() { return &find_first_defect; }
survey_kernel* analysis_kernel() { return &analyse_rows; }

}  // namespace tally::backends::cuda
