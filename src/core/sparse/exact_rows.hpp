// The exact grade of rows, on a host.
#pragma once

#include "src/core/exact/exact_sums.hpp"
#include "src/core/sparse/csr.hpp"

#include <cstddef>

namespace tally::backends {

/// Terms of short real sums side by side: the factors of term k of sum i are a[k * sums + i] and
/// b[k * sums + i]. A sum that has less than `length` terms has zeros behind them.
struct exact_group {
  static constexpr std::size_t sums = 8;
  /// Longer rows are summed one by one.
  static constexpr std::size_t max_length = 64;

  const double* a;
  const double* b;
  std::size_t length;
  bool of_floats;  ///< all factors are floats, and the sums will be rounded to float
};

/// Writes a group's sums, rounded once to double, or of floats to a double that rounds to the right
/// float; NaN where it can't tell.
using exact_group_sum = void(const exact_group& group, double* sums);

/// What a column sums rows exactly with.
struct exact_row_kernels {
  exact_node& node;  ///< adds products of contiguous vectors
  exact_group_sum* sum_group = nullptr;
};

/// Writes y of n rows from `first` on. (It is no part of its callers, since a function that is for
/// every A would take what one of them needs of the stack beside what another one takes.)
template <class A>
void multiply_rows_exactly(const csr_product& a, std::size_t first, std::size_t n,
                           const exact_row_kernels& kernels);

}  // namespace tally::backends
