// Rows in a band along the diagonal. A block has adjacent rows, 8 threads each, and the part of x
// in reach in shared memory. It reads differences, no columns.
//
// Promise: y has the bits of the row order: each of a row's 8 threads adds to a lane in order. If
// offsets have changed since the plan, no index is out of bounds.
#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/device/fold.cuh"
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/common/result.cuh"
#include "backends/cuda/spmv/common/shared_load.cuh"
#include "backends/cuda/spmv/common/terms.cuh"
#include "backends/cuda/spmv/method.hpp"
#include "backends/cuda/spmv/shape.hpp"

namespace tally::backends::cuda {
namespace {

struct band_rows_job {
  spmv_job product;
  std::int32_t furthest = 0;  ///< largest distance from the diagonal
};

/// Threads and rows per block (tuning/spmv.md: band_rows_per_block).
constexpr unsigned band_threads_per_block = 512;
constexpr unsigned band_rows_per_block = 256;

/// Threads per row.
constexpr int lanes = static_cast<int>(row_order::lanes);

TALLY_HOST_DEVICE constexpr std::int32_t window_of(std::int32_t furthest) {
  return static_cast<std::int32_t>(band_rows_per_block) + 2 * furthest;
}

template <class T>
__global__ void __launch_bounds__(band_threads_per_block)
    spmv_band_rows(const __grid_constant__ band_rows_job job) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ int x_shift;  // index in `memory` of x on the first row's diagonal
  const spmv_job& product = job.product;
  const std::int64_t first = std::int64_t{blockIdx.x} * band_rows_per_block;
  if (threadIdx.x == 0) barrier.expect(1);
  wait_for_launch_before();
  let_launch_after_start();
  if (brings()) {
    const auto in_x = [&](std::int64_t at) {
      return ::max(::min(at, product.column_count), std::int64_t{0});
    };
    const std::int64_t brought =
        bring(barrier, memory, static_cast<const T*>(product.x.data), product.column_count,
              in_x(first - job.furthest), in_x(first + band_rows_per_block + job.furthest));
    if (threadIdx.x == 0) x_shift = static_cast<int>(first - brought);
  }
  __syncthreads();
  const unsigned x = shared_address(memory);
  const int thread = static_cast<int>(threadIdx.x) % lanes;
  // The window begins up to a load's elements late.
  const auto last_index =
      static_cast<unsigned>(window_of(job.furthest) + 16 / static_cast<int>(sizeof(T)) - 1);
  bool is_there = false;
#pragma unroll 1
  for (unsigned in_block = threadIdx.x / lanes; in_block < band_rows_per_block;
       in_block += band_threads_per_block / lanes) {
    const std::int64_t row = first + in_block;
    std::int64_t start = 0;
    int count = 0;
    if (row < product.rows) {
      start = product.offset(row);
      count = static_cast<int>(product.offset(row + 1) - start);
    }
    const std::int16_t* differences = product.differences + start + thread;
    const T* values = static_cast<const T*>(product.values.data) + start + thread;
    const int own = static_cast<int>(in_block) + x_shift;
    dot_sum<T> sum;
    constexpr int in_flight = 4;
#pragma unroll 1
    for (int left = count - thread; left + thread > 0; left -= in_flight * lanes) {
      std::int16_t difference[in_flight] = {};
      T value[in_flight] = {}, element[in_flight] = {};
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        load_if(k * lanes < left, differences + k * lanes, difference[k]);
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) load_if(k * lanes < left, values + k * lanes, value[k]);
      if (!is_there) barrier.wait();
      is_there = true;
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        const unsigned place = ::min(static_cast<unsigned>(own + difference[k]), last_index);
        load_shared_if(k * lanes < left, x + place * static_cast<unsigned>(sizeof(T)), element[k]);
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (k * lanes < left) sum = sum + term_of<T, T, T>(value[k], element[k]);
      }
      differences += in_flight * lanes;
      values += in_flight * lanes;
    }
    sum = fold_across_threads<lanes>(sum);
    if (thread == 0 && row < product.rows) {
      write_row<T>(product, row, finish_parts(sum, conjugate::none));
    }
  }
  if (!is_there) barrier.wait();  // no block ends during a copy
}

/// Does what write_deltas (tile_columns.cu) does for row tiles, where these are impossible: finds
/// the largest distance from the diagonal, counts adjacent columns, and writes differences. May
/// stop at a distance beyond 16 bits.
template <class Column, class Offset>
__global__ void __launch_bounds__(256) measure_band(const analysis_job s) {
  wait_for_launch_before();
  const auto* const columns = static_cast<const Column*>(s.columns.data);
  const auto* const offsets = static_cast<const Offset*>(s.offsets.data);
  const auto offset_of = [&](std::int64_t row) { return offsets[::min(row, s.rows)]; };
  const int thread = static_cast<int>(threadIdx.x) % lanes;
  constexpr int rows_per_warp = static_cast<int>(warp) / lanes;
  const std::int64_t apart = all_threads() / lanes;
  std::uint32_t furthest = 0, next_to = 0;
  std::int64_t row = first_index() / lanes;
  std::int64_t begin = offset_of(row), end = offset_of(row + 1);
  for (std::int64_t first = row / rows_per_warp * rows_per_warp; first < s.rows; first += apart) {
    // Meanwhile load the next offsets, and whether a far column is known.
    const Offset next_begin = offset_of(row + apart), next_end = offset_of(row + apart + 1);
    const std::uint64_t known = __ldcg(counter(s, result_words::furthest));
    constexpr int in_flight = 8;
    std::int64_t before = -2;  // last column of the round before
    for (std::int64_t at = begin; __any_sync(whole_warp, at < end); at += in_flight * lanes) {
      Column some[in_flight];
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        const std::int64_t i = at + k * lanes + thread;
        some[k] = i < end ? columns[i] : 0;
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        const std::int64_t i = at + k * lanes + thread;
        const std::int64_t column = some[k];
        const std::int64_t beside = __shfl_up_sync(whole_warp, column, 1, lanes);
        const bool is_next = (thread > 0 ? beside : before) + 1 == column;
        before = __shfl_sync(whole_warp, column, lanes - 1, lanes);
        if (i >= end) continue;
        const std::int64_t difference = column - row;
        furthest = ::max(furthest, static_cast<std::uint32_t>(::abs(difference)));
        if (s.differences != nullptr) s.differences[i] = static_cast<std::int16_t>(difference);
        next_to += is_next;
      }
    }
    if (__any_sync(whole_warp, furthest > INT16_MAX || known > INT16_MAX)) break;
    row += apart;
    begin = next_begin;
    end = next_end;
  }
  // Few warps find a larger distance.
  const unsigned long long all = largest_of_warp(furthest);
  if (threadIdx.x % warp == 0 && all > __ldcg(counter(s, result_words::furthest))) {
    atomicMax(counter(s, result_words::furthest), all);
  }
  add_of_block(s, result_words::adjacent, next_to);
  end_analysis_block(s);
}

/// Returns the dynamic shared memory of a block.
std::size_t bytes_of(type element, std::int64_t furthest) {
  return with_special(element, [&]<class T>() {
    return bytes_to_bring<T>(
        static_cast<std::size_t>(window_of(static_cast<std::int32_t>(furthest))));
  });
}

class rows_in_band : public method {
 public:
  explicit rows_in_band(const column_differences& differences) : differences_(differences) {}

  std::string describe(const std::string&) const override {
    return "band: each row in " + std::to_string(lanes) +
           " threads, and x in shared memory, since columns are at most " +
           std::to_string(differences_.furthest) + " from the diagonal" + differences_.describe();
  }
  bool multiply(const spmv_call& call) const override {
    if (!call.is_plain()) return false;
    band_rows_job job{call.job, static_cast<std::int32_t>(differences_.furthest)};
    job.product.differences = differences_.data;
    return with_special(call.element(), [&]<class T>() {
      return call.launch_if_fits(&spmv_band_rows<T>,
                                 {.blocks = blocks_of(call.product.a.rows, band_rows_per_block),
                                  .threads = band_threads_per_block,
                                  .shared_bytes = bytes_of(call.element(), differences_.furthest)},
                                 job);
    });
  }

 private:
  column_differences differences_;
};

/// Returns all differences; none if one does not fit in 16 bits.
column_differences measured(search& s) {
  column_differences made = allocate_differences(s);
  if (made.data == nullptr) return made;
  analysis_job job = s.job;
  job.differences = made.data;
  const analysis_results found =
      s.run({{with_index_types(job, []<class C, class O>() { return &measure_band<C, O>; }),
              items_shape(row_order::lanes * s.matrix.rows), job}});
  made.furthest = static_cast<std::int64_t>(found[result_words::furthest]);
  made.adjacent = found[result_words::adjacent];
  return made;
}

}  // namespace

std::unique_ptr<const method> find_band(search& s) {
  const csr_operand& a = s.matrix;
  const type element = a.values.element;
  if (!s.knows_columns || !is_special(element) || !may_have_band(a, s.longest()) ||
      s.exceeds_16_bits()) {
    return nullptr;
  }
  const bool known = tile_differences(s).data != nullptr;
  const column_differences differences = known ? tile_differences(s) : measured(s);
  if (differences.data == nullptr) return nullptr;
  if (differences.furthest <= INT16_MAX) {
    // One block per SM still pays (tuning/spmv.md: may_have_band).
    constexpr std::size_t max_bytes = std::size_t{200} << 10;
    const std::size_t bytes = bytes_of(element, differences.furthest);
    if (bytes <= max_bytes && s.has_room(bytes) &&
        has_band(a, ceil_div(a.rows, band_rows_per_block) * bytes, differences.adjacent)) {
      return std::make_unique<rows_in_band>(differences);
    }
  }
  if (!known) s.memory().give_back(differences.data);
  return nullptr;
}

}  // namespace tally::backends::cuda
