// Many rows of up to 128 terms, of any lengths: row blocks that groups of threads sum in turn.
// While a group sums one, it gathers x for the next and loads columns and values of the one after.
// A block has adjacent row blocks, so that its SM's cache keeps the elements of x that these share.
// A plan keeps the row blocks; without one a launch before finds them, and queues longer rows. If
// these have many of the terms, the launch that sums them sums all rows.
//
// Promise: y has the bits of the row order. Offsets may be wrong (job.hpp).
#include "backends/cuda/device/update.cuh"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/common/near_columns.cuh"
#include "backends/cuda/spmv/common/short_rows.cuh"
#include "backends/cuda/spmv/queued_rows/segment_queue.cuh"
#include "backends/cuda/spmv/row_blocks/cut.cuh"
#include "backends/cuda/spmv/shape.hpp"

#include <cstdint>
#include <string>

namespace tally::backends::cuda {
namespace {

constexpr int group_threads = 128;

/// Groups in a block, of which an SM has one, and terms per thread. They bound registers: a spilled
/// value waits for its load (tuning/spmv.md).
template <class T>
constexpr int groups = sizeof(T) == 8 ? 5 : 6;
template <class T>
constexpr int terms_per_thread = sizeof(T) == 8 ? 6 : 8;

/// Terms of a row block, at most, and its length on the merge path: the rest of its last row comes
/// on top.
template <class T>
constexpr int max_block_terms = terms_per_thread<T> * group_threads;
template <class T>
constexpr int block_path = max_block_terms<T> - (short_row - 1);

/// Columns of a row's first and last term are further apart where an SM's cache doesn't keep x
/// (tuning/spmv.md: find_row_blocks), or where another method may be faster (find_near_row_blocks).
constexpr int max_span = 1 << 14, max_span_of_near = 1 << 12;

struct cut_job : analysis_job {
  using analysis_job::analysis_job;

  row_block* blocks = nullptr;  ///< output
  int count = 0;
  int max_span = 0;
};

/// Writes a plan's row blocks, and counts rows whose columns are far apart.
template <int path>
__global__ void __launch_bounds__(cut_threads) cut_planned_rows(const cut_job s) {
  wait_for_launch_before();
  unsigned wide = 0;
  cut<path, false>(
      static_cast<int>(s.rows), s.blocks, s.count,
      [&](int row) { return static_cast<int>(offset(s, row)); },
      [&](const cut_row& own, bool) {
        if (own.row >= s.rows || own.end - own.begin < 2) return;
        const auto column = [&](int at) {
          return static_cast<int>(s.columns[static_cast<std::size_t>(at)]);
        };
        wide += ::abs(column(own.end - 1) - column(own.begin)) > s.max_span;
      });
  add_of_block(s, result_words::wide_rows, wide);
}

/// Writes the row blocks of one product, and queues long rows.
template <int path>
__global__ void __launch_bounds__(cut_threads) cut_rows(const __grid_constant__ blocks_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  cut<path, false>(
      static_cast<int>(job.rows), job.blocks, job.count,
      [&](int row) { return narrow_offset(job, row); },
      [&](const cut_row& own, bool) {
        const int length = own.end - own.begin;
        const bool is_long = own.row < job.rows && length > short_row;
        if (__any_sync(whole_warp, is_long)) queue_long_rows<1>(job, is_long, own.row, length);
      });
}

/// A product by row blocks.
struct turns_job : blocks_job {
  explicit turns_job(const spmv_job& job) : blocks_job(job) {}

  near_columns near;  ///< by row block
};

/// A thread's terms of a row block, and the offset of one row. Values and columns, needed once,
/// leave the first cache to x (tuning/spmv.md: own_entries).
template <class T, class Column>
struct own_entries {
  static constexpr int count = terms_per_thread<T>;
  static constexpr bool are_near = sizeof(Column) == 2;

  Column columns[count];
  T values[count];
  std::int32_t offset;
  unsigned least;  ///< column

  /// Row block number `at`; beyond the last there are no terms.
  __device__ void load(const turns_job& job, const block_range& block, int at, int thread) {
    const int left = block.terms - thread;
    const nonzero_cursor<T, Column> from(job, block.nonzero + thread);
    least = 0;
    if constexpr (are_near) {
      std::int32_t of_block = 0;
      load_if(block.terms > 0, job.near.least + at, of_block);
      least = static_cast<unsigned>(of_block);
    }
#pragma unroll
    for (int k = 0; k < count; ++k) {
      columns[k] = 0;
      stream_if(k * group_threads < left, from.columns + k * group_threads, columns[k]);
    }
#pragma unroll
    for (int k = 0; k < count; ++k) {
      values[k] = 0;
      stream_if(k * group_threads < left, from.values + k * group_threads, values[k]);
    }
    offset = 0;
    load_if(thread < block.rows,
            static_cast<const std::int32_t*>(job.offsets.data) + block.row + thread, offset);
  }
  __device__ void gather(const spmv_job& job, const block_range& block, int thread,
                         T (&x)[count]) const {
    const int left = block.terms - thread;
    const auto last = static_cast<unsigned>(job.column_count - 1);  // if offsets have changed
    const auto place = [&](Column column) {
      if constexpr (are_near) {
        return ::min(column + least, last);
      } else {
        return column;
      }
    };
#pragma unroll
    for (int k = 0; k < count; ++k) {
      x[k] = 0;
      load_if(k * group_threads < left, static_cast<const T*>(job.x.data) + place(columns[k]),
              x[k]);
    }
  }
};

/// Shared memory of a group.
template <class T>
struct group_memory {
  T terms[max_block_terms<T>];
  int starts[block_path<T> + 1];
};

/// Pre: y is of type T, and C is T. If `queued`, long rows are; where these are many, the next
/// launch has all.
template <class T, bool queued, class Column = std::int32_t>
__global__ void __launch_bounds__((group_threads * groups<T>), 1)
    spmv_row_blocks(const __grid_constant__ turns_job job) {
  extern __shared__ uint4 memory[];
  constexpr int count = terms_per_thread<T>, apart = groups<T>;
  const int group = static_cast<int>(threadIdx.x) / group_threads;
  const int thread = static_cast<int>(threadIdx.x) % group_threads;
  group_memory<T>& shared = reinterpret_cast<group_memory<T>*>(memory)[group];
  const auto synchronise = [group] {
    ptx::synchronise(static_cast<unsigned>(group) + 1, group_threads);
  };
  const auto share = [&](unsigned i) {
    return static_cast<int>(std::int64_t{job.count} * i / gridDim.x);
  };
  const int end = share(blockIdx.x + 1);
  int at = share(blockIdx.x) + group;
  const auto load_block = [&](int i) {
    int4 words{};
    if (i < end) words = __ldcg(reinterpret_cast<const int4*>(job.blocks) + i);
    return words;
  };
  const auto range_of = [&](const int4& words) {
    return block_range(job, words, block_path<T>, max_block_terms<T>);
  };
  wait_for_launch_before();
  let_launch_after_start();
  if (queued && has_many_long_rows(job)) return;
  block_range block = range_of(load_block(at)), next = range_of(load_block(at + apart));
  int4 after = load_block(at + 2 * apart);

  own_entries<T, Column> own, then;
  T x[count];
  own.load(job, block, at, thread);
  then.load(job, next, at + apart, thread);
  own.gather(job, block, thread, x);
#pragma unroll 1
  for (; at < end; at += apart) {
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const int i = thread + k * group_threads;
      if (i < block.terms) shared.terms[i] = term_of<T, T, T>(own.values[k], x[k]).value;
    }
    if (thread < block.rows) shared.starts[thread] = block.start_of(own.offset);
    for (int i = thread + group_threads; i < block.rows; i += group_threads) {
      shared.starts[i] =
          block.start_of(static_cast<const std::int32_t*>(job.offsets.data)[block.row + i]);
    }
    if (thread == 0) shared.starts[block.rows] = block.terms;
    const std::int64_t row = block.row;
    const staged_rows<T, max_block_terms<T>> rows{term_planes<T, max_block_terms<T>>(shared.terms),
                                                  shared.starts, block.rows};
    own = then;
    own.gather(job, next, thread, x);
    block = next;
    next = range_of(after);
    then.load(job, next, at + 2 * apart, thread);
    after = load_block(at + 3 * apart);
    synchronise();
    sum_short_rows<group_threads>(
        rows, false,
        [&](int i, const dot_sum<T>& sum) {
          write_own<T>(job, row + i, finish_parts(sum, conjugate::none));
        },
        thread);
    synchronise();
  }
}

/// If `queued`, rows that are too long for row blocks are in the queue; if these are many, it
/// leaves all rows to the launch after.
void multiply(const spmv_call& call, const spmv_job& job, const row_block* blocks, bool queued,
              const near_columns& near) {
  const csr_operand& a = call.product.a;
  turns_job of(job);
  of.blocks = const_cast<row_block*>(blocks);
  of.count = static_cast<int>(row_blocks_of(a));
  of.near = near;
  if (near.codes != nullptr) of.columns.data = near.codes;
  with_special(call.element(), [&]<class T>() {
    call.launch(queued                  ? &spmv_row_blocks<T, true>
                : near.codes != nullptr ? &spmv_row_blocks<T, false, std::uint16_t>
                                        : &spmv_row_blocks<T, false>,
                {.blocks = multiprocessors(call.current.device()),
                 .threads = group_threads * groups<T>,
                 .shared_bytes = groups<T> * sizeof(group_memory<T>)},
                of);
  });
}

class rows_in_turn : public method {
 public:
  rows_in_turn(const row_block* blocks, std::size_t count, const near_columns& near,
               std::size_t bytes)
      : blocks_(blocks), count_(count), near_(near), bytes_(bytes + count * sizeof *blocks) {}

  std::string describe(const std::string& other) const override {
    return "row blocks: " + std::to_string(count_) + ", which groups of " +
           std::to_string(group_threads) + " threads sum in turn" +
           (near_.codes == nullptr ? "" : ", and columns of 16 bits") + ", in " +
           std::to_string(bytes_) + " bytes; otherwise " + other;
  }
  bool multiply(const spmv_call& call) const override {
    // Columns without promise may have another type by now.
    if (!serves_row_blocks(call)) return false;
    cuda::multiply(call, call.job, blocks_, false, near_);
    return true;
  }

 private:
  const row_block* blocks_;
  std::size_t count_;
  near_columns near_;
  std::size_t bytes_;
};

/// Returns a plan's row blocks; null where rows are not near, or without memory, or if columns are
/// wrong (`has_defect`).
row_block* find_blocks(search& s, std::size_t count, int max_span_of_rows) {
  if (s.products.is_permuted || !may_have_row_blocks(s.matrix, s.longest())) return nullptr;
  cut_job job(s.matrix);
  job.blocks = static_cast<row_block*>(s.take(count * sizeof *job.blocks));
  if (job.blocks == nullptr) return nullptr;
  job.count = static_cast<int>(count);
  job.max_span = max_span_of_rows;
  const analysis_results found = with_special(s.matrix.values.element, [&]<class T>() {
    return s.run(&cut_planned_rows<block_path<T>>, cut_shape(s.matrix.rows), job);
  });
  if (2 * found[result_words::wide_rows] <= s.matrix.rows && !s.has_defect()) return job.blocks;
  s.memory().give_back(job.blocks);
  return nullptr;
}

struct near_blocks_job : near_job {
  using near_job::near_job;

  const row_block* blocks = nullptr;
};

/// Writes the columns' differences, and counts those that do not fit.
__global__ void __launch_bounds__(256) encode_row_blocks(const near_blocks_job s) {
  wait_for_launch_before();
  unsigned wide = 0;
  for (std::int64_t i = first_index() / warp; i < s.groups; i += all_threads() / warp) {
    const row_block own = s.blocks[i];
    wide += encode_group(s, i, own.nonzero, own.end_nonzero - own.nonzero,
                         static_cast<int>(threadIdx.x % warp));
  }
  add_of_block(s, result_words::wide_rows, wide);
}

}  // namespace

std::size_t row_blocks_of(const csr_operand& a) {
  const int path = with_special(a.values.element, []<class T>() { return block_path<T>; });
  return (a.rows + a.nonzeros()) / static_cast<std::size_t>(path) + 1;
}

bool serves_row_blocks(const spmv_call& call) {
  const csr_product& a = call.product;
  return call.is_plain() && has_narrow_indices(a.a) && a.y.element == call.element() &&
         call.job.computation == call.element() && !a.a.row_ends;
}

void cut_row_blocks(const spmv_call& call, const spmv_job& job, row_block* blocks) {
  const csr_operand& a = call.product.a;
  blocks_job cuts(job);
  cuts.blocks = blocks;
  cuts.count = static_cast<int>(row_blocks_of(a));
  with_special(call.element(),
               [&]<class T>() { call.launch(&cut_rows<block_path<T>>, cut_shape(a.rows), cuts); });
}

void multiply_row_blocks(const spmv_call& call, const spmv_job& job, const row_block* blocks) {
  multiply(call, job, blocks, true, {});
}

std::unique_ptr<const method> find_near_row_blocks(search& s) {
  const csr_operand& a = s.matrix;
  // Rows of one length have faster methods (tuning/spmv.md: find_near_row_blocks).
  if (!s.knows_columns || are_even(a.rows, a.nonzeros(), s.longest())) return nullptr;
  const std::size_t count = row_blocks_of(a);
  row_block* const blocks = find_blocks(s, count, max_span_of_near);
  if (blocks == nullptr) return nullptr;
  const std::size_t bytes = near_columns::bytes(count, a.nonzeros());
  void* const memory = s.take(bytes);
  if (memory != nullptr) {
    near_blocks_job job(a, count, memory);
    job.blocks = blocks;
    if (s.run(&encode_row_blocks, items_shape(count * warp), job)[result_words::wide_rows] == 0) {
      return std::make_unique<rows_in_turn>(blocks, count, job.written(), bytes);
    }
    s.memory().give_back(memory);
  }
  s.memory().give_back(blocks);
  return nullptr;
}

std::unique_ptr<const method> find_row_blocks(search& s) {
  const csr_operand& a = s.matrix;
  const std::size_t count = row_blocks_of(a);
  const row_block* const blocks = find_blocks(s, count, max_span);
  if (blocks == nullptr) return nullptr;
  return std::make_unique<rows_in_turn>(blocks, count, near_columns(), 0);
}

}  // namespace tally::backends::cuda
