// spmm on a device: real products in the default grade, up to 32 columns at a time. Others are
// products of spmv.
#include "backends/cuda/cuda.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/cuda/runtime/call_memory.hpp"
#include "backends/cuda/spmm/job.hpp"
#include "backends/cuda/spmv/method.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <bit>
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

constexpr std::size_t unknown = ~std::size_t{0};

std::size_t longest_row(const csr_product& a) {
  if (a.a.nonzeros() <= row_order::short_row) return a.a.nonzeros();
  if (a.plan == nullptr) return unknown;
  return static_cast<const cuda_plan&>(a.plan->analysis()->ready()).longest;
}

/// Returns the plan's pieces if some rows are long, else null.
const row_pieces* pieces_of(const csr_product& a) {
  if (a.plan == nullptr || longest_row(a) <= row_order::short_row) return nullptr;
  const auto& plan = static_cast<const cuda_plan&>(a.plan->analysis()->ready());
  for (const auto& method : plan.methods) {
    if (method->pieces() != nullptr) return method->pieces();
  }
  return nullptr;
}

bool copies_x(const csr_products& a, type accumulator) {
  return a.x_step != 1 || a.first.x.element != accumulator ||
         std::abs(a.first.x.increment) > std::numeric_limits<std::int32_t>::max();
}

/// Whether rows have 16 terms in the mean, or more.
bool is_dense(const csr_operand& a) { return a.nonzeros() >= 16 * a.rows; }

/// Whether one pass over the matrix takes no longer than products one after another
/// (tuning/spmm.md).
bool repays(const csr_products& a, type accumulator) {
  const csr_operand& matrix = a.first.a;
  const bool is_small = matrix.nonzeros() < std::size_t{1} << 21;
  const bool may_queue =
      longest_row(a.first) > row_order::short_row && pieces_of(a.first) == nullptr;
  if (a.columns < (may_queue && is_small ? 8 : 4)) return false;
  if (!copies_x(a, accumulator)) return true;
  return a.columns >= 8 && (is_small || is_dense(matrix));
}

/// Products of as many elements of y or fewer do not fill a device with a thread each
/// (tuning/spmm.md).
constexpr std::size_t max_elements_in_parts = std::size_t{1} << 17;

/// Dynamic shared memory of a tile, at most: L1 has the rest (tuning/spmm.md).
constexpr std::size_t max_tile_bytes = std::size_t{20} << 10;
constexpr std::size_t max_dense_tile_bytes = std::size_t{30} << 10;

/// Rounds of rows of a tile, at most (tuning/spmm.md).
constexpr int max_rounds = 8;

/// Threads per row of a block of a row segment, where these are few (tuning/spmm.md).
constexpr int max_threads_of_share = 4;

/// Threads per row in the smaller blocks of pieces, at most (tuning/spmm.md).
constexpr int max_threads_of_small_block = 8;

/// Tiles have a thread for two columns from as many elements of y on; rows of tiles without
/// (tuning/spmm.md).
constexpr std::size_t min_elements_for_pairs = std::size_t{1} << 20;
constexpr int max_rows_without_pairs = 128;

/// Columns of one pass, and their kernels.
class spmm_launch {
 public:
  spmm_launch(const spmv_call& call, const csr_products& a, const spmm_choice& kernels,
              spmm_job& job)
      : call_(call),
        all_(kernels),
        matrix_(a.first.a),
        longest_(longest_row(a.first)),
        sms_(multiprocessors(call.current.device())),
        job_(job) {
    const std::size_t size = size_of(call.accumulator);
    can_pair_ = job.width % 2 == 0 && job.x.increment % 2 == 0 &&
                reinterpret_cast<std::uintptr_t>(job.x.data) % (2 * size) == 0;
    take_columns(can_pair_);
  }

  void pieces(const row_pieces& all) {
    job_.pieces = all.first;
    job_.segments = static_cast<std::int64_t>(all.segments);
    job_.threads_per_share = job_.threads_per_row;
    scratch words;
    if (all.split_rows > 0) {
      if (all.segments <= sms_) {
        job_.threads_per_share = std::min(job_.threads_per_row, max_threads_of_share);
        job_.shares = static_cast<unsigned>(
            ceil_div(static_cast<std::size_t>(job_.threads_per_row), max_threads_of_share));
      }
      words = call_.words_for(all.carry_outs * static_cast<std::size_t>(job_.width),
                              words_left::empty, job_);
    }
    const bool is_wide = job_.shares == 1 && job_.threads_per_row > max_threads_of_small_block;
    launch(is_wide ? kernels_->wide_pieces : kernels_->pieces,
           all.row_blocks + all.segments * job_.shares, 0, (is_wide ? 2 : 1) * spmm_threads);
    words.queued(all.split_rows * job_.shares);
  }

  void short_rows() {
    const std::size_t elements = matrix_.rows * static_cast<std::size_t>(job_.width);
    // Rows of unknown length may be uneven.
    if (elements <= max_elements_in_parts * (longest_ == unknown ? 2 : 1)) {
      parts();
    } else {
      tiles();
    }
  }

 private:
  /// Two columns per thread, or one.
  void take_columns(bool in_pairs) {
    kernels_ = &all_.rows[in_pairs ? 1 : 0][job_.columns.wide ? 1 : 0];
    job_.threads_per_row = in_pairs ? job_.width / 2 : job_.width;
  }

  void parts() {
    const auto fits = [&](int parts) {
      return parts * job_.threads_per_row <= static_cast<int>(warp_threads);
    };
    const bool dense = is_dense(matrix_);
    const int log = fits(8) && dense ? 3 : fits(4) ? 2 : fits(2) && dense ? 1 : 0;
    const int rows_per_warp = static_cast<int>(warp_threads) / (job_.threads_per_row << log);
    const auto rows = static_cast<std::size_t>(rows_per_warp) * (spmm_threads / warp_threads);
    launch(kernels_->parts[log], blocks_of(matrix_.rows, rows));
  }

  void tiles() {
    const bool dense = is_dense(matrix_);
    const bool in_pairs =
        can_pair_ &&
        (dense || matrix_.rows * static_cast<std::size_t>(job_.width) >= min_elements_for_pairs);
    take_columns(in_pairs);
    const std::size_t mean = ceil_div(matrix_.nonzeros(), matrix_.rows);
    const std::size_t terms_per_row = std::min(longest_, mean + ceil_div(mean, 2));
    const std::size_t bytes_per_term =
        size_of(matrix_.values.element) + size_of(matrix_.column_indices.element);
    const int at_once = static_cast<int>(spmm_threads) / job_.threads_per_row;
    auto rows = static_cast<std::size_t>(std::bit_floor(static_cast<unsigned>(
        std::min(max_rounds * at_once, in_pairs ? max_tile_rows : max_rows_without_pairs))));
    const std::size_t max_bytes = dense ? max_dense_tile_bytes : max_tile_bytes;
    while (rows > 1 && rows * terms_per_row * bytes_per_term > max_bytes) rows /= 2;
    // Twice as many blocks as run at once.
    while (in_pairs && rows > static_cast<std::size_t>(at_once) &&
           blocks_of(matrix_.rows, rows) < 2 * sms_ * spmm_tiles_per_sm) {
      rows /= 2;
    }
    job_.rows_per_block = static_cast<int>(rows);
    const std::size_t terms = std::min(rows * terms_per_row, max_bytes / bytes_per_term);
    job_.tile_terms = static_cast<std::int32_t>(terms);
    // As bytes_to_bring, with the ends of both arrays.
    launch(kernels_->tiles, blocks_of(matrix_.rows, rows), terms * bytes_per_term + 64);
  }

  void launch(void (*kernel)(spmm_job), std::size_t blocks, std::size_t shared_bytes = 0,
              unsigned threads = spmm_threads) const {
    call_.launch(kernel,
                 {.blocks = static_cast<unsigned>(blocks),
                  .threads = threads,
                  .shared_bytes = shared_bytes,
                  .overlaps = false},
                 job_);
  }

  static constexpr unsigned warp_threads = 32;

  const spmv_call& call_;
  const spmm_choice& all_;
  const csr_operand& matrix_;
  std::size_t longest_;
  std::size_t sms_;
  const spmm_row_kernels* kernels_;
  spmm_job& job_;
  bool can_pair_;
};

/// Multiplies up to `spmm_columns` columns.
void multiply(const executor& where, const current_device& current, const csr_products& a,
              const spmm_choice& kernels, const cuda_plan* plan) {
  const spmv_call call(where, current, a.first);
  if (plan != nullptr) plan->memory.used_on(call.stream);
  const std::size_t size = size_of(call.accumulator);
  spmm_job job(call.job);
  job.width = static_cast<int>(a.columns);
  job.y_step = a.y_step * static_cast<std::ptrdiff_t>(size_of(a.first.y.element));
  const bool copies = copies_x(a, call.accumulator);
  const row_pieces* const pieces = pieces_of(a.first);
  const bool queues = pieces == nullptr && longest_row(a.first) > row_order::short_row;
  memory_parts parts;
  std::size_t copy = 0, queued = 0, chunks = 0, sums = 0;
  if (copies) copy = parts.add(a.first.x.size * a.columns * size);
  if (queues) {
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
    job.x = typed_vector(operand{all + copy, a.first.x.size, static_cast<std::ptrdiff_t>(a.columns),
                                 call.accumulator});
    call.launch(kernels.copy,
                {.blocks = blocks_of(a.first.x.size, copy_rows),
                 .threads = copy_rows * copy_lines,
                 .overlaps = false},
                copy_columns_job{typed_vector(a.first.x), step,
                                 static_cast<std::int64_t>(a.first.x.size), job.width, all + copy});
  }
  spmm_launch launch(call, a, kernels, job);
  if (pieces != nullptr) return launch.pieces(*pieces);
  if (queues) {
    job.queued = reinterpret_cast<unsigned long long*>(all + queued);
    job.chunks = reinterpret_cast<long_row_chunk*>(all + chunks);
    job.sums = all + sums;
    check(cudaMemsetAsync(job.queued, 0, sizeof *job.queued, call.stream), "cudaMemsetAsync");
  }
  launch.short_rows();
  if (queues) {
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
  const cuda_plan* const plan = plan_of(a.first, current);
  for (std::size_t j = 0; j < a.columns; j += spmm_columns) {
    multiply(where, current, a.slice(j, std::min<std::size_t>(spmm_columns, a.columns - j)),
             kernels, plan);
  }
}

}  // namespace tally::backends::cuda
