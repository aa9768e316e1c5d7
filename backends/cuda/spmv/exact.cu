// Exact grade: one warp per row, with the sums of exact dot products. Short segments of
// `segmented_sum` have a thread each, and a warp where their exponents are far apart.
#include "backends/common/exact/window_sum.hpp"
#include "backends/cuda/exact/tiles.cuh"
#include "backends/cuda/exact/warp_sum.cuh"
#include "backends/cuda/spmv/common/result.cuh"
#include "backends/cuda/spmv/method.hpp"

#include <algorithm>
#include <limits>

namespace tally::backends::cuda {
namespace {

/// Warps, and rows, per block.
constexpr unsigned exact_warps_per_block = 4;

/// Terms of a row, of any types; of complex ones, one of the products that make up a term.
class row_terms : public tile_of_products {
 public:
  static constexpr int terms = loads * static_cast<int>(warp);

  /// Product of a part of the value and one of x's element.
  struct product {
    int value, x;
    bool negative;
  };

  /// Loads terms from `first` on; zeros from `end` on.
  __device__ void load(const spmv_job& job, product p, std::int64_t first, std::int64_t end) {
    std::int64_t place[loads], column[loads];
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      const std::int64_t i = first + l * static_cast<int>(warp);
      place[l] = i < end ? i : -1;
      column[l] = i < end && job.x.data != nullptr ? job.columns[static_cast<std::size_t>(i)] : -1;
      if (job.places.data != nullptr && i < end) {
        place[l] = job.places[static_cast<std::size_t>(i)];
      }
    }
    load(x_, job.values, p.value, place);
    if (job.x.data != nullptr) {
      load(y_, job.x, p.x, column);
    } else {
#pragma unroll
      for (double& y : y_) y = 1;  // values alone
    }
    if (p.negative) negate();
  }

 private:
  /// Loads a part of the elements at `place`; zero at -1.
  static __device__ void load(double (&to)[loads], const typed_vector& from, int part,
                              const std::int64_t (&place)[loads]) {
    with_type<floating_point_types>(from.number, [&]<class T>() {
      const T* const data = static_cast<const T*>(from.data) + part;
#pragma unroll
      for (int l = 0; l < loads; ++l) {
        to[l] = place[l] < 0 ? 0 : convert<double>(data[place[l] * from.increment]);
      }
    });
  }
};

/// Products that add up to re or im of a term.
struct part_products {
  int count;
  row_terms::product list[2];
};
__device__ part_products products_of(bool complex_value, bool complex_x, bool conjugates,
                                     int part) {
  if (complex_value && complex_x) {
    return part == 0 ? part_products{2, {{0, 0, false}, {1, 1, !conjugates}}}
                     : part_products{2, {{0, 1, false}, {1, 0, conjugates}}};
  }
  return {
      1,
      {{complex_value ? part : 0, complex_x ? part : 0, complex_value && conjugates && part == 1},
       {}}};
}

/// Rounds a warp's words, from the first to the last that is not 0.
template <class R>
__device__ R rounded_words(std::int64_t* words, int thread) {
  using sum = exact_sum<double>;
  int low = sum::limbs, high = 0;
  for (int i = thread; i < sum::limbs; i += static_cast<int>(warp)) {
    if (words[i] == 0) continue;
    low = i < low ? i : low;
    high = i + 1;
  }
#pragma unroll
  for (unsigned d = 1; d < warp; d *= 2) {
    const int other_low = __shfl_xor_sync(whole_warp, low, d);
    const int other_high = __shfl_xor_sync(whole_warp, high, d);
    low = other_low < low ? other_low : low;
    high = other_high > high ? other_high : high;
  }
  R result{};
  if (thread == 0) result = sum::round_words<R>(words, low, high);
  __syncwarp();
  return result;
}

/// Terms of a segment that a thread sums, at most. Not measured.
constexpr int max_terms_per_thread = 16;
static_assert(max_terms_per_thread <= window_sum::max_terms);

/// Below those of all doubles.
constexpr int no_exponent = std::numeric_limits<int>::min();

/// Writes the sum of a real row's values alone and returns true, unless they are too many, not
/// finite, or have exponents too far apart.
template <class R>
__device__ bool sum_in_thread(const spmv_job& job, std::int64_t row) {
  const std::int64_t begin = job.offset(row), length = job.end(row) - begin;
  if (length < 0 || length > max_terms_per_thread) return false;
  double value[max_terms_per_thread];
  with_type<floating_point_types>(job.values.number, [&]<class T>() {
    const T* const data = static_cast<const T*>(job.values.data) + begin;
#pragma unroll
    for (int k = 0; k < max_terms_per_thread; ++k) {
      value[k] = k < length ? convert<double>(data[k]) : 0;
    }
  });
  int top = no_exponent;
  bool fits = true;
#pragma unroll
  for (int k = 0; k < max_terms_per_thread; ++k) {
    const window_sum::term t(value[k]);
    fits = fits && !t.special();
    if (!t.zero() && t.exponent > top) top = t.exponent;
  }
  if (!fits) return false;
  window_sum sum(top == no_exponent ? 0 : top);
#pragma unroll
  for (int k = 0; k < max_terms_per_thread; ++k) {
    fits = sum.add(window_sum::term(value[k])) && fits;
  }
  if (fits) write_row<R>(job, row, {sum.template round<R>(), R{0}});
  return fits;
}

/// Writes the sum of a row, re and im apart.
template <class R>
__device__ void sum_in_warp(const spmv_job& job, std::int64_t row, double* columns,
                            std::int64_t* words, int thread) {
  const bool is_complex = job.values.complex || job.x.complex;
  const std::int64_t begin = job.offset(row), end = job.end(row);
  R part[2] = {};
#pragma unroll 1
  for (int i = 0; i < (is_complex ? 2 : 1); ++i) {
    const part_products products =
        products_of(job.values.complex, job.x.complex, job.conjugated != conjugate::none, i);
    const std::int64_t tiles = (end - begin + row_terms::terms - 1) / row_terms::terms;
    constexpr int tiles_of_batch = 32 / 2;  // of terms; a batch has at most 32 tiles of products
    warp_sum<row_terms> sum(columns, words, thread);
    row_terms tile;
#pragma unroll 1
    for (std::int64_t first = 0; first < tiles; first += tiles_of_batch) {
      const int some =
          static_cast<int>(first + tiles_of_batch < tiles ? tiles_of_batch : tiles - first);
      do {
#pragma unroll 1
        for (int t = 0; t < some * products.count; ++t) {
          const int k = t % products.count;
          tile.load(job, k == 0 ? products.list[0] : products.list[1],
                    begin + (first + t / products.count) * row_terms::terms + thread, end);
          sum.add(tile, t);
        }
      } while (sum.turn(32, first + tiles_of_batch >= tiles));
    }
    __syncwarp();
    (i == 0 ? part[0] : part[1]) = rounded_words<R>(words, thread);
  }
  if (thread != 0) return;
  if (is_complex) {
    write_row<std::complex<R>>(job, row, {part[0], part[1]});
  } else {
    write_row<R>(job, row, {part[0], part[1]});
  }
}

/// Rounds rows to R. With `in_threads` a warp takes as many adjacent rows as it has threads.
template <class R, bool in_threads>
__global__ void __launch_bounds__(exact_warps_per_block* warp)
    exact_spmv(const __grid_constant__ spmv_job job) {
  constexpr int column_doubles = column_bytes<row_terms> / sizeof(double);
  __shared__ double columns[exact_warps_per_block][column_doubles];
  __shared__ std::int64_t words[exact_warps_per_block][exact_sum<double>::words];
  constexpr std::int64_t rows = in_threads ? warp : 1, apart = exact_warps_per_block * rows;
  const int thread = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp;
  wait_for_launch_before();
  let_launch_after_start();
#pragma unroll 1
  for (std::int64_t first = blockIdx.x * apart + w * rows; first < job.rows;
       first += gridDim.x * apart) {
    unsigned left = 1;  // for the warp
    if constexpr (in_threads) {
      const std::int64_t own = first + thread;
      left = __ballot_sync(whole_warp, own < job.rows && !sum_in_thread<R>(job, own));
    }
#pragma unroll 1
    for (; left != 0; left &= left - 1) {
      const int row = __ffs(static_cast<int>(left)) - 1;
      sum_in_warp<R>(job, first + row, columns[w], words[w], thread);
    }
  }
}

}  // namespace

bool multiply_exactly(const spmv_call& call) {
  if (!call.product.options.grade.is_exact()) return false;
  const csr_operand& a = call.product.a;
  const bool in_threads = call.product.sums_values() && !is_complex(a.values.element) &&
                          a.nonzeros() / max_terms_per_thread <= a.rows;
  const std::size_t blocks = ceil_div(a.rows, exact_warps_per_block * (in_threads ? warp : 1));
  with_type<detail::spmv_vector_types>(call.accumulator, [&]<class A>() {
    call.launch(in_threads ? &exact_spmv<real_t<A>, true> : &exact_spmv<real_t<A>, false>,
                {.blocks = static_cast<unsigned>(std::min<std::size_t>(blocks, 1 << 20)),
                 .threads = exact_warps_per_block * warp},
                call.job);
  });
  return true;
}

}  // namespace tally::backends::cuda
