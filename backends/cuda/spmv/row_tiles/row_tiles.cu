// Kernels of a plan with many short rows of about equal length: one tile of adjacent rows per
// block, one thread per row, or per two of few terms and one length. Values and columns come to
// shared memory by bulk copies; x, which adjacent rows mostly read side by side, comes from memory.
//
// Promise: a thread owns all lanes of its row, and adds to each in order.
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/device/fold.cuh"
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/common/result.cuh"
#include "backends/cuda/spmv/common/terms.cuh"
#include "backends/cuda/spmv/few_columns/few_columns.hpp"
#include "backends/cuda/spmv/method.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace tally::backends::cuda {

/// Returns the terms of the rows of lower threads; the calling thread's has `count`. Synchronises
/// the block.
__device__ inline int terms_before(int count) {
  constexpr unsigned warps = rows_per_row_tile / warp;
  __shared__ int sums[warps];
  const unsigned thread = threadIdx.x % warp, own = threadIdx.x / warp;
  auto upto = static_cast<int>(sum_upto_thread(static_cast<unsigned>(count)));
  if (thread == warp - 1) sums[own] = upto;
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i + 1 < warps; ++i) {
    if (i < own) upto += sums[i];
  }
  return upto - count;
}

/// Form of the columns that a row tile reads.
enum class column_form : std::uint8_t {
  matrix,       ///< indices of 32 bits
  narrow,       ///< indices of 16 bits
  differences,  ///< delta-encoded: column - row in 16 bits
  patterns,     ///< stencils
};

template <column_form from>
using column_of = std::conditional_t<
    from == column_form::differences, std::int16_t,
    std::conditional_t<from == column_form::narrow, std::uint16_t, std::int32_t>>;

/// Minimum blocks per SM, which bounds registers (tuning/spmv.md).
template <class T, column_form from, int in_flight>
constexpr unsigned row_tile_blocks_per_sm = in_flight > 8                      ? 1
                                            : sizeof(T) == 8                   ? 10
                                            : from == column_form::differences ? 12
                                                                               : 16;

template <class T, column_form from, int in_flight>
__global__ void __launch_bounds__(rows_per_row_tile, (row_tile_blocks_per_sm<T, from, in_flight>))
    spmv_row_tiles(const __grid_constant__ spmv_job job) {
  constexpr bool has_stencils = from == column_form::patterns;
  using Column = column_of<from>;
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ std::uint32_t begin;  // first term, lower 32 bits
  __shared__ int terms;
  __shared__ int value_shift, column_shift;  // of the first term in `values`, in `columns`
  T* const values = reinterpret_cast<T*>(memory);
  Column* const columns = reinterpret_cast<Column*>(reinterpret_cast<char*>(memory) +
                                                    bytes_to_bring<T>(job.tile_terms));
  const std::int64_t row = std::int64_t{blockIdx.x} * rows_per_row_tile + threadIdx.x;
  const bool has_row = row < job.rows;
  const auto bounded = [&](std::int64_t i) {
    return static_cast<std::size_t>(i < job.rows ? i : job.rows);
  };
  const auto offset_of = [&](std::int64_t i) {
    const std::size_t at = bounded(i);
    if (!has_stencils && job.row_terms > 0) return static_cast<std::int64_t>(at) * job.row_terms;
    return job.offsets[at];
  };
  // Not written by the launch before: no need to wait. If offsets have changed all the same, rows
  // and tiles are clamped.
  std::uint32_t row_begin = 0, row_end = 0;  // lower 32 bits
  int pattern = 0;
  if constexpr (has_stencils) {
    pattern = job.patterns.of_row[has_row ? row : job.rows - 1];  // other lists are unwritten
  } else {
    row_begin = static_cast<std::uint32_t>(offset_of(row));
    row_end = static_cast<std::uint32_t>(offset_of(row + 1));
  }
  if (brings()) {
    const std::int64_t first = row - threadIdx.x;
    const auto tile_begin = job.within(offset_of(first));
    const auto next = job.within(offset_of(first + rows_per_row_tile));
    const int count = static_cast<int>(
        ::max(::min(next - tile_begin, std::int64_t{job.tile_terms}), std::int64_t{0}));
    const std::int64_t tile_end = tile_begin + count;
    if (threadIdx.x == 0) barrier.expect(has_stencils ? 1 : 2);
    wait_for_launch_before();
    const std::int64_t first_copied = bring(barrier, values, static_cast<const T*>(job.values.data),
                                            job.nonzeros, tile_begin, tile_end);
    std::int64_t first_of_columns = 0;
    if constexpr (!has_stencils) {
      const void* const all = from == column_form::differences ? job.differences : job.columns.data;
      first_of_columns = bring(barrier, columns, static_cast<const Column*>(all), job.nonzeros,
                               tile_begin, tile_end);
    }
    if (threadIdx.x == 0) {
      begin = static_cast<std::uint32_t>(tile_begin);
      terms = count;
      value_shift = static_cast<int>(tile_begin - first_copied);
      column_shift = static_cast<int>(tile_begin - first_of_columns);
    }
  }
  wait_for_launch_before();
  let_launch_after_start();
  int count = 0;
  const T* value = values;
  const Column* column = columns;
  const std::int32_t* list = nullptr;
  const T* x = static_cast<const T*>(job.x.data);
  if constexpr (has_stencils) {
    if (has_row) count = job.patterns.lengths[pattern];
    list = job.patterns.differences + pattern * job.patterns.stride;
  }
  // If offsets have changed, other rows' differences may lead anywhere.
  const int min_difference = static_cast<int>(-row),
            max_difference = static_cast<int>(job.column_count - 1 - row);
  if constexpr (has_stencils || from == column_form::differences) x += row;
  // From row plus difference the compiler makes four instructions per address.
  ptx::opaque(x), ptx::opaque(list);
  T element[in_flight];
  const auto load = [&](int i) {  // elements of x from term i on
    std::int32_t place[in_flight] = {};
    if constexpr (has_stencils) {
      static_assert(row_patterns::alignment % in_flight == 0);
#pragma unroll
      for (int k = 0; k < in_flight; k += 4) {
        const int4 four = *reinterpret_cast<const int4*>(list + i + k);
        place[k] = four.x;
        place[k + 1] = four.y;
        place[k + 2] = four.z;
        place[k + 3] = four.w;
      }
    } else {
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (i + k < count) place[k] = column[i + k];
        if constexpr (from == column_form::differences) {
          place[k] = ::max(min_difference, ::min(max_difference, place[k]));
        }
      }
    }
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      element[k] = 0;
      load_if(i + k < count, x + place[k], element[k]);
    }
  };
  if constexpr (has_stencils) {
    load(0);
    const int before = terms_before(count);
    value += before + value_shift;
    barrier.wait();
  } else {
    __syncthreads();
    const auto in_tile = [](std::uint32_t at) {
      return static_cast<int>(::min(at - begin, static_cast<std::uint32_t>(terms)));
    };
    const int start = in_tile(row_begin);
    count = in_tile(row_end) - start;
    value += start + value_shift;
    column += start + column_shift;
    barrier.wait();
    load(0);
  }

  dot_sum<T> lanes[row_order::lanes];
  for (int i = 0;;) {
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      dot_sum<T>& lane = lanes[k % row_order::lanes];
      if (i + k < count) lane = lane + term_of<T, T, T>(value[i + k], element[k]);
    }
    i += in_flight;
    if (i >= count) break;
    load(i);
  }
  if (has_row) {
    write_row<T>(job, row, finish_parts(fold_within_thread(lanes), conjugate::none));
  }
}

/// Terms of a row, at most, of rows of one length that threads sum two at a time (tuning/spmv.md:
/// spmv_rows_of_few_terms).
constexpr int few_terms = 4;
constexpr unsigned rows_per_tile_of_few = 2 * rows_per_row_tile;

/// Blocks per SM, which bound registers (the same).
constexpr unsigned blocks_per_sm_of_few = 8;

/// Rows of one length, of few terms, two per thread: all their elements of x are in flight at once.
/// Offsets are not read, so rows are where they were even if offsets have changed.
template <class T, class Column>
__global__ void __launch_bounds__(rows_per_row_tile, blocks_per_sm_of_few)
    spmv_rows_of_few_terms(const __grid_constant__ spmv_job job) {
  constexpr unsigned rows = rows_per_tile_of_few / rows_per_row_tile;  // of a thread
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ int value_shift, column_shift;  // of the first term in `values`, in `columns`
  const int length = job.row_terms;
  T* const values = reinterpret_cast<T*>(memory);
  Column* const columns =
      reinterpret_cast<Column*>(reinterpret_cast<char*>(memory) +
                                bytes_to_bring<T>(static_cast<std::size_t>(rows_per_tile_of_few) *
                                                  static_cast<std::size_t>(length)));
  const std::int64_t first_row = std::int64_t{blockIdx.x} * rows_per_tile_of_few;
  if (brings()) {
    const std::int64_t begin = job.within(first_row * length),
                       end = job.within((first_row + rows_per_tile_of_few) * length);
    if (threadIdx.x == 0) barrier.expect(2);
    wait_for_launch_before();
    const std::int64_t first_value =
        bring(barrier, values, static_cast<const T*>(job.values.data), job.nonzeros, begin, end);
    const std::int64_t first_column = bring(
        barrier, columns, static_cast<const Column*>(job.columns.data), job.nonzeros, begin, end);
    if (threadIdx.x == 0) {
      value_shift = static_cast<int>(begin - first_value);
      column_shift = static_cast<int>(begin - first_column);
    }
  }
  wait_for_launch_before();
  let_launch_after_start();
  __syncthreads();
  barrier.wait();
  const auto row_of = [&](unsigned r) { return first_row + r * rows_per_row_tile + threadIdx.x; };
  const auto start_of = [&](unsigned r) {
    return static_cast<int>(r * rows_per_row_tile + threadIdx.x) * length;
  };
  T element[rows][few_terms];
#pragma unroll
  for (unsigned r = 0; r < rows; ++r) {
    const T* const x = static_cast<const T*>(job.x.data);
    const std::int64_t row = row_of(r);
#pragma unroll
    for (int k = 0; k < few_terms; ++k) {
      const bool wanted = k < length && row < job.rows;
      std::int32_t place = 0;
      if (wanted) place = columns[column_shift + start_of(r) + k];
      element[r][k] = 0;
      load_if(wanted, x + place, element[r][k]);
    }
  }
#pragma unroll
  for (unsigned r = 0; r < rows; ++r) {
    dot_sum<T> lanes[row_order::lanes];
#pragma unroll
    for (int k = 0; k < few_terms; ++k) {
      if (k < length) {
        lanes[k] =
            lanes[k] + term_of<T, T, T>(values[value_shift + start_of(r) + k], element[r][k]);
      }
    }
    const dot_sum<T> sum = fold_within_thread(lanes);
    if (row_of(r) < job.rows) write_row<T>(job, row_of(r), finish_parts(sum, conjugate::none));
  }
}

namespace {

/// Whether 16 elements of x are in flight per thread of a plan's row tile, else 8 (tuning/spmv.md).
constexpr bool has_16_in_flight(std::size_t rows, std::size_t longest) {
  return longest > 8 && rows >= 1 << 18;
}

/// Returns the beginning of the description of a method.
std::string in_tiles(const char* name, bool of_few = false) {
  return name + std::string(of_few ? ": two rows in a thread" : ": each row in a thread") +
         ", in tiles of " + std::to_string(of_few ? rows_per_tile_of_few : rows_per_row_tile) +
         ", since rows are short";
}

/// Returns the terms of every row; 0 if they differ.
std::size_t terms_of_every_row(const search& s) {
  return s.longest() * s.matrix.rows == s.matrix.nonzeros() ? s.longest() : 0;
}

bool have_few_terms(std::size_t row_terms) { return 0 < row_terms && row_terms <= few_terms; }

/// `from`: what kernels read.
template <column_form from>
class rows_in_tiles : public method {
 public:
  rows_in_tiles(const search& s, std::string text, const row_patterns& patterns = {},
                const void* columns = nullptr)
      : terms_(s.found[result_words::tile_terms]),
        row_terms_(terms_of_every_row(s)),
        has_16_in_flight_(has_16_in_flight(s.matrix.rows, s.longest())),
        patterns_(patterns),
        columns_(columns),
        text_(std::move(text)) {}

  std::string describe(const std::string&) const override { return text_; }

  bool multiply(const spmv_call& call) const override {
    if (!call.is_plain()) return false;
    // Columns without promise may have another type by now.
    const csr_operand& a = call.product.a;
    if (from == column_form::matrix && a.column_indices.element != type::int32) return false;
    spmv_job job = call.job;
    job.tile_terms = static_cast<std::int32_t>(terms_);
    job.patterns = patterns_;
    job.row_terms = static_cast<std::int32_t>(row_terms_);
    if (from == column_form::differences) {
      job.differences = static_cast<const std::int16_t*>(columns_);
    } else if (columns_ != nullptr) {
      job.columns.data = columns_;
    }
    return with_special(call.element(), [&]<class T>() {
      const auto bytes_of = [](std::size_t terms) {
        return bytes_to_bring<T>(terms) +
               (from == column_form::patterns ? 0 : bytes_to_bring<column_of<from>>(terms));
      };
      if constexpr (from == column_form::matrix || from == column_form::narrow) {
        if (have_few_terms(row_terms_)) {
          call.launch(&spmv_rows_of_few_terms<T, column_of<from>>,
                      {.blocks = blocks_of(a.rows, rows_per_tile_of_few),
                       .threads = rows_per_row_tile,
                       .shared_bytes = bytes_of(rows_per_tile_of_few * row_terms_)},
                      job);
          return true;
        }
      }
      return call.launch_if_fits(
          has_16_in_flight_ ? &spmv_row_tiles<T, from, 16> : &spmv_row_tiles<T, from, 8>,
          {.blocks = blocks_of(a.rows, rows_per_row_tile),
           .threads = rows_per_row_tile,
           .shared_bytes = bytes_of(terms_)},
          job);
    });
  }

 private:
  std::size_t terms_, row_terms_;
  bool has_16_in_flight_;
  row_patterns patterns_;
  const void* columns_;  ///< instead of the matrix's
  std::string text_;
};

}  // namespace

std::unique_ptr<const method> find_stencils(search& s) {
  if (s.job.lists == nullptr) return nullptr;
  row_patterns patterns = s.job.patterns;
  patterns.stride = static_cast<std::int32_t>(ceil_div(s.longest(), row_patterns::alignment) *
                                              row_patterns::alignment);
  return std::make_unique<rows_in_tiles<column_form::patterns>>(
      s,
      in_tiles("stencils") + "; in the place of columns the " +
          std::to_string(s.found[result_words::patterns]) + " patterns of rows, in " +
          std::to_string(bytes_of_stencils(s.matrix)) + " bytes",
      patterns);
}

std::unique_ptr<const method> find_row_tiles(search& s) {
  const column_differences& differences = tile_differences(s);
  if (differences.data == nullptr) return nullptr;
  return std::make_unique<rows_in_tiles<column_form::differences>>(
      s, in_tiles("row tiles") + differences.describe(), row_patterns(), differences.data);
}

std::unique_ptr<const method> find_even_rows(search& s) {
  if (!s.has_even_tiles()) return nullptr;
  const std::string text = in_tiles("even rows", have_few_terms(terms_of_every_row(s)));
  const std::uint16_t* const columns = s.knows_columns ? find_narrow_columns(s) : nullptr;
  if (columns != nullptr) {
    return std::make_unique<rows_in_tiles<column_form::narrow>>(
        s,
        text + "; columns of 16 bits, in " + std::to_string(s.matrix.nonzeros() * sizeof *columns) +
            " bytes",
        row_patterns(), columns);
  }
  return std::make_unique<rows_in_tiles<column_form::matrix>>(s, text);
}

}  // namespace tally::backends::cuda
