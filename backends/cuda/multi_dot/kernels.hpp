#pragma once

#include "backends/cuda/multi_dot/job.hpp"

#include <complex>
#include <cstdint>

namespace tally::backends::cuda {

using multi_dot_kernel = void(multi_dot_job);
using columns_kernel_function = void(columns_job);

/// Kernels for pairs of one type, in its own accumulator.
struct multi_dot_kernels {
  // For vectors for which is_contiguous(v, lanes) holds.
  multi_dot_kernel* against_one = nullptr;  ///< for pairs with the same y
  multi_dot_kernel* aligned = nullptr;
  multi_dot_kernel* short_aligned = nullptr;  ///< at most a chunk
  multi_dot_kernel* short_pairs = nullptr;    ///< at most a chunk, of any alignment
  // Contiguous, of half a row to one or two rows of lanes; or null.
  multi_dot_kernel* one_row = nullptr;
  multi_dot_kernel* two_rows = nullptr;
  int lanes = 0;  ///< per load of a thread
  int sets = 0;   ///< rows of lanes in flight, for short pairs
};

/// A kernel of columns. A thread has `columns` of them, a block `rows` rows of threads.
struct columns_choice {
  columns_kernel_function* kernel = nullptr;
  int columns = 1;
  int rows = 1;
  int sum_bytes = 0;
};

/// Rows that the warps of grouped_together take at once.
inline constexpr int rows_per_group = 2;

/// A kernel for contiguous rows of at most `max_terms` terms, with `sets` rows of lanes in flight,
/// if `together` of as many rows.
struct short_rows_choice {
  multi_dot_kernel* kernel = nullptr;
  int sets = 0;
  std::size_t max_terms = 0;
  bool together = false;
};

/// Kernels for vectors of one type alone, or times one vector of their type, in its accumulator.
struct one_type_kernels {
  // For rows for which is_contiguous(v, lanes) holds.
  short_rows_choice short_rows[2];      ///< by length
  multi_dot_kernel* grouped = nullptr;  ///< at most max_warps nodes
  /// 2 to max_warps nodes, `rows_per_group` rows at once; for products, as the next.
  multi_dot_kernel* grouped_together = nullptr;
  multi_dot_kernel* against_one = nullptr;  ///< few long rows in turn
  multi_dot_kernel* aligned = nullptr;
  short_rows_choice unaligned;
  // For columns for which is_contiguous(v, columns.columns) holds.
  columns_choice columns;
  columns_choice few_columns;  ///< with more bytes in flight; as many columns per thread
  int lanes = 0;
};

/// The same for vectors of any types and layout.
struct any_type_kernels {
  multi_dot_kernel* rows = nullptr;
  columns_choice columns;
};

/// Types with such kernels.
using multi_dot_types =
    type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>>;
using sums_types = type_list<std::int32_t, std::int64_t, float16, bfloat16, float, double,
                             std::complex<float>, std::complex<double>>;
using floating_point_sums_types = type_list<float16, bfloat16, float, double>;
using other_sums_types =
    type_list<std::int32_t, std::int64_t, std::complex<float>, std::complex<double>>;
/// Types with kernels for products with one vector, of which none overlaps the launch before
/// (load_through_l1).
using with_one_types = type_list<float, double, std::complex<float>, std::complex<double>>;

const multi_dot_kernels& multi_dot_kernels_of(type element);
const one_type_kernels& floating_point_sums_kernels_of(type element);
const one_type_kernels& other_sums_kernels_of(type element);
inline const one_type_kernels& sums_kernels_of(type element) {
  return is_in<floating_point_sums_types>(element) ? floating_point_sums_kernels_of(element)
                                                   : other_sums_kernels_of(element);
}
const one_type_kernels& with_one_kernels_of(type element);

/// Returns the kernels that accumulate in `accumulator`. For a complex one the ys are complex, and
/// the xs may be.
any_type_kernels any_pairs_kernels(type accumulator, bool x_complex);
any_type_kernels any_sums_kernels(type accumulator);

}  // namespace tally::backends::cuda
