// Short rows near the diagonal. A block has a tile of adjacent rows, one thread each, and copies
// the part of x in reach to shared memory, with values and 16-bit differences; nothing is gathered
// from memory.
//
// Promise: y has the bits of the row order: a thread adds to each lane of its row in order. If
// offsets have changed since the plan, no index is out of bounds.
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/device/fold.cuh"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/common/result.cuh"
#include "backends/cuda/spmv/common/shared_load.cuh"
#include "backends/cuda/spmv/common/terms.cuh"
#include "backends/cuda/spmv/method.hpp"
#include "backends/cuda/spmv/row_tiles/tile_columns.hpp"
#include "backends/cuda/spmv/shape.hpp"

namespace tally::backends::cuda {
namespace {

struct near_rows_job {
  spmv_job product;
  difference_range columns;
};

TALLY_HOST_DEVICE constexpr std::int32_t window_of(const difference_range& columns) {
  return static_cast<std::int32_t>(rows_per_row_tile) + columns.most - columns.least;
}

/// Minimum blocks per SM, which bounds registers.
template <class T>
constexpr unsigned near_rows_blocks_per_sm = sizeof(T) == 8 ? 10 : 16;

template <class T>
__global__ void __launch_bounds__(rows_per_row_tile, near_rows_blocks_per_sm<T>)
    spmv_near_rows(const __grid_constant__ near_rows_job job) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ std::uint32_t begin;  // first term, lower 32 bits
  __shared__ int terms;
  __shared__ int value_shift, delta_shift, x_shift;
  const spmv_job& product = job.product;
  char* const bytes = reinterpret_cast<char*>(memory);
  T* const values = reinterpret_cast<T*>(bytes);
  T* const window = reinterpret_cast<T*>(bytes + bytes_to_bring<T>(product.tile_terms));
  const std::int32_t reached = window_of(job.columns);
  auto* const differences =
      reinterpret_cast<std::int16_t*>(reinterpret_cast<char*>(window) + bytes_to_bring<T>(reached));
  const std::int64_t row = std::int64_t{blockIdx.x} * rows_per_row_tile + threadIdx.x;
  const auto bounded = [&](std::int64_t i) { return ::min(i, product.rows); };
  const auto low = [&](std::int64_t i) {
    return static_cast<std::uint32_t>(product.offsets[static_cast<std::size_t>(bounded(i))]);
  };
  // Not written by the launch before: no need to wait.
  const std::uint32_t row_begin = low(row), row_end = low(row + 1);
  if (brings()) {
    const std::int64_t first = row - threadIdx.x;
    const std::int64_t tile_begin = product.offset(bounded(first));
    const std::int64_t next = product.offset(bounded(first + rows_per_row_tile));
    const int count = static_cast<int>(
        ::max(::min(next - tile_begin, std::int64_t{product.tile_terms}), std::int64_t{0}));
    const std::int64_t tile_end = tile_begin + count;
    const auto in_x = [&](std::int64_t at) {
      return ::max(::min(at, product.column_count), std::int64_t{0});
    };
    const std::int64_t x_begin = in_x(first + job.columns.least);
    const std::int64_t x_end = in_x(first + rows_per_row_tile + job.columns.most);
    if (threadIdx.x == 0) barrier.expect(3);
    const std::int64_t first_difference =
        bring(barrier, differences, product.differences, product.nonzeros, tile_begin, tile_end);
    wait_for_launch_before();
    const std::int64_t first_value =
        bring(barrier, values, static_cast<const T*>(product.values.data), product.nonzeros,
              tile_begin, tile_end);
    const std::int64_t first_of_x = bring(barrier, window, static_cast<const T*>(product.x.data),
                                          product.column_count, x_begin, x_end);
    if (threadIdx.x == 0) {
      begin = static_cast<std::uint32_t>(tile_begin);
      terms = count;
      value_shift = static_cast<int>(tile_begin - first_value);
      delta_shift = static_cast<int>(tile_begin - first_difference);
      x_shift = static_cast<int>(first - first_of_x);
    }
  }
  wait_for_launch_before();
  let_launch_after_start();
  __syncthreads();
  const auto in_tile = [](std::uint32_t at) {
    return static_cast<int>(::min(at - begin, static_cast<std::uint32_t>(terms)));
  };
  const int start = in_tile(row_begin), count = in_tile(row_end) - start;
  const unsigned value = shared_address(values + start + value_shift);
  const unsigned difference = shared_address(differences + start + delta_shift);
  const unsigned x = shared_address(window);
  const int own = static_cast<int>(threadIdx.x) + x_shift;
  // The window begins up to a load's elements late.
  const auto last_index = static_cast<unsigned>(reached + 16 / static_cast<int>(sizeof(T)) - 1);
  barrier.wait();

  constexpr int lanes = static_cast<int>(row_order::lanes);
  dot_sum<T> sums[lanes];
#pragma unroll 1
  for (int i = 0; i < count; i += lanes) {
    constexpr int at_once = 4;
#pragma unroll
    for (int first = 0; first < lanes; first += at_once) {
      std::int16_t apart[at_once] = {};
      T loaded[at_once] = {}, element[at_once] = {};
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int at = i + first + k;
        load_shared_if(at < count, difference + at * sizeof apart[k], apart[k]);
        load_shared_if(at < count, value + at * sizeof loaded[k], loaded[k]);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const unsigned place = ::min(static_cast<unsigned>(own + apart[k]), last_index);
        load_shared_if(i + first + k < count, x + place * sizeof element[k], element[k]);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        dot_sum<T>& sum = sums[first + k];
        if (i + first + k < count) sum = sum + term_of<T, T, T>(loaded[k], element[k]);
      }
    }
  }
  if (row < product.rows) {
    write_row<T>(product, row, finish_parts(fold_within_thread(sums), conjugate::none));
  }
}

class rows_near_diagonal : public method {
 public:
  rows_near_diagonal(const search& s, const column_differences& differences)
      : terms_(s.found[result_words::tile_terms]), differences_(differences) {}

  std::string describe(const std::string&) const override {
    return differences_.describe_tiles(true);
  }
  bool multiply(const spmv_call& call) const override {
    if (!call.is_plain()) return false;
    near_rows_job job{call.job, differences_.range};
    job.product.tile_terms = static_cast<std::int32_t>(terms_);
    job.product.differences = differences_.data;
    return with_special(call.element(), [&]<class T>() {
      const auto window = static_cast<std::size_t>(window_of(differences_.range));
      return call.launch_if_fits(
          &spmv_near_rows<T>,
          {.blocks = blocks_of(call.product.a.rows, rows_per_row_tile),
           .threads = rows_per_row_tile,
           .shared_bytes = bytes_to_bring<T>(terms_) + bytes_to_bring<T>(window) +
                           bytes_to_bring<std::int16_t>(terms_)},
          job);
    });
  }

 private:
  std::size_t terms_;
  column_differences differences_;
};

}  // namespace

std::unique_ptr<const method> find_near_rows(search& s) {
  const column_differences& differences = tile_differences(s);
  if (differences.data == nullptr || !are_near_rows(differences.range.width())) return nullptr;
  return std::make_unique<rows_near_diagonal>(s, differences);
}

}  // namespace tally::backends::cuda
