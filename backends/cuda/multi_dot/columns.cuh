// Sums of vectors that lie side by side: element i of adjacent vectors is in adjacent memory, as in
// the columns of a row-major matrix.
//
// Promise: the bits of the order contract. A block owns adjacent columns, over an aligned power of
// two of chunks: a node of the order's tree. A thread has `of_columns` of them, and every
// `rows`-th term: so 64 / `rows` lanes of each, whose fold begins within the thread.
//
// With several blocks a column, the one that ends last adds up their sums.
#pragma once

#include "backends/cuda/multi_dot/kernel.cuh"

namespace tally::backends::cuda {

/// Lanes of `count` adjacent columns, where x is aligned and contiguous across columns.
template <class Terms_, int count, int lanes_, int terms_in_flight, int blocks>
struct adjacent_columns {
  using Terms = Terms_;
  using Sum = typename Terms::sum;
  static constexpr int columns = count;
  static constexpr int blocks_at_once = blocks;  ///< at least, per multiprocessor
  static constexpr int lanes = lanes_;           ///< per thread
  static constexpr int rows = static_cast<int>(order::lanes) / lanes;

  /// Adds the terms `row`, `row + rows`, ... of the first `left` of a chunk that begins at `start`.
  static __device__ void add(const columns_job& job, const char* x0, const char* y0,
                             std::int64_t start, std::int64_t column, int some, int left, int row,
                             Sum (&s)[columns][lanes]) {
    using DX = device_x<Terms>;
    using DY = device_y<Terms>;
    const std::ptrdiff_t x_step = rows * job.x_increment, y_step = rows * job.y_increment;
    const DX* x = reinterpret_cast<const DX*>(x0) + (start + row) * job.x_increment + column;
    const DY* y = nullptr;
    if constexpr (has_two<Terms>) {
      y = reinterpret_cast<const DY*>(y0) + (start + row) * job.y_increment;
    }
    const auto add_all = [&]<bool all_terms, bool all_columns>() {
#pragma unroll 1
      for (int i = row; i < left; i += terms_in_flight * rows) {
        elements<DX, columns> xs[terms_in_flight];
        elements<DY, has_two<Terms> ? 1 : 2> ys[terms_in_flight];
#pragma unroll
        for (int r = 0; r < terms_in_flight; ++r) {
          if (all_terms || i + r * rows < left) {
            if constexpr (all_columns) {
              xs[r].load(x);
            } else {
              xs[r].load(x, some);
            }
            if constexpr (has_two<Terms>) load_y<Terms>(ys[r], y);
          }
          x += x_step;
          if constexpr (has_two<Terms>) y += y_step;
        }
#pragma unroll
        for (int r = 0; r < terms_in_flight; ++r) {
#pragma unroll
          for (int c = 0; c < columns; ++c) {
            add_term<Terms>()(s[c][r % lanes], xs[r][c], ys[r][0]);
          }
        }
      }
    };
    if (some < columns) {
      if (some > 0) add_all.template operator()<false, false>();
    } else if (left == chunk) {
      add_all.template operator()<true, true>();
    } else {
      add_all.template operator()<false, true>();
    }
  }
};

/// Lanes of a column of any layout and type.
template <class Terms_>
struct any_columns {
  using Terms = Terms_;
  using Sum = typename Terms::sum;
  static constexpr int columns = 1, lanes = 4, blocks_at_once = 2;
  static constexpr int rows = static_cast<int>(order::lanes) / lanes;

  static __device__ void add(const columns_job& job, const char* x, const char* y,
                             std::int64_t start, std::int64_t column, int some, int left, int row,
                             Sum (&s)[columns][lanes]) {
    if (some <= 0) return;
    const std::int64_t first = start + row;
    add_any<Terms, rows>(job, x, first * job.x_increment + column * job.x_distance, y,
                         first * job.y_increment + column * job.y_distance, left - row,
                         add_term<Terms>(), s[0]);
  }
};

/// Adds lanes `distance` apart, 32, ... 1; those of rows are `stride` sums apart.
template <int rows, int distance = 1, class Sum>
__device__ Sum fold_rows(const Sum* s, int stride) {
  if constexpr (distance == rows) {
    return *s;
  } else {
    return fold_rows<rows, 2 * distance>(s, stride) +
           fold_rows<rows, 2 * distance>(s + distance * stride, stride);
  }
}

/// Adds up `count` leaves of the tree, `stride` sums apart.
template <int count, class Sum>
__device__ Sum add_rows(const Sum* s, int stride) {
  if constexpr (count == 1) {
    return *s;
  } else {
    return add_rows<count / 2>(s, stride) + add_rows<count / 2>(s + count / 2 * stride, stride);
  }
}

/// A tree of a column's leaves, kept at `held`, `stride` sums from level to level.
template <class Sum>
__device__ void add_leaf_of_column(Sum* held, int stride, unsigned leaves, Sum leaf) {
  for (; leaves & 1; leaves /= 2, held += stride) leaf = *held + leaf;
  *held = leaf;
}
template <class Sum>
__device__ Sum total_of_column(const Sum* held, int stride, unsigned leaves) {
  for (; !(leaves & 1); leaves /= 2) held += stride;
  Sum sum = *held;
  while (leaves /= 2) {
    held += stride;
    if (leaves & 1) sum = *held + sum;
  }
  return sum;
}

/// Loads what another block stored.
template <class Sum>
__device__ Sum from_l2(const Sum* from) {
  using word = std::conditional_t<sizeof(Sum) % 8 == 0, unsigned long long, unsigned>;
  word words[sizeof(Sum) / sizeof(word)];
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(Sum) / sizeof(word)); ++i) {
    words[i] = __ldcg(reinterpret_cast<const word*>(from) + i);
  }
  Sum s;
  memcpy(&s, words, sizeof s);
  return s;
}

template <class Share>
__global__ void __launch_bounds__(max_column_threads, Share::blocks_at_once)
    columns_kernel(const __grid_constant__ columns_job job) {
  using Terms = typename Share::Terms;
  using Sum = typename Terms::sum;
  constexpr int rows = Share::rows;
  extern __shared__ __align__(16) unsigned char dynamic[];
  const int across = 1 << job.shift_across;           // threads
  const int wide = across * Share::columns;           // columns
  Sum* const sums = reinterpret_cast<Sum*>(dynamic);  // of two chunks: [2][rows][wide]
  Sum* const held = sums + 2 * rows * wide;           // [levels][wide]
  const int row = static_cast<int>(threadIdx.x) >> job.shift_across;
  const int at = (static_cast<int>(threadIdx.x) & (across - 1)) * Share::columns;
  const unsigned group = blockIdx.x % job.groups, above = blockIdx.x / job.groups;
  const unsigned part = above % job.parts, block = above / job.parts;
  const std::int64_t first_column = std::int64_t{group} * wide;
  const std::int64_t before = std::int64_t{block} * job.columns;
  const std::int64_t own_columns =  // from first_column on
      (job.all - before < job.columns ? job.all - before : job.columns) - first_column;
  const std::int64_t left_columns = own_columns - at;
  const int some = left_columns < 0                ? 0
                   : left_columns < Share::columns ? static_cast<int>(left_columns)
                                                   : Share::columns;
  const char* const x = static_cast<const char*>(job.x) + block * job.x_block;
  const char* const y = static_cast<const char*>(job.y) + block * job.y_block;
  const int own = static_cast<int>(threadIdx.x);  // the column that this thread finishes
  const bool finishes = own < wide && own < own_columns;
  wait_for_launch_before();

  std::int64_t start = std::int64_t{part} * job.chunks * chunk;
  unsigned leaves = 0;
  do {
    Sum s[Share::columns][Share::lanes];
    Share::add(job, x, y, start, first_column + at, some, within_chunk(job.n - start), row, s);
    start += chunk;
    Sum* const buffer = sums + (leaves & 1) * rows * wide;
#pragma unroll
    for (int c = 0; c < Share::columns; ++c) {
      buffer[row * wide + at + c] = fold_within_thread(s[c]);
    }
    __syncthreads();
    if (finishes) {
      add_leaf_of_column(held + own, wide, leaves, fold_rows<rows>(buffer + own, wide));
    }
    ++leaves;
  } while (leaves < job.chunks && start < job.n);
  let_launch_after_start();
  Sum total;
  if (finishes) total = total_of_column(held + own, wide, leaves);

  if (job.parts > 1) {
    Sum* const parts =
        static_cast<Sum*>(job.sums) + (std::int64_t{block} * job.groups + group) * job.parts * wide;
    if (finishes) parts[part * wide + own] = total;
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      std::uint64_t* const ended = job.counters + block * job.groups + group;
      last = atomicAdd(reinterpret_cast<unsigned long long*>(ended), 1ull) + 1 == job.parts;
      if (last) *ended = 0;
      __threadfence();
    }
    __syncthreads();
    if (!last) return;
    constexpr int each = 8;
    leaves = 0;
#pragma unroll 1
    for (unsigned first = 0; first < job.parts; first += each * rows) {
#pragma unroll 1
      for (int c = 0; c < Share::columns; ++c) {
        Sum s[each];
#pragma unroll
        for (int i = 0; i < each; ++i) {
          const unsigned p = first + row * each + i;
          if (p < job.parts && c < some) s[i] = from_l2(parts + p * wide + at + c);
        }
        sums[row * wide + at + c] = add_within_thread(s);
      }
      __syncthreads();
      if (finishes) add_leaf_of_column(held + own, wide, leaves, add_rows<rows>(sums + own, wide));
      ++leaves;
      __syncthreads();
    }
    if (finishes) total = total_of_column(held + own, wide, leaves);
  }
  if (finishes) {
    deliver_sum<Terms>(job, before + first_column + own, total);
  }
  if (own == 0) count_as_ended(job.ended);
}

template <class Share>
constexpr columns_choice made_columns_choice() {
  return {&columns_kernel<Share>, Share::columns, Share::rows,
          static_cast<int>(sizeof(typename Share::Sum))};
}

/// Kernels of Terms with one type (tuning/multi_dot.md: columns, short rows).
template <class Terms>
constexpr one_type_kernels made_one_type_kernels() {
  using X = device_x<Terms>;
  using Sum = typename Terms::sum;
  constexpr bool two = has_two<Terms>;
  // 16-byte loads, as far as the sums leave registers.
  constexpr int wide = 16 / static_cast<int>(sizeof(X)), fit = 32 / static_cast<int>(sizeof(Sum));
  constexpr int columns = wide < fit ? wide : fit;
  // Registers for sums and for terms in flight.
  constexpr int registers = columns * static_cast<int>(sizeof(Sum) + (two ? 1 : 2) * sizeof(X)) +
                            (two ? static_cast<int>(sizeof(X)) : 0);
  constexpr int blocks = registers <= 48 ? 4 : registers <= 64 ? 3 : 2;
  one_type_kernels k;
  // Rows together, if their sums and elements fit in registers.
  constexpr int together = 4;
  constexpr int bytes = together * Terms::lanes * static_cast<int>(sizeof(Sum) + sizeof(X));
  if constexpr (bytes <= (two ? 128 : 192)) {
    k.short_rows[0] = {&short_pairs_kernel<Terms, true, 2>, 2, order::lanes / 2};
    k.short_rows[1] = {&together_kernel<Terms, together>, together, order::chunk / 2, true};
  } else if constexpr (two) {
    k.short_rows[0] = {&short_pairs_kernel<Terms, true, 2>, 2, order::chunk / 2};
  } else {
    k.short_rows[0] = {&short_pairs_kernel<Terms, true, 2>, 2, 2 * order::lanes};
    k.short_rows[1] = {&short_pairs_kernel<Terms, true, 8>, 8, order::chunk / 2};
  }
  k.unaligned = {&short_pairs_kernel<Terms, false, 4>, 4, order::chunk};
  k.grouped = &grouped_pairs_kernel<contiguous_part<Terms>>;
  if constexpr (two) {
    if constexpr (sizeof(Sum) <= 8) {  // the registers of complex sums
      k.grouped_together = &grouped_together_kernel<Terms, rows_per_group>;
    }
    constexpr int in_flight = Terms::lanes * element_bytes<Terms> <= 32 ? 8 : 4;
    k.against_one = &against_one_kernel<Terms, in_flight>;
  }
  k.aligned = &pairs_kernel<contiguous_part<Terms>>;
  k.columns = made_columns_choice<adjacent_columns<Terms, columns, 4, two ? 4 : 8, blocks>>();
  k.few_columns = made_columns_choice<adjacent_columns<Terms, columns, 2, 16, 2>>();
  k.lanes = Terms::lanes;
  return k;
}

template <class Terms>
constexpr any_type_kernels made_any_type_kernels() {
  return {&pairs_kernel<any_part<Terms>>, made_columns_choice<any_columns<Terms>>()};
}

}  // namespace tally::backends::cuda
