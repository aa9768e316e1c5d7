// Long rows of matrices with few columns: warps sum queued rows (segment_queue.cuh), with x in the
// shared memory of each SM. A plan that knows columns keeps them in 16 bits.
//
// Promise: y has the bits of the row order.
#include "backends/cuda/spmv/few_columns/few_columns.hpp"

#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/queued_rows/segment_queue.cuh"
#include "backends/cuda/spmv/shape.hpp"

#include <string>

namespace tally::backends::cuda {
namespace {

/// Threads per block, of which an SM has one (tuning/spmv.md: few_columns_threads).
constexpr unsigned few_columns_threads = 768;

template <class T, class Column>
__global__ void __launch_bounds__(few_columns_threads, 1)
    spmv_few_columns(const __grid_constant__ spmv_job job) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ unsigned first_x;  // address of element 0
  if (threadIdx.x == 0) barrier.expect(1);
  wait_for_launch_before();
  let_launch_after_start();
  if (brings()) {
    const std::int64_t origin = bring(barrier, memory, static_cast<const T*>(job.x.data),
                                      job.column_count, 0, job.column_count);
    if (threadIdx.x == 0) {
      first_x = shared_address(memory) +
                static_cast<unsigned>(-origin) * static_cast<unsigned>(sizeof(T));
    }
  }
  __syncthreads();
  barrier.wait();
  sum_queue<T, T, Column>(job, shared_x<T>{first_x});
}

struct code_job : analysis_job {
  using analysis_job::analysis_job;

  std::uint16_t* codes = nullptr;  ///< output
};

__global__ void __launch_bounds__(256) encode_columns(const code_job s) {
  wait_for_launch_before();
  for (std::int64_t i = first_index(); i < s.nonzeros; i += all_threads()) {
    s.codes[i] = static_cast<std::uint16_t>(s.columns[static_cast<std::size_t>(i)]);
  }
}

std::size_t bytes_of_x(const csr_operand& a) {
  return with_special(a.values.element, [&]<class T>() { return bytes_to_bring<T>(a.columns); });
}

class rows_of_few_columns : public method {
 public:
  rows_of_few_columns(const std::uint16_t* codes, std::size_t count, bool are_whole)
      : codes_(codes), count_(count), are_whole_(are_whole) {}

  std::string describe(const std::string& other) const override {
    if (codes_ == nullptr && !are_whole_) {
      return "few columns: rows as without a plan, in 0 bytes; otherwise " + other;
    }
    return "few columns: long rows in warps, with x in shared memory, " +
           (codes_ == nullptr ? "in 0 bytes"
                              : "and columns of 16 bits, in " +
                                    std::to_string(count_ * sizeof *codes_) + " bytes") +
           "; otherwise " + other;
  }
  bool multiply(const spmv_call& call) const override {
    // Columns without promise may have another type by now.
    if (!keeps_few_columns(call)) return false;
    if (!are_whole_) {
      multiply_queued_rows(call, codes_);
      return true;
    }
    spmv_job job = call.job;
    if (codes_ != nullptr) job.columns.data = codes_;
    const queue_launch rows = launch_of_few_columns(call, codes_);
    call.launch(rows.kernel, rows.shape, job);
    return true;
  }

 private:
  const std::uint16_t* codes_;
  std::size_t count_;
  /// All rows are long, and each a warp's: none is queued (tuning/spmv.md: rows_of_few_columns).
  bool are_whole_;
};

}  // namespace

bool keeps_few_columns(const spmv_call& call) {
  const csr_operand& a = call.product.a;
  return call.is_plain() && has_few_columns(a) && !a.row_ends && call.has_room(bytes_of_x(a));
}

queue_launch launch_of_few_columns(const spmv_call& call, const std::uint16_t* codes) {
  return with_special(call.element(), [&]<class T>() {
    return queue_launch{
        codes != nullptr ? &spmv_few_columns<T, std::uint16_t> : &spmv_few_columns<T, std::int32_t>,
        {.blocks = multiprocessors(call.current.device()),
         .threads = few_columns_threads,
         .shared_bytes = bytes_of_x(call.product.a)}};
  });
}

const std::uint16_t* find_narrow_columns(search& s) {
  if (s.matrix.columns > std::size_t{UINT16_MAX} + 1) return nullptr;
  const std::size_t count = s.matrix.nonzeros();
  code_job job(s.matrix);
  job.codes = static_cast<std::uint16_t*>(s.take(count * sizeof *job.codes));
  if (job.codes == nullptr) return nullptr;
  (void)s.run(&encode_columns, items_shape(count), job);
  return s.has_defect() ? nullptr : job.codes;
}

std::unique_ptr<const method> find_few_columns(search& s) {
  if (s.products.is_permuted || s.matrix.row_ends || !is_special(s.matrix.values.element) ||
      !has_few_columns(s.matrix) || !s.has_room(bytes_of_x(s.matrix))) {
    return nullptr;
  }
  if (!s.knows_columns && s.has_whole_rows()) return nullptr;
  const std::size_t count = s.matrix.nonzeros();
  const std::uint16_t* codes = nullptr;
  if (s.knows_columns) {
    codes = find_narrow_columns(s);
    if (codes == nullptr) return nullptr;
  }
  const bool are_whole =
      s.found[result_words::long_rows] == s.matrix.rows &&
      s.longest() <= static_cast<std::size_t>(chunks_of_whole_row) * order::chunk;
  return std::make_unique<rows_of_few_columns>(codes, count, are_whole);
}

}  // namespace tally::backends::cuda
