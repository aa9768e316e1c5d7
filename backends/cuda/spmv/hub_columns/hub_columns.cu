// Kernels for matrices with hub columns. An SM has one block, with the hub columns' elements of x
// in shared memory; its warps take one piece after another. Codes replace columns: a negative one
// is, without its sign bit, the index of a hub column.
//
// Promise: y has the bits of the row order. A warp stages the terms of a row block and sums each
// row in 1, 2, 4 or 8 threads; it sums row segments chunk by chunk.
//
// The warp that counts the last carry-out of a split row adds them up, so none waits for a block
// that may not have started.
#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/runtime/call_memory.hpp"
#include "backends/cuda/spmv/common/result.cuh"
#include "backends/cuda/spmv/common/short_rows.cuh"
#include "backends/cuda/spmv/common/split_rows.cuh"
#include "backends/cuda/spmv/hub_columns/hub_columns.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace tally::backends::cuda {
namespace {

/// Kernel parameter.
struct hub_columns_job {
  spmv_job product;
  hub_columns hub;
};

/// Threads per block of the hub-column kernel.
template <class T>
constexpr unsigned hub_threads = sizeof(T) == 8 ? 768 : 1024;

/// Shared memory per block, at most; the rest of an SM's caches the other elements of x
/// (tuning/spmv.md).
constexpr std::size_t hub_shared_bytes(type element) {
  return std::size_t{element == type::float64 ? 163u : 195u} << 10;
}

/// Gathers the hub columns' elements of x.
template <class T>
__global__ void __launch_bounds__(256)
    gather_hub_elements(const __grid_constant__ hub_columns_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const T* const x = static_cast<const T*>(job.product.x.data);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < job.hub.count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    static_cast<T*>(job.hub.elements)[i] = x[job.hub.columns[i]];
  }
}

/// Loads a piece, empty behind the last.
__device__ warp_piece piece_at(const hub_columns_job& job, std::int64_t at) {
  warp_piece piece;
  if (at < job.hub.piece_count) {
    piece =
        __builtin_bit_cast(warp_piece, __ldg(reinterpret_cast<const int4*>(job.hub.pieces + at)));
  }
  return piece;
}

/// Terms of a row block, and its rows' begins.
template <class T>
struct alignas(16) warp_row_block {
  T terms[hub_block_terms];
  std::uint16_t starts[hub_block_rows + 1];
};

/// Loads a code's element of x, from the table or from memory. Multiplying by the element size
/// drops the sign bit.
template <class T>
__device__ T load_coded(std::int32_t code, unsigned table, const T* x) {
  const unsigned hub = table + static_cast<unsigned>(code) * static_cast<unsigned>(sizeof(T));
  T element;
  ptx::load_by_sign(code, hub, x + code, element);
  return element;
}

/// Terms in flight per thread, and per warp.
constexpr int coded_in_flight = 8;
constexpr int coded_batch = coded_in_flight * static_cast<int>(warp);

/// Codes of every 32nd term.
struct term_codes {
  std::int32_t of[coded_in_flight];

  /// Loads codes from term `first` on, of the next `left`.
  __device__ void load(const hub_columns_job& job, std::int32_t first, int left) {
    constexpr int apart = static_cast<int>(warp);
#pragma unroll
    for (int k = 0; k < coded_in_flight; ++k) {
      of[k] = INT32_MIN;  // hub column 0, which exists
      load_if(k * apart < left, job.hub.codes + first + k * apart, of[k]);
    }
  }
};

/// Values of terms, and elements of x.
template <class T>
struct coded_terms {
  T values[coded_in_flight], elements[coded_in_flight];

  __device__ void load_values(const hub_columns_job& job, std::int32_t first, int left) {
    constexpr int apart = static_cast<int>(warp);
    const T* const from = static_cast<const T*>(job.product.values.data) + first;
#pragma unroll
    for (int k = 0; k < coded_in_flight; ++k) {
      values[k] = T();
      load_if(k * apart < left, from + k * apart, values[k]);
    }
  }
  __device__ void load_elements(const hub_columns_job& job, unsigned table,
                                const term_codes& codes) {
#pragma unroll
    for (int k = 0; k < coded_in_flight; ++k) {
      elements[k] = load_coded(codes.of[k], table, static_cast<const T*>(job.product.x.data));
    }
  }
  /// Returns term k, or +0 behind the next `left`.
  __device__ dot_sum<T> term(int k, int left) const {
    if (k * static_cast<int>(warp) >= left) return {};
    return term_of<T, T, T>(values[k], elements[k]);
  }
};

template <class T>
__device__ dot_sum<T> sum_coded_segment(const hub_columns_job& job, unsigned table,
                                        const warp_piece& piece, int thread) {
  warp_tree<dot_sum<T>> tree;
  std::int32_t at = piece.nonzero + thread;
  int left = piece.terms - thread;
  term_codes codes;
  codes.load(job, at, left);
#pragma unroll 1
  do {
    static_assert(chunk % coded_batch == 0);
    dot_sum<T> low, high;
#pragma unroll 1
    for (int batches = chunk / coded_batch; batches > 0 && left + thread > 0; --batches) {
      coded_terms<T> own;
      own.load_values(job, at, left);
      own.load_elements(job, table, codes);
      at += coded_batch;
      codes.load(job, at, left - coded_batch);
#pragma unroll
      for (int k = 0; k < coded_in_flight; k += 2) {
        low = low + own.term(k, left);
        high = high + own.term(k + 1, left);
      }
      left -= coded_batch;
    }
    tree.add(fold_across_threads<warp>(low + high), thread);
  } while (left + thread > 0);
  return tree.total();
}

/// Writes y of a segment's row, or leaves the carry-out to the last warp.
template <class T>
__device__ void finish_segment(const hub_columns_job& job, const warp_piece& piece, dot_sum<T> sum,
                               int thread) {
  if (piece.is_split()) {
    const carry_out_row row = job.hub.handed[piece.carry_out()];
    unsigned before = 0;
    if (thread == 0) {
      store_carry_out(job.product, piece.carry_out(), sum);
      before = atomicAdd(job.hub.counts + row.first, 1u);
    }
    if (__shfl_sync(whole_warp, before, 0) + 1 != static_cast<unsigned>(row.shares)) return;
    // One more sum, +0, changes nothing.
    sum = add_carry_outs(job.product, row.first, row.shares + 1, dot_sum<T>(), thread,
                         [] { return false; });
    if (thread == 0) {
      job.hub.counts[row.first] = 0;
      count_as_ended(job.product.ended);
    }
  }
  if (thread == 0) write_row<T>(job.product, piece.row, finish_parts(sum, conjugate::none));
}

/// Multiplies a row block in a warp, with all loads in flight at once.
template <class T>
__device__ void multiply_row_block(const hub_columns_job& job, unsigned table,
                                   const warp_piece& piece, warp_row_block<T>& run, int thread) {
  constexpr int apart = static_cast<int>(warp), rows_per_thread = hub_block_rows / apart;
  static_assert(hub_block_terms == coded_batch);
  const term_planes<T, hub_block_terms> terms(run.terms);
  const int left = piece.terms - thread;
  term_codes codes;
  codes.load(job, piece.nonzero + thread, left);
  coded_terms<T> own;
  own.load_values(job, piece.nonzero + thread, left);
  // Lower 32 bits suffice.
  std::uint32_t low[rows_per_thread] = {};
  const int words = job.product.offsets.wide ? 2 : 1;
  const auto* const offsets = static_cast<const std::uint32_t*>(job.product.offsets.data) +
                              std::int64_t{piece.row + thread} * words;
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    load_if(thread + k * apart < piece.rows, offsets + k * apart * words, low[k]);
  }
  own.load_elements(job, table, codes);
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    const int i = thread + k * apart;
    if (i < piece.rows)
      run.starts[i] = static_cast<std::uint16_t>(start_in_row_block(low[k], piece));
  }
  if (thread == 0) run.starts[piece.rows] = static_cast<std::uint16_t>(piece.terms);
#pragma unroll
  for (int k = 0; k < coded_in_flight; ++k) {
    if (k * apart < left) terms.put(thread + k * apart, own.term(k, left));
  }
  __syncwarp();
  sum_short_rows<static_cast<int>(warp)>(
      staged_rows<T, hub_block_terms, std::uint16_t>{terms, run.starts, piece.rows}, false,
      [&](int row, const dot_sum<T>& sum) {
        write_row<T>(job.product, piece.row + row, finish_parts(sum, conjugate::none));
      },
      thread);
  __syncwarp();
}

template <class T>
__global__ void __launch_bounds__(hub_threads<T>, 1)
    spmv_hub_columns(const __grid_constant__ hub_columns_job job) {
  constexpr int warps = static_cast<int>(hub_threads<T> / warp);
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier barrier;
  __shared__ int taken;  // pieces taken
  auto* const runs = reinterpret_cast<warp_row_block<T>*>(memory);
  T* const table = reinterpret_cast<T*>(runs + warps);
  const int thread = static_cast<int>(threadIdx.x % warp);
  const auto place_of = [](int i) { return std::int64_t{i} * gridDim.x + blockIdx.x; };
  // Plan data: no need to wait.
  warp_piece piece = piece_at(job, place_of(static_cast<int>(threadIdx.x / warp)));
  // Copied in parts, in another order in each block: not all wait for the same part of L2.
  constexpr unsigned part = 8192;
  const unsigned bytes = (static_cast<unsigned>(job.hub.count * sizeof(T)) + 15) / 16 * 16;
  const unsigned parts = (bytes + part - 1) / part;
  if (threadIdx.x == 0) {
    taken = warps;
    barrier.expect(parts);
  }
  wait_for_launch_before();
  let_launch_after_start();
  if (brings()) {
#if __CUDA_ARCH__ >= 900
    for (unsigned i = 0; i < parts; ++i) {
      const unsigned at = (i + blockIdx.x) % parts * part;
      barrier.copy(reinterpret_cast<char*>(table) + at,
                   static_cast<const char*>(job.hub.elements) + at,
                   bytes - at < part ? bytes - at : part);
    }
#else
    for (int i = static_cast<int>(threadIdx.x); i < job.hub.count; i += hub_threads<T>) {
      table[i] = static_cast<const T*>(job.hub.elements)[i];
    }
#endif
  }
  __syncthreads();
  barrier.wait();
  const auto in_shared = static_cast<unsigned>(__cvta_generic_to_shared(table));
  while (piece.terms > 0 || piece.is_row_block()) {
    int own = 0;
    if (thread == 0) own = atomicAdd(&taken, 1);
    const warp_piece next = piece_at(job, place_of(__shfl_sync(whole_warp, own, 0)));
    if (piece.is_row_block()) {
      multiply_row_block(job, in_shared, piece, runs[threadIdx.x / warp], thread);
    } else {
      finish_segment(job, piece, sum_coded_segment<T>(job, in_shared, piece, thread), thread);
    }
    piece = next;
  }
}

/// Dynamic shared memory without the hub columns.
template <class T>
constexpr std::size_t row_block_bytes = hub_threads<T> / warp * sizeof(warp_row_block<T>) + 16;

class rows_with_hub_columns : public method {
 public:
  explicit rows_with_hub_columns(const planned_hub_columns& planned) : planned_(planned) {}

  std::string describe(const std::string& other) const override {
    return "hub columns: of " + std::string(name(planned_.element)) +
           " in warps, with the elements of x of " + std::to_string(planned_.hub.count) +
           " columns, which have " + std::to_string(planned_.percent) +
           " % of the terms, in shared memory, and codes of all columns, in " +
           std::to_string(planned_.bytes) + " bytes; of other types " + other;
  }

  bool multiply(const spmv_call& call) const override {
    if (!call.is_plain() || call.element() != planned_.element) return false;
    with_special(planned_.element, [&]<class T>() { multiply_by<T>(call); });
    return true;
  }

 private:
  template <class T>
  void multiply_by(const spmv_call& call) const {
    const auto count = static_cast<std::size_t>(planned_.hub.count);
    hub_columns_job job{call.job, planned_.hub};
    const call_memory elements(count * sizeof(T) + 16, call.current, call.stream,
                               call.is_captured());
    job.hub.elements = elements.data();
    scratch words;
    if (planned_.split_rows > 0) {
      const std::size_t carry_outs = planned_.carry_outs;
      words = call.words_for(carry_outs, words_left::empty, job.product, carry_outs);
      job.hub.counts =
          reinterpret_cast<unsigned*>(words.words + carry_outs * call.carry_out_words());
    }
    call.launch(&gather_hub_elements<T>, {.blocks = blocks_of(count, 256), .threads = 256}, job);
    call.launch(&spmv_hub_columns<T>,
                {.blocks = multiprocessors(call.current.device()),
                 .threads = hub_threads<T>,
                 .shared_bytes = row_block_bytes<T> + count * sizeof(T)},
                job);
    words.queued(planned_.split_rows);
  }

  planned_hub_columns planned_;
};

}  // namespace

std::unique_ptr<const method> make_hub_columns(const planned_hub_columns& planned) {
  return std::make_unique<rows_with_hub_columns>(planned);
}

std::size_t max_hub_columns(const current_device& current, type element) {
  const std::size_t room = std::min(max_shared_bytes(current.device()), hub_shared_bytes(element));
  const std::size_t taken =
      static_shared_bytes + with_special(element, []<class T>() { return row_block_bytes<T>; });
  constexpr std::size_t max_places = std::size_t{1} << 16;  // indices of hub_bitmap have 16 bits
  return room < taken ? 0 : std::min((room - taken) / size_of(element), max_places);
}

}  // namespace tally::backends::cuda
