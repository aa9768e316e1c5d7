// spmm on a device: real products in the default grade, up to 32 columns at a time. Others are
// products of spmv.
#include "backends/cuda/cuda.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/cuda/runtime/call_memory.hpp"
#include "backends/cuda/spmm/job.hpp"
#include "backends/cuda/spmv/method.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

namespace tally::backends::cuda {
namespace {

/// Parts of memory, one behind another.
class memory_parts {
 public:
  std::size_t bytes() const { return bytes_; }
  /// Returns where the next part begins.
  std::size_t add(std::size_t bytes) {
    constexpr std::size_t alignment = 256;
    const std::size_t begin = bytes_;
    bytes_ += ceil_div(bytes, alignment) * alignment;
    return begin;
  }

 private:
  std::size_t bytes_ = 0;
};

bool has_long_rows(const csr_product& a) {
  if (a.a.nonzeros() <= row_order::short_row) return false;
  if (a.plan == nullptr) return true;
  const auto& plan = static_cast<const cuda_plan&>(a.plan->analysis()->ready());
  return plan.longest > row_order::short_row;
}

bool copies_x(const csr_products& a, type accumulator) {
  return a.x_step != 1 || a.first.x.element != accumulator ||
         std::abs(a.first.x.increment) > std::numeric_limits<std::int32_t>::max();
}

/// Whether one pass over the matrix takes no longer than products one after another: measured with
/// plans, guessed from the size without (tuning/spmm.md).
bool repays(const csr_products& a, type accumulator) {
  const csr_operand& matrix = a.first.a;
  const bool is_small = matrix.nonzeros() < std::size_t{1} << 21;
  const bool may_be_long = has_long_rows(a.first) && (a.first.plan != nullptr || is_small);
  if (a.columns < (may_be_long ? 16 : 4)) return false;
  if (!copies_x(a, accumulator)) return true;
  return a.columns >= 8 && (is_small || matrix.nonzeros() >= 16 * matrix.rows);
}

/// Minimum elements of y for threads of two columns: before all, a device is to be filled
/// (tuning/spmm.md).
constexpr std::size_t min_elements_for_pairs = std::size_t{1} << 17;

/// Multiplies up to `spmm_columns` columns.
void multiply(const executor& where, const current_device& current, const csr_products& a,
              const spmm_choice& kernels, type accumulator) {
  const spmv_call call(where, current, a.first);
  const std::size_t size = size_of(accumulator), height = a.first.a.rows;
  spmm_job job(call.job);
  job.width = static_cast<int>(a.columns);
  job.y_step = a.y_step * static_cast<std::ptrdiff_t>(size_of(a.first.y.element));
  const bool copies = copies_x(a, accumulator);
  const bool is_long = has_long_rows(a.first);
  memory_parts parts;
  std::size_t copy = 0, queued = 0, chunks = 0, sums = 0;
  if (copies) copy = parts.add(a.first.x.size * a.columns * size);
  if (is_long) {
    job.capacity = a.first.a.nonzeros() / (row_order::short_row + 1) + 1;
    queued = parts.add(sizeof *job.queued);
    chunks = parts.add(job.capacity * sizeof *job.chunks);
    if (a.first.a.nonzeros() > order::chunk) sums = parts.add(job.capacity * a.columns * size);
  }
  std::optional<call_memory> memory;
  std::byte* all = nullptr;
  if (parts.bytes() > 0) {
    memory.emplace(parts.bytes(), current, call.stream, call.is_captured());
    all = static_cast<std::byte*>(memory->data());
  }
  if (copies) {
    const std::ptrdiff_t step = is_complex(a.first.x.element) ? 2 * a.x_step : a.x_step;
    job.x = typed_vector(
        operand{all + copy, a.first.x.size, static_cast<std::ptrdiff_t>(a.columns), accumulator});
    call.launch(kernels.copy,
                {.blocks = blocks_of(a.first.x.size, copy_rows),
                 .threads = copy_rows * copy_lines,
                 .overlaps = false},
                copy_columns_job{typed_vector(a.first.x), step,
                                 static_cast<std::int64_t>(a.first.x.size), job.width, all + copy});
  }
  if (is_long) {
    job.queued = reinterpret_cast<unsigned long long*>(all + queued);
    job.chunks = reinterpret_cast<long_row_chunk*>(all + chunks);
    job.sums = all + sums;
    check(cudaMemsetAsync(job.queued, 0, sizeof *job.queued, call.stream), "cudaMemsetAsync");
  }
  const bool in_pairs = height * a.columns >= min_elements_for_pairs && job.width % 2 == 0 &&
                        job.x.increment % 2 == 0 &&
                        reinterpret_cast<std::uintptr_t>(job.x.data) % (2 * size) == 0;
  job.threads_per_row = in_pairs ? job.width / 2 : job.width;
  job.rows_per_block = static_cast<int>(spmm_threads) / job.threads_per_row;
  call.launch(kernels.rows[in_pairs ? 1 : 0][job.columns.wide ? 1 : 0],
              {.blocks = blocks_of(height, static_cast<std::size_t>(job.rows_per_block)),
               .threads = spmm_threads,
               .overlaps = false},
              job);
  if (is_long) {
    const auto max_blocks = static_cast<std::size_t>(multiprocessors(current.device())) * 8;
    call.launch(kernels.chunks,
                {.blocks = static_cast<unsigned>(std::min<std::size_t>(job.capacity, max_blocks)),
                 .threads = static_cast<unsigned>(a.columns * (order::lanes / row_order::lanes)),
                 .overlaps = false},
                job);
  }
}

}  // namespace

void backend::spmm(const executor& where, const csr_products& a) const {
  const csr_operand& matrix = a.first.a;
  const type accumulator = detail::spmv_accumulator(matrix.values.element, a.first.x.element);
  const spmm_choice kernels = spmm_kernels(accumulator, matrix.values.element);
  const bool has_kernels = kernels.chunks != nullptr && !is_complex(a.first.x.element) &&
                           !a.first.options.grade.is_exact() && !a.first.is_permuted() &&
                           !matrix.row_ends;
  if (!has_kernels || !repays(a, accumulator)) return backends::backend::spmm(where, a);
  const current_device current(where.device());
  if (a.first.plan != nullptr) plan_of(a.first, current);
  for (std::size_t j = 0; j < a.columns; j += spmm_columns) {
    multiply(where, current, a.slice(j, std::min<std::size_t>(spmm_columns, a.columns - j)),
             kernels, accumulator);
  }
}

}  // namespace tally::backends::cuda
